/* Random calls of functions that the C library makes of others: streams, and walks of trees. */
#include "both.h"

#include <fts.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char written[6000], found[2][6000];

static int compare_lines(const void *one, const void *other) {
    return strcmp(*(char *const *)one, *(char *const *)other);
}

void sort_words(char *words, size_t size, char between) {
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

/* Streams of a tree: each side's functions. */
struct tree {
    void *(*open)(char *const *, int, int (*)(const FTSENT **, const FTSENT **));
    FTSENT *(*read)(void *);
    FTSENT *(*children)(void *, int);
    int (*set)(void *, FTSENT *, int);
    int (*close)(void *);
};

typedef int order(const FTSENT **, const FTSENT **);

static void *system_open(char *const *paths, int how, order *by) {
    return fts_open(paths, how | FTS_NOCHDIR, by);
}
static FTSENT *system_read(void *tree) { return fts_read(tree); }
static FTSENT *system_children(void *tree, int how) { return fts_children(tree, how); }
static int system_set(void *tree, FTSENT *one, int what) { return fts_set(tree, one, what); }
static int system_close(void *tree) { return fts_close(tree); }
static void *dense_open(char *const *paths, int how, order *by) {
    return dfs_fts_open(paths, how, by);
}
static FTSENT *dense_read(void *tree) { return dfs_fts_read(tree); }
static FTSENT *dense_children(void *tree, int how) { return dfs_fts_children(tree, how); }
static int dense_set(void *tree, FTSENT *one, int what) { return dfs_fts_set(tree, one, what); }
static int dense_close(void *tree) { return dfs_fts_close(tree); }

static const struct tree trees[2] = {
    {system_open, system_read, system_children, system_set, system_close},
    {dense_open, dense_read, dense_children, dense_set, dense_close},
};

static int by_name(const FTSENT **one, const FTSENT **other) {
    return strcmp((*one)->fts_name, (*other)->fts_name);
}

/* The length without slashes at the end, of which glibc takes one from an empty directory. */
static int length_of(const char *path) {
    int length = (int)strlen(path);
    while (length > 0 && path[length - 1] == '/') length--;
    return length;
}

static void write_entry(int side, const FTSENT *one, int is_child, int how) {
    size_t length = strlen(text[side]), room = sizeof text[side] - length;
    int has_stat = !(how & FTS_NOSTAT) && one->fts_info != FTS_NSOK && one->fts_info != FTS_NS;
    if (strcmp(one->fts_name, "arena") == 0 || room < 1000) return;
    snprintf(text[side] + length, room, "%.*s %d %s %.*s %d %d %d %o %d\n",
             is_child ? 0 : length_of(one->fts_path), one->fts_path, one->fts_info, one->fts_name,
             is_child ? 0 : length_of(one->fts_accpath), one->fts_accpath, one->fts_level,
             is_child ? one->fts_namelen : one->fts_pathlen, one->fts_errno,
             has_stat ? one->fts_statp->st_mode : 0,
             one->fts_info == FTS_DC ? one->fts_cycle->fts_level : 0);
}

/* What is done with an entry follows from its path, so that both sides do the same. */
static unsigned fate(const FTSENT *one, unsigned salt) {
    const char *path = one->fts_path;
    for (int at = 0; at < length_of(path); at++) salt = salt * 31 + (unsigned char)path[at];
    return (salt * 2654435761U >> 7) % 24;
}

/* Reads a tree, with a look at some directories before, some again, and some not at all. */
static void read_tree(int side, char *const *paths, int how, order *by, unsigned salt) {
    const struct tree *calls = &trees[side];
    errno = 0;
    void *tree = calls->open(paths, how, by);
    answer[side] = tree ? 0 : -1;
    why[side] = tree ? 0 : errno;
    if (!tree) return;
    for (FTSENT *one = salt % 3 ? NULL : calls->children(tree, 0); one; one = one->fts_link)
        write_entry(side, one, 1, how);
    FTSENT *one = NULL;
    for (int left = 100; left > 0 && (errno = 0, one = calls->read(tree)) != NULL; left--) {
        if (strcmp(one->fts_name, "arena") == 0) continue;
        write_entry(side, one, 0, how);
        unsigned what = fate(one, salt);
        if (one->fts_number++ > 0) continue;
        if (what < 3) {
            int names = what == 0 ? FTS_NAMEONLY : 0;
            FTSENT *child = calls->children(tree, names);
            for (int seen = 0; child; child = child->fts_link) {
                if (strcmp(child->fts_name, "arena") == 0) continue;
                write_entry(side, child, 1, how);
                /* The first one is visited all the same. */
                if (what == 2 && seen++ > 0) calls->set(tree, child, FTS_SKIP);
            }
        } else if (what < 9) {
            static const int instructions[] = {FTS_AGAIN, FTS_FOLLOW, FTS_FOLLOW, FTS_FOLLOW,
                                               FTS_SKIP, 99};
            int instruction = instructions[what - 3], is_argument = one->fts_level == FTS_ROOTLEVEL;
            /* With FTS_XDEV, glibc keeps the device that an argument had before it was followed. */
            if (instruction == FTS_FOLLOW && how & FTS_XDEV && is_argument) continue;
            answer[side] += calls->set(tree, one, instruction);
        }
    }
    if (!one) why[side] = errno;
    answer[side] += calls->close(tree);
}

static void read_trees(const char *path, const char *other) {
    static const int hows[] = {FTS_PHYSICAL, FTS_PHYSICAL, FTS_LOGICAL, FTS_PHYSICAL | FTS_NOSTAT,
                               FTS_LOGICAL | FTS_NOSTAT, 0, 0x100};
    static const int more[] = {0,          0,        FTS_COMFOLLOW,
                               FTS_SEEDOT, FTS_XDEV, FTS_COMFOLLOW | FTS_SEEDOT};
    char *paths[] = {(char *)path, chance(30) ? (char *)other : NULL, NULL};
    int how = PICK(hows) | PICK(more);
    unsigned salt = below(100000);
    say("fts(\"%s\", \"%s\", %#x, %u)", path, paths[1] ? paths[1] : "", how, salt);
    for (int side = 0; side < 2; side++) read_tree(side, paths, how, by_name, salt);
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
    memset(written, 'A' + (int)below(26), sizeof written);
    for (int side = 0; side < 2; side++) {
        answer[side] = files[side] ? 0 : -1;
        if (!files[side]) continue;
        size_t wrote = fwrite(written, 1, length, files[side]);
        long after = ftell(files[side]);
        int moved = fseek(files[side], to, SEEK_SET);
        memset(found[side], 0, sizeof found[side]);
        size_t got = fread(found[side], 1, length, files[side]);
        long last = ftell(files[side]);
        int closed = fclose(files[side]);
        sprintf(text[side], "%zu %ld %d %zu %ld %d", wrote, after, moved, got, last, closed);
    }
    if (files[0] && files[1] && memcmp(found[0], found[1], sizeof found[0]) != 0)
        strcpy(text[DENSE], "other bytes");
}

void call_of_library(const char *path, const char *other) {
    switch (below(6)) {
    case 0: make_temporary(path); break;
    case 1: resolve(path); break;
    case 2: walk(path); break;
    case 3: case 4: read_trees(path, other); break;
    default: stream(path);
    }
}
