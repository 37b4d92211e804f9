/* Random calls on attributes: owners, modes, times, and extended ones. */
#include "both.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

static const uid_t users[] = {0, 1000, 1001, (uid_t)-1, (uid_t)-1};
static const int at_flags[] = {0,             0, AT_SYMLINK_NOFOLLOW, AT_SYMLINK_NOFOLLOW,
                               AT_EMPTY_PATH, 1, AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW};
static const long parts_of_second[] = {0, 5, 999999999, 1000000000, UTIME_NOW, UTIME_OMIT, -1};

static void set_times(void) {
    struct timespec times[2];
    struct stat stat[2];
    int at[2], slot = some_slot(at);
    for (int one = 0; one < 2; one++) {
        times[one].tv_sec = chance(70) ? 1000000 + below(1000) : -(time_t)below(3);
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
                    one->stx_mask & STATX_BASIC_STATS & ~(STATX_MTIME | STATX_CTIME),
                    one->stx_mode, one->stx_nlink, one->stx_uid, one->stx_gid,
                    has_size ? (unsigned long long)one->stx_size : 0ULL, one->stx_rdev_major,
                    one->stx_rdev_minor);
    }
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

void call_on_attributes(const char *path, mode_t mode) {
    switch (below(14)) {
    case 0: case 1: case 2: case 3: change_owner_or_mode(path, mode); break;
    case 4: case 5: check_access(path); break;
    case 6: case 7: make_node(path, mode); break;
    case 8: set_times(); break;
    case 9: look_by_statx(path); break;
    case 10: case 11: case 12: attribute(path); break;
    default: look_at_room(path);
    }
}
