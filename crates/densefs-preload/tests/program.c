/* A program whose every system call goes by a server that lets the kernel have it: threads,
   children, signals and cancellation are as without. */
#include <dlfcn.h>
#include <execinfo.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

enum { READ = 0, CLONE = 56, VFORK = 58, PRLIMIT = 302, CLONE3 = 435 };
enum { SERVE = 1 };

extern char **environ;
static void (*order)(size_t number, size_t how, size_t value);
static long (*seen)(int number);

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int turn;

static void *take_turns(void *own) {
    for (int round = 0; round < 500; round++) {
        pthread_mutex_lock(&mutex);
        while (turn % 4 != *(int *)own) {
            pthread_cond_wait(&condition, &mutex);
        }
        turn++;
        pthread_cond_broadcast(&condition);
        pthread_mutex_unlock(&mutex);
    }
    return own;
}

static void threads(void) {
    pthread_t thread[4];
    int own[4] = {0, 1, 2, 3};
    long clones = seen(CLONE) + seen(CLONE3);
    for (int index = 0; index < 4; index++) {
        CHECK(pthread_create(&thread[index], NULL, take_turns, &own[index]) == 0);
    }
    for (int index = 0; index < 4; index++) {
        void *result;
        CHECK(pthread_join(thread[index], &result) == 0 && result == &own[index]);
    }
    CHECK(turn == 2000);
    CHECK(seen(CLONE) + seen(CLONE3) - clones == 4);
}

static int cleaned;

static void clean(void *by) {
    cleaned += *(int *)by;
}

static void *wait_for_bytes(void *pipe) {
    int by = 7;
    char byte;
    pthread_cleanup_push(clean, &by);
    CHECK(read(*(int *)pipe, &byte, 1) == 1);
    pthread_cleanup_pop(0);
    return NULL;
}

/* A thread is cancelled while it waits in the kernel. */
static void cancellation(void) {
    int ends[2];
    pthread_t thread;
    void *result;
    CHECK(pipe(ends) == 0);
    long reads = seen(READ);
    CHECK(pthread_create(&thread, NULL, wait_for_bytes, &ends[0]) == 0);
    while (seen(READ) == reads) {
        sched_yield();
    }
    CHECK(pthread_cancel(thread) == 0);
    CHECK(pthread_join(thread, &result) == 0);
    CHECK(result == PTHREAD_CANCELED && cleaned == 7);
    CHECK(close(ends[0]) == 0 && close(ends[1]) == 0);
}

static void children(void) {
    int status;
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        _exit(getppid() > 1 ? 3 : 4);
    }
    CHECK(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 3);

    long vforks = seen(VFORK);
    volatile int shared = 0;
    child = vfork();
    CHECK(child >= 0);
    if (child == 0) {
        shared = 5;
        execl("/bin/sh", "sh", "-c", "exit 6", (char *)NULL);
        _exit(7);
    }
    CHECK(shared == 5 && seen(VFORK) == vforks + 1);
    CHECK(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 6);

    char *const arguments[] = {"sh", "-c", "exit 8", NULL};
    CHECK(posix_spawn(&child, "/bin/sh", NULL, NULL, arguments, environ) == 0);
    CHECK(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 8);
    CHECK(posix_spawn(&child, "/does/not/exist", NULL, NULL, arguments, environ) == ENOENT);

    status = system("exit 9");
    CHECK(WEXITSTATUS(status) == 9);
    char line[16];
    FILE *output = popen("echo hello", "r");
    CHECK(output && fgets(line, sizeof line, output) && strcmp(line, "hello\n") == 0);
    CHECK(pclose(output) == 0);
}

static volatile sig_atomic_t signals;
static int depth, write_end;

static void on_signal(int number) {
    void *frames[32];
    int saved = errno;
    signals += number == SIGALRM;
    depth = backtrace(frames, 32);
    if (write_end >= 0 && signals == 1) {
        CHECK(write(write_end, "x", 1) == 1);
    }
    errno = saved;
}

/* A signal comes while a call waits in the kernel. */
static void interruptions(int least_depth) {
    void *frames[32];
    int ends[2];
    char byte;
    struct itimerval soon = {.it_value = {.tv_usec = 20000}};
    struct sigaction action = {.sa_handler = on_signal};
    CHECK(backtrace(frames, 32) > 0);
    CHECK(pipe(ends) == 0);
    write_end = -1;
    CHECK(sigaction(SIGALRM, &action, NULL) == 0);
    CHECK(setitimer(ITIMER_REAL, &soon, NULL) == 0);
    errno = 0;
    CHECK(read(ends[0], &byte, 1) == -1 && errno == EINTR && signals == 1);
    CHECK(depth >= least_depth);

    signals = 0;
    write_end = ends[1];
    action.sa_flags = SA_RESTART;
    CHECK(sigaction(SIGALRM, &action, NULL) == 0);
    CHECK(setitimer(ITIMER_REAL, &soon, NULL) == 0);
    CHECK(read(ends[0], &byte, 1) == 1 && byte == 'x' && signals == 1);
    CHECK(close(ends[0]) == 0 && close(ends[1]) == 0);
}

/* Files, and functions whose sites give way in other ways than most. */
static void files(void) {
    char name[] = "/tmp/sites-XXXXXX", bytes[8] = "";
    struct stat status;
    struct rlimit limit, again;
    int file = mkstemp(name);
    CHECK(file >= 0);
    CHECK(write(file, "0123456", 7) == 7);
    CHECK(pread(file, bytes, 7, 0) == 7 && strcmp(bytes, "0123456") == 0);
    CHECK(posix_fallocate(file, 0, 5000) == 0);
    CHECK(fstat(file, &status) == 0 && status.st_size == 5000);
    FILE *stream = fopen(name, "r");
    CHECK(stream && fgets(bytes, 4, stream) && strcmp(bytes, "012") == 0);
    CHECK(fclose(stream) == 0 && close(file) == 0 && unlink(name) == 0);
    errno = 0;
    CHECK(open(name, O_RDONLY) == -1 && errno == ENOENT);
    errno = 0;
    CHECK(read(-1, bytes, 1) == -1 && errno == EBADF);
    CHECK(posix_fallocate(-1, 0, 1) == EBADF);

    long limits = seen(PRLIMIT);
    CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur > 2);
    CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
    CHECK(getrlimit(RLIMIT_NOFILE, &again) == 0 && again.rlim_cur == limit.rlim_cur);
    CHECK(seen(PRLIMIT) == limits + 3);

    /* Served by the server, with a result and with an error. */
    order(READ, SERVE, 3);
    CHECK(read(1000, bytes, 7) == 3);
    order(READ, SERVE, -EXDEV);
    errno = 0;
    CHECK(read(1000, bytes, 7) == -1 && errno == EXDEV);
    order(1000, 0, 0);
}

int main(void) {
    *(void **)&order = dlsym(RTLD_DEFAULT, "sites_order");
    *(void **)&seen = dlsym(RTLD_DEFAULT, "sites_seen");
    CHECK(order && seen);
    /* First with one thread, when the C library uses other sites. */
    files();
    interruptions(1);
    children();
    threads();
    files();
    signals = 0;
    /* Now read's call is made where it is, so unwinders see the frames of the handler, of the
       signal, of read, of this function and of main. */
    interruptions(5);
    cancellation();
    children();
    CHECK(dlopen("libm.so.6", RTLD_NOW));
    return 0;
}
