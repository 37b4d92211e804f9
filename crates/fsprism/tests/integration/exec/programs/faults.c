/* Passes addresses that are not there to calls, and prints how each fails. */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "show.h"

enum { PAGE = 4096 };

static void die(int signal) { _exit(100 + signal); }

int main(void) {
    /* The program's own faults are its own, with and without a handler. */
    for (int is_handled = 0; is_handled < 2; is_handled++) {
        fflush(stdout);
        pid_t child = fork();
        if (child == 0) {
            if (is_handled) signal(SIGSEGV, die);
            *(volatile int *)8 = 1;
        }
        int status;
        waitpid(child, &status, 0);
        printf("status %x\n", status & ~0x80);
    }
    char *page = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char *bad = page + PAGE;
    struct stat stat_now;
    munmap(bad, PAGE);
    memset(page, 'a', PAGE);
    int file = open("file", O_RDWR | O_CREAT | O_TRUNC, 0644);
    struct iovec part = {bad, 10};
    SHOW(write(file, page, PAGE));
    SHOW(write(file, bad, 10));
    SHOW(lseek(file, 0, SEEK_SET));
    SHOW(read(file, bad, 10));
    SHOW(pread(file, bad, 100, 0));
    SHOW(pwrite(file, bad, 100, 0));
    SHOW(readv(file, &part, 1));
    SHOW(writev(file, &part, 1));
    SHOW(fstat(file, (struct stat *)bad));
    SHOW(stat("file", (struct stat *)bad));
    SHOW(stat(bad, &stat_now));
    SHOW(open(bad, O_RDONLY));
    SHOW(open((char *)1, O_RDONLY));
    SHOW(open(page + PAGE - 6, O_RDONLY));
    SHOW(syscall(SYS_openat, AT_FDCWD, bad, O_RDONLY));
    SHOW(unlink(bad));
    SHOW(mkdir(bad, 0755));
    SHOW(rename("file", bad));
    SHOW(rename(bad, "file"));
    SHOW(link("file", NULL));
    SHOW(symlink(bad, "link"));
    SHOW(readlink("file", bad, 10));
    SHOW(access(bad, F_OK));
    SHOW(chmod(bad, 0644));
    SHOW(truncate(bad, 0));
    SHOW(write(file, "ok", 2));
    SHOW(fstat(file, &stat_now));
    printf("%ld bytes\n", (long)stat_now.st_size);
    SHOW(unlink("file"));
    return 0;
}
