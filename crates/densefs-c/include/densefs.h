/*
 * DenseFS for C: system calls with a prefix, for files in an arena.
 *
 * Arguments, results and errno are those of the call without the prefix. Descriptors, the working
 * directory and the umask are separate from the system's: descriptor 3 of DenseFS has nothing to do
 * with the system's descriptor 3, and only these functions accept it. All functions are
 * thread-safe; none may be called from a signal handler. A child made by fork() has everything that
 * its parent has open, as usual; a newly executed program has nothing open.
 *
 * Credentials and the umask are those that the process had when it attached.
 */
#ifndef DENSEFS_H
#define DENSEFS_H

#include <dirent.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/types.h>
#include <sys/uio.h>

/* These are defined by <time.h>, <sys/stat.h>, <ftw.h> and <fts.h>, some only with _GNU_SOURCE. */
struct timespec;
struct statx;
struct FTW;
struct _ftsent;

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Attaches the arena in a file made by `fsprism densefs mkfs`; flags must be 0. A process can have
 * one arena attached at a time; while it has none, all other calls fail with ENXIO. EBUSY: an arena
 * is attached already; EINVAL: the file is not a DenseFS; EPROTONOSUPPORT: it is a DenseFS of
 * another version; EUSERS: too many processes use it.
 */
int dfs_attach(const char *arena, int flags);
/* Closes everything that is open, and detaches the arena. */
int dfs_detach(void);

int dfs_open(const char *path, int flags, ...);
int dfs_openat(int dirfd, const char *path, int flags, ...);
int dfs_creat(const char *path, mode_t mode);
int dfs_close(int fd);
ssize_t dfs_read(int fd, void *buf, size_t count);
ssize_t dfs_write(int fd, const void *buf, size_t count);
ssize_t dfs_pread(int fd, void *buf, size_t count, off_t offset);
ssize_t dfs_pwrite(int fd, const void *buf, size_t count, off_t offset);
ssize_t dfs_readv(int fd, const struct iovec *parts, int count);
ssize_t dfs_writev(int fd, const struct iovec *parts, int count);
ssize_t dfs_preadv(int fd, const struct iovec *parts, int count, off_t offset);
ssize_t dfs_pwritev(int fd, const struct iovec *parts, int count, off_t offset);
/*
 * Support the flags RWF_HIPRI, RWF_DSYNC, RWF_SYNC, RWF_APPEND and RWF_NOAPPEND; EOPNOTSUPP for all
 * others.
 */
ssize_t dfs_preadv2(int fd, const struct iovec *parts, int count, off_t offset, int flags);
ssize_t dfs_pwritev2(int fd, const struct iovec *parts, int count, off_t offset, int flags);
off_t dfs_lseek(int fd, off_t offset, int whence);
int dfs_truncate(const char *path, off_t length);
int dfs_ftruncate(int fd, off_t length);
int dfs_fsync(int fd);
int dfs_fdatasync(int fd);

int dfs_dup(int fd);
int dfs_dup2(int fd, int to);
int dfs_dup3(int fd, int to, int flags);
/*
 * Supports F_DUPFD, F_DUPFD_CLOEXEC, F_GETFD, F_SETFD, F_GETFL, F_SETFL, and locks: F_GETLK,
 * F_SETLK, F_SETLKW, and their variants F_OFD_...; EINVAL for all other commands. Deadlocks are not
 * detected: there is no EDEADLK. Of the flags, only O_APPEND changes what calls do.
 */
int dfs_fcntl(int fd, int command, ...);
int dfs_flock(int fd, int operation);

/*
 * Supports the modes 0, FALLOC_FL_KEEP_SIZE, and FALLOC_FL_KEEP_SIZE | FALLOC_FL_PUNCH_HOLE;
 * EOPNOTSUPP for all others.
 */
int dfs_fallocate(int fd, int mode, off_t offset, off_t length);
/* Returns the error number, and leaves errno as it was. */
int dfs_posix_fallocate(int fd, off_t offset, off_t length);
ssize_t dfs_copy_file_range(int in, off_t *in_offset, int out, off_t *out_offset, size_t length,
                            unsigned int flags);

/* Supports the attributes user.*, trusted.* and security.*; EOPNOTSUPP for all others. */
int dfs_setxattr(const char *path, const char *name, const void *value, size_t size, int flags);
int dfs_lsetxattr(const char *path, const char *name, const void *value, size_t size, int flags);
int dfs_fsetxattr(int fd, const char *name, const void *value, size_t size, int flags);
ssize_t dfs_getxattr(const char *path, const char *name, void *value, size_t size);
ssize_t dfs_lgetxattr(const char *path, const char *name, void *value, size_t size);
ssize_t dfs_fgetxattr(int fd, const char *name, void *value, size_t size);
ssize_t dfs_listxattr(const char *path, char *list, size_t size);
ssize_t dfs_llistxattr(const char *path, char *list, size_t size);
ssize_t dfs_flistxattr(int fd, char *list, size_t size);
int dfs_removexattr(const char *path, const char *name);
int dfs_lremovexattr(const char *path, const char *name);
int dfs_fremovexattr(int fd, const char *name);

int dfs_stat(const char *path, struct stat *into);
int dfs_lstat(const char *path, struct stat *into);
int dfs_fstat(int fd, struct stat *into);
int dfs_fstatat(int dirfd, const char *path, struct stat *into, int flags);
/* The time of creation is not known: STATX_BTIME is never in stx_mask. */
int dfs_statx(int dirfd, const char *path, int flags, unsigned int mask, struct statx *into);
int dfs_access(const char *path, int mode);
int dfs_faccessat(int dirfd, const char *path, int mode, int flags);
int dfs_statvfs(const char *path, struct statvfs *into);
int dfs_fstatvfs(int fd, struct statvfs *into);

int dfs_mkdir(const char *path, mode_t mode);
int dfs_mkdirat(int dirfd, const char *path, mode_t mode);
int dfs_mknod(const char *path, mode_t mode, dev_t dev);
int dfs_mknodat(int dirfd, const char *path, mode_t mode, dev_t dev);
int dfs_mkfifo(const char *path, mode_t mode);
int dfs_mkfifoat(int dirfd, const char *path, mode_t mode);
int dfs_rmdir(const char *path);
int dfs_unlink(const char *path);
int dfs_unlinkat(int dirfd, const char *path, int flags);
int dfs_link(const char *old_path, const char *new_path);
int dfs_linkat(int old_dirfd, const char *old_path, int new_dirfd, const char *new_path, int flags);
int dfs_symlink(const char *target, const char *path);
int dfs_symlinkat(const char *target, int dirfd, const char *path);
ssize_t dfs_readlink(const char *path, char *buf, size_t size);
ssize_t dfs_readlinkat(int dirfd, const char *path, char *buf, size_t size);
int dfs_rename(const char *old_path, const char *new_path);
int dfs_renameat(int old_dirfd, const char *old_path, int new_dirfd, const char *new_path);
int dfs_renameat2(int old_dirfd, const char *old_path, int new_dirfd, const char *new_path,
                  unsigned int flags);

int dfs_chmod(const char *path, mode_t mode);
int dfs_fchmod(int fd, mode_t mode);
int dfs_fchmodat(int dirfd, const char *path, mode_t mode, int flags);
int dfs_chown(const char *path, uid_t owner, gid_t group);
int dfs_lchown(const char *path, uid_t owner, gid_t group);
int dfs_fchown(int fd, uid_t owner, gid_t group);
int dfs_fchownat(int dirfd, const char *path, uid_t owner, gid_t group, int flags);
/* Both take two times: of the last access, and of the last modification. */
int dfs_utimensat(int dirfd, const char *path, const struct timespec *times, int flags);
int dfs_futimens(int fd, const struct timespec *times);
mode_t dfs_umask(mode_t mask);

typedef struct dfs_dir DFS_DIR;
DFS_DIR *dfs_opendir(const char *path);
DFS_DIR *dfs_fdopendir(int fd);
struct dirent *dfs_readdir(DFS_DIR *dir);
void dfs_rewinddir(DFS_DIR *dir);
long dfs_telldir(DFS_DIR *dir);
void dfs_seekdir(DFS_DIR *dir, long position);
int dfs_dirfd(DFS_DIR *dir);
int dfs_closedir(DFS_DIR *dir);

/*
 * Memory past the file's last page raises SIGBUS, also if the file grows later; pages that are cut
 * off while they are mapped turn into zeros. Holes of a shared mapping are filled (ENOSPC). The
 * system's mprotect, msync and madvise work on this memory; unmap it by dfs_munmap, which is
 * otherwise like munmap, so that the arena knows.
 */
void *dfs_mmap(void *start, size_t length, int protection, int flags, int fd, off_t offset);
int dfs_munmap(void *start, size_t length);

int dfs_chdir(const char *path);
int dfs_fchdir(int fd);
char *dfs_getcwd(char *buf, size_t size);
char *dfs_realpath(const char *path, char *resolved);

int dfs_mkstemp(char *path);
int dfs_mkstemps(char *path, int suffix_length);
int dfs_mkostemp(char *path, int flags);
int dfs_mkostemps(char *path, int suffix_length, int flags);
char *dfs_mkdtemp(char *path);

int dfs_ftw(const char *path, int (*visit)(const char *, const struct stat *, int), int fd_max);
int dfs_nftw(const char *path, int (*visit)(const char *, const struct stat *, int, struct FTW *),
             int fd_max, int flags);

/* As <fts.h>, whose FTSENT is a struct _ftsent. FTS_NOCHDIR is always set. */
typedef struct dfs_fts DFS_FTS;
DFS_FTS *dfs_fts_open(char *const *paths, int options,
                      int (*compare)(const struct _ftsent **, const struct _ftsent **));
struct _ftsent *dfs_fts_read(DFS_FTS *stream);
struct _ftsent *dfs_fts_children(DFS_FTS *stream, int options);
int dfs_fts_set(DFS_FTS *stream, struct _ftsent *entry, int instruction);
int dfs_fts_close(DFS_FTS *stream);

/*
 * Streams of <stdio.h>, for all of its functions except fileno and freopen: they have no descriptor
 * of the system's.
 */
FILE *dfs_fopen(const char *path, const char *mode);
FILE *dfs_fdopen(int fd, const char *mode);

#ifdef __cplusplus
}
#endif

#endif
