/*
 * Times calls of DenseFS and the same calls to a tmpfs, round by round. Arguments: an arena and an
 * empty directory on a tmpfs. Output: a line for each round of each operation, with its name, the
 * nanoseconds of a call of DenseFS, and those of a system call.
 */
#include <densefs.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS 31
#define PAGE 4096

static double now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1e9 + now.tv_nsec;
}

static void must(int succeeded, const char *what)
{
    if (!succeeded) {
        perror(what);
        exit(1);
    }
}

/* Rounds of so many calls of DenseFS, and an eighth of them of the system. */
#define COMPARE(name, count, dense, plain)                                                         \
    do {                                                                                           \
        for (int round = 0; round < ROUNDS; round++) {                                             \
            double start = now_ns();                                                               \
            for (int i = 0; i < (count); i++)                                                      \
                dense;                                                                             \
            double middle = now_ns();                                                              \
            for (int i = 0; i < (count) / 8; i++)                                                  \
                plain;                                                                             \
            double end = now_ns();                                                                 \
            printf("%s\t%.2f\t%.2f\n", name, (middle - start) / (count),                           \
                   (end - middle) / ((count) / 8));                                                \
        }                                                                                          \
    } while (0)

static char page[PAGE];

static void metadata(void)
{
    struct stat stat_;
    char name[32];
    for (int i = 0; i < 1000; i++) {
        snprintf(name, sizeof name, "file%08d", i);
        must(dfs_close(dfs_open(name, O_RDWR | O_CREAT, 0644)) == 0, "dfs_open");
        must(close(open(name, O_RDWR | O_CREAT, 0644)) == 0, "open");
    }
    must(dfs_stat("file00000007", &stat_) == 0, "dfs_stat");
    COMPARE("stat", 20000, dfs_stat("file00000007", &stat_), stat("file00000007", &stat_));
    COMPARE("stat, missing", 20000, dfs_stat("missing-name", &stat_), stat("missing-name", &stat_));
    COMPARE("open+close", 20000, dfs_close(dfs_open("file00000007", O_RDONLY)),
            close(open("file00000007", O_RDONLY)));
    COMPARE("create+close+unlink", 5000,
            (dfs_close(dfs_open("new-file-001", O_RDWR | O_CREAT, 0644)),
             dfs_unlink("new-file-001")),
            (close(open("new-file-001", O_RDWR | O_CREAT, 0644)), unlink("new-file-001")));
    COMPARE("rename", 5000,
            dfs_rename(i % 2 ? "other0000001" : "file00000001",
                       i % 2 ? "file00000001" : "other0000001"),
            rename(i % 2 ? "other0000001" : "file00000001",
                   i % 2 ? "file00000001" : "other0000001"));
}

/* The same calls with paths of several names: below one directory, and below eight. */
static void paths(const char *depth, const char *above)
{
    struct stat stat_;
    char what[64], dense[128], plain[128], other[128], other_plain[128];
    for (const char *slash = above; (slash = strchr(slash + 1, '/'));) {
        snprintf(dense, sizeof dense, "%.*s", (int)(slash - above), above);
        dfs_mkdir(dense, 0755);
        mkdir(dense + 1, 0755);
    }
    /* A path of tmpfs is relative: it has the same directories below the working directory. */
    snprintf(dense, sizeof dense, "%sfile00000001", above);
    snprintf(other, sizeof other, "%sother0000001", above);
    snprintf(plain, sizeof plain, "%s", dense + 1);
    snprintf(other_plain, sizeof other_plain, "%s", other + 1);
    must(dfs_close(dfs_open(dense, O_RDWR | O_CREAT, 0644)) == 0, "dfs_open");
    must(close(open(plain, O_RDWR | O_CREAT, 0644)) == 0, "open");
    snprintf(what, sizeof what, "stat %s", depth);
    COMPARE(what, 20000, dfs_stat(dense, &stat_), stat(plain, &stat_));
    snprintf(what, sizeof what, "rename %s", depth);
    COMPARE(what, 5000, dfs_rename(i % 2 ? other : dense, i % 2 ? dense : other),
            rename(i % 2 ? other_plain : plain, i % 2 ? plain : other_plain));
    snprintf(what, sizeof what, "create+close+unlink %s", depth);
    COMPARE(what, 5000,
            (dfs_close(dfs_open(other, O_RDWR | O_CREAT, 0644)), dfs_unlink(other)),
            (close(open(other_plain, O_RDWR | O_CREAT, 0644)), unlink(other_plain)));
    snprintf(what, sizeof what, "mkdir+rmdir %s", depth);
    COMPARE(what, 5000, (dfs_mkdir(other, 0755), dfs_rmdir(other)),
            (mkdir(other_plain, 0755), rmdir(other_plain)));
}

static void locks(void)
{
    int dense = dfs_open("locked", O_RDWR | O_CREAT, 0644);
    int plain = open("locked", O_RDWR | O_CREAT, 0644);
    struct flock lock = {.l_type = F_WRLCK}, unlock = {.l_type = F_UNLCK};
    must(dense >= 0 && plain >= 0, "open");
    COMPARE("fcntl lock+unlock", 5000,
            (dfs_fcntl(dense, F_SETLK, &lock), dfs_fcntl(dense, F_SETLK, &unlock)),
            (fcntl(plain, F_SETLK, &lock), fcntl(plain, F_SETLK, &unlock)));
    must(dfs_close(dense) == 0 && close(plain) == 0, "close");
}

/*
 * Rounds that write the pages of a new file, forwards or backwards. If the files are removed, later
 * ones get their pages; if not, nobody has touched the pages yet.
 */
static void pages(const char *what, int is_backwards, int is_removed)
{
    enum { PAGES = 1024 };
    for (int round = 0; round < ROUNDS; round++) {
        char name[32];
        snprintf(name, sizeof name, "pages%d-%d", is_backwards, round);
        int dense = dfs_open(name, O_RDWR | O_CREAT, 0644);
        int plain = open(name, O_RDWR | O_CREAT, 0644);
        must(dense >= 0 && plain >= 0, "open");
        double start = now_ns();
        for (int i = 0; i < PAGES; i++) {
            off_t at = (off_t)(is_backwards ? PAGES - 1 - i : i) * PAGE;
            must(dfs_pwrite(dense, page, PAGE, at) == PAGE, "dfs_pwrite");
        }
        double middle = now_ns();
        for (int i = 0; i < PAGES; i++) {
            off_t at = (off_t)(is_backwards ? PAGES - 1 - i : i) * PAGE;
            must(pwrite(plain, page, PAGE, at) == PAGE, "pwrite");
        }
        double end = now_ns();
        printf("%s\t%.2f\t%.2f\n", what, (middle - start) / PAGES, (end - middle) / PAGES);
        must(dfs_close(dense) == 0 && close(plain) == 0, "close");
        if (is_removed)
            must(dfs_unlink(name) == 0 && unlink(name) == 0, "unlink");
    }
}

static void content(void)
{
    int dense = dfs_open("data", O_RDWR | O_CREAT, 0644);
    int plain = open("data", O_RDWR | O_CREAT, 0644);
    must(dense >= 0 && plain >= 0, "open");
    for (int i = 0; i < 2; i++) {
        must(dfs_pwrite(dense, page, PAGE, i * PAGE) == PAGE, "dfs_pwrite");
        must(pwrite(plain, page, PAGE, i * PAGE) == PAGE, "pwrite");
    }
    COMPARE("pread 4 KiB", 20000, dfs_pread(dense, page, PAGE, 0),
            must(pread(plain, page, PAGE, 0) == PAGE, "pread"));
    COMPARE("pwrite 4 KiB", 20000, dfs_pwrite(dense, page, PAGE, 0),
            must(pwrite(plain, page, PAGE, 0) == PAGE, "pwrite"));
    pages("pwrite 4 KiB, backwards", 1, 1);
    pages("pwrite 4 KiB, first touch", 0, 0);
}

static void directories(void)
{
    enum { ENTRIES = 10000 };
    char name[32];
    must(dfs_mkdir("/large", 0755) == 0 && dfs_chdir("/large") == 0, "dfs_mkdir");
    must(mkdir("large", 0755) == 0 && chdir("large") == 0, "mkdir");
    for (int i = 0; i < ENTRIES; i++) {
        snprintf(name, sizeof name, "file%08d", i);
        must(dfs_close(dfs_open(name, O_RDWR | O_CREAT, 0644)) == 0, "dfs_open");
        must(close(open(name, O_RDWR | O_CREAT, 0644)) == 0, "open");
    }
    for (int round = 0; round < ROUNDS; round++) {
        int found = 0, wanted = 2 * (ENTRIES + 2);
        double start = now_ns();
        DFS_DIR *dense = dfs_opendir("/large");
        while (dfs_readdir(dense))
            found++;
        dfs_closedir(dense);
        double middle = now_ns();
        DIR *plain = opendir(".");
        while (readdir(plain))
            found++;
        closedir(plain);
        double end = now_ns();
        must(found == wanted, "readdir");
        printf("readdir, per entry\t%.2f\t%.2f\n", (middle - start) / ENTRIES,
               (end - middle) / ENTRIES);
    }
}

/* So many calls of DenseFS, then as many of the system: a round of one of the operations below. */
#define PART(what, dense, plain)                                                                   \
    do {                                                                                           \
        double start = now_ns();                                                                   \
        for (int i = 0; i < PART_FILES; i++)                                                       \
            must(dense, what);                                                                     \
        double middle = now_ns();                                                                  \
        for (int i = 0; i < PART_FILES; i++)                                                       \
            must(plain, what);                                                                     \
        double end = now_ns();                                                                     \
        printf("%s of 1,000,000\t%.2f\t%.2f\n", what, (middle - start) / PART_FILES,               \
               (end - middle) / PART_FILES);                                                       \
    } while (0)

/* A name with this number, made faster than by snprintf. */
static const char *numbered(unsigned number)
{
    static char name[] = "file00000000";
    for (char *digit = name + 11; number > 0; number /= 10)
        *digit-- = '0' + number % 10;
    return name;
}

/* One directory with far more files than caches have room for. Each round is a part of them. */
static void million(void)
{
    enum { PART_FILES = 1000000 / ROUNDS, FILES = PART_FILES * ROUNDS };
    struct stat stat_;
    struct dirent *entry;
    must(dfs_mkdir("/million", 0755) == 0 && dfs_chdir("/million") == 0, "dfs_mkdir");
    must(mkdir("million", 0755) == 0 && chdir("million") == 0, "mkdir");
#define IN_ORDER (10000000 + round * PART_FILES + i)
#define ANYWHERE (10000000 + (unsigned)((round * PART_FILES + i) * 618033L % FILES))
    for (int round = 0; round < ROUNDS; round++)
        PART("create+close", dfs_close(dfs_open(numbered(IN_ORDER), O_RDWR | O_CREAT, 0644)) == 0,
             close(open(numbered(IN_ORDER), O_RDWR | O_CREAT, 0644)) == 0);
    for (int round = 0; round < ROUNDS; round++)
        PART("stat", dfs_stat(numbered(ANYWHERE), &stat_) == 0,
             stat(numbered(ANYWHERE), &stat_) == 0);
    DFS_DIR *dense = dfs_opendir(".");
    DIR *plain = opendir(".");
    must(dense && plain, "opendir");
    for (int round = 0; round < ROUNDS; round++)
        PART("readdir+stat",
             (entry = dfs_readdir(dense)) && dfs_stat(entry->d_name, &stat_) == 0,
             (entry = readdir(plain)) && stat(entry->d_name, &stat_) == 0);
    dfs_closedir(dense);
    closedir(plain);
    for (int round = 0; round < ROUNDS; round++)
        PART("unlink", dfs_unlink(numbered(ANYWHERE)) == 0, unlink(numbered(ANYWHERE)) == 0);
    must(dfs_chdir("/") == 0 && dfs_rmdir("million") == 0, "dfs_rmdir");
    must(chdir("..") == 0 && rmdir("million") == 0, "rmdir");
}

/* The nanoseconds of a create and an unlink by each of so many processes at once. */
static double by_processes(int processes)
{
    enum { CALLS = 20000 };
    double start = now_ns();
    for (int process = 0; process < processes; process++) {
        pid_t child = fork();
        must(child >= 0, "fork");
        if (child > 0)
            continue;
        char directory[32];
        snprintf(directory, sizeof directory, "/process%d", process);
        must(dfs_chdir(directory) == 0, "dfs_chdir");
        for (int i = 0; i < CALLS; i++) {
            dfs_close(dfs_open("file", O_RDWR | O_CREAT, 0644));
            dfs_unlink("file");
        }
        _exit(0);
    }
    for (int process = 0; process < processes; process++) {
        int status;
        must(wait(&status) > 0 && status == 0, "wait");
    }
    return (now_ns() - start) / CALLS;
}

int main(int argc, char **argv)
{
    must(argc == 3 && dfs_attach(argv[1], 0) == 0 && chdir(argv[2]) == 0, "attach");
    must(dfs_mkdir("/work", 0755) == 0 && dfs_chdir("/work") == 0, "dfs_mkdir");
    /* What a system call costs here that does nothing: every ratio depends on it. */
    COMPARE("empty system call", 5000, syscall(SYS_getppid), syscall(SYS_getppid));
    metadata();
    COMPARE("mkdir+rmdir", 5000, (dfs_mkdir("new-file-001", 0755), dfs_rmdir("new-file-001")),
            (mkdir("new-file-001", 0755), rmdir("new-file-001")));
    paths("below one directory", "/one-directory/");
    paths("below eight directories", "/a/b/c/d/e/f/g/h/");
    locks();
    content();
    directories();
    must(dfs_mkdir("/process0", 0755) == 0 && dfs_mkdir("/process1", 0755) == 0, "dfs_mkdir");
    for (int round = 0; round < ROUNDS; round++) {
        double one = by_processes(1), two = by_processes(2);
        /* As much as one does, twice. */
        printf("two processes\t%.2f\t%.2f\n", two, 2 * one);
    }
    million();
    return 0;
}
