/* What the two files of the differential test share: both answers to a call, and the call. */
#ifndef BOTH_H
#define BOTH_H

#include "densefs.h"

#include <stdint.h>

enum { LINUX = 0, DENSE = 1, SLOTS = 6 };

/* What a call returned on each side, its errno if it failed, and what it found. */
extern long answer[2];
extern int why[2];
extern char text[2][8192];
/* The call, as it would stand in a program. */
extern char call[1024];
/* Open descriptors, each on both sides; -1 if there is none. */
extern int slots[SLOTS][2];

/* Starts a sequence of random calls, which the seed determines. */
void begin(uint64_t seed);

/* Makes a random call on both sides; it may also make none. */
void one_call(void);

#endif
