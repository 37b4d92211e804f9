/*
 * Makes the same random calls on a file system of Linux and on a DenseFS, and compares the answers.
 *
 * usage: differential DIRECTORY SEED CALLS UID
 *
 * DIRECTORY is an empty directory on tmpfs, apart from the arena in the file `arena`. The program
 * makes it its root directory, becomes the user UID, and empties both trees before each sequence of
 * calls. Every kind of difference is printed once; the exit status is 1 if there is any.
 */
#include "both.h"

#include <dirent.h>
#include <errno.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SEQUENCE = 150, KINDS_MAX = 400 };

const char *top = "";
static char history[SEQUENCE][1100];
static unsigned kinds;
static char seen[KINDS_MAX][200];

/* Empties both trees and closes everything. */
static void empty(void) {
    for (int which = 0; which < SLOTS; which++) {
        if (slots[which][0] >= 0) {
            close(slots[which][0]);
            dfs_close(slots[which][1]);
        }
        slots[which][0] = slots[which][1] = -1;
    }
    if (chdir("/") != 0 || dfs_chdir("/") != 0) {
        perror("chdir");
        exit(2);
    }
}

static void remove_linux(const char *path) {
    DIR *directory = opendir(path);
    if (!directory) return;
    struct dirent *one;
    while ((one = readdir(directory)) != NULL) {
        char inner[5000];
        if (strcmp(one->d_name, ".") == 0 || strcmp(one->d_name, "..") == 0) continue;
        if (strcmp(one->d_name, "arena") == 0) continue;
        snprintf(inner, sizeof inner, "%s/%s", path, one->d_name);
        if (unlink(inner) != 0) {
            chmod(inner, 0777);
            remove_linux(inner);
            rmdir(inner);
        }
    }
    closedir(directory);
}

static void remove_dense(const char *path) {
    DFS_DIR *directory = dfs_opendir(path);
    if (!directory) return;
    struct dirent *one;
    char names[64][300];
    unsigned count = 0;
    while ((one = dfs_readdir(directory)) != NULL && count < 64) {
        if (strcmp(one->d_name, ".") == 0 || strcmp(one->d_name, "..") == 0) continue;
        snprintf(names[count++], sizeof names[0], "%s", one->d_name);
    }
    dfs_closedir(directory);
    for (unsigned number = 0; number < count; number++) {
        char inner[20000];
        snprintf(inner, sizeof inner, "%s/%s", path, names[number]);
        if (dfs_unlink(inner) != 0) {
            dfs_chmod(inner, 0777);
            remove_dense(inner);
            dfs_rmdir(inner);
        }
    }
}

/* What differs: the call's name, and both answers. */
static int differs(char *kind, size_t size) {
    const char *end = strchr(call, '(');
    int name = end ? (int)(end - call) : 0;
    if (why[0] != why[1]) {
        snprintf(kind, size, "%.*s: Linux %s, DenseFS %s", name, call,
                 why[0] ? strerrorname_np(why[0]) : "success",
                 why[1] ? strerrorname_np(why[1]) : "success");
        return 1;
    }
    if (why[0] == 0 && answer[0] != answer[1]) {
        snprintf(kind, size, "%.*s: returns another number", name, call);
        return 1;
    }
    if (why[0] == 0 && strcmp(text[0], text[1]) != 0) {
        snprintf(kind, size, "%.*s: finds something else", name, call);
        return 1;
    }
    return 0;
}

static int is_new(const char *kind) {
    for (unsigned number = 0; number < kinds; number++)
        if (strcmp(seen[number], kind) == 0) return 0;
    if (kinds < KINDS_MAX) snprintf(seen[kinds++], sizeof seen[0], "%s", kind);
    return 1;
}

int main(int count, char **given) {
    if (count != 5) {
        fprintf(stderr, "usage: differential DIRECTORY SEED CALLS UID\n");
        return 2;
    }
    uint64_t seed = strtoull(given[2], NULL, 10);
    unsigned long calls = strtoul(given[3], NULL, 10);
    uid_t user = (uid_t)strtoul(given[4], NULL, 10);
    if (chroot(given[1]) != 0 || chdir("/") != 0 || setgroups(0, NULL) != 0 || setgid(user) != 0 ||
        setuid(user) != 0) {
        perror(given[1]);
        return 2;
    }
    umask(022);
    if (dfs_attach("/arena", 0) != 0) {
        perror("/arena");
        return 2;
    }
    for (int which = 0; which < SLOTS; which++) slots[which][0] = slots[which][1] = -1;
    unsigned long made = 0;
    for (uint64_t sequence = 0; made < calls; sequence++) {
        begin(seed + sequence + 1);
        empty();
        remove_linux("/");
        remove_dense("/");
        for (unsigned done_calls = 0; done_calls < SEQUENCE; done_calls++, made++) {
            char kind[200];
            why[0] = why[1] = 0;
            answer[0] = answer[1] = 0;
            one_call();
            snprintf(history[done_calls], sizeof history[0], "%s = %ld %s", call, answer[0],
                     why[0] ? strerrorname_np(why[0]) : "");
            if (!differs(kind, sizeof kind)) continue;
            if (is_new(kind)) {
                printf("%s\n", kind);
                printf("    %s: \"%s\" and \"%s\", %ld and %ld (seed %lu)\n", call, text[0], text[1],
                       answer[0], answer[1], (unsigned long)(seed + sequence));
                if (getenv("HISTORY"))
                    for (unsigned line = 0; line <= done_calls; line++)
                        printf("        %s\n", history[line]);
            }
            break;
        }
    }
    printf("%lu calls, %u kinds of differences\n", made, kinds);
    return kinds > 0;
}
