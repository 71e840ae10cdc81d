/*
 * The parts of a diagram that are drawn in files of their own: the messages, and what is written
 * around the picture.
 */
#ifndef LAB_DIAGRAM_PARTS_H
#define LAB_DIAGRAM_PARTS_H

#include "diagram_place.h"

/* Notes where the arrows will be, so that labels keep away from them. To be called before the first
 * label is placed. */
void arrows_take_place(struct drawing *page);
void arrows_write(struct drawing *page);

/* Writes the definitions of the arrow heads. */
void frame_write_heads(const struct drawing *page);
/* Writes what was run and what the signs mean. Returns by how much the legend is higher than
 * usual, because it needs more lines. */
double frame_write_legend(const struct drawing *page);
/* Writes the sentence about what is violated, in lines as wide as the picture. If `y` is 0, it
 * writes nothing. Returns how many lines there are. */
uint32_t frame_write_sentence(const struct drawing *page, double y);

#endif
