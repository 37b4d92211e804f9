/* Serves pages as a web server does without a network: opens, asks for the size of, reads and
 * closes files chosen at random, and appends 8 KiB to the log after every ten.
 *
 * usage: web DIRECTORY DIRECTORIES FILES PAGES SEED
 *
 * DIRECTORY/dD/pP are the pages, for each D below DIRECTORIES and P below FILES.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char page[1 << 16];
static char line[8 << 10];

static void die(const char *what)
{
    perror(what);
    exit(1);
}

static void serve(const char *path)
{
    struct stat status;
    int file = open(path, O_RDONLY | O_CLOEXEC);

    if (file < 0 || fstat(file, &status) != 0 || status.st_size > (off_t)sizeof page)
        die(path);
    if (read(file, page, status.st_size) != status.st_size)
        die(path);
    close(file);
}

int main(int count, char **words)
{
    char path[4096];

    if (count != 6)
        return 2;
    unsigned long directories = atol(words[2]), files = atol(words[3]), pages = atol(words[4]);
    unsigned long long state = strtoull(words[5], NULL, 10) * 2 + 1;

    snprintf(path, sizeof path, "%s/log", words[1]);
    int log = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (log < 0)
        die(path);
    for (unsigned long at = 0; at < pages; at++) {
        /* Knuth's MMIX. */
        state = state * 6364136223846793005ULL + 1442695040888963407ULL;
        unsigned long chosen = (state >> 33) % (directories * files);
        snprintf(path, sizeof path, "%s/d%lu/p%lu", words[1], chosen / files, chosen % files);
        serve(path);
        if (at % 10 == 9 && write(log, line, sizeof line) != (ssize_t)sizeof line)
            die("log");
    }
    close(log);
    return 0;
}
