/* A program that uses DenseFS from C. It prints nothing if everything works like system calls. */
#include <densefs.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "check.h"

#define FAILS(call, why)                                                       \
    do {                                                                       \
        errno = 0;                                                             \
        CHECK((call) == -1 && errno == (why));                                 \
    } while (0)

static void files(void)
{
    char text[16] = "";
    struct stat stat;

    FAILS(dfs_open("missing", O_RDONLY), ENOENT);
    int fd = dfs_open("/file", O_RDWR | O_CREAT | O_EXCL, 0640);
    CHECK(fd == 0);
    FAILS(dfs_open("/file", O_RDWR | O_CREAT | O_EXCL, 0640), EEXIST);
    CHECK(dfs_write(fd, "hello world", 11) == 11);
    CHECK(dfs_lseek(fd, 6, SEEK_SET) == 6);
    CHECK(dfs_read(fd, text, sizeof text) == 5 && strcmp(text, "world") == 0);
    CHECK(dfs_pread(fd, text, 5, 0) == 5 && strcmp(text, "hello") == 0);
    CHECK(dfs_pwrite(fd, "J", 1, 0) == 1);
    FAILS(dfs_pread(fd, text, 1, -1), EINVAL);
    FAILS(dfs_lseek(fd, 0, 99), EINVAL);
    CHECK(dfs_fstat(fd, &stat) == 0 && stat.st_size == 11 && stat.st_nlink == 1);
    CHECK(stat.st_mode == (S_IFREG | 0640) && stat.st_uid == geteuid());
    CHECK(stat.st_blocks == 1 && stat.st_mtim.tv_sec > 1600000000);
    int other = dfs_dup(fd);
    CHECK(other == 1 && dfs_lseek(other, 0, SEEK_CUR) == 11);
    CHECK(dfs_dup2(fd, 20) == 20 && dfs_fcntl(20, F_GETFL) == O_RDWR);
    CHECK(dfs_fcntl(fd, F_DUPFD, 10) == 10);
    CHECK(dfs_close(10) == 0 && dfs_close(20) == 0 && dfs_close(other) == 0);
    FAILS(dfs_close(other), EBADF);
    FAILS(dfs_close(-1), EBADF);
    CHECK(dfs_ftruncate(fd, 4) == 0 && dfs_stat("file", &stat) == 0 && stat.st_size == 4);
    CHECK(dfs_fsync(fd) == 0 && dfs_close(fd) == 0);
}

static void names(void)
{
    char text[64] = "";
    struct stat stat;
    struct statvfs room;

    CHECK(dfs_mkdir("/sub", 0755) == 0);
    FAILS(dfs_mkdir("/sub", 0755), EEXIST);
    CHECK(dfs_symlink("../file", "/sub/link") == 0);
    CHECK(dfs_readlink("/sub/link", text, sizeof text) == 7 && strcmp(text, "../file") == 0);
    CHECK(dfs_stat("/sub/link", &stat) == 0 && S_ISREG(stat.st_mode));
    CHECK(dfs_lstat("/sub/link", &stat) == 0 && S_ISLNK(stat.st_mode) && stat.st_size == 7);
    CHECK(dfs_link("/file", "/sub/second") == 0);
    CHECK(dfs_stat("/file", &stat) == 0 && stat.st_nlink == 2);
    CHECK(dfs_rename("/sub/second", "/sub/third") == 0);
    FAILS(dfs_renameat2(AT_FDCWD, "/file", AT_FDCWD, "/sub/third", 1), EEXIST);
    CHECK(dfs_chdir("/sub") == 0);
    CHECK(dfs_getcwd(text, sizeof text) == text && strcmp(text, "/sub") == 0);
    CHECK(dfs_getcwd(text, 4) == NULL && errno == ERANGE);
    CHECK(dfs_access("third", R_OK | W_OK) == 0);
    CHECK(dfs_chmod("third", 0444) == 0 && dfs_stat("/file", &stat) == 0);
    CHECK((stat.st_mode & 0777) == 0444);
    int dir = dfs_open("..", O_RDONLY | O_DIRECTORY);
    CHECK(dir >= 0 && dfs_fstatat(dir, "file", &stat, 0) == 0);
    FAILS(dfs_unlinkat(dir, "sub", 0), EISDIR);
    FAILS(dfs_unlinkat(dir, "sub", AT_REMOVEDIR), ENOTEMPTY);
    CHECK(dfs_close(dir) == 0 && dfs_chdir("/") == 0);
    CHECK(dfs_mkfifo("/fifo", 0600) == 0 && dfs_stat("/fifo", &stat) == 0);
    CHECK(S_ISFIFO(stat.st_mode));
    if (geteuid() == 0) {
        CHECK(dfs_mknod("/device", S_IFCHR | 0600, makedev(300, 70000)) == 0);
        CHECK(dfs_stat("/device", &stat) == 0 && S_ISCHR(stat.st_mode) && stat.st_size == 0);
        CHECK(stat.st_rdev == makedev(300, 70000));
        FAILS(dfs_open("/device", O_RDONLY), ENXIO);
        CHECK(dfs_unlink("/device") == 0);
    } else {
        FAILS(dfs_mknod("/device", S_IFCHR | 0600, 1), EPERM);
    }
    CHECK(dfs_statvfs("/", &room) == 0 && room.f_bfree > 0 && room.f_bfree < room.f_blocks);
    struct timespec times[2] = {{0, UTIME_OMIT}, {12, 34}};
    CHECK(dfs_utimensat(AT_FDCWD, "/fifo", times, 0) == 0 && dfs_stat("/fifo", &stat) == 0);
    CHECK(stat.st_mtim.tv_sec == 12 && stat.st_mtim.tv_nsec == 34);
    CHECK(stat.st_atim.tv_sec == 12 && stat.st_atim.tv_nsec == 34);
    struct timespec accessed[2] = {{56, 78}, {0, UTIME_OMIT}};
    CHECK(dfs_utimensat(AT_FDCWD, "/fifo", accessed, 0) == 0 && dfs_stat("/fifo", &stat) == 0);
    CHECK(stat.st_atim.tv_sec == 56 && stat.st_atim.tv_nsec == 78 && stat.st_mtim.tv_sec == 12);
}

static void lists(void)
{
    char name[32];
    unsigned seen[300] = {0};

    CHECK(dfs_mkdir("/many", 0755) == 0);
    for (int i = 0; i < 300; i++) {
        snprintf(name, sizeof name, "/many/%d", i);
        CHECK(dfs_close(dfs_creat(name, 0600)) == 0);
    }
    DFS_DIR *dir = dfs_opendir("/many");
    CHECK(dir != NULL);
    struct dirent *entry;
    unsigned dots = 0, count = 0;
    long middle = 0;
    while ((entry = dfs_readdir(dir)) != NULL) {
        if (entry->d_name[0] == '.') {
            CHECK(entry->d_type == DT_DIR);
            dots++;
            continue;
        }
        CHECK(entry->d_type == DT_REG);
        seen[atoi(entry->d_name)]++;
        if (++count == 150)
            middle = dfs_telldir(dir);
    }
    CHECK(dots == 2 && count == 300);
    for (int i = 0; i < 300; i++)
        CHECK(seen[i] == 1);
    dfs_seekdir(dir, middle);
    for (count = 0; dfs_readdir(dir) != NULL; count++)
        ;
    CHECK(count == 150);
    dfs_rewinddir(dir);
    CHECK(dfs_readdir(dir)->d_name[0] == '.');
    CHECK(dfs_closedir(dir) == 0);
    CHECK(dfs_opendir("/file") == NULL && errno == ENOTDIR);
}

/* A child inherits its parent's descriptors, offsets and working directory. */
static void forks(void)
{
    char text[8] = "";
    int status;

    CHECK(dfs_chdir("/many") == 0);
    int fd = dfs_open("shared", O_RDWR | O_CREAT, 0600);
    CHECK(fd >= 0 && dfs_write(fd, "abcdef", 6) == 6 && dfs_lseek(fd, 1, SEEK_SET) == 1);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        CHECK(dfs_read(fd, text, 2) == 2 && strcmp(text, "bc") == 0);
        CHECK(dfs_unlink("shared") == 0);
        pid_t grandchild = fork();
        if (grandchild == 0) {
            CHECK(dfs_read(fd, text, 1) == 1 && text[0] == 'd');
            _exit(0);
        }
        CHECK(waitpid(grandchild, &status, 0) == grandchild && status == 0);
        CHECK(dfs_close(fd) == 0 && dfs_open("/", O_RDONLY) == fd);
        abort();
    }
    CHECK(waitpid(child, &status, 0) == child && WIFSIGNALED(status));
    CHECK(dfs_read(fd, text, 2) == 2 && text[0] == 'e');
    CHECK(dfs_close(fd) == 0 && dfs_chdir("/") == 0);
}

static void space(void)
{
    char text[8192] = "";
    int fd = dfs_open("/space", O_RDWR | O_CREAT, 0600);
    struct stat stat;
    CHECK(fd >= 0 && dfs_fallocate(fd, 0, 0, 20000) == 0);
    CHECK(dfs_fstat(fd, &stat) == 0 && stat.st_size == 20000 && stat.st_blocks >= 40);
    FAILS(dfs_fallocate(fd, FALLOC_FL_PUNCH_HOLE, 0, 1), EOPNOTSUPP);
    FAILS(dfs_fallocate(fd, 0, 0, 0), EINVAL);
    CHECK(dfs_pwrite(fd, "abc", 3, 9000) == 3);
    CHECK(dfs_fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 8192) == 0);
    CHECK(dfs_lseek(fd, 0, SEEK_DATA) == 8192 && dfs_lseek(fd, 0, SEEK_HOLE) == 0);
    FAILS(dfs_lseek(fd, 20000, SEEK_DATA), ENXIO);
    int copy = dfs_open("/copy", O_RDWR | O_CREAT, 0600);
    off_t from = 9000;
    CHECK(dfs_copy_file_range(fd, &from, copy, NULL, 1000, 0) == 1000 && from == 10000);
    CHECK(dfs_lseek(copy, 0, SEEK_CUR) == 1000 && dfs_pread(copy, text, 3, 0) == 3);
    CHECK(strcmp(text, "abc") == 0);
    FAILS(dfs_copy_file_range(fd, &from, fd, &from, 1000, 0), EINVAL);
    CHECK(dfs_close(fd) == 0 && dfs_close(copy) == 0);
    fd = dfs_open("/", O_RDWR | O_TMPFILE, 0600);
    CHECK(fd >= 0 && dfs_write(fd, "later", 5) == 5);
    CHECK(dfs_linkat(fd, "", AT_FDCWD, "/named", AT_EMPTY_PATH) == 0);
    CHECK(dfs_close(fd) == 0 && dfs_stat("/named", &stat) == 0 && stat.st_size == 5);
}

static void attributes(void)
{
    char text[100] = "";
    CHECK(dfs_mkdir("/kept", 0700) == 0);
    FAILS(dfs_getxattr("/kept", "user.colour", text, sizeof text), ENODATA);
    CHECK(dfs_setxattr("/kept", "user.colour", "blue", 4, XATTR_CREATE) == 0);
    FAILS(dfs_setxattr("/kept", "user.colour", "red", 3, XATTR_CREATE), EEXIST);
    FAILS(dfs_setxattr("/kept", "user.size", "5", 1, XATTR_REPLACE), ENODATA);
    FAILS(dfs_setxattr("/kept", "colour", "red", 3, 0), EOPNOTSUPP);
    CHECK(dfs_getxattr("/kept", "user.colour", NULL, 0) == 4);
    FAILS(dfs_getxattr("/kept", "user.colour", text, 3), ERANGE);
    CHECK(dfs_getxattr("/kept", "user.colour", text, sizeof text) == 4);
    CHECK(strcmp(text, "blue") == 0);
    CHECK(dfs_listxattr("/kept", text, sizeof text) == 12 && strcmp(text, "user.colour") == 0);
    int fd = dfs_open("/kept", O_RDONLY);
    CHECK(dfs_fremovexattr(fd, "user.colour") == 0 && dfs_flistxattr(fd, NULL, 0) == 0);
    CHECK(dfs_close(fd) == 0 && dfs_rmdir("/kept") == 0);
}

/* Locks a byte far behind, and has a child ask whose lock that is. */
static void be_known_by_lock(int fd)
{
    int status;
    struct flock far = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 1000, .l_len = 1};
    CHECK(dfs_fcntl(fd, F_SETLK, &far) == 0);
    pid_t child = fork();
    if (child == 0)
        _exit(dfs_fcntl(fd, F_GETLK, &far) == 0 && far.l_pid == getppid() ? 0 : 1);
    CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
}

/* Tries to take an exclusive lock in a child, without waiting: 0, or its errno. */
static int lock_in_child(int ofd)
{
    int status;
    pid_t child = fork();
    if (child == 0) {
        int fd = dfs_open("/locked", O_RDWR);
        be_known_by_lock(fd);
        struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 5, .l_len = 1};
        int done = ofd ? dfs_flock(fd, LOCK_EX | LOCK_NB) : dfs_fcntl(fd, F_SETLK, &lock);
        _exit(done == 0 ? 0 : errno);
    }
    CHECK(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void locks(void)
{
    int fd = dfs_open("/locked", O_RDWR | O_CREAT, 0600);
    struct flock lock = {.l_type = F_RDLCK, .l_whence = SEEK_SET, .l_start = 0, .l_len = 10};
    CHECK(fd >= 0 && dfs_fcntl(fd, F_SETLK, &lock) == 0);
    CHECK(lock_in_child(0) == EAGAIN);
    lock.l_start = 3;
    lock.l_len = 0;
    lock.l_type = F_UNLCK;
    CHECK(dfs_fcntl(fd, F_SETLK, &lock) == 0 && lock_in_child(0) == 0);
    CHECK(dfs_flock(fd, LOCK_SH) == 0 && lock_in_child(1) == EAGAIN);
    CHECK(dfs_flock(fd, LOCK_UN) == 0 && lock_in_child(1) == 0);
    FAILS(dfs_flock(fd, 99), EINVAL);
    CHECK(dfs_close(fd) == 0);
}

/* Streams write, move and read, and end with their descriptor. */
static void streams(void)
{
    char text[64] = "";
    FILE *file = dfs_fopen("/stream", "w+");
    CHECK(file != NULL && fprintf(file, "%d lines\n", 12) == 9);
    CHECK(fseek(file, 3, SEEK_SET) == 0 && fgets(text, sizeof text, file) == text);
    CHECK(strcmp(text, "lines\n") == 0 && fclose(file) == 0);
    int fd = dfs_open("/stream", O_WRONLY);
    CHECK(dfs_fdopen(fd, "r") == NULL && errno == EINVAL);
    file = dfs_fdopen(fd, "a");
    CHECK(file != NULL && (dfs_fcntl(fd, F_GETFL) & O_APPEND) != 0);
    CHECK(fputs("more\n", file) >= 0 && fclose(file) == 0);
    FAILS(dfs_fcntl(fd, F_GETFD), EBADF);
    struct stat stat;
    CHECK(dfs_stat("/stream", &stat) == 0 && stat.st_size == 14);
    CHECK(dfs_fopen("/nowhere/stream", "r") == NULL && errno == ENOENT);
}

/* Buffers are written in one step, also by processes that append to the same file. */
static void vectors(void)
{
    enum { ROUNDS = 2000 };
    static char text[ROUNDS * 2 * 4];
    int status;
    int fd = dfs_open("/lines", O_RDWR | O_CREAT | O_APPEND, 0600);
    pid_t child = fork();
    char letter = child == 0 ? 'b' : 'a';
    struct iovec parts[3] = {{&letter, 1}, {&letter, 1}, {"-\n", 2}};
    for (int i = 0; i < ROUNDS; i++)
        CHECK(dfs_writev(fd, parts, 3) == 4);
    if (child == 0)
        _exit(0);
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    CHECK(dfs_pread(fd, text, sizeof text, 0) == sizeof text);
    for (int i = 0; i < ROUNDS * 2; i++)
        CHECK(memcmp(text + i * 4, "aa-\n", 4) == 0 || memcmp(text + i * 4, "bb-\n", 4) == 0);
    CHECK(dfs_close(fd) == 0);
}

static pid_t owner;
static int owner_ends[2];

/* Starts a process that attaches the arena, takes a lock, and has a child that outlives it. */
static void start_owner(const char *arena)
{
    CHECK(pipe(owner_ends) == 0);
    owner = fork();
    CHECK(owner >= 0);
    if (owner > 0)
        return;
    CHECK(prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && dfs_attach(arena, 0) == 0);
    int fd = dfs_open("/owned", O_RDWR | O_CREAT, 0600);
    pid_t parent = getpid();
    pid_t child = fork();
    if (child == 0) {
        CHECK(close(owner_ends[1]) == 0);
        while (getppid() == parent)
            usleep(1000);
        /* Runs until the waiting process has got the lock. */
        for (int i = 0; i < 60000 && dfs_access("/had", F_OK) != 0; i++)
            usleep(1000);
        _exit(0);
    }
    int own = dfs_open("/owned", O_RDWR);
    CHECK(fd >= 0 && child > 0 && dfs_flock(own, LOCK_EX) == 0);
    CHECK(write(owner_ends[1], "x", 1) == 1);
    for (;;)
        pause();
}

/* A lock of a dead process can be taken, although a child of that process is alive. */
static void inherit(void)
{
    char byte;
    int status;
    CHECK(read(owner_ends[0], &byte, 1) == 1);
    int fd = dfs_open("/owned", O_RDWR);
    FAILS(dfs_flock(fd, LOCK_EX | LOCK_NB), EAGAIN);
    pid_t killer = fork();
    if (killer == 0) {
        usleep(50000);
        kill(owner, SIGKILL);
        _exit(0);
    }
    CHECK(dfs_flock(fd, LOCK_EX) == 0 && dfs_mkdir("/had", 0700) == 0);
    CHECK(waitpid(owner, &status, 0) == owner && waitpid(killer, &status, 0) == killer);
    CHECK(close(owner_ends[0]) == 0 && close(owner_ends[1]) == 0 && dfs_close(fd) == 0);
}

/* What a program has opened instead of the arena, whose descriptor it closed, is not written to. */
static void replace(const char *arena)
{
    int status;
    pid_t child = fork();
    if (child > 0) {
        CHECK(waitpid(child, &status, 0) == child && status == 0);
        return;
    }
    struct stat it, one;
    static char all[8 << 20];
    int other = memfd_create("other", 0), replaced = 0;
    int fd = dfs_open("/all", O_RDWR | O_CREAT, 0600);
    CHECK(child == 0 && other >= 0 && fd >= 0 && stat(arena, &it) == 0);
    for (int n = 0; n < 1 << 17; n++) {
        if (fstat(n, &one) != 0 || one.st_ino != it.st_ino || one.st_dev != it.st_dev)
            continue;
        CHECK(dup2(other, n) == n);
        replaced++;
    }
    ssize_t written = dfs_write(fd, all, sizeof all);
    CHECK(replaced > 0 && written < (ssize_t)sizeof all);
    FAILS(dfs_pwrite(fd, all, sizeof all, 16 << 20), ENOSPC);
    CHECK(fstat(other, &one) == 0 && one.st_size == 0);
    CHECK(dfs_ftruncate(fd, 0) == 0 && dfs_close(fd) == 0 && dfs_unlink("/all") == 0);
    _exit(0);
}

int main(int argc, char **argv)
{
    CHECK(argc == 2);
    alarm(15 * 60); /* Rather than hang forever. */
    FAILS(dfs_open("/file", O_RDONLY), ENXIO);
    FAILS(dfs_attach("/dev/null", 0), EINVAL);
    FAILS(dfs_attach("/nowhere/arena", 0), ENOENT);
    FAILS(dfs_attach(argv[1], 1), EINVAL);
    start_owner(argv[1]);
    CHECK(dfs_attach(argv[1], 0) == 0);
    FAILS(dfs_attach(argv[1], 0), EBUSY);
    inherit();
    replace(argv[1]);
    files();
    names();
    lists();
    space();
    attributes();
    locks();
    streams();
    vectors();
    forks();
    CHECK(dfs_detach() == 0);
    FAILS(dfs_open("/file", O_RDONLY), ENXIO);
    return 0;
}
