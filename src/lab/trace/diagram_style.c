#include "diagram_style.h"

/*
 * The colours of the page (web/src/style.css): amber is for the right to enter, blue for asking,
 * magenta for refusing, grey for giving back, teal for announcing. Colour-blind readers can tell
 * them apart.
 *
 * The colours are literals, because typesetting programs do not know CSS custom properties. A
 * browser uses the second set in dark mode. Classes that begin with f fill, those that begin with s
 * stroke.
 */
const char diagram_style[] =
        "<style>\n"
        "text{font:12px system-ui,-apple-system,'Segoe UI',Roboto,sans-serif;fill:#16191f}\n"
        ".paper{fill:#fcfbf8}.title{font-size:15px;font-weight:600}"
        ".soft{fill:#5f6673;font-size:11px}.bad{fill:#c2352b;font-weight:600}"
        ".band{fill:#c2352b;opacity:.16}\n"
        ".line{stroke:#a3a9b4;stroke-width:1.2}.tick{stroke:#efece5;stroke-width:1}\n"
        ".label{font-size:10.5px;paint-order:stroke;stroke:#fcfbf8;stroke-width:3.5px;"
        "stroke-linejoin:round}\n"
        ".inside,.leave{fill:#f0a000;stroke:#945400}.leave{fill-opacity:.3;stroke-dasharray:3 2}\n"
        ".wait{fill:#2667d0;opacity:.3}.held{stroke:#f0a000;stroke-width:3;opacity:.65}\n"
        ".f-ask{fill:#2667d0}.f-right{fill:#945400}.f-against{fill:#a8327f}.f-soft{fill:#5f6673}"
        ".f-known{fill:#0b7a6b}.f-line{fill:#a3a9b4}\n"
        ".s-ask{stroke:#2667d0}.s-right{stroke:#945400}.s-against{stroke:#a8327f}"
        ".s-soft{stroke:#5f6673}.s-known{stroke:#0b7a6b}.s-line{stroke:#a3a9b4}"
        ".s-ink{stroke:#16191f}\n"
        ".arrow{fill:none;stroke-width:1.3}.token{stroke-width:2.2}"
        ".flying{stroke-dasharray:3 3;opacity:.7}\n"
        ".link{stroke:#5f6673;stroke-width:2.5}.waits{fill:none;stroke:#c2352b;stroke-width:1.8}\n"
        ".cross{stroke-width:2.2;fill:none}.node{font-size:13px;font-weight:600}\n"
        "@media (prefers-color-scheme:dark){text{fill:#eceef1}.paper{fill:#0e1115}"
        ".soft{fill:#98a1ae}.bad{fill:#ff7a6e}.band{fill:#ff7a6e}"
        ".link{stroke:#98a1ae}.waits{stroke:#ff7a6e}.line{stroke:#596270}"
        ".tick{stroke:#1c2229}.label{stroke:#0e1115}"
        ".inside,.leave{fill:#ffb224;stroke:#ffc864}.wait{fill:#73a9ff}.held{stroke:#ffb224}"
        ".f-ask{fill:#73a9ff}.f-right{fill:#ffc864}.f-against{fill:#ee82c4}.f-soft{fill:#98a1ae}"
        ".f-known{fill:#4fd0bd}.f-line{fill:#596270}"
        ".s-ask{stroke:#73a9ff}.s-right{stroke:#ffc864}.s-against{stroke:#ee82c4}"
        ".s-soft{stroke:#98a1ae}.s-known{stroke:#4fd0bd}.s-line{stroke:#596270}"
        ".s-ink{stroke:#eceef1}}\n"
        "</style>\n";

const char *diagram_colour(const struct diagram *diagram, uint8_t type)
{
	static const char *const colours[] = {
	        [ROLE_ASKS] = "ask",        [ROLE_PERMITS] = "right",   [ROLE_REFUSES] = "against",
	        [ROLE_GIVES_BACK] = "soft", [ROLE_ANNOUNCES] = "known", [ROLE_PREPARES] = "line",
	};
	bool second = false;

	/* The first message type with a token gives the right to enter. Tokens of other types only
	 * assist it. */
	for (uint8_t i = 0; i < type && type_of(diagram, type)->token; i++)
		second = second || type_of(diagram, i)->token;
	return second ? "known" : colours[type_of(diagram, type)->role];
}
