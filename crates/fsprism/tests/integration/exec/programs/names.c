/* What the C library does with names: walks, patterns, temporary names, paths. */
#include <dirent.h>
#include <fcntl.h>
#include <fts.h>
#include <ftw.h>
#include <glob.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>
#include <wordexp.h>

#include "show.h"

enum { DEPTH = 60, MANY = 3000 };

static char here[PATH_MAX];

static void make(const char *path) {
    FILE *file = fopen(path, "w");
    if (!file || fputs(path, file) < 0 || fclose(file) != 0) perror(path);
}

static int by_name(const FTSENT **one, const FTSENT **other) {
    return strcmp((*one)->fts_name, (*other)->fts_name);
}

static void walk_by_fts(int how) {
    char *roots[] = {"tree", NULL};
    FTS *walk = fts_open(roots, how, by_name);
    for (FTSENT *one; (one = fts_read(walk)) != NULL;)
        printf("fts %d %d %s\n", one->fts_info, one->fts_level, one->fts_path);
    fts_close(walk);
}

static unsigned walked, directories;

static int walk_new(const char *path, const struct stat *known, int kind, struct FTW *at) {
    (void)path;
    walked += (unsigned)at->level * 100 + (unsigned)kind;
    directories += S_ISDIR(known->st_mode);
    return 0;
}

static int walk_old(const char *path, const struct stat *known, int kind) {
    (void)known;
    walked += (unsigned)strlen(path) + (unsigned)kind;
    return 0;
}

static int is_visible(const struct dirent *one) { return one->d_name[0] != '.'; }

static void walks(void) {
    mkdir("tree", 0755);
    mkdir("tree/a", 0755);
    mkdir("tree/b", 0755);
    make("tree/a/x.c");
    make("tree/a/y.c");
    make("tree/b/.hidden");
    symlink("../a", "tree/b/link");
    symlink("nowhere", "tree/b/dangling");
    walk_by_fts(FTS_PHYSICAL);
    walk_by_fts(FTS_LOGICAL);
    walk_by_fts(FTS_PHYSICAL | FTS_NOCHDIR);
    SHOW(nftw("tree", walk_new, 4, FTW_PHYS | FTW_DEPTH));
    SHOW(nftw("tree", walk_new, 1, FTW_PHYS | FTW_CHDIR));
    /* It follows links, so that its way depends on their order. */
    unlink("tree/b/link");
    SHOW(ftw("tree", walk_old, 3));
    symlink("../a", "tree/b/link");
    printf("%u %u\n", walked, directories);
    struct dirent **found;
    int count = scandir("tree/b", &found, is_visible, alphasort);
    for (int index = 0; index < count; index++) {
        printf("scandir %s %d\n", found[index]->d_name, found[index]->d_type);
        free(found[index]);
    }
    if (count >= 0) free(found);
}

static void patterns(void) {
    glob_t matched;
    const char *all[] = {"tree/*/*.c", "tree/{a,b}/*", "tree/*/", "none*", "./tree/[ab]/l*"};
    for (unsigned which = 0; which < sizeof all / sizeof *all; which++) {
        int result = glob(all[which], GLOB_BRACE | GLOB_MARK, NULL, &matched);
        printf("glob %s %d %zu\n", all[which], result, result ? 0 : matched.gl_pathc);
        for (size_t index = 0; result == 0 && index < matched.gl_pathc; index++)
            puts(matched.gl_pathv[index]);
        globfree(&matched);
    }
    char pattern[PATH_MAX + 16];
    snprintf(pattern, sizeof pattern, "%s/tree/a/*", here);
    SHOW(glob(pattern, 0, NULL, &matched));
    printf("%s\n", matched.gl_pathv[1] + strlen(here));
    globfree(&matched);
    wordexp_t words;
    if (wordexp("tree/a/*.c $(cat tree/a/x.c)", &words, 0) != 0) return;
    for (size_t index = 0; index < words.we_wordc; index++) puts(words.we_wordv[index]);
    wordfree(&words);
}

static void paths(void) {
    char *real = realpath("tree/b/link/../b/link/x.c", NULL);
    puts(real ? real + strlen(here) : "none");
    free(real);
    SHOW(realpath("tree/b/dangling", NULL));
    SHOW(realpath("tree/a/x.c/y", NULL));
    char name[] = "XXXXXX.end", plain[] = "XXXXXX", directory[] = "dXXXXXX";
    int file = mkstemps(name, 4), other = mkostemp(plain, O_APPEND);
    SHOW(write(file, "ab", 2) + write(other, "c", 1));
    SHOW(mkdtemp(directory) != NULL);
    SHOW(remove(name));
    SHOW(remove(plain));
    SHOW(remove(directory));
    SHOW(remove("tree"));
    close(file);
    close(other);
    struct stat before, now;
    for (int level = 0; level < DEPTH; level++) {
        if (mkdir("a-long-name-of-a-directory", 0755) || chdir("a-long-name-of-a-directory")) break;
    }
    char *deep = getcwd(NULL, 0);
    printf("%zu\n", deep ? strlen(deep) - strlen(here) : 0);
    SHOW(stat(deep, &before) | stat(".", &now));
    printf("%d\n", before.st_ino == now.st_ino && before.st_dev == now.st_dev);
    free(deep);
    make("file");
    SHOW(getcwd(name, 3) != NULL);
    SHOW(chdir(here));
}

static void renames(void) {
    make("one");
    make("two");
    mkdir("three", 0755);
    SHOW(renameat2(AT_FDCWD, "one", AT_FDCWD, "two", RENAME_NOREPLACE));
    SHOW(renameat2(AT_FDCWD, "one", AT_FDCWD, "three", RENAME_EXCHANGE));
    SHOW(rename("one", "two"));
    SHOW(rename("two", "three"));
    SHOW(renameat2(AT_FDCWD, "two", AT_FDCWD, "four", RENAME_EXCHANGE));
    SHOW(renameat2(AT_FDCWD, "two", AT_FDCWD, "four", RENAME_EXCHANGE | RENAME_NOREPLACE));
    SHOW(rename("tree", "tree/a/in"));
    SHOW(rename("three", "/proc/version"));
    SHOW(rename("none", "/proc/none/none"));
    SHOW(link("three", "/proc/none/none"));
    SHOW(unlinkat(AT_FDCWD, "three", AT_REMOVEDIR));
    SHOW(unlink("one"));
}

struct linux_entry {
    unsigned long ino;
    long next;
    unsigned short length;
    unsigned char kind;
    char name[];
};

static void listings(void) {
    char name[32], bytes[1000];
    mkdir("many", 0755);
    for (int number = 0; number < MANY; number++) {
        snprintf(name, sizeof name, "many/%d", number);
        close(open(name, O_CREAT | O_WRONLY | O_EXCL, 0600));
    }
    int directory = open("many", O_RDONLY | O_DIRECTORY);
    long read, entries = 0, sum = 0;
    while ((read = syscall(SYS_getdents64, directory, bytes, sizeof bytes)) > 0) {
        for (long at = 0; at < read; entries++) {
            struct linux_entry *one = (struct linux_entry *)(bytes + at);
            sum += atoi(one->name) + one->kind;
            at += one->length;
        }
    }
    printf("%ld %ld %ld\n", read, entries, sum);
    SHOW(syscall(SYS_getdents64, directory, bytes, 10));
    SHOW(lseek(directory, 0, SEEK_SET));
    SHOW(syscall(SYS_getdents64, directory, bytes, 10));
    close(directory);
    DIR *all = opendir("many");
    long place = 0;
    struct dirent *one;
    for (int number = 0; number < MANY / 2; number++) one = readdir(all);
    place = telldir(all);
    char wanted[256];
    one = readdir(all);
    snprintf(wanted, sizeof wanted, "%s", one ? one->d_name : "none");
    while ((one = readdir(all)) != NULL) continue;
    seekdir(all, place);
    one = readdir(all);
    printf("%d\n", one && strcmp(one->d_name, wanted) == 0);
    rewinddir(all);
    /* What is removed on the way may be listed or not; the others must be. */
    while ((one = readdir(all)) != NULL) unlinkat(dirfd(all), one->d_name, 0);
    closedir(all);
    SHOW(rmdir("many"));
}

int main(void) {
    if (!getcwd(here, sizeof here)) return 1;
    walks();
    patterns();
    paths();
    renames();
    listings();
    return 0;
}
