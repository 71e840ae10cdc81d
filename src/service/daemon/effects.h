/*
 * Carries out the effects of the member and its node, in order. Effects are taken nowhere else.
 */
#ifndef DAEMON_EFFECTS_H
#define DAEMON_EFFECTS_H

#include <stdbool.h>

struct daemon;

/* Returns false if there were no effects. If it is called while an effect is carried out, it does
 * nothing and returns false: the outer call takes the new effects. */
bool effects_do(struct daemon *daemon);
/* Logs how many locks were lost of which there was no line, because the last second had too many. */
void effects_tell_losses(struct daemon *daemon);

#endif
