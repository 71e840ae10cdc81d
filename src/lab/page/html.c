#include "html.h"

#include "assets.h"
#include "must.h"

#include <stdbool.h>

#include <math.h>
#include <string.h>

void html_text(const char *text, FILE *file)
{
	for (; *text != '\0'; text++) {
		if (*text == '<')
			fputs("&lt;", file);
		else if (*text == '>')
			fputs("&gt;", file);
		else if (*text == '&')
			fputs("&amp;", file);
		else if (*text == '"')
			fputs("&quot;", file);
		else if (*text == '\x7f' || ((unsigned char)*text < ' ' && *text != '\n'))
			/* U+FFFD stands for a character that XML cannot contain. */
			fputs("\xef\xbf\xbd", file);
		else
			putc(*text, file);
	}
}

char *html_number(double number, char ret_text[HTML_NUMBER_SIZE])
{
	double size = fabs(number);

	if (isnan(number)) {
		memcpy(ret_text, "–", sizeof("–"));
		return ret_text;
	}
	/* %g would give these an exponent. */
	if (size >= 1000 || (size < 0.001 && size != 0))
		snprintf(ret_text, HTML_NUMBER_SIZE, "%.*f", size >= 1000 ? 0 : 6, number);
	else
		snprintf(ret_text, HTML_NUMBER_SIZE, "%.4g", number);
	if (size < 0.001) {
		size_t length = strlen(ret_text);
		while (length > 1 && ret_text[length - 1] == '0')
			ret_text[--length] = '\0';
		/* Nothing is left of the decimals: the number has rounded to 0, or is 0. */
		if (ret_text[length - 1] == '.' || ret_text[length - 1] == '-')
			memcpy(ret_text, "0", sizeof("0"));
	}
	return ret_text;
}

void html_asset(const char *name, FILE *file)
{
	for (const struct asset *asset = assets; asset->name != NULL; asset++) {
		if (strcmp(asset->name, name) == 0) {
			fputs(asset->text, file);
			return;
		}
	}
	must(false);
}
