/*
 * What DenseFS in a kernel must do besides answering single calls: several processes at once, forks
 * and programs that are executed, memory that cannot be accessed, and no more room.
 *
 * usage: program ROUNDS
 *        program has DESCRIPTOR...   succeeds if exactly these of descriptors 0 to 9 are open
 *        program gone                succeeds if the kernel does not know the calls
 */
#include "densefs.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            printf("line %d: %s: %m\n", __LINE__, #condition);                                     \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)
#define FAILS(call, why) CHECK((call) < 0 && errno == (why))

enum { PROCESSES = 4, PIECE = 1 << 16 };

static char piece[PIECE];

static void await_all(int count) {
    int status;
    while (count-- > 0) CHECK(wait(&status) > 0 && status == 0);
}

/* All create, rename and remove names in the same directory, and write to one file. */
static void at_once(int rounds) {
    CHECK(dfs_mkdir("/shared", 0777) == 0);
    int log = (int)dfs_open("/shared/log", O_CREAT | O_WRONLY | O_APPEND, 0666);
    CHECK(log >= 0);
    for (int who = 0; who < PROCESSES; who++) {
        if (fork() != 0) continue;
        CHECK(dfs_chdir("/shared") == 0);
        for (int round = 0; round < rounds; round++) {
            char name[40], other[40];
            sprintf(name, "%d-%d", who, round);
            sprintf(other, "renamed-%d", round % 8);
            int file = (int)dfs_creat(name, 0644);
            CHECK(file >= 0);
            CHECK(dfs_write(file, piece, 1 + round % 5000) == 1 + round % 5000);
            CHECK(dfs_close(file) == 0);
            CHECK(dfs_rename(name, other) == 0);
            CHECK(dfs_unlink(other) == 0 || errno == ENOENT);
            CHECK(dfs_write(log, "x", 1) == 1);
        }
        _exit(0);
    }
    await_all(PROCESSES);
    struct stat found;
    CHECK(dfs_fstat(log, &found) == 0 && found.st_size == PROCESSES * rounds);
    CHECK(dfs_close(log) == 0 && dfs_unlink("/shared/log") == 0);
    for (int name = 0; name < 8; name++) {
        sprintf(piece, "/shared/renamed-%d", name);
        dfs_unlink(piece);
    }
    CHECK(dfs_rmdir("/shared") == 0);
}

/* A child has what its parent has open; a program has what is not closed by then. */
static void family(const char *self) {
    int one = (int)dfs_creat("/one", 0600);
    int two = (int)dfs_open("/two", O_CREAT | O_RDWR | O_CLOEXEC, 0600);
    CHECK(one == 0 && two == 1);
    CHECK(dfs_mkdir("/below", 0700) == 0 && dfs_chdir("below") == 0);
    if (fork() == 0) {
        char where[100];
        CHECK(dfs_getcwd(where, sizeof where) && strcmp(where, "/below") == 0);
        CHECK(dfs_write(one, "child", 5) == 5 && dfs_close(one) == 0 && dfs_chdir("/") == 0);
        _exit(0);
    }
    await_all(1);
    CHECK(dfs_lseek(one, 0, SEEK_CUR) == 5 && dfs_rmdir("../below") == 0);
    if (fork() == 0) {
        execl(self, self, "has", "0", NULL);
        _exit(9);
    }
    await_all(1);
    CHECK(dfs_unlink("/one") == 0 && dfs_unlink("/two") == 0 && dfs_chdir("/") == 0);
    CHECK(dfs_close(one) == 0 && dfs_close(two) == 0);
}

/* Memory that is not there, or not wholly. */
static void bad_addresses(void) {
    char *memory = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(memory != MAP_FAILED && munmap(memory + 4096, 4096) == 0);
    FAILS(dfs_creat((char *)8, 0600), EFAULT);
    FAILS(dfs_creat((char *)-8, 0600), EFAULT);
    FAILS(dfs_stat("/", (struct stat *)8), EFAULT);
    memset(memory + 4090, 'n', 6);
    FAILS(dfs_creat(memory + 4090, 0600), EFAULT);
    /* A path that ends with its page is whole. */
    strcpy(memory + 4090, "/name");
    int file = (int)dfs_open(memory + 4090, O_CREAT | O_RDWR, 0600);
    CHECK(file >= 0 && dfs_unlink("/name") == 0);
    FAILS(dfs_write(file, memory + 4096, 100), EFAULT);
    CHECK(dfs_write(file, memory + 4000, 200) == 96);
    CHECK(dfs_write(file, piece, 200) == 200 && dfs_lseek(file, 0, SEEK_SET) == 0);
    CHECK(dfs_read(file, memory + 4000, 296) == 96 && dfs_lseek(file, 0, SEEK_CUR) == 96);
    FAILS(dfs_read(file, memory + 4096, 10), EFAULT);
    CHECK(dfs_lseek(file, 0, SEEK_CUR) == 96);
    memset(piece, 'n', 4096);
    FAILS(dfs_creat(piece, 0600), ENAMETOOLONG);
    CHECK(dfs_close(file) == 0);
}

/* All room is taken, by content and by names, and given back. */
static void no_room(void) {
    for (int again = 0; again < 2; again++) {
        int file = (int)dfs_creat("/full", 0600);
        long written, all = 0, names = 0;
        CHECK(file >= 0);
        while ((written = dfs_write(file, piece, PIECE)) > 0) all += written;
        CHECK(written < 0 && errno == ENOSPC && all > 1 << 20);
        char name[100];
        int one;
        for (;; names++) {
            sprintf(name, "/%0*ld", names % 2 ? 60 : 6, names);
            if ((one = (int)dfs_creat(name, 0600)) < 0) break;
            CHECK(dfs_close(one) == 0);
        }
        CHECK(errno == ENOSPC);
        while (names-- > 0) {
            sprintf(name, "/%0*ld", names % 2 ? 60 : 6, names);
            CHECK(dfs_unlink(name) == 0);
        }
        CHECK(dfs_unlink("/full") == 0 && dfs_close(file) == 0);
    }
}

int main(int count, char **given) {
    struct stat found;
    if (count > 2 && strcmp(given[1], "has") == 0) {
        CHECK(dfs_stat("/", &found) == 0);
        for (int file = 0, next = 2; file < 10; file++) {
            int is_named = next < count && atoi(given[next]) == file;
            next += is_named;
            if ((dfs_fstat(file, &found) == 0) != is_named) return 1;
        }
        return 0;
    }
    if (strcmp(given[1], "gone") == 0) {
        FAILS(dfs_stat("/", &found), ENOSYS);
        return 0;
    }
    umask(0);
    family(given[0]);
    bad_addresses();
    at_once(atoi(given[1]));
    no_room();
    CHECK(dfs_chmod("/", 0777) == 0);
    printf("all is as it must be\n");
    return 0;
}
