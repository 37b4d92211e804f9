/* Executes a program that may not make or change code. */
#include <stdio.h>
#include <sys/prctl.h>
#include <unistd.h>

#ifndef PR_SET_MDWE
#define PR_SET_MDWE 65
#endif

int main(int count, char **given) {
    if (count < 2 || prctl(PR_SET_MDWE, 1, 0, 0, 0) != 0) {
        perror("prctl");
        return 77;
    }
    execvp(given[1], given + 1);
    perror(given[1]);
    return 1;
}
