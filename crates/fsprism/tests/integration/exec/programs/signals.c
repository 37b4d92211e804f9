/*
 * Makes calls while a handler of signals makes calls on the same files, and leaves some by
 * siglongjmp. Ends with an error if a call fails that cannot, or a handler never came.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

enum { ROUNDS = 20000, HANDLED = 200, NUMBERS = 64 };

static sigjmp_buf start;
static volatile sig_atomic_t handled, left, is_armed;

static void need(int is_true, const char *what) {
    if (is_true) return;
    perror(what);
    _exit(1);
}

static void handle(int signal) {
    (void)signal;
    int before = errno;
    struct stat stat_now;
    char byte = 'x';
    handled++;
    is_armed = 0;
    int file = open("shared", O_RDWR | O_CREAT | O_APPEND, 0644);
    need(file >= 0 && write(file, &byte, 1) == 1 && close(file) == 0, "shared, in the handler");
    need(stat("shared", &stat_now) == 0, "stat, in the handler");
    unlink("own");
    file = open("own", O_WRONLY | O_CREAT | O_EXCL, 0644);
    need(file >= 0 && close(file) == 0, "own");
    errno = before;
    if (handled % 3 == 0) {
        left++;
        siglongjmp(start, 1);
    }
}

int main(void) {
    struct sigaction action = {.sa_handler = handle};
    /* Once: signals that come before a handler has been left would pile up on the stack. */
    struct itimerval once = {{0, 0}, {0, 1}};
    volatile long rounds = 0;
    need(sigaction(SIGALRM, &action, NULL) == 0, "sigaction");
    struct sigaction told;
    need(sigaction(SIGALRM, NULL, &told) == 0 && told.sa_handler == handle, "what is told");
    for (int number = 3; number < NUMBERS; number++) close(number);
    sigsetjmp(start, 1);
    /* What a call had open that was left. */
    for (int number = 3; number < NUMBERS; number++) close(number);
    while (rounds < ROUNDS || handled < HANDLED) {
        char bytes[64];
        rounds++;
        if (!is_armed) {
            is_armed = 1;
            once.it_value.tv_usec = 1 + rounds * 7 % 300;
            setitimer(ITIMER_REAL, &once, NULL);
        }
        int file = open("file", O_RDWR | O_CREAT, 0644);
        need(file >= 0, "open");
        need(pwrite(file, "hello", 5, 0) == 5 && pread(file, bytes, 5, 0) == 5, "pread");
        close(file);
        rename("file", "other");
        rename("other", "file");
        mkdir("directory", 0755);
        rmdir("directory");
    }
    while (is_armed) continue;
    unlink("file");
    unlink("other");
    unlink("own");
    unlink("shared");
    rmdir("directory");
    need(left > 0, "no call was left");
    puts("done");
    return 0;
}
