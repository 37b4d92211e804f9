/* Threads are cancelled while they make calls on files, and others go on. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ROUNDS = 100, THREADS = 3 };

static pthread_barrier_t begun;

static void need(int is_true, const char *what) {
    if (is_true) return;
    fprintf(stderr, "%s: %s\n", what, strerror(errno));
    _exit(1);
}

static void closed(void *number) {
    int file = *(int *)number;
    if (file >= 0) need(close(file) == 0, "close, when cancelled");
}

/* All of its calls but mkdir and rmdir are points of cancellation. */
static void *work(void *name) {
    char bytes[100], directory[40];
    int file = -1;
    snprintf(directory, sizeof directory, "%s.d", (char *)name);
    pthread_cleanup_push(closed, &file);
    pthread_barrier_wait(&begun);
    for (;;) {
        int state;
        pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
        file = open(name, O_RDWR | O_CREAT, 0600);
        pthread_setcancelstate(state, NULL);
        need(file >= 0, "open");
        need(write(file, bytes, sizeof bytes) == sizeof bytes, "write");
        need(pread(file, bytes, sizeof bytes, 0) == sizeof bytes, "pread");
        need(fsync(file) == 0, "fsync");
        mkdir(directory, 0700);
        rmdir(directory);
        pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
        need(close(file) == 0, "close");
        file = -1;
        pthread_setcancelstate(state, NULL);
    }
    pthread_cleanup_pop(1);
    return NULL;
}

int main(void) {
    static char names[THREADS][10];
    struct stat stat;
    for (int round = 0; round < ROUNDS; round++) {
        pthread_t threads[THREADS];
        pthread_barrier_init(&begun, NULL, THREADS + 1);
        for (int one = 0; one < THREADS; one++) {
            snprintf(names[one], sizeof names[one], "f%d", one);
            need(pthread_create(&threads[one], NULL, work, names[one]) == 0, "create");
        }
        pthread_barrier_wait(&begun);
        usleep(rand() % 300);
        for (int one = 0; one < THREADS; one++) {
            void *result;
            need(pthread_cancel(threads[one]) == 0, "cancel");
            need(pthread_join(threads[one], &result) == 0, "join");
            need(result == PTHREAD_CANCELED, "the result");
        }
        pthread_barrier_destroy(&begun);
        /* What they have left is whole, and no number is lost. */
        int file = open("f0", O_RDWR | O_CREAT, 0600);
        need(file == 3 && fstat(file, &stat) == 0 && close(file) == 0, "afterwards");
        for (int one = 0; one < THREADS; one++) {
            char directory[40];
            snprintf(directory, sizeof directory, "%s.d", names[one]);
            rmdir(directory);
            unlink(names[one]);
        }
    }
    puts("done");
    return 0;
}
