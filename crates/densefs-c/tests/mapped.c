/* Maps files into memory by DenseFS. It prints nothing if everything works like mmap(2). */
#include <densefs.h>
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

#define FAILS(call, why)                                                       \
    do {                                                                       \
        errno = 0;                                                             \
        CHECK((call) == MAP_FAILED && errno == (why));                         \
    } while (0)

enum { PAGE = 4096, READ_WRITE = PROT_READ | PROT_WRITE };

static char buffer[20 * PAGE];

static int file(const char *name, size_t bytes)
{
    int fd = dfs_open(name, O_RDWR | O_CREAT | O_TRUNC, 0644);
    CHECK(fd >= 0);
    memset(buffer, 'a', bytes);
    CHECK(dfs_pwrite(fd, buffer, bytes, 0) == (ssize_t)bytes);
    return fd;
}

static unsigned long free_blocks(void)
{
    struct statvfs all;
    CHECK(dfs_statvfs("/", &all) == 0);
    return all.f_bfree;
}

/* The signal that ends a child which reads this byte; 0 if it can. */
static int killed_by(const volatile char *at)
{
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        signal(SIGBUS, SIG_DFL);
        _exit(*at == 'x');
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child);
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

/* What is stored by one way is read by the other. */
static void is_coherent(size_t bytes)
{
    int fd = file("coherent", bytes);
    char *memory = dfs_mmap(NULL, bytes, READ_WRITE, MAP_SHARED, fd, 0);
    CHECK(memory != MAP_FAILED && memory[0] == 'a' && memory[bytes - 1] == 'a');
    memory[bytes / 2] = 'm';
    char byte;
    CHECK(dfs_pread(fd, &byte, 1, bytes / 2) == 1 && byte == 'm');
    CHECK(dfs_pwrite(fd, "w", 1, bytes - 1) == 1 && memory[bytes - 1] == 'w');
    char *second = dfs_mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, 0);
    CHECK(second != MAP_FAILED && second != memory && second[bytes / 2] == 'm');
    size_t whole = (bytes + PAGE - 1) / PAGE * PAGE;
    CHECK(bytes == whole || (memory[bytes] == 0 && memory[whole - 1] == 0));
    CHECK(dfs_close(fd) == 0);
    memory[0] = 'z';
    CHECK(second[0] == 'z' && dfs_munmap(memory, bytes) == 0);
    CHECK(second[0] == 'z' && dfs_munmap(second, bytes) == 0);
    fd = dfs_open("coherent", O_RDONLY);
    CHECK(dfs_pread(fd, &byte, 1, 0) == 1 && byte == 'z' && dfs_close(fd) == 0);
}

/* What one process stores, another one sees, without calls. */
static void is_shared(void)
{
    int fd = file("shared", 3 * PAGE);
    volatile char *memory = dfs_mmap(NULL, 3 * PAGE, READ_WRITE, MAP_SHARED, fd, 0);
    volatile char *own = dfs_mmap(NULL, 3 * PAGE, READ_WRITE, MAP_PRIVATE, fd, 0);
    CHECK(memory != MAP_FAILED && own != MAP_FAILED);
    own[0] = 'p';
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        CHECK(own[0] == 'p');
        own[1] = 'q';
        memory[2 * PAGE] = 'c';
        char *anew = dfs_mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, 2 * PAGE);
        CHECK(anew != MAP_FAILED && anew[0] == 'c');
        _exit(0);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    CHECK(memory[2 * PAGE] == 'c' && own[0] == 'p' && own[1] == 'a' && memory[0] == 'a');
    CHECK(dfs_munmap((void *)memory, 3 * PAGE) == 0 && dfs_munmap((void *)own, 3 * PAGE) == 0);
    CHECK(dfs_close(fd) == 0);
}

static void ends_are_ends(void)
{
    int fd = file("ends", PAGE + 100);
    char *memory = dfs_mmap(NULL, 4 * PAGE, PROT_READ, MAP_SHARED, fd, 0);
    CHECK(memory != MAP_FAILED && killed_by(memory + 2 * PAGE - 1) == 0);
    CHECK(killed_by(memory + 2 * PAGE) == SIGBUS && killed_by(memory + 3 * PAGE) == SIGBUS);
    CHECK(dfs_munmap(memory, 4 * PAGE) == 0 && killed_by(memory) == SIGSEGV);
    char *part = dfs_mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, fd, PAGE);
    CHECK(part != MAP_FAILED && part[99] == 'a' && part[100] == 0);
    CHECK(dfs_munmap(part, PAGE) == 0);
    FAILS(dfs_mmap(NULL, 0, PROT_READ, MAP_SHARED, fd, 0), EINVAL);
    FAILS(dfs_mmap(NULL, 1, PROT_READ, MAP_SHARED, fd, 100), EINVAL);
    FAILS(dfs_mmap(NULL, 1, PROT_READ, MAP_SHARED, fd, -PAGE), EINVAL);
    FAILS(dfs_mmap(NULL, 1, PROT_READ, 0, fd, 0), EINVAL);
    FAILS(dfs_mmap(NULL, 1, PROT_READ, MAP_SHARED, 999, 0), EBADF);
    FAILS(dfs_mmap(NULL, SIZE_MAX, PROT_READ, MAP_SHARED, fd, 0), ENOMEM);
    FAILS(dfs_mmap((void *)(buffer + 1), 1, PROT_READ, MAP_SHARED | MAP_FIXED, fd, 0), EINVAL);
    CHECK(dfs_close(fd) == 0);
    CHECK((fd = dfs_open("ends", O_RDONLY)) >= 0);
    FAILS(dfs_mmap(NULL, 1, READ_WRITE, MAP_SHARED, fd, 0), EACCES);
    CHECK(dfs_close(fd) == 0 && (fd = dfs_open("/", O_RDONLY)) >= 0);
    FAILS(dfs_mmap(NULL, 1, PROT_READ, MAP_SHARED, fd, 0), ENODEV);
    CHECK(dfs_close(fd) == 0);
}

/* Parts of memory are unmapped and replaced, and the file is kept until the last one is. */
static void parts(void)
{
    int fd = file("parts", 9 * PAGE), other = file("other", PAGE);
    unsigned long before = free_blocks();
    char *memory = dfs_mmap(NULL, 9 * PAGE, READ_WRITE, MAP_SHARED, fd, 0);
    CHECK(memory != MAP_FAILED);
    CHECK(dfs_munmap(memory + 4 * PAGE, PAGE) == 0 && dfs_munmap(memory, 1) == 0);
    CHECK(dfs_mmap(memory + 6 * PAGE, PAGE, PROT_READ, MAP_SHARED | MAP_FIXED, other, 0) ==
          memory + 6 * PAGE);
    FAILS(dfs_mmap(memory + PAGE, PAGE, PROT_READ, MAP_SHARED | MAP_FIXED_NOREPLACE, other, 0),
          EEXIST);
    memory[3 * PAGE] = memory[8 * PAGE] = 'p';
    CHECK(dfs_unlink("parts") == 0 && dfs_close(fd) == 0 && free_blocks() <= before);
    CHECK(memory[3 * PAGE] == 'p' && memory[6 * PAGE] == 'a' && memory[8 * PAGE] == 'p');
    CHECK(dfs_munmap(memory + PAGE, 7 * PAGE) == 0 && free_blocks() <= before);
    CHECK(memory[8 * PAGE] == 'p' && dfs_munmap(memory + 8 * PAGE, PAGE) == 0);
    CHECK(free_blocks() >= before + 9 && dfs_close(other) == 0);
}

/* A process that is killed unmaps nothing, and loses nothing. */
static void deaths(const char *arena)
{
    unsigned long before = free_blocks();
    int ready[2];
    CHECK(pipe(ready) == 0);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        int fd = file("doomed", 20 * PAGE);
        char *memory = dfs_mmap(NULL, 20 * PAGE, READ_WRITE, MAP_SHARED, fd, 0);
        CHECK(memory != MAP_FAILED && dfs_unlink("doomed") == 0 && write(ready[1], "", 1) == 1);
        /* A child of its own lives on with the memory, but does not keep the parent alive. */
        pid_t heir = fork();
        if (heir == 0) {
            pause();
        }
        CHECK(write(ready[1], (char *)&heir, sizeof heir) == sizeof heir);
        pause();
    }
    char byte;
    pid_t heir;
    CHECK(read(ready[0], &byte, 1) == 1);
    CHECK(read(ready[0], &heir, sizeof heir) == sizeof heir);
    CHECK(kill(child, SIGKILL) == 0 && waitpid(child, NULL, 0) == child);
    CHECK(free_blocks() + 20 <= before);
    CHECK(kill(heir, SIGKILL) == 0);
    /* Whoever attaches the arena looks for the dead; a few pages stay in stock for others. */
    for (int i = 0; i < 1000 && free_blocks() + 5 < before; i++) {
        usleep(10000);
        CHECK(dfs_detach() == 0 && dfs_attach(arena, 0) == 0);
    }
    CHECK(free_blocks() + 5 >= before);
    CHECK(close(ready[0]) == 0 && close(ready[1]) == 0);
}

/* A child for which the arena has no room left loses the memory: nobody knows that it maps it. */
static void strangers(void)
{
    static pid_t children[1000];
    int fd = file("known", PAGE), answers[2], count = 0, status;
    volatile char *memory = dfs_mmap(NULL, PAGE, READ_WRITE, MAP_SHARED, fd, 0);
    char is_known = 1;
    CHECK(memory != MAP_FAILED && dfs_close(fd) == 0 && pipe(answers) == 0);
    while (is_known) {
        CHECK(count < 1000 && (children[count] = fork()) >= 0);
        if (children[count] == 0) {
            CHECK(prctl(PR_SET_PDEATHSIG, SIGKILL) == 0);
            is_known = dfs_access("known", F_OK) == 0;
            CHECK(write(answers[1], &is_known, 1) == 1);
            signal(SIGSEGV, SIG_DFL);
            memory[0] = 'c';
            while (is_known)
                pause();
            _exit(0);
        }
        CHECK(read(answers[0], &is_known, 1) == 1);
        count++;
    }
    CHECK(waitpid(children[--count], &status, 0) > 0);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV && count > 10);
    while (count-- > 0)
        CHECK(kill(children[count], SIGKILL) == 0 && waitpid(children[count], NULL, 0) > 0);
    CHECK(memory[0] == 'c' && dfs_munmap((void *)memory, PAGE) == 0);
    CHECK(close(answers[0]) == 0 && close(answers[1]) == 0);
}

static unsigned long state = 1;

static size_t below(size_t limit)
{
    state = state * 6364136223846793005UL + 1442695040888963407UL;
    return (state >> 33) % limit;
}

/* A mapping, and what it must show: the file's bytes as long as it reaches so far. */
static struct {
    char *memory;
    size_t first, bytes;
} kept[4];

/* Calls and stores in random order, compared with bytes in memory. */
static void random_calls(int count)
{
    static char expected[sizeof buffer], found[sizeof buffer];
    size_t size = 0;
    int fd = file("random", 0);
    for (int i = 0; i < count; i++) {
        size_t at = below(sizeof buffer), bytes = below(sizeof buffer - at) + 1;
        int which = below(4);
        memset(buffer, 'b' + i % 20, bytes);
        switch (below(6)) {
        case 0:
            CHECK(dfs_pwrite(fd, buffer, bytes, at) == (ssize_t)bytes);
            memcpy(expected + at, buffer, bytes);
            size = at + bytes > size ? at + bytes : size;
            break;
        case 1:
            CHECK(dfs_ftruncate(fd, at) == 0);
            if (at < size)
                memset(expected + at, 0, size - at);
            size = at;
            break;
        case 2:
            CHECK(dfs_fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, at, bytes) == 0);
            memset(expected + at, 0, bytes);
            break;
        case 3:
            if (kept[which].memory)
                CHECK(dfs_munmap(kept[which].memory, kept[which].bytes) == 0);
            kept[which].memory = NULL;
            at = at / PAGE * PAGE;
            if (at >= size)
                break;
            kept[which].first = at;
            kept[which].bytes = size - at;
            kept[which].memory = dfs_mmap(NULL, size - at, READ_WRITE, MAP_SHARED, fd, at);
            CHECK(kept[which].memory != MAP_FAILED);
            break;
        default:
            /* Stores, where both the mapping and the file reach. */
            if (kept[which].memory && kept[which].first < size) {
                size_t room = size - kept[which].first;
                room = room < kept[which].bytes ? room : kept[which].bytes;
                at = below(room);
                bytes = below(room - at) + 1;
                memcpy(kept[which].memory + at, buffer, bytes);
                memcpy(expected + kept[which].first + at, buffer, bytes);
            }
        }
        CHECK(dfs_pread(fd, found, sizeof found, 0) == (ssize_t)size);
        CHECK(memcmp(found, expected, size) == 0);
        for (size_t k = 0; k < sizeof kept / sizeof *kept; k++)
            if (kept[k].memory && kept[k].first < size) {
                size_t room = size - kept[k].first;
                room = room < kept[k].bytes ? room : kept[k].bytes;
                CHECK(memcmp(kept[k].memory, expected + kept[k].first, room) == 0);
            }
    }
    for (size_t k = 0; k < sizeof kept / sizeof *kept; k++)
        CHECK(!kept[k].memory || dfs_munmap(kept[k].memory, kept[k].bytes) == 0);
    CHECK(dfs_close(fd) == 0);
}

int main(int argc, char **argv)
{
    CHECK(argc == 2 && dfs_attach(argv[1], 0) == 0);
    for (size_t bytes = 4; bytes <= sizeof buffer; bytes = bytes * 3 + 1)
        is_coherent(bytes);
    is_coherent(PAGE);
    is_shared();
    ends_are_ends();
    parts();
    random_calls(20000);
    strangers();
    deaths(argv[1]);
    CHECK(dfs_detach() == 0);
    return 0;
}
