/* Opens, duplicates and closes files here and elsewhere in some order, and prints their numbers. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { STEPS = 20000, HIGHEST = 90 };

static unsigned next(unsigned below) {
    static unsigned state = 1;
    state = state * 1664525 + 1013904223;
    return (state >> 8) % below;
}

/* The number of an open file, or one that is not open. */
static int any(void) {
    return 3 + (int)next(next(4) ? 20 : HIGHEST);
}

int main(void) {
    int count = 0;
    for (int step = 0; step < STEPS; step++) {
        int number = -1, from = any();
        errno = 0;
        switch (next(7)) {
        case 0:
        case 1:
            number = open("file", O_RDWR | O_CREAT, 0644);
            break;
        case 2:
            number = open("/usr/bin/env", O_RDONLY);
            break;
        case 3:
            number = dup(from);
            break;
        case 4:
            number = fcntl(from, next(2) ? F_DUPFD : F_DUPFD_CLOEXEC, (int)next(80));
            break;
        case 5:
            number = dup2(from, any());
            break;
        default:
            number = close(from);
            /* Not so many files that new ones would never get a low number. */
            for (int other = 3; count > 30 && other < HIGHEST; other += 1 + (int)next(3))
                count -= close(other) == 0;
        }
        count += number > 0;
        printf("%d %d\n", number, number < 0 ? errno : 0);
    }
    return 0;
}
