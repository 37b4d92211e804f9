/*
 * Times calls of DenseFS' library, or, compiled with AS_IT_IS, the same calls of the C library.
 * Arguments: an empty directory, without a slash at the end, and the arena if it is in one by
 * library calls. Input: lines with the number of an operation and how many calls to make. Output:
 * the names of the operations in one line, and then a line for each line of input, with the
 * nanoseconds of a call.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifdef AS_IT_IS
#define CALL(name) name
#define DIRECTORY DIR
#else
#include <densefs.h>
#define CALL(name) dfs_##name
#define DIRECTORY DFS_DIR
#endif

enum { FILES = 64, ENTRIES = 1000, PAGE = 4096 };

static char page[PAGE], known[4200], missing[4200], new_file[4200];

static void must(int succeeded, const char *what)
{
    if (!succeeded) {
        perror(what);
        exit(1);
    }
}

static double now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1e9 + now.tv_nsec;
}

static void make_files(const char *directory, int count)
{
    must(CALL(mkdir)(directory, 0755) == 0, "mkdir");
    for (int i = 0; i < count; i++) {
        char path[64];
        snprintf(path, sizeof path, "%s/file%08d", directory, i);
        int file = CALL(open)(path, O_RDWR | O_CREAT, 0644);
        must(file >= 0 && CALL(close)(file) == 0, "open");
    }
}

/* The nanoseconds of a call, and its result. */
#define TIME(call)                                                                                 \
    do {                                                                                           \
        double start = now_ns();                                                                   \
        for (int i = 0; i < count; i++)                                                            \
            result = (long)(call);                                                                 \
        return (now_ns() - start) / count;                                                         \
    } while (0)

static volatile long result;
static struct stat stat_;
static int data, outside;

/* Each entry of a directory; as many directories as it takes. */
static double entries(int count)
{
    int found = 0;
    double start = now_ns();
    while (found < count) {
        DIRECTORY *stream = CALL(opendir)("many");
        while (CALL(readdir)(stream))
            found++;
        CALL(closedir)(stream);
    }
    return (now_ns() - start) / found;
}

/* The operations by their numbers. */
#define OPERATIONS(operation)                                                                      \
    operation("empty system call", syscall(SYS_getppid))                                           \
    operation("stat", CALL(stat)("d/file00000007", &stat_))                                        \
    operation("stat, missing", CALL(stat)("d/missing-name", &stat_))                               \
    operation("open+close", CALL(close)(CALL(open)("d/file00000007", O_RDONLY)))                   \
    operation("create+close+unlink",                                                               \
              (CALL(close)(CALL(open)("d/new-file-001", O_RDWR | O_CREAT | O_EXCL, 0644)),         \
               CALL(unlink)("d/new-file-001")))                                                    \
    operation("stat by absolute path", CALL(stat)(known, &stat_))                                  \
    operation("stat, missing, by absolute path", CALL(stat)(missing, &stat_))                      \
    operation("open+close by absolute path", CALL(close)(CALL(open)(known, O_RDONLY)))             \
    operation("create+close+unlink by absolute path",                                              \
              (CALL(close)(CALL(open)(new_file, O_RDWR | O_CREAT | O_EXCL, 0644)),                 \
               CALL(unlink)(new_file)))                                                            \
    operation("pread 1 byte", CALL(pread)(data, page, 1, 0))                                       \
    operation("pread 4 KiB", CALL(pread)(data, page, PAGE, 0))                                     \
    operation("pwrite 1 byte", CALL(pwrite)(data, page, 1, 0))                                     \
    operation("pwrite 4 KiB", CALL(pwrite)(data, page, PAGE, 0))                                   \
    operation("fstat", CALL(fstat)(data, &stat_))                                                  \
    operation("lseek", CALL(lseek)(data, 0, SEEK_SET))

#ifdef AS_IT_IS
/* What is not in the arena. Paths that begin with /d and /p could name open files. */
#define ELSEWHERE(operation)                                                                       \
    operation("stat", stat("/usr/bin/env", &stat_))                                                \
    operation("stat, missing", stat("/usr/bin/missing-name", &stat_))                              \
    operation("stat of /dev/null", stat("/dev/null", &stat_))                                      \
    operation("open+close", close(open("/usr/bin/env", O_RDONLY)))                                 \
    operation("pread 1 byte", pread(outside, page, 1, 0))                                          \
    operation("pread 4 KiB", pread(outside, page, PAGE, 0))                                        \
    operation("fstat", fstat(outside, &stat_))                                                     \
    operation("lseek", lseek(outside, 0, SEEK_SET))
#else
#define ELSEWHERE(operation)
#endif

/* Each operation has a function, so that its loop is the same wherever it stands. */
#define NUMBERED(name, call)                                                                       \
    if (number == at++)                                                                            \
        TIME(call);

static double calls(int number, int count)
{
    int at = 0;
    OPERATIONS(NUMBERED)
    if (number == at++)
        return entries(count);
    ELSEWHERE(NUMBERED)
    return -1;
}

#define NAMED(name, call) printf("%s\t", name);
#define NAMED_ELSEWHERE(name, call) printf("elsewhere: %s\t", name);

int main(int argc, char **argv)
{
#ifdef AS_IT_IS
    must(argc == 2, "a directory is needed");
#else
    must(argc == 3 && dfs_attach(argv[2], 0) == 0, "dfs_attach");
#endif
    const char *prefix = argv[1];
    must(CALL(chdir)(*prefix ? prefix : "/") == 0, "chdir");
    snprintf(known, sizeof known, "%s/d/file00000007", prefix);
    snprintf(missing, sizeof missing, "%s/d/missing-name", prefix);
    snprintf(new_file, sizeof new_file, "%s/d/new-file-001", prefix);
    make_files("d", FILES);
    make_files("many", ENTRIES);
    data = CALL(open)("data", O_RDWR | O_CREAT, 0644);
    must(data >= 0 && CALL(pwrite)(data, page, PAGE, 0) == PAGE, "open");
    outside = open("/usr/bin/env", O_RDONLY);
    must(outside >= 0, "/usr/bin/env");
    OPERATIONS(NAMED)
    printf("readdir, per entry\t");
    ELSEWHERE(NAMED_ELSEWHERE)
    printf("\n");
    fflush(stdout);
    char line[64];
    int number, count;
    while (fgets(line, sizeof line, stdin) && sscanf(line, "%d %d", &number, &count) == 2) {
        printf("%.3f\n", calls(number, count));
        fflush(stdout);
    }
    return 0;
}
