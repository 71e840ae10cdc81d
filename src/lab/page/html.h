/*
 * Text and numbers in a page. What is written is well-formed XML, too.
 */
#ifndef LAB_HTML_H
#define LAB_HTML_H

#include <stdio.h>

/* Any text, with what has a meaning in HTML escaped; also between the quotation marks of an
 * attribute. */
void html_text(const char *text, FILE *file);

/* A number with four digits or all that stand before the point: 0.8384, 126.5, 65536; "–" for NAN.
 * Returns `ret_text`. */
enum { HTML_NUMBER_SIZE = 40 };
char *html_number(double number, char ret_text[HTML_NUMBER_SIZE]);

#endif
