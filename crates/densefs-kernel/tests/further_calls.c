/* The random calls of the differential test that the module has besides those of its main part. */
#include "both.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

void call_on_attributes(const char *path, mode_t mode) {
    static const uid_t users[] = {0, 1000, 1001, (uid_t)-1};
    static const mode_t types[] = {0, S_IFREG, S_IFIFO, S_IFDIR, S_IFCHR, 030000};
    int at[2], slot;
    if (chance(50)) {
        uid_t user = PICK(users), group = PICK(users);
        slot = some_slot(at);
        say("fchown(%d, %d, %d)", slot, (int)user, (int)group);
        BOTH(fchown(at[LINUX], user, group), dfs_fchown(at[DENSE], user, group));
        return;
    }
    slot = some_directory(at);
    mode |= PICK(types);
    dev_t device = S_ISCHR(mode) ? 0x103 : 0;
    say("mknodat(%d, \"%s\", %o)", slot, path, mode);
    BOTH(mknodat(at[LINUX], path, mode, device), dfs_mknodat(at[DENSE], path, mode, device));
}

void call_on_descriptors(void) {
    static const int settable[] = {0, O_APPEND, O_NONBLOCK, O_RDWR | O_CREAT};
    int at[2], to[2], slot = some_slot(at), other = some_slot(to), flags = PICK(settable);
    switch (below(4)) {
    case 0:
        say("fcntl(%d, F_GETFD)", slot);
        BOTH(fcntl(at[LINUX], F_GETFD), dfs_fcntl(at[DENSE], F_GETFD, 0));
        break;
    case 1:
        say("fcntl(%d, F_SETFL, %#o)", slot, (unsigned)flags);
        BOTH(fcntl(at[LINUX], F_SETFL, flags), dfs_fcntl(at[DENSE], F_SETFL, flags));
        break;
    case 2:
        say("fcntl(%d, F_DUPFD_CLOEXEC, 1)", slot);
        BOTH(fcntl(at[LINUX], F_DUPFD_CLOEXEC, 1), dfs_fcntl(at[DENSE], F_DUPFD_CLOEXEC, 1));
        keep();
        break;
    default:
        say("dup3(%d, %d, %#o)", slot, other, flags & O_APPEND ? O_CLOEXEC : 0);
        BOTH(dup3(at[LINUX], to[LINUX], flags & O_APPEND ? O_CLOEXEC : 0),
             dfs_dup3(at[DENSE], to[DENSE], flags & O_APPEND ? O_CLOEXEC : 0));
        for (int side = 0; side < 2; side++)
            if (answer[side] >= 0) answer[side] = answer[side] == to[side];
    }
}

void call_of_library(const char *path, const char *other) {
    /* What a library makes of calls is not the kernel's. */
    (void)path;
    (void)other;
}
