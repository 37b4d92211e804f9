/* Prints what calls return, and why they fail. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define SHOW_AS(what, call)                                                                        \
    do {                                                                                           \
        errno = 0;                                                                                 \
        long result = (long)(call);                                                                \
        printf("%s: %ld %s\n", what, result, errno ? strerrorname_np(errno) : "");                 \
    } while (0)

#define SHOW(call) SHOW_AS(#call, call)
