/*
 * The look of a diagram: its style sheet, and the colour of each type of message.
 */
#ifndef LAB_DIAGRAM_STYLE_H
#define LAB_DIAGRAM_STYLE_H

#include "diagram_draw.h"

extern const char diagram_style[];

/* Returns the name of the colour of a message type. The class f-NAME fills with this colour, and
 * s-NAME strokes with it. */
const char *diagram_colour(const struct diagram *diagram, uint8_t type);

#endif
