/*
 * The participants of an election: the identifiers at the places of the ring, the places that
 * initiate it, and those that are dead.
 */
#ifndef LAB_ELECTORATE_H
#define LAB_ELECTORATE_H

#include "setup.h"

/* Fills setup->electorate and setup->network.identifiers. It is a problem if the words describe
 * an election but the algorithm is not one. */
int electorate_make(const struct setup_words *words, struct setup *setup, struct problem *problem);
void electorate_free(struct electorate *electorate);

#endif
