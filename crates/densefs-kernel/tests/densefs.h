/*
 * The calls of DenseFS in a guest's kernel, as functions like those of its library, so that the
 * library's differential test can be compiled for them.
 */
#ifndef DENSEFS_H
#define DENSEFS_H

#include "calls.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

enum {
    BEFORE_FIRST = DENSEFS_FIRST_CALL - 1,
#define DENSEFS_NUMBER(call) number_of_##call,
    DENSEFS_EACH_CALL(DENSEFS_NUMBER)
#undef DENSEFS_NUMBER
};

/* A function that only makes the call. */
#define CALLS1(name, A)                                                                            \
    static inline long dfs_##name(A a) { return syscall(number_of_dfs_##name, a); }
#define CALLS2(name, A, B)                                                                         \
    static inline long dfs_##name(A a, B b) { return syscall(number_of_dfs_##name, a, b); }
#define CALLS3(name, A, B, C)                                                                      \
    static inline long dfs_##name(A a, B b, C c) { return syscall(number_of_dfs_##name, a, b, c); }
#define CALLS4(name, A, B, C, D)                                                                   \
    static inline long dfs_##name(A a, B b, C c, D d) {                                            \
        return syscall(number_of_dfs_##name, a, b, c, d);                                          \
    }
#define CALLS5(name, A, B, C, D, E)                                                                \
    static inline long dfs_##name(A a, B b, C c, D d, E e) {                                       \
        return syscall(number_of_dfs_##name, a, b, c, d, e);                                       \
    }

CALLS4(openat, int, const char *, int, mode_t)
CALLS3(open, const char *, int, mode_t)
CALLS2(creat, const char *, mode_t)
CALLS1(close, int)
CALLS3(read, int, void *, size_t)
CALLS3(write, int, const void *, size_t)
CALLS3(lseek, int, off_t, int)
CALLS1(dup, int)
CALLS2(dup2, int, int)
CALLS3(dup3, int, int, int)
CALLS1(fsync, int)
CALLS2(truncate, const char *, off_t)
CALLS2(ftruncate, int, off_t)
CALLS4(fallocate, int, int, off_t, off_t)
CALLS3(mkdirat, int, const char *, mode_t)
CALLS2(mkdir, const char *, mode_t)
CALLS3(mknod, const char *, mode_t, dev_t)
CALLS4(mknodat, int, const char *, mode_t, dev_t)
CALLS3(unlinkat, int, const char *, int)
CALLS1(unlink, const char *)
CALLS1(rmdir, const char *)
CALLS5(renameat2, int, const char *, int, const char *, unsigned)
CALLS2(rename, const char *, const char *)
CALLS5(linkat, int, const char *, int, const char *, int)
CALLS3(symlinkat, const char *, int, const char *)
CALLS4(readlinkat, int, const char *, char *, size_t)
CALLS1(chdir, const char *)
CALLS1(fchdir, int)
CALLS2(chmod, const char *, mode_t)
CALLS2(fchmod, int, mode_t)
CALLS3(chown, const char *, uid_t, gid_t)
CALLS3(lchown, const char *, uid_t, gid_t)
CALLS3(fchown, int, uid_t, gid_t)
CALLS2(stat, const char *, struct stat *)
CALLS2(lstat, const char *, struct stat *)
CALLS2(fstat, int, struct stat *)
CALLS2(access, const char *, int)
CALLS3(getdents64, int, void *, size_t)
CALLS4(utimensat, int, const char *, const struct timespec *, int)

static inline long dfs_pread(int file, void *into, size_t count, off_t from) {
    return syscall(number_of_dfs_pread64, file, into, count, from);
}

static inline long dfs_pwrite(int file, const void *from, size_t count, off_t to) {
    return syscall(number_of_dfs_pwrite64, file, from, count, to);
}

static inline long dfs_fstatat(int base, const char *path, struct stat *found, int flags) {
    return syscall(number_of_dfs_newfstatat, base, path, found, flags);
}

static inline long dfs_mkfifo(const char *path, mode_t mode) {
    return dfs_mknod(path, (mode & 07777) | S_IFIFO, 0);
}

static inline char *dfs_getcwd(char *into, size_t size) {
    return syscall(number_of_dfs_getcwd, into, size) < 0 ? NULL : into;
}

#define dfs_fcntl(...) syscall(number_of_dfs_fcntl, __VA_ARGS__)

/* What neither side does in this test, since the module does not have it. */
#define dfs_attach(path, flags) 0
#define copy_file_range(...) (errno = ENOSYS, -1L)
#define dfs_copy_file_range(...) (errno = ENOSYS, -1L)

typedef struct {
    int file;
    long at, end;
    char entries[4096];
} DFS_DIR;

static inline DFS_DIR *dfs_opendir(const char *path) {
    long file = dfs_open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    DFS_DIR *directory = file < 0 ? NULL : malloc(sizeof *directory);
    if (directory) {
        directory->file = (int)file;
        directory->at = directory->end = 0;
    }
    return directory;
}

/* On x86-64, a dirent is what getdents64(2) answers with. */
static inline struct dirent *dfs_readdir(DFS_DIR *directory) {
    if (directory->at >= directory->end) {
        directory->at = 0;
        directory->end = dfs_getdents64(directory->file, directory->entries, 4096);
        if (directory->end <= 0) return NULL;
    }
    struct dirent *one = (struct dirent *)(directory->entries + directory->at);
    directory->at += one->d_reclen;
    return one;
}

static inline void dfs_closedir(DFS_DIR *directory) {
    dfs_close(directory->file);
    free(directory);
}

#endif
