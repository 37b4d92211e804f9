/* Random calls on open files: vectors of buffers, flags, and locks. */
#include "both.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/uio.h>
#include <unistd.h>

static char first_half[20000], second_half[20000], found[2][2][20000];
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

void call_on_descriptors(void) {
    switch (below(12)) {
    case 0: case 1: read_parts(); break;
    case 2: case 3: case 4: write_parts(); break;
    case 5: allocate(); break;
    case 6: case 7: control(); break;
    case 8: duplicate(); break;
    default: lock();
    }
}
