/*
 * Writes text and numbers for a page. The output is well-formed HTML and XML.
 */
#ifndef LAB_HTML_H
#define LAB_HTML_H

#include <stdio.h>

/* Writes a text and escapes the characters that have a meaning in HTML. It can also be used
 * inside the quotation marks of an attribute. */
void html_text(const char *text, FILE *file);
/* Writes a part of the page that the build embeds: "style" or "script". */
void html_asset(const char *name, FILE *file);

/* Writes a number with four significant digits; from 1000 on, rounded to a whole number; below
 * 0.001, with six decimals: 0.8384, 126.5, 65536, 0.00025. NAN becomes "–". Returns `ret_text`. */
enum { HTML_NUMBER_SIZE = 40 };
char *html_number(double number, char ret_text[HTML_NUMBER_SIZE]);

#endif
