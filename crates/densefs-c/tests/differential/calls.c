/* Random calls, made on both sides. */
#include "both.h"

#include <dirent.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

long answer[2];
int why[2];
char text[2][8192];
char call[1024];
int slots[SLOTS][2];
static uint64_t state;

void begin(uint64_t seed) { state = seed * 0x9e3779b97f4a7c15ULL; }

static uint64_t next(void) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

unsigned below(unsigned most) { return (next() >> 11) % most; }
int chance(unsigned percent) { return below(100) < percent; }

void say(const char *format, ...) {
    va_list rest;
    va_start(rest, format);
    vsnprintf(call, sizeof call, format, rest);
    va_end(rest);
}

/* Whether there is no way up: what is above a directory that has been removed, DenseFS forgets. */
static int has_no_parent;

static void look_for_removed(void) {
    struct stat found;
    has_no_parent = stat(".", &found) == 0 && found.st_nlink == 0;
    if (fstatat(AT_FDCWD, "", &found, AT_EMPTY_PATH) == 0) has_no_parent |= found.st_nlink == 0;
    for (int which = 0; which < SLOTS; which++)
        if (fstat(slots[which][LINUX], &found) == 0 && S_ISDIR(found.st_mode))
            has_no_parent |= found.st_nlink == 0;
}

const char *some_path(char *into) {
    static const char *const names[] = {"a", "b", "c", "d", "e", "l", "."};
    static const char *const starts[] = {"/", "/", "//", "../", "/../", "./", "/a/", "b/", "c/"};
    static const char *const ends[] = {"/", "//", "/.", "/.."};
    into[0] = 0;
    if (chance(2)) return into;
    if (chance(2)) {
        /* Where the tree has a name, its last name is one of the directory above. */
        const char *root = top[0] ? "." : "/";
        return strcpy(into, chance(50) || has_no_parent ? root : "..");
    }
    if (chance(1)) {
        int length = chance(50) ? 255 : 256;
        memset(into, 'n', length);
        into[length] = 0;
        return into;
    }
    if (chance(40)) strcat(into, PICK(starts));
    for (unsigned left = chance(70) ? 1 : 2 + below(2); left > 0; left--) {
        strcat(into, left > 1 && chance(15) ? ".." : names[below(chance(3) ? 7 : 6)]);
        if (left > 1) strcat(into, "/");
    }
    if (chance(8)) strcat(into, PICK(ends));
    if (has_no_parent && into[0] != '/') {
        char *above;
        while ((above = strstr(into, "..")) != NULL) memcpy(above, "./", 2);
    }
    if (into[0] == '/') {
        memmove(into + strlen(top), into, strlen(into) + 1);
        memcpy(into, top, strlen(top));
    }
    return into;
}

/* A descriptor, or one that is not open. */
int some_slot(int on[2]) {
    int which = chance(4) ? -1 : (int)below(SLOTS);
    for (int side = 0; side < 2; side++) on[side] = which < 0 ? -1 : slots[which][side];
    return which;
}

int some_directory(int on[2]) {
    on[0] = on[1] = AT_FDCWD;
    if (chance(70)) return -100;
    if (chance(5)) {
        on[0] = on[1] = chance(50) ? -1 : 999;
        return on[0];
    }
    return some_slot(on);
}

void keep(void) {
    if (answer[0] < 0 || answer[1] < 0) {
        if (answer[0] >= 0) close(answer[0]);
        if (answer[1] >= 0) dfs_close(answer[1]);
        return;
    }
    unsigned which = below(SLOTS);
    if (slots[which][0] >= 0) {
        close(slots[which][0]);
        dfs_close(slots[which][1]);
    }
    slots[which][0] = answer[0];
    slots[which][1] = answer[1];
    answer[0] = answer[1] = 0;
}

void write_stat(int side, const struct stat *found) {
    int is_directory = S_ISDIR(found->st_mode);
    int length = snprintf(text[side], sizeof text[side],
                          "mode %o links %lu uid %u gid %u size %ld rdev %lu", found->st_mode,
                          (unsigned long)found->st_nlink, found->st_uid, found->st_gid,
                          is_directory ? 0L : (long)found->st_size, (unsigned long)found->st_rdev);
    /* Both sides have the times that were set, and never the same ones of changes. */
    if (found->st_mtim.tv_sec < 1000000000)
        snprintf(text[side] + length, sizeof text[side] - length, " mtime %ld.%ld",
                 (long)found->st_mtim.tv_sec, found->st_mtim.tv_nsec);
}

static int compare_names(const void *one, const void *other) {
    return strcmp(*(const char *const *)one, *(const char *const *)other);
}

/* The names in a directory, sorted. */
static void write_listing(int side, DIR *system, DFS_DIR *dense) {
    char *names[64];
    unsigned count = 0;
    struct dirent *one;
    errno = 0;
    while ((one = system ? readdir(system) : dfs_readdir(dense)) != NULL && count < 64) {
        if (strcmp(one->d_name, "arena") == 0) continue;
        char line[300];
        snprintf(line, sizeof line, "%s:%u", one->d_name, one->d_type);
        names[count++] = strdup(line);
    }
    int error = errno;
    qsort(names, count, sizeof names[0], compare_names);
    text[side][0] = 0;
    for (unsigned number = 0; number < count; number++) {
        strcat(strcat(text[side], names[number]), " ");
        free(names[number]);
    }
    if (error != 0) strcat(text[side], strerror(error));
}

int is_special(int directory, const char *path) {
    struct stat found;
    return fstatat(directory, path, &found, 0) == 0 && !S_ISREG(found.st_mode) &&
           !S_ISDIR(found.st_mode);
}

static int some_open_flags(void) {
    static const int access[] = {O_RDONLY, O_RDONLY, O_WRONLY, O_RDWR, O_RDWR, O_ACCMODE};
    int flags = PICK(access);
    if (chance(45)) flags |= O_CREAT;
    if (chance(12)) flags |= O_EXCL;
    if (chance(15)) flags |= O_TRUNC;
    if (chance(15)) flags |= O_APPEND;
    if (chance(12)) flags |= O_DIRECTORY;
    if (chance(12)) flags |= O_NOFOLLOW;
    if (chance(12)) flags |= O_PATH;
    if (chance(10)) flags |= O_CLOEXEC;
    if (chance(2)) flags |= O_TMPFILE;
    return flags;
}

static const mode_t modes[] = {0,    0644, 0600, 0666, 0777, 0755, 0444, 0111, 0222,
                               0700, 04755, 02755, 06777, 01777, 02666, 02711};
static const off_t sizes[] = {0, 1, 5, 100, 4095, 4096, 4097, 9000, 70000, 1L << 33, 1L << 38, -1};
static const size_t counts[] = {0, 1, 7, 64, 100, 4096, 5000, 20000};
static const uid_t users[] = {0, 1000, 1001, (uid_t)-1};
static char content[20000], found[2][20000];

void one_call(void) {
    char first[600], second[600];
    int at[2], to[2], slot, other;
    look_for_removed();
    const char *path = some_path(first), *target = some_path(second);
    mode_t mode = PICK(modes);
    text[0][0] = text[1][0] = 0;
    switch (below(80)) {
    case 0: case 1: case 2: case 3: case 4: case 5: {
        int flags = some_open_flags();
        slot = some_directory(at);
        say("openat(%d, \"%s\", %#o, %o)", slot, path, flags, mode);
        if (is_special(at[LINUX], path) && !(flags & O_PATH)) return;
        if ((flags & O_TMPFILE) == O_TMPFILE) flags &= ~O_CREAT;
        BOTH(openat(at[LINUX], path, flags | O_NONBLOCK, mode),
             dfs_openat(at[DENSE], path, flags, mode));
        keep();
        break;
    }
    case 6: case 7:
        slot = some_directory(at);
        say("mkdirat(%d, \"%s\", %o)", slot, path, mode);
        BOTH(mkdirat(at[LINUX], path, mode), dfs_mkdirat(at[DENSE], path, mode));
        break;
    case 8: {
        static const mode_t types[] = {0,       S_IFREG, S_IFREG, S_IFIFO,  S_IFSOCK, S_IFDIR,
                                       S_IFLNK, S_IFCHR, S_IFBLK, 0170000, 030000};
        mode_t type = PICK(types);
        dev_t device = type == S_IFCHR || type == S_IFBLK ? 0x103 : 0;
        say("mknod(\"%s\", %o, %lu)", path, mode | type, (unsigned long)device);
        BOTH(mknod(path, mode | type, device), dfs_mknod(path, mode | type, device));
        break;
    }
    case 9:
        say("mkfifo(\"%s\", %o)", path, mode);
        BOTH(mkfifo(path, mode), dfs_mkfifo(path, mode));
        break;
    case 10: case 11: {
        int flags = chance(30) ? AT_REMOVEDIR : chance(5) ? 1 : 0;
        slot = some_directory(at);
        say("unlinkat(%d, \"%s\", %#x)", slot, path, flags);
        BOTH(unlinkat(at[LINUX], path, flags), dfs_unlinkat(at[DENSE], path, flags));
        break;
    }
    case 12:
        say("rmdir(\"%s\")", path);
        BOTH(rmdir(path), dfs_rmdir(path));
        break;
    case 13: case 14: {
        int flags = chance(30) ? AT_SYMLINK_FOLLOW : chance(20) ? AT_EMPTY_PATH : chance(5) ? 1 : 0;
        slot = some_directory(at);
        other = some_directory(to);
        if ((flags & AT_EMPTY_PATH) && chance(60)) path = "";
        say("linkat(%d, \"%s\", %d, \"%s\", %#x)", slot, path, other, target, flags);
        BOTH(linkat(at[LINUX], path, to[LINUX], target, flags),
             dfs_linkat(at[DENSE], path, to[DENSE], target, flags));
        break;
    }
    case 15: case 16:
        slot = some_directory(at);
        say("symlinkat(\"%s\", %d, \"%s\")", target, slot, path);
        BOTH(symlinkat(target, at[LINUX], path), dfs_symlinkat(target, at[DENSE], path));
        break;
    case 17: {
        size_t size = chance(10) ? chance(50) ? 0 : 1 : 500;
        slot = some_directory(at);
        say("readlinkat(%d, \"%s\", %zu)", slot, path, size);
        BOTH(readlinkat(at[LINUX], path, text[LINUX], size),
             dfs_readlinkat(at[DENSE], path, text[DENSE], size));
        for (int side = 0; side < 2; side++) text[side][answer[side] < 0 ? 0 : answer[side]] = 0;
        break;
    }
    case 18: case 19: case 20: {
        static const unsigned hows[] = {0, 0, 0, 0, RENAME_NOREPLACE, RENAME_EXCHANGE,
                                        RENAME_NOREPLACE | RENAME_EXCHANGE,
                                        RENAME_WHITEOUT,
                                        RENAME_WHITEOUT | RENAME_NOREPLACE,
                                        RENAME_WHITEOUT | RENAME_EXCHANGE, 8};
        unsigned how = PICK(hows);
        slot = some_directory(at);
        other = some_directory(to);
        say("renameat2(%d, \"%s\", %d, \"%s\", %u)", slot, path, other, target, how);
        BOTH(renameat2(at[LINUX], path, to[LINUX], target, how),
             dfs_renameat2(at[DENSE], path, to[DENSE], target, how));
        break;
    }
    case 21: case 22:
        say("chmod(\"%s\", %o)", path, mode);
        BOTH(chmod(path, mode), dfs_chmod(path, mode));
        break;
    case 23:
        slot = some_slot(at);
        say("fchmod(%d, %o)", slot, mode);
        BOTH(fchmod(at[LINUX], mode), dfs_fchmod(at[DENSE], mode));
        break;
    case 24: case 25: {
        uid_t user = PICK(users), group = PICK(users);
        int is_link = chance(40);
        say("%schown(\"%s\", %d, %d)", is_link ? "l" : "", path, (int)user, (int)group);
        if (is_link) BOTH(lchown(path, user, group), dfs_lchown(path, user, group));
        else BOTH(chown(path, user, group), dfs_chown(path, user, group));
        break;
    }
    case 26: {
        static const long parts[] = {0, 5, 999999999, 1000000000, UTIME_NOW, UTIME_OMIT, -1};
        static const time_t seconds[] = {1000000, 1000001, 2000000, 0,          -1,
                                         -2,      -300000, 999999,  -9223372035, 9223372035};
        struct timespec times[2];
        for (int one = 0; one < 2; one++) {
            times[one].tv_sec = PICK(seconds);
            times[one].tv_nsec = PICK(parts);
        }
        int flags = chance(30) ? AT_SYMLINK_NOFOLLOW : chance(5) ? 1 : 0;
        const struct timespec *given = chance(20) ? NULL : times;
        slot = some_directory(at);
        say("utimensat(%d, \"%s\", %s %ld %ld, %#x)", slot, path, given ? "" : "NULL",
            times[0].tv_nsec, times[1].tv_nsec, flags);
        BOTH(utimensat(at[LINUX], path, given, flags), dfs_utimensat(at[DENSE], path, given, flags));
        struct stat stat[2];
        if (given && fstatat(at[LINUX], path, &stat[LINUX], flags) == 0 &&
            dfs_fstatat(at[DENSE], path, &stat[DENSE], flags) == 0)
            write_times(stat, times);
        break;
    }
    case 27: {
        off_t size = PICK(sizes);
        say("truncate(\"%s\", %ld)", path, (long)size);
        if (is_special(AT_FDCWD, path)) return;
        BOTH(truncate(path, size), dfs_truncate(path, size));
        break;
    }
    case 28: {
        off_t size = PICK(sizes);
        slot = some_slot(at);
        say("ftruncate(%d, %ld)", slot, (long)size);
        BOTH(ftruncate(at[LINUX], size), dfs_ftruncate(at[DENSE], size));
        break;
    }
    case 29: {
        int wanted = chance(5) ? 8 : (int)below(8);
        say("access(\"%s\", %d)", path, wanted);
        BOTH(syscall(SYS_faccessat, AT_FDCWD, path, wanted), dfs_access(path, wanted));
        break;
    }
    case 30: case 31: case 32: {
        struct stat stat[2];
        int flags = chance(40) ? AT_SYMLINK_NOFOLLOW : chance(15) ? AT_EMPTY_PATH : chance(5) ? 1 : 0;
        slot = some_directory(at);
        if ((flags & AT_EMPTY_PATH) && chance(60)) path = "";
        say("fstatat(%d, \"%s\", %#x)", slot, path, flags);
        BOTH(fstatat(at[LINUX], path, &stat[LINUX], flags),
             dfs_fstatat(at[DENSE], path, &stat[DENSE], flags));
        for (int side = 0; side < 2; side++)
            if (answer[side] == 0) write_stat(side, &stat[side]);
        break;
    }
    case 33: {
        struct stat stat[2];
        slot = some_slot(at);
        say("fstat(%d)", slot);
        BOTH(fstat(at[LINUX], &stat[LINUX]), dfs_fstat(at[DENSE], &stat[DENSE]));
        for (int side = 0; side < 2; side++)
            if (answer[side] == 0) write_stat(side, &stat[side]);
        break;
    }
    case 34: {
        size_t count = PICK(counts);
        slot = some_slot(at);
        if (chance(50)) {
            say("read(%d, %zu)", slot, count);
            BOTH(read(at[LINUX], found[LINUX], count), dfs_read(at[DENSE], found[DENSE], count));
        } else {
            off_t from = PICK(sizes);
            say("pread(%d, %zu, %ld)", slot, count, (long)from);
            BOTH(pread(at[LINUX], found[LINUX], count, from),
                 dfs_pread(at[DENSE], found[DENSE], count, from));
        }
        if (answer[0] > 0 && answer[0] == answer[1] && memcmp(found[0], found[1], answer[0]) != 0)
            strcpy(text[DENSE], "other bytes");
        break;
    }
    case 35: case 36: {
        size_t count = PICK(counts);
        slot = some_slot(at);
        memset(content, 'A' + (int)below(26), sizeof content);
        if (chance(60)) {
            say("write(%d, %zu)", slot, count);
            BOTH(write(at[LINUX], content, count), dfs_write(at[DENSE], content, count));
        } else {
            off_t from = PICK(sizes);
            say("pwrite(%d, %zu, %ld)", slot, count, (long)from);
            BOTH(pwrite(at[LINUX], content, count, from),
                 dfs_pwrite(at[DENSE], content, count, from));
        }
        break;
    }
    case 37: {
        static const off_t moves[] = {0, 1, -1, 100, 5000, -5000, 1L << 33};
        int whence = (int)below(7);
        off_t by = PICK(moves);
        slot = some_slot(at);
        /* Where there are holes is up to a file system, and so is where a directory's entries are. */
        struct stat stat;
        if (whence == SEEK_DATA || whence == SEEK_HOLE) return;
        if (fstat(at[LINUX], &stat) == 0 && S_ISDIR(stat.st_mode)) return;
        say("lseek(%d, %ld, %d)", slot, (long)by, whence);
        BOTH(lseek(at[LINUX], by, whence), dfs_lseek(at[DENSE], by, whence));
        break;
    }
    case 38:
        slot = some_slot(at);
        if (chance(50)) {
            say("fsync(%d)", slot);
            BOTH(fsync(at[LINUX]), dfs_fsync(at[DENSE]));
        } else {
            int flags[2];
            say("fcntl(%d, F_GETFL)", slot);
            BOTH(fcntl(at[LINUX], F_GETFL), dfs_fcntl(at[DENSE], F_GETFL));
            for (int side = 0; side < 2; side++) {
                flags[side] = (int)answer[side] & ~(O_NONBLOCK | O_LARGEFILE | 0100000);
                if (answer[side] >= 0) {
                    snprintf(text[side], sizeof text[side], "%#o", flags[side]);
                    answer[side] = 0;
                }
            }
        }
        break;
    case 39:
        slot = some_slot(at);
        say("dup(%d)", slot);
        BOTH(dup(at[LINUX]), dfs_dup(at[DENSE]));
        keep();
        break;
    case 40:
        slot = (int)below(SLOTS);
        say("close(%d)", slot);
        BOTH(close(slots[slot][LINUX]), dfs_close(slots[slot][DENSE]));
        slots[slot][0] = slots[slot][1] = -1;
        break;
    case 41: {
        static const int hows[] = {0, 0, FALLOC_FL_KEEP_SIZE,
                                   FALLOC_FL_KEEP_SIZE | FALLOC_FL_PUNCH_HOLE};
        static const off_t lengths[] = {0, 1, 100, 4096, 10000, 60000, -1};
        static const off_t starts[] = {0, 1, 5000, 8192, 100000, -1};
        int how = PICK(hows);
        off_t from = PICK(starts), length = PICK(lengths);
        slot = some_slot(at);
        say("fallocate(%d, %d, %ld, %ld)", slot, how, (long)from, (long)length);
        BOTH(fallocate(at[LINUX], how, from, length), dfs_fallocate(at[DENSE], how, from, length));
        break;
    }
    case 42: {
        off_t from[2], into[2];
        from[0] = from[1] = PICK(sizes);
        into[0] = into[1] = PICK(sizes);
        int has_from = chance(50), has_into = chance(50);
        size_t count = PICK(counts);
        unsigned how = chance(4);
        slot = some_slot(at);
        other = some_slot(to);
        say("copy_file_range(%d, %ld, %d, %ld, %zu, %u)", slot, has_from ? (long)from[0] : -9L,
            other, has_into ? (long)into[0] : -9L, count, how);
        BOTH(copy_file_range(at[LINUX], has_from ? &from[0] : NULL, to[LINUX],
                             has_into ? &into[0] : NULL, count, how),
             dfs_copy_file_range(at[DENSE], has_from ? &from[1] : NULL, to[DENSE],
                                 has_into ? &into[1] : NULL, count, how));
        break;
    }
    case 43:
        if (chance(50)) {
            say("chdir(\"%s\")", path);
            BOTH(chdir(path), dfs_chdir(path));
        } else {
            slot = some_slot(at);
            say("fchdir(%d)", slot);
            BOTH(fchdir(at[LINUX]), dfs_fchdir(at[DENSE]));
        }
        break;
    case 44: {
        say("getcwd()");
        char *where[2];
        errno = 0;
        where[LINUX] = getcwd(text[LINUX], sizeof text[LINUX]);
        why[LINUX] = where[LINUX] ? 0 : errno;
        where[DENSE] = dfs_getcwd(text[DENSE], sizeof text[DENSE]);
        why[DENSE] = where[DENSE] ? 0 : errno;
        for (int side = 0; side < 2; side++) {
            answer[side] = where[side] ? 0 : -1;
            if (!where[side]) text[side][0] = 0;
        }
        break;
    }
    case 45: {
        say("opendir(\"%s\")", path);
        errno = 0;
        DIR *system = opendir(path);
        why[LINUX] = system ? 0 : errno;
        errno = 0;
        DFS_DIR *dense = dfs_opendir(path);
        why[DENSE] = dense ? 0 : errno;
        answer[LINUX] = system ? 0 : -1;
        answer[DENSE] = dense ? 0 : -1;
        if (system) write_listing(LINUX, system, NULL);
        if (dense) write_listing(DENSE, NULL, dense);
        if (system) closedir(system);
        if (dense) dfs_closedir(dense);
        break;
    }
    default: {
        unsigned kind = below(32);
        if (kind < 14) call_on_attributes(path, mode);
        else if (kind < 26) call_on_descriptors();
        else call_of_library(path, target);
    }
    }
}
