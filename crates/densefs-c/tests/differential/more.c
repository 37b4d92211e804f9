/* More random calls, made on both sides: vectors, locks, extended attributes, whole trees. */
#include "both.h"

#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/xattr.h>
#include <unistd.h>

static const uid_t users[] = {0, 1000, 1001, (uid_t)-1, (uid_t)-1};
static const int at_flags[] = {0,             0, AT_SYMLINK_NOFOLLOW, AT_SYMLINK_NOFOLLOW,
                               AT_EMPTY_PATH, 1, AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW};
static const long parts_of_second[] = {0, 5, 999999999, 1000000000, UTIME_NOW, UTIME_OMIT, -1};
static char first_half[20000], second_half[20000], found[2][2][20000];

void write_times(const struct stat stat[2], const struct timespec times[2]) {
    for (int side = 0; side < 2; side++) {
        int length = 0;
        /* To follow a link is to access it. */
        if (answer[side] != 0 || S_ISLNK(stat[side].st_mode)) return;
        if (times[0].tv_nsec >= 0 && times[0].tv_nsec < 1000000000)
            length = sprintf(text[side], "atime %ld.%ld ", (long)stat[side].st_atim.tv_sec,
                             stat[side].st_atim.tv_nsec);
        if (times[1].tv_nsec >= 0 && times[1].tv_nsec < 1000000000)
            sprintf(text[side] + length, "mtime %ld.%ld", (long)stat[side].st_mtim.tv_sec,
                    stat[side].st_mtim.tv_nsec);
    }
}

static void set_times(void) {
    struct timespec times[2];
    struct stat stat[2];
    int at[2], slot = some_slot(at);
    for (int one = 0; one < 2; one++) {
        times[one].tv_sec = 1000000 + below(1000);
        times[one].tv_nsec = PICK(parts_of_second);
    }
    const struct timespec *given = chance(20) ? NULL : times;
    say("futimens(%d, %s %ld %ld)", slot, given ? "" : "NULL", times[0].tv_nsec, times[1].tv_nsec);
    BOTH(futimens(at[LINUX], given), dfs_futimens(at[DENSE], given));
    if (given && fstat(at[LINUX], &stat[LINUX]) == 0 && dfs_fstat(at[DENSE], &stat[DENSE]) == 0)
        write_times(stat, times);
}

static void change_owner_or_mode(const char *path, mode_t mode) {
    uid_t user = PICK(users), group = PICK(users);
    int at[2], flags = PICK(at_flags), slot;
    if ((flags & AT_EMPTY_PATH) && chance(70)) path = "";
    if (chance(40)) {
        slot = some_slot(at);
        say("fchown(%d, %d, %d)", slot, (int)user, (int)group);
        BOTH(fchown(at[LINUX], user, group), dfs_fchown(at[DENSE], user, group));
    } else if (chance(50)) {
        slot = some_directory(at);
        say("fchownat(%d, \"%s\", %d, %d, %#x)", slot, path, (int)user, (int)group, flags);
        BOTH(fchownat(at[LINUX], path, user, group, flags),
             dfs_fchownat(at[DENSE], path, user, group, flags));
    } else {
        enum { FCHMODAT2 = 452 };
        slot = some_directory(at);
        say("fchmodat(%d, \"%s\", %o, %#x)", slot, path, mode, flags);
        if (flags == 0)
            BOTH(fchmodat(at[LINUX], path, mode, 0), dfs_fchmodat(at[DENSE], path, mode, 0));
        else if (syscall(FCHMODAT2, -1, "", 0, 0) != 0 && errno != ENOSYS)
            BOTH(syscall(FCHMODAT2, at[LINUX], path, mode, flags),
                 dfs_fchmodat(at[DENSE], path, mode, flags));
    }
}

static void check_access(const char *path) {
    static const int flags_of_access[] = {0, 0, AT_EACCESS, AT_SYMLINK_NOFOLLOW, AT_EMPTY_PATH, 1};
    int at[2], slot = some_directory(at), flags = PICK(flags_of_access);
    int wanted = chance(5) ? 8 : (int)below(8);
    if ((flags & AT_EMPTY_PATH) && chance(70)) path = "";
    say("faccessat(%d, \"%s\", %d, %#x)", slot, path, wanted, flags);
    BOTH(faccessat(at[LINUX], path, wanted, flags), dfs_faccessat(at[DENSE], path, wanted, flags));
}

static void make_node(const char *path, mode_t mode) {
    static const mode_t types[] = {0, S_IFREG, S_IFIFO, S_IFSOCK, S_IFDIR, S_IFLNK, S_IFCHR, 030000};
    int at[2], slot = some_directory(at);
    if (chance(40)) {
        say("mkfifoat(%d, \"%s\", %o)", slot, path, mode);
        BOTH(mkfifoat(at[LINUX], path, mode), dfs_mkfifoat(at[DENSE], path, mode));
        return;
    }
    mode |= PICK(types);
    dev_t device = S_ISCHR(mode) ? 0x103 : 0;
    say("mknodat(%d, \"%s\", %o)", slot, path, mode);
    BOTH(mknodat(at[LINUX], path, mode, device), dfs_mknodat(at[DENSE], path, mode, device));
}

static const off_t offsets[] = {0, 1, 100, 4096, 9000, 1L << 33, -1, -2};

/* Two buffers, a first that is often empty, and a number of them that may be wrong. */
static int some_parts(struct iovec parts[3], void *one, void *other) {
    static const size_t lengths[] = {0, 0, 1, 7, 100, 4096, 5000, 20000};
    parts[0] = (struct iovec){one, PICK(lengths)};
    parts[1] = (struct iovec){other, PICK(lengths)};
    parts[2] = (struct iovec){NULL, chance(3) ? (size_t)-1 : 0};
    return chance(5) ? (chance(50) ? -1 : 1025) : (int)below(4);
}

static void read_parts(void) {
    static const int hows[] = {0, 0, 0, 1, 2, 4, 8, 0x10, 0x20, 0x1000};
    struct iovec parts[2][3];
    int at[2], slot = some_slot(at), how = PICK(hows);
    int count = some_parts(parts[LINUX], found[LINUX][0], found[LINUX][1]);
    off_t from = PICK(offsets);
    memcpy(parts[DENSE], parts[LINUX], sizeof parts[LINUX]);
    parts[DENSE][0].iov_base = found[DENSE][0];
    parts[DENSE][1].iov_base = found[DENSE][1];
    memset(found, 0, sizeof found);
    switch (below(3)) {
    case 0:
        say("readv(%d, %zu %zu %zu, %d)", slot, parts[0][0].iov_len, parts[0][1].iov_len,
            parts[0][2].iov_len, count);
        BOTH(readv(at[LINUX], parts[LINUX], count), dfs_readv(at[DENSE], parts[DENSE], count));
        break;
    case 1:
        say("preadv(%d, %zu %zu, %d, %ld)", slot, parts[0][0].iov_len, parts[0][1].iov_len, count,
            (long)from);
        BOTH(preadv(at[LINUX], parts[LINUX], count, from),
             dfs_preadv(at[DENSE], parts[DENSE], count, from));
        break;
    default:
        say("preadv2(%d, %zu %zu, %d, %ld, %#x)", slot, parts[0][0].iov_len, parts[0][1].iov_len,
            count, (long)from, how);
        BOTH(preadv2(at[LINUX], parts[LINUX], count, from, how),
             dfs_preadv2(at[DENSE], parts[DENSE], count, from, how));
    }
    if (answer[0] > 0 && answer[0] == answer[1] && memcmp(found[0], found[1], sizeof found[0]) != 0)
        strcpy(text[DENSE], "other bytes");
}

static void write_parts(void) {
    static const int hows[] = {0, 0, 0, 1, 2, 4, 8, 0x10, 0x10, 0x20, 0x20, 0x30, 0x1000};
    struct iovec parts[3];
    int at[2], slot = some_slot(at), how = PICK(hows);
    int count = some_parts(parts, first_half, second_half);
    off_t to = PICK(offsets);
    memset(first_half, 'A' + (int)below(26), sizeof first_half);
    memset(second_half, 'A' + (int)below(26), sizeof second_half);
    switch (below(3)) {
    case 0:
        say("writev(%d, %zu %zu, %d)", slot, parts[0].iov_len, parts[1].iov_len, count);
        BOTH(writev(at[LINUX], parts, count), dfs_writev(at[DENSE], parts, count));
        break;
    case 1:
        say("pwritev(%d, %zu %zu, %d, %ld)", slot, parts[0].iov_len, parts[1].iov_len, count,
            (long)to);
        BOTH(pwritev(at[LINUX], parts, count, to), dfs_pwritev(at[DENSE], parts, count, to));
        break;
    default:
        say("pwritev2(%d, %zu %zu, %d, %ld, %#x)", slot, parts[0].iov_len, parts[1].iov_len, count,
            (long)to, how);
        BOTH(pwritev2(at[LINUX], parts, count, to, how),
             dfs_pwritev2(at[DENSE], parts, count, to, how));
    }
}

static void look_by_statx(const char *path) {
    static const unsigned masks[] = {0, STATX_BASIC_STATS, STATX_ALL, STATX__RESERVED};
    struct statx stat[2];
    int at[2], slot = some_directory(at), flags = PICK(at_flags);
    unsigned mask = PICK(masks);
    if (chance(5)) flags |= chance(50) ? AT_STATX_SYNC_TYPE : AT_STATX_DONT_SYNC;
    if ((flags & AT_EMPTY_PATH) && chance(70)) path = "";
    say("statx(%d, \"%s\", %#x, %#x)", slot, path, flags, mask);
    BOTH(statx(at[LINUX], path, flags, mask, &stat[LINUX]),
         dfs_statx(at[DENSE], path, flags, mask, &stat[DENSE]));
    for (int side = 0; side < 2; side++) {
        const struct statx *one = &stat[side];
        int has_size = !S_ISDIR(one->stx_mode);
        if (answer[side] == 0)
            sprintf(text[side], "mask %x mode %o links %u uid %u gid %u size %llu rdev %u:%u",
                    one->stx_mask & STATX_BASIC_STATS & ~(STATX_MTIME | STATX_CTIME), one->stx_mode, one->stx_nlink, one->stx_uid,
                    one->stx_gid, has_size ? (unsigned long long)one->stx_size : 0ULL,
                    one->stx_rdev_major, one->stx_rdev_minor);
    }
}

static void allocate(void) {
    static const off_t lengths[] = {0, 1, 100, 4096, 60000, -1};
    static const off_t starts[] = {0, 1, 5000, 100000, -1};
    off_t from = PICK(starts), length = PICK(lengths);
    int at[2], slot = some_slot(at);
    say("posix_fallocate(%d, %ld, %ld)", slot, (long)from, (long)length);
    BOTH(posix_fallocate(at[LINUX], from, length), dfs_posix_fallocate(at[DENSE], from, length));
}

static void control(void) {
    static const int settable[] = {0, O_APPEND, O_NONBLOCK, O_APPEND | O_NOATIME, O_NOATIME,
                                   O_DIRECT, O_DIRECT | O_APPEND, O_RDWR | O_CREAT, -1};
    int at[2], slot = some_slot(at);
    int value = (int)below(3) - 1, flags = PICK(settable);
    switch (below(6)) {
    case 0:
        say("fcntl(%d, F_GETFD)", slot);
        BOTH(fcntl(at[LINUX], F_GETFD), dfs_fcntl(at[DENSE], F_GETFD));
        break;
    case 1:
        say("fcntl(%d, F_SETFD, %d)", slot, value);
        BOTH(fcntl(at[LINUX], F_SETFD, value), dfs_fcntl(at[DENSE], F_SETFD, value));
        break;
    case 2: case 3:
        say("fcntl(%d, F_SETFL, %#o)", slot, (unsigned)flags);
        BOTH(fcntl(at[LINUX], F_SETFL, flags), dfs_fcntl(at[DENSE], F_SETFL, flags));
        break;
    case 4:
        say("fcntl(%d, F_DUPFD_CLOEXEC, %d)", slot, value);
        BOTH(fcntl(at[LINUX], F_DUPFD_CLOEXEC, value),
             dfs_fcntl(at[DENSE], F_DUPFD_CLOEXEC, value));
        keep();
        break;
    default:
        say("fcntl(%d, 9999)", slot);
        BOTH(fcntl(at[LINUX], 9999), dfs_fcntl(at[DENSE], 9999));
    }
}

static void duplicate(void) {
    int at[2], to[2], slot = some_slot(at), other = some_slot(to), is_three = chance(50);
    int flags = chance(30) ? O_CLOEXEC : chance(5) ? O_APPEND : 0;
    if (is_three) {
        say("dup3(%d, %d, %#o)", slot, other, flags);
        BOTH(dup3(at[LINUX], to[LINUX], flags), dfs_dup3(at[DENSE], to[DENSE], flags));
    } else {
        say("dup2(%d, %d)", slot, other);
        BOTH(dup2(at[LINUX], to[LINUX]), dfs_dup2(at[DENSE], to[DENSE]));
    }
    for (int side = 0; side < 2; side++)
        if (answer[side] >= 0) answer[side] = answer[side] == to[side];
}

static void lock(void) {
    static const int commands[] = {F_SETLK, F_SETLK, F_GETLK, F_OFD_SETLK, F_OFD_SETLK, F_OFD_GETLK};
    static const short types[] = {F_RDLCK, F_WRLCK, F_UNLCK, 9};
    static const short whences[] = {SEEK_SET, SEEK_SET, SEEK_CUR, SEEK_END, 7};
    static const off_t lengths[] = {0, 1, 10, -5, 1000};
    static const int operations[] = {LOCK_SH, LOCK_EX, LOCK_UN, 0, 16};
    int at[2], slot = some_slot(at);
    if (chance(35)) {
        int operation = PICK(operations) | LOCK_NB;
        say("flock(%d, %d)", slot, operation);
        BOTH(flock(at[LINUX], operation), dfs_flock(at[DENSE], operation));
        return;
    }
    int command = PICK(commands);
    struct flock lock[2];
    struct stat stat;
    memset(lock, 0, sizeof lock);
    /* F_OFD_GETLK of no lock has a meaning since Linux 6.6 only. */
    lock[0].l_type = types[below(command == F_OFD_GETLK ? 2 : chance(5) ? 4 : 3)];
    lock[0].l_whence = whences[below(chance(5) ? 5 : 4)];
    lock[0].l_start = (off_t)below(20) - 2;
    lock[0].l_len = PICK(lengths);
    /* How large a directory is, and where in it a descriptor is, is up to a file system. */
    if (fstat(at[LINUX], &stat) == 0 && S_ISDIR(stat.st_mode)) lock[0].l_whence = SEEK_SET;
    lock[1] = lock[0];
    say("fcntl(%d, %d, %d %d %ld %ld)", slot, command, lock[0].l_type, lock[0].l_whence,
        (long)lock[0].l_start, (long)lock[0].l_len);
    BOTH(fcntl(at[LINUX], command, &lock[LINUX]), dfs_fcntl(at[DENSE], command, &lock[DENSE]));
    if (command != F_GETLK && command != F_OFD_GETLK) return;
    for (int side = 0; side < 2; side++)
        if (answer[side] == 0)
            sprintf(text[side], "%d %d %ld %ld %d", lock[side].l_type, lock[side].l_whence,
                    (long)lock[side].l_start, (long)lock[side].l_len, lock[side].l_pid);
}

static int compare_lines(const void *one, const void *other) {
    return strcmp(*(char *const *)one, *(char *const *)other);
}

/* Sorts the words that are separated by this character, and separates them by lines. */
static void sort_words(char *words, size_t size, char between) {
    char *all[256], copy[8192];
    unsigned count = 0;
    memcpy(copy, words, size);
    copy[size] = 0;
    for (char *at = copy; at < copy + size && count < 256; at += strlen(at) + 1) {
        char *end = memchr(at, between, copy + size - at);
        if (end) *end = 0;
        all[count++] = at;
    }
    qsort(all, count, sizeof all[0], compare_lines);
    words[0] = 0;
    for (unsigned number = 0; number < count; number++) strcat(strcat(words, all[number]), "\n");
}

/* Makes one of three calls: by path, of a link itself, or of an open file. */
#define BY_KIND(name, ...)                                                                         \
    do {                                                                                           \
        if (kind == 0) BOTH(name(path, __VA_ARGS__), dfs_##name(path, __VA_ARGS__));               \
        else if (kind == 1) BOTH(l##name(path, __VA_ARGS__), dfs_l##name(path, __VA_ARGS__));      \
        else BOTH(f##name(at[LINUX], __VA_ARGS__), dfs_f##name(at[DENSE], __VA_ARGS__));           \
    } while (0)

static void attribute(const char *path) {
    static const char *const names[] = {"user.a", "user.a", "user.b", "trusted.t", "bad", "user.", ""};
    static const size_t sizes[] = {0, 1, 10, 300, 70000};
    static char value[70000], read[2][8192];
    const char *name = PICK(names);
    size_t size = PICK(sizes);
    int at[2], slot = some_slot(at), kind = (int)below(3), how = chance(10) ? (int)below(5) : 0;
    memset(value, 'a' + (int)below(26), sizeof value);
    switch (below(4)) {
    case 0:
        say("%d setxattr(%d, \"%s\", \"%s\", %zu, %d)", kind, slot, path, name, size, how);
        BY_KIND(setxattr, name, value, size, how);
        break;
    case 1:
        say("%d removexattr(%d, \"%s\", \"%s\")", kind, slot, path, name);
        BY_KIND(removexattr, name);
        break;
    case 2:
        size = size > sizeof read[0] ? sizeof read[0] : size;
        say("%d getxattr(%d, \"%s\", \"%s\", %zu)", kind, slot, path, name, size);
        if (kind == 0)
            BOTH(getxattr(path, name, read[LINUX], size),
                 dfs_getxattr(path, name, read[DENSE], size));
        else if (kind == 1)
            BOTH(lgetxattr(path, name, read[LINUX], size),
                 dfs_lgetxattr(path, name, read[DENSE], size));
        else
            BOTH(fgetxattr(at[LINUX], name, read[LINUX], size),
                 dfs_fgetxattr(at[DENSE], name, read[DENSE], size));
        if (size > 0 && answer[0] > 0 && answer[0] == answer[1] &&
            memcmp(read[0], read[1], answer[0]) != 0)
            strcpy(text[DENSE], "another value");
        break;
    default:
        size = chance(20) ? below(10) : 1000;
        say("%d listxattr(%d, \"%s\", %zu)", kind, slot, path, size);
        if (kind == 0)
            BOTH(listxattr(path, text[LINUX], size), dfs_listxattr(path, text[DENSE], size));
        else if (kind == 1)
            BOTH(llistxattr(path, text[LINUX], size), dfs_llistxattr(path, text[DENSE], size));
        else
            BOTH(flistxattr(at[LINUX], text[LINUX], size),
                 dfs_flistxattr(at[DENSE], text[DENSE], size));
        for (int side = 0; side < 2; side++)
            sort_words(text[side], size > 0 && answer[side] > 0 ? (size_t)answer[side] : 0, 0);
    }
}

static void make_temporary(const char *path) {
    static const char *const ends[] = {"XXXXXX", "XXXXXX", "yXXXXXXs", "XXXXX", "XXXXXXss"};
    char names[2][700];
    struct stat stat[2];
    int suffix = (int)below(3), is_directory = chance(30);
    snprintf(names[0], sizeof names[0], "%s%s", path, PICK(ends));
    strcpy(names[1], names[0]);
    if (is_directory) {
        say("mkdtemp(\"%s\")", names[0]);
        BOTH(mkdtemp(names[LINUX]) ? 0 : -1, dfs_mkdtemp(names[DENSE]) ? 0 : -1);
    } else {
        say("mkostemps(\"%s\", %d, O_APPEND)", names[0], suffix);
        BOTH(mkostemps(names[LINUX], suffix, O_APPEND),
             dfs_mkostemps(names[DENSE], suffix, O_APPEND));
    }
    if (answer[LINUX] < 0 || answer[DENSE] < 0) {
        keep();
        return;
    }
    if (lstat(names[LINUX], &stat[LINUX]) == 0) write_stat(LINUX, &stat[LINUX]);
    if (dfs_lstat(names[DENSE], &stat[DENSE]) == 0) write_stat(DENSE, &stat[DENSE]);
    if (is_directory) {
        rmdir(names[LINUX]);
        dfs_rmdir(names[DENSE]);
        return;
    }
    unlink(names[LINUX]);
    dfs_unlink(names[DENSE]);
    keep();
}

static void resolve(const char *path) {
    char *into[2];
    say("realpath(\"%s\")", path);
    errno = 0;
    into[LINUX] = realpath(path, NULL);
    why[LINUX] = into[LINUX] ? 0 : errno;
    errno = 0;
    into[DENSE] = dfs_realpath(path, NULL);
    why[DENSE] = into[DENSE] ? 0 : errno;
    for (int side = 0; side < 2; side++) {
        answer[side] = into[side] ? 0 : -1;
        if (into[side]) snprintf(text[side], sizeof text[side], "%s", into[side]);
        free(into[side]);
    }
}

static int side_walked;

static int visit(const char *path, const struct stat *stat, int kind, struct FTW *position) {
    size_t length = strlen(text[side_walked]);
    if (strstr(path, "arena") || length > 8000) return 0;
    /* glibc gives an empty path for / when it comes after what is in it. */
    unsigned mode = kind == FTW_NS ? 0 : stat->st_mode;
    snprintf(text[side_walked] + length, sizeof text[0] - length, "%s %d %o %d %d\n",
             path[0] ? path : "/", kind, mode, position->base, position->level);
    return 0;
}

static int stop(const char *path, const struct stat *stat, int kind) {
    (void)path, (void)stat, (void)kind;
    return 7;
}

static void walk(const char *path) {
    static const int hows[] = {0, FTW_DEPTH, FTW_CHDIR, FTW_CHDIR | FTW_DEPTH, FTW_MOUNT, 128};
    if (chance(20)) {
        say("ftw(\"%s\")", path);
        BOTH(ftw(path, stop, 10), dfs_ftw(path, stop, 10));
        return;
    }
    int how = PICK(hows) | FTW_PHYS;
    /* Whether one comes back to a directory that cannot be read is up to the C library. */
    if (access(".", R_OK | X_OK) != 0) how &= ~FTW_CHDIR;
    say("nftw(\"%s\", %d)", path, how);
    side_walked = LINUX;
    errno = 0;
    answer[LINUX] = nftw(path, visit, 10, how);
    why[LINUX] = answer[LINUX] < 0 ? errno : 0;
    side_walked = DENSE;
    errno = 0;
    answer[DENSE] = dfs_nftw(path, visit, 10, how);
    why[DENSE] = answer[DENSE] < 0 ? errno : 0;
    for (int side = 0; side < 2; side++) sort_words(text[side], strlen(text[side]), '\n');
}

static void stream(const char *path) {
    static const char *const modes[] = {"r", "r+", "w", "w+", "a", "a+", "wx", "re", "q", ""};
    const char *mode = PICK(modes);
    say("fopen(\"%s\", \"%s\")", path, mode);
    if (is_special(AT_FDCWD, path)) return;
    FILE *files[2];
    errno = 0;
    files[LINUX] = fopen(path, mode);
    why[LINUX] = files[LINUX] ? 0 : errno;
    errno = 0;
    files[DENSE] = dfs_fopen(path, mode);
    why[DENSE] = files[DENSE] ? 0 : errno;
    size_t length = below(6000);
    long to = below(200);
    memset(first_half, 'A' + (int)below(26), sizeof first_half);
    for (int side = 0; side < 2; side++) {
        answer[side] = files[side] ? 0 : -1;
        if (!files[side]) continue;
        size_t wrote = fwrite(first_half, 1, length, files[side]);
        long after = ftell(files[side]);
        int moved = fseek(files[side], to, SEEK_SET);
        memset(found[side], 0, sizeof found[side]);
        size_t got = fread(found[side][0], 1, length, files[side]);
        long last = ftell(files[side]);
        int closed = fclose(files[side]);
        sprintf(text[side], "%zu %ld %d %zu %ld %d", wrote, after, moved, got, last, closed);
    }
    if (files[0] && files[1] && memcmp(found[0], found[1], sizeof found[0]) != 0)
        strcpy(text[DENSE], "other bytes");
}

static void look_at_room(const char *path) {
    struct statvfs room[2];
    int at[2], slot = some_slot(at);
    if (chance(50)) {
        say("statvfs(\"%s\")", path);
        BOTH(statvfs(path, &room[LINUX]), dfs_statvfs(path, &room[DENSE]));
    } else {
        say("fstatvfs(%d)", slot);
        BOTH(fstatvfs(at[LINUX], &room[LINUX]), dfs_fstatvfs(at[DENSE], &room[DENSE]));
    }
    for (int side = 0; side < 2; side++)
        if (answer[side] == 0)
            sprintf(text[side], "%lu %lu %lu", room[side].f_bsize, room[side].f_frsize,
                    room[side].f_namemax);
}

void another_call(const char *path, const char *target, mode_t mode) {
    (void)target;
    switch (below(30)) {
    case 0: case 1: case 2: case 3: change_owner_or_mode(path, mode); break;
    case 4: case 5: check_access(path); break;
    case 6: case 7: make_node(path, mode); break;
    case 8: set_times(); break;
    case 9: case 10: read_parts(); break;
    case 11: case 12: case 13: write_parts(); break;
    case 14: look_by_statx(path); break;
    case 15: allocate(); break;
    case 16: case 17: control(); break;
    case 18: duplicate(); break;
    case 19: case 20: case 21: lock(); break;
    case 22: case 23: case 24: attribute(path); break;
    case 25: make_temporary(path); break;
    case 26: resolve(path); break;
    case 27: walk(path); break;
    case 28: stream(path); break;
    default: look_at_room(path);
    }
}
