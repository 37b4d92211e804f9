/* Ends a test's program with a sentence if something is not as it must be. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition)                                                       \
    do {                                                                       \
        if (!(condition)) {                                                    \
            fprintf(stderr, "line %d: %s: %s\n", __LINE__, #condition,         \
                    strerror(errno));                                          \
            exit(1);                                                           \
        }                                                                      \
    } while (0)
