/* What happens at the limit of a file's size. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int signals;

static void count(int number) {
    signals += number == SIGXFSZ;
}

static void tell(const char *what, long result) {
    int why = result < 0 ? errno : 0;
    printf("%s: %ld %s, %d signals\n", what, result, why ? strerror(why) : "", signals);
}

static void limit(rlim_t bytes) {
    struct rlimit limit = {bytes, RLIM_INFINITY};
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0) exit(9);
}

int main(void) {
    char bytes[300];
    struct stat stat;
    struct iovec parts[] = {{bytes, 40}, {bytes, 0}, {bytes, 200}};
    memset(bytes, 'x', sizeof bytes);
    signal(SIGXFSZ, count);
    int file = open("f", O_RDWR | O_CREAT | O_TRUNC, 0600);
    int other = open("g", O_RDWR | O_CREAT | O_TRUNC, 0600);
    tell("unlimited", pwrite(other, bytes, 300, 0));
    limit(100);
    tell("beyond", write(file, bytes, 300));
    tell("at the limit", write(file, bytes, 1));
    tell("nothing", write(file, bytes, 0));
    tell("within", pwrite(file, bytes, 10, 95));
    tell("past", pwrite(file, bytes, 10, 200));
    tell("to the start", lseek(file, 0, SEEK_SET));
    tell("parts", writev(file, parts, 3));
    tell("parts again", writev(file, parts, 3));
    tell("parts at", pwritev(file, parts, 3, 50));
    tell("parts at no place", pwritev2(file, parts, 3, -1, 0));
    tell("a longer file", ftruncate(file, 101));
    tell("a shorter file", ftruncate(file, 90));
    tell("the same by name", truncate("f", 101));
    tell("a longer one that is shortened", ftruncate(other, 200));
    tell("as long", truncate("g", 200));
    tell("space", fallocate(file, 0, 50, 100));
    tell("space behind", fallocate(file, FALLOC_FL_KEEP_SIZE, 50, 100));
    tell("to the start", lseek(file, 0, SEEK_SET));
    tell("to the start", lseek(other, 0, SEEK_SET));
    tell("copy", copy_file_range(other, NULL, file, NULL, 200, 0));
    tell("copy again", copy_file_range(other, NULL, file, NULL, 50, 0));
    tell("to the start", lseek(file, 60, SEEK_SET));
    tell("send", sendfile(file, other, NULL, 300));
    int end = open("f", O_WRONLY | O_APPEND);
    tell("append", write(end, bytes, 1));
    tell("shorter", ftruncate(file, 95));
    tell("append", write(end, bytes, 10));
    FILE *stream = fopen("s", "w");
    tell("stream", (long)fwrite(bytes, 1, 300, stream));
    tell("flush", fflush(stream));
    int pipes[2];
    tell("pipe", pipe(pipes));
    tell("to a pipe", write(pipes[1], bytes, 300));
    limit(RLIM_INFINITY);
    tell("unlimited", pwrite(file, bytes, 300, 0));
    tell("size", fstat(file, &stat));
    printf("%ld\n", (long)stat.st_size);
    limit(50);
    signal(SIGXFSZ, SIG_DFL);
    fflush(stdout);
    if (fork() == 0) {
        pwrite(file, bytes, 1, 50);
        _exit(0);
    }
    int status;
    wait(&status);
    printf("ended by %d\n", WTERMSIG(status));
    fflush(stdout);
    /* The limit is handed on. */
    limit(1000);
    signal(SIGXFSZ, SIG_IGN);
    return system("dd if=/dev/zero of=d bs=700 count=3 2>&1 | head -n 3; stat -c %s d") != 0;
}
