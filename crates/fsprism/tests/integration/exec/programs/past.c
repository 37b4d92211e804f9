/* Makes a call on a file by an instruction of its own, or by the C library. */
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static long call(long number, long first, const void *second, long third) {
    long result;
    register long fourth __asm__("r10") = 0;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(first), "S"(second), "d"(third), "r"(fourth)
                     : "rcx", "r11", "memory");
    return result;
}

int main(int count, char **arguments) {
    const char *how = arguments[1], *path = arguments[count - 1];
    char byte;
    if (!strcmp(how, "open")) return call(SYS_openat, AT_FDCWD, path, O_RDONLY) < 0;
    if (!strcmp(how, "read")) return call(SYS_read, open(path, O_RDONLY), &byte, 1) < 0;
    if (!strcmp(how, "below")) return call(SYS_openat, open(path, O_RDONLY), "x", O_RDONLY) < 0;
    if (!strcmp(how, "working"))
        return chdir(path) != 0 || call(SYS_openat, AT_FDCWD, "x", O_RDONLY) < 0;
    if (!strcmp(how, "library")) return open(path, O_RDONLY) < 0;
    if (!strcmp(how, "unlink")) return unlink(path) != 0;
    return 9;
}
