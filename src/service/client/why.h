/*
 * The details of an error, as a sentence for baton_message.
 */
#ifndef CLIENT_WHY_H
#define CLIENT_WHY_H

struct why {
	char text[1024];
};

/* Returns the code, so that a function can end with it. */
__attribute__((format(printf, 3, 4))) int why_set(struct why *why, int code, const char *format,
                                                  ...);

#endif
