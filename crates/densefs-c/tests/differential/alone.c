/*
 * Makes the same random calls as the differential test, but in one tree alone and by the C library,
 * and prints each with its answer, so that what two file systems answer can be compared.
 *
 * usage: alone DIRECTORY SEED CALLS UID
 *
 * DIRECTORY is absolute and empty, as are the three above it apart from each other: paths lead there
 * as well. The program becomes the user UID, which must not be root: nothing keeps it in these
 * directories but permissions.
 */
#include "both.h"

#include <dirent.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SEQUENCE = 150, ABOVE = 3, NAMES = 256 };

const char *top;

/* Removes what is in a directory, apart from one name, and nothing on another file system. */
static void empty(const char *path, const char *spared) {
    char names[NAMES][256];
    unsigned count = 0;
    struct stat here, found;
    DIR *directory = opendir(path);
    struct dirent *one;
    if (!directory) return;
    while ((one = readdir(directory)) != NULL && count < NAMES) {
        const char *name = one->d_name;
        if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0) continue;
        if (spared && strcmp(name, spared) == 0) continue;
        snprintf(names[count++], sizeof names[0], "%s", name);
    }
    int at = dirfd(directory), is_known = fstat(at, &here) == 0;
    for (unsigned number = 0; is_known && number < count; number++) {
        if (fstatat(at, names[number], &found, AT_SYMLINK_NOFOLLOW) != 0) continue;
        if (found.st_dev != here.st_dev) continue;
        if (S_ISDIR(found.st_mode)) {
            char inner[8192];
            if (snprintf(inner, sizeof inner, "%s/%s", path, names[number]) >= 4096) continue;
            chmod(inner, 0777);
            empty(inner, NULL);
            unlinkat(at, names[number], AT_REMOVEDIR);
        } else {
            unlinkat(at, names[number], 0);
        }
    }
    closedir(directory);
}

/* Empties the tree and the directories above it, and closes everything. */
static void begin_again(void) {
    for (int which = 0; which < SLOTS; which++) {
        if (slots[which][0] >= 0) close(slots[which][0]);
        slots[which][0] = slots[which][1] = -1;
    }
    if (chdir(top) != 0) {
        perror(top);
        exit(2);
    }
    empty(top, NULL);
    char path[4096];
    strncpy(path, top, sizeof path - 1);
    path[sizeof path - 1] = 0;
    for (int level = 0; level < ABOVE; level++) {
        char *name = strrchr(path, '/');
        *name = 0;
        empty(path, name + 1);
    }
}

int main(int count, char **given) {
    if (count != 5 || given[1][0] != '/' || atoi(given[4]) <= 0) {
        fprintf(stderr, "usage: alone DIRECTORY SEED CALLS UID\n");
        return 2;
    }
    top = given[1];
    uint64_t seed = strtoull(given[2], NULL, 10);
    unsigned long calls = strtoul(given[3], NULL, 10), made = 0;
    uid_t user = (uid_t)atoi(given[4]);
    if (setgroups(0, NULL) != 0 || setgid(user) != 0 || setuid(user) != 0 || getuid() == 0) {
        perror("setuid");
        return 2;
    }
    umask(022);
    for (int which = 0; which < SLOTS; which++) slots[which][0] = slots[which][1] = -1;
    for (uint64_t sequence = 0; made < calls; sequence++) {
        begin(seed + sequence + 1);
        begin_again();
        for (unsigned number = 0; number < SEQUENCE; number++, made++) {
            why[0] = 0;
            answer[0] = 0;
            call[0] = 0;
            one_call();
            printf("%lu.%u %s = %ld %s \"%s\"\n", (unsigned long)sequence, number, call, answer[0],
                   why[0] ? strerrorname_np(why[0]) : "", why[0] ? "" : text[0]);
        }
    }
    begin_again();
    return 0;
}
