/* Takes and releases locks as it is told, one command a line, and prints what comes of each. */

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static int files[16];

static void handle(int number)
{
    (void)number;
}

static const char *result(int returned)
{
    return returned < 0 ? strerrorname_np(errno) : "ok";
}

static short kind(const char *word)
{
    return *word == 'w' ? F_WRLCK : *word == 'r' ? F_RDLCK : F_UNLCK;
}

/* flock(2): "flock FILE KIND", and with "wait" in front it waits. */
static int whole(int file, const char *how, int waits)
{
    int operation = *how == 'w' ? LOCK_EX : *how == 'r' ? LOCK_SH : LOCK_UN;
    return flock(files[file], operation | (waits ? 0 : LOCK_NB));
}

/* fcntl(2): "posix FILE KIND START LENGTH", and the same with "ofd". */
static int range(const char *class, int file, const char *how, long start, long length, int waits)
{
    struct flock lock = { .l_type = kind(how), .l_start = start, .l_len = length };
    int of_process = strcmp(class, "posix") == 0;
    int command = of_process ? (waits ? F_SETLKW : F_SETLK) : (waits ? F_OFD_SETLKW : F_OFD_SETLK);
    return fcntl(files[file], command, &lock);
}

/* Who has what "posix FILE KIND START LENGTH" conflicts with. */
static void ask(const char *class, int file, const char *how, long start, long length)
{
    struct flock lock = { .l_type = kind(how), .l_start = start, .l_len = length };
    int of_process = strcmp(class, "posix") == 0;
    if (fcntl(files[file], of_process ? F_GETLK : F_OFD_GETLK, &lock) < 0)
        puts(strerrorname_np(errno));
    else if (lock.l_type == F_UNLCK)
        puts("free");
    else
        printf("%c %ld %ld by %d\n", lock.l_type == F_WRLCK ? 'w' : 'r', (long)lock.l_start,
               (long)lock.l_len, lock.l_pid);
}

/* "pass TIMES CLASS FILE": how often a lock could not be had at once after what had it was closed. */
static int pass(int times, const char *class, int file)
{
    int of_flock = strcmp(class, "flock") == 0, failed = 0;

    while (times-- > 0) {
        files[0] = open("file", O_RDWR);
        for (int *one = (int[]){ 0, file, -1 }; *one >= 0; one++) {
            if ((of_flock ? whole(*one, "w", 0) : range(class, *one, "w", 0, 0, 0)) < 0)
                failed++;
            if (*one == 0)
                close(files[0]);
        }
        if (of_flock)
            whole(file, "u", 0);
        else
            range(class, file, "u", 0, 0, 0);
    }
    return failed;
}

static void obey(const char *line)
{
    char verb[16], word[64], how[16] = "";
    int file = 0, waits = 0, other;
    long start = 0, length = 0;

    if (strncmp(line, "wait ", 5) == 0) {
        waits = 1;
        line += 5;
    }
    if (sscanf(line, "open %d %63s", &file, word) == 2) {
        files[file] = open(word, O_RDWR | O_CREAT, 0666);
        puts(result(files[file]));
    } else if (sscanf(line, "dup %d %d", &file, &other) == 2) {
        files[other] = dup(files[file]);
        puts(result(files[other]));
    } else if (sscanf(line, "close %d", &file) == 1) {
        puts(result(close(files[file])));
    } else if (sscanf(line, "pass %d %15s %d", &other, how, &file) == 3) {
        printf("%d\n", pass(other, how, file));
    } else if (sscanf(line, "map %d", &file) == 1) {
        void *at = mmap(NULL, 1, PROT_READ, MAP_PRIVATE, files[file], 0);
        puts(result(at == MAP_FAILED ? -1 : 0));
    } else if (sscanf(line, "ask %15s %d %15s %ld %ld", verb, &file, how, &start, &length) == 5) {
        ask(verb, file, how, start, length);
    } else if (sscanf(line, "flock %d %15s", &file, how) == 2) {
        puts(result(whole(file, how, waits)));
    } else if (sscanf(line, "%15s %d %15s %ld %ld", verb, &file, how, &start, &length) == 5) {
        puts(result(range(verb, file, how, start, length, waits)));
    } else if (sscanf(line, "handler %15s", how) == 1) {
        struct sigaction action = { .sa_handler = handle };
        action.sa_flags = strcmp(how, "restarts") == 0 ? SA_RESTART : 0;
        puts(result(sigaction(SIGUSR1, &action, NULL)));
    } else {
        puts("what?");
    }
    fflush(stdout);
}

int main(int argc, char **argv)
{
    char line[256];

    if (argc != 2 || chdir(argv[1]) < 0)
        return 1;
    puts("ready");
    fflush(stdout);
    while (fgets(line, sizeof line, stdin)) {
        if (strncmp(line, "child ", 6) != 0) {
            obey(line);
        } else if (fork() == 0) {
            obey(line + 6);
            _exit(0);
        } else {
            wait(NULL);
        }
    }
    return 0;
}
