/*
 * Calls DenseFS between marks, which show in a trace. Each operation is called a few times first,
 * so that one-time work of the process is done, and then eight times between marks. Argument: an
 * arena. The numbers of the operations are the rows of the table that the test reads. Compiled with
 * AS_IT_IS, the program makes the same calls of the C library, in a directory.
 */
#ifdef AS_IT_IS
#include <fcntl.h>
#include <unistd.h>
#define dfs_attach(directory, flags) chdir(directory)
#define dfs_chdir chdir
#define dfs_close close
#define dfs_mkdir mkdir
#define dfs_open open
#define dfs_pread pread
#define dfs_pwrite pwrite
#define dfs_rename rename
#define dfs_rmdir rmdir
#define dfs_stat stat
#define dfs_unlink unlink
#else
#include <densefs.h>
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

/* A mark as in crates/footprint-trace/src/mark.rs: region 1, and the operation's number. */
#define MARK(edge, operation)                                                                      \
    __asm__ volatile(".byte 0x0f, 0x1f, 0x84, 0x00; .long %c0"                                     \
                     :                                                                             \
                     : "i"(0x5f500000 | (edge) << 18 | 1 << 12 | (operation))                      \
                     : "memory")

enum { WARM_UP = 4, TIMES = 8, FILES = 64, PAGE = 4096 };

static char names[FILES][16], others[FILES][16], page[PAGE];

static void must(int succeeded, const char *what)
{
    if (!succeeded) {
        perror(what);
        exit(1);
    }
}

#define TRACE(operation, call)                                                                     \
    for (int i = 0; i < WARM_UP + TIMES; i++) {                                                    \
        int done;                                                                                  \
        if (i < WARM_UP) {                                                                         \
            done = (int)(call);                                                                    \
        } else {                                                                                   \
            MARK(0, operation);                                                                    \
            done = (int)(call);                                                                    \
            MARK(1, operation);                                                                    \
        }                                                                                          \
        results[i] = done;                                                                         \
    }

static int results[WARM_UP + TIMES], files[WARM_UP + TIMES];

/* Checks that all calls of the last operation succeeded, or that all failed. */
static void all(int is_success, const char *what)
{
    for (int i = 0; i < WARM_UP + TIMES; i++)
        must((results[i] >= 0) == is_success, what);
    memcpy(files, results, sizeof files);
}

int main(int argc, char **argv)
{
    struct stat file_stat;
    must(argc == 2 && dfs_attach(argv[1], 0) == 0, "dfs_attach");
    must(dfs_mkdir("work", 0755) == 0 && dfs_chdir("work") == 0, "dfs_mkdir");
    for (int i = 0; i < FILES; i++) {
        snprintf(names[i], sizeof names[i], "file%08d", i);
        snprintf(others[i], sizeof others[i], "other%07d", i);
        int file = dfs_open(names[i], O_RDWR | O_CREAT, 0644);
        must(file >= 0 && dfs_pwrite(file, page, PAGE, 0) == PAGE && dfs_close(file) == 0, "open");
    }
    TRACE(1, dfs_stat(names[i], &file_stat));
    all(1, "dfs_stat");
    TRACE(2, dfs_stat(others[i], &file_stat));
    all(0, "dfs_stat of a missing name");
    TRACE(3, dfs_open(names[i], O_RDONLY));
    all(1, "dfs_open");
    TRACE(4, dfs_pread(files[i], page, PAGE, 0));
    for (int i = 0; i < WARM_UP + TIMES; i++)
        must(dfs_close(files[i]) == 0, "dfs_close");
    /* One after another, as programs do. */
    for (int i = 0; i < WARM_UP + TIMES; i++) {
        int file = dfs_open(names[i], O_RDONLY);
        MARK(0, 5);
        int closed = dfs_close(file);
        MARK(1, 5);
        must(closed == 0, "dfs_close");
    }
    TRACE(6, dfs_open(others[i], O_RDWR | O_CREAT, 0644));
    all(1, "dfs_open of a new file");
    TRACE(7, dfs_pwrite(files[i], page, PAGE, 0));
    TRACE(8, dfs_pwrite(files[i], page, PAGE, 0));
    for (int i = 0; i < WARM_UP + TIMES; i++)
        must(dfs_close(files[i]) == 0, "dfs_close");
    TRACE(9, dfs_unlink(others[i]));
    all(1, "dfs_unlink");
    TRACE(10, dfs_rename(names[i], others[i]));
    all(1, "dfs_rename");
    TRACE(11, dfs_mkdir(names[i], 0755));
    all(1, "dfs_mkdir");
    TRACE(12, dfs_rmdir(names[i]));
    all(1, "dfs_rmdir");
    return 0;
}
