/* What programs do with what is open: streams, transfers, waiting, children, libraries. */
#include <aio.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <poll.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "show.h"

extern char **environ;

enum { LARGE = 300000 };

/* For calls that leave anything in errno when they succeed. */
#define SHOW_RESULT(call) printf("%s = %ld\n", #call, (long)(call))

static void streams(void) {
    char text[64] = "", line[64] = "";
    FILE *file = fopen("stream", "w+x");
    SHOW(fprintf(file, "one %d\ntwo\n", 1));
    rewind(file);
    SHOW(fgets(line, sizeof line, file) != NULL);
    SHOW(fseek(file, -1, SEEK_END));
    SHOW(ftell(file));
    SHOW(fputs("!", file));
    file = freopen("stream", "a", file);
    SHOW(fputs("more\n", file));
    SHOW(fclose(file));
    SHOW(fopen("stream", "wx") != NULL);
    file = fopen("stream", "r,ccs=UTF-8");
    while (fgets(line, sizeof line, file)) printf("line %s", line);
    fclose(file);
    FILE *memory = fmemopen(text, sizeof text, "w");
    file = fopen("stream", "r");
    for (int byte; (byte = getc(file)) != EOF;) putc(byte, memory);
    fclose(memory);
    fclose(file);
    printf("%zu\n", strlen(text));
    file = tmpfile();
    SHOW(fputs("temporary", file));
    rewind(file);
    SHOW(fread(text, 1, 9, file));
    fclose(file);
    file = popen("cat >piped; wc -c <stream", "w");
    fputs("to a pipe", file);
    fflush(stdout);
    SHOW(pclose(file));
    file = fopen("piped", "r+m");
    SHOW(fscanf(file, "to %63s", line));
    SHOW(setvbuf(file, NULL, _IONBF, 0));
    SHOW(putw(7, file));
    fclose(file);
    int number = open("unnamed", O_TMPFILE | O_RDWR, 0600);
    SHOW(number);
    number = open(".", O_TMPFILE | O_RDWR, 0600);
    SHOW(dprintf(number, "%s", "no name"));
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", number);
    SHOW(linkat(AT_FDCWD, path, AT_FDCWD, "named", AT_SYMLINK_FOLLOW));
    SHOW(close(number));
    SHOW(truncate("named", 3));
}

static void transfers(void) {
    static char bytes[LARGE];
    for (int index = 0; index < LARGE; index++) bytes[index] = (char)(index / 100);
    int from = open("from", O_RDWR | O_CREAT | O_TRUNC, 0644);
    int to = open("to", O_RDWR | O_CREAT | O_TRUNC, 0644);
    int ends[2];
    if (pipe(ends) != 0) return;
    SHOW(write(from, bytes, LARGE));
    off_t at = 100, end = 5;
    SHOW(copy_file_range(from, &at, to, &end, 1000, 0));
    SHOW(at * 10000 + end);
    SHOW(lseek(from, 0, SEEK_SET));
    SHOW(sendfile(to, from, NULL, LARGE + 50));
    SHOW(lseek(from, 0, SEEK_CUR));
    at = LARGE - 10;
    SHOW(sendfile(ends[1], from, &at, 100));
    SHOW(at);
    SHOW(read(ends[0], bytes, 100));
    at = 0;
    SHOW(splice(from, &at, ends[1], NULL, 200, 0));
    SHOW(splice(ends[0], NULL, to, NULL, 1000, 0));
    SHOW(lseek(to, 0, SEEK_CUR));
    struct iovec parts[2] = {{bytes, 10}, {bytes + 50, 20}};
    SHOW(preadv(from, parts, 2, 1000));
    SHOW(pwritev2(to, parts, 2, 0, RWF_SYNC));
    SHOW(pwritev2(to, parts, 2, -1, RWF_APPEND));
    SHOW(posix_fallocate(to, LARGE * 2, 100));
    SHOW(fallocate(to, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 8192));
    SHOW(lseek(to, 0, SEEK_DATA) > 0);
    SHOW(readahead(from, 0, 100));
    SHOW(posix_fadvise(from, 0, 0, POSIX_FADV_DONTNEED));
    SHOW(sync_file_range(from, 0, 0, SYNC_FILE_RANGE_WRITE));
    SHOW(fdatasync(from) | fsync(to) | syncfs(to));
    char *mapped = mmap(NULL, LARGE, PROT_READ | PROT_WRITE, MAP_SHARED, from, 0);
    mapped[7] = 'x';
    SHOW(pread(from, bytes, 8, 0));
    SHOW(bytes[7] == 'x');
    SHOW(msync(mapped, LARGE, MS_SYNC));
    SHOW(munmap(mapped, LARGE));
    struct aiocb request = {.aio_fildes = from, .aio_buf = bytes, .aio_nbytes = 100};
    struct aiocb *wanted[] = {&request};
    SHOW(aio_read(&request));
    const struct aiocb *waited[] = {&request};
    SHOW(aio_suspend(waited, 1, NULL));
    SHOW(aio_error(&request));
    SHOW(aio_return(&request));
    request.aio_offset = 10;
    SHOW(lio_listio(LIO_WAIT, wanted, 0, NULL));
    SHOW(aio_write(&request));
    while (aio_error(&request) == EINPROGRESS) usleep(100);
    SHOW(aio_return(&request));
    for (int end = 0; end < 2; end++) close(ends[end]);
    close(from);
    close(to);
}

static void waits(void) {
    int file = open("from", O_RDWR), ends[2];
    if (pipe(ends) != 0) return;
    struct pollfd polled[] = {{file, POLLIN | POLLOUT, 0}, {ends[0], POLLIN, 0}, {-1, POLLIN, 0}};
    SHOW(poll(polled, 3, 10000));
    printf("%x %x %x\n", polled[0].revents, polled[1].revents, polled[2].revents);
    struct timespec soon = {0, 1000};
    SHOW(ppoll(polled + 1, 1, &soon, NULL));
    fd_set reads, writes;
    FD_ZERO(&reads);
    FD_ZERO(&writes);
    FD_SET(file, &reads);
    FD_SET(ends[0], &reads);
    FD_SET(file, &writes);
    FD_SET(ends[1], &writes);
    SHOW(select(20, &reads, &writes, NULL, NULL));
    printf("%d %d %d %d\n", FD_ISSET(file, &reads), FD_ISSET(ends[0], &reads),
           FD_ISSET(file, &writes), FD_ISSET(ends[1], &writes));
    int events = epoll_create1(0);
    struct epoll_event event = {.events = EPOLLIN};
    SHOW(epoll_ctl(events, EPOLL_CTL_ADD, file, &event));
    SHOW(epoll_ctl(events, EPOLL_CTL_ADD, ends[0], &event));
    close(file);
    polled[0].events = POLLIN;
    SHOW(poll(polled, 1, 0));
    printf("%x\n", polled[0].revents);
    FD_ZERO(&reads);
    FD_SET(file, &reads);
    SHOW(select(20, &reads, NULL, NULL, NULL));
    close(events);
    for (int end = 0; end < 2; end++) close(ends[end]);
}

static void children(void) {
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 1, "spawned", O_WRONLY | O_CREAT, 0644);
    posix_spawn_file_actions_adddup2(&actions, 1, 7);
    char *arguments[] = {"sh", "-c", "echo first; echo second >&7", NULL};
    pid_t child;
    int status;
    SHOW_RESULT(posix_spawnp(&child, "sh", &actions, NULL, arguments, environ));
    SHOW(waitpid(child, &status, 0) == child && status == 0);
    SHOW_RESULT(posix_spawnp(&child, "none-such", NULL, NULL, arguments, environ));
    posix_spawn_file_actions_addopen(&actions, 2, "none/such", O_RDONLY, 0);
    SHOW_RESULT(posix_spawnp(&child, "sh", &actions, NULL, arguments, environ));
    posix_spawn_file_actions_destroy(&actions);
    fflush(stdout);
    SHOW_RESULT(system("cat spawned; ls none 2>/dev/null"));
    int file = open("spawned", O_RDONLY);
    child = vfork();
    if (child == 0) {
        dup2(file, 0);
        execlp("cat", "cat", NULL);
        _exit(9);
    }
    SHOW(waitpid(child, &status, 0) == child && status == 0);
    SHOW(lseek(file, 0, SEEK_CUR));
    fflush(stdout);
    child = fork();
    if (child == 0) {
        SHOW(lseek(file, 3, SEEK_SET));
        fflush(stdout);
        _exit(0);
    }
    waitpid(child, &status, 0);
    SHOW(lseek(file, 0, SEEK_CUR));
    close(file);
}

static void others(void) {
    void *library = dlopen("libm.so.6", RTLD_NOW);
    double (*cosine)(double) = (double (*)(double))dlsym(library, "cos");
    printf("%.0f\n", cosine(0));
    dlclose(library);
    SHOW(dlopen("./none.so", RTLD_NOW) != NULL);
    struct statx known;
    SHOW(statx(AT_FDCWD, "from", 0, STATX_BASIC_STATS, &known));
    printf("%llu %o %u\n", (unsigned long long)known.stx_size, known.stx_mode, known.stx_nlink);
    SHOW(statx(AT_FDCWD, "", AT_EMPTY_PATH, STATX_TYPE, &known));
    struct open_how how = {.flags = O_RDONLY};
    int file = (int)syscall(SYS_openat2, AT_FDCWD, "from", &how, sizeof how);
    SHOW(file >= 0);
    SHOW(syscall(SYS_openat2, AT_FDCWD, "from", &how, 3));
    how.flags = O_RDONLY | O_CREAT;
    how.mode = 0600;
    SHOW(syscall(SYS_openat2, AT_FDCWD, "none/such", &how, sizeof how));
    SHOW(fcntl(file, F_DUPFD, 40) >= 40);
    SHOW(dup2(file, 41));
    SHOW(dup3(file, 42, O_CLOEXEC));
    SHOW(fcntl(42, F_GETFD));
    SHOW(close_range(40, 42, 0));
    SHOW(fcntl(41, F_GETFD));
    SHOW(isatty(file));
    SHOW(fchmod(file, 0600) | fchown(file, getuid(), getgid()));
    SHOW(fpathconf(file, _PC_NAME_MAX));
    int directory = open(".", O_RDONLY | O_DIRECTORY), path = open("from", O_PATH);
    SHOW(read(path, &known, 1));
    SHOW(fstatat(path, "", (struct stat *)&known, AT_EMPTY_PATH));
    SHOW(close(path) | close(directory));
    /* Closed numbers are nobody's, whatever takes a number. */
    SHOW(close(path));
    SHOW(fchdir(directory));
    SHOW(openat(directory, "from", O_RDONLY));
    SHOW(faccessat(directory, "from", F_OK, 0));
    SHOW(fstat(path, (struct stat *)&known));
    SHOW(fstatat(path, "", (struct stat *)&known, AT_EMPTY_PATH));
    SHOW(statx(path, "", AT_EMPTY_PATH, STATX_TYPE, &known));
    SHOW(dup(path));
    SHOW(dup2(path, path));
    SHOW(dup2(path, 30));
    SHOW(fcntl(path, F_GETFL));
    SHOW(fcntl(path, F_DUPFD, 0));
    SHOW(mmap(NULL, 10, PROT_READ, MAP_PRIVATE, path, 0));
    SHOW(fstatfs(path, (struct statfs *)&known));
    SHOW(sendfile(path, file, NULL, 1));
    SHOW(copy_file_range(path, NULL, file, NULL, 1, 0));
    SHOW(linkat(path, "", AT_FDCWD, "linked", AT_EMPTY_PATH));
    /* The lowest free number is the next one, whoever opens it. */
    int lowest = open("from", O_RDONLY), next = open("/dev/null", O_RDONLY), ends[2];
    SHOW(next - lowest);
    close(lowest);
    SHOW(pipe(ends));
    SHOW((ends[0] - lowest) * 100 + ends[1] - lowest);
    close(ends[0]);
    SHOW(open("from", O_RDONLY) - lowest);
    close(next);
    close(lowest);
    SHOW(socket(AF_UNIX, SOCK_STREAM, 0) - lowest);
    SHOW(dup(file) - lowest);
    SHOW(pathconf("from", _PC_PATH_MAX));
    close(file);
}

int main(void) {
    streams();
    transfers();
    waits();
    children();
    others();
    return 0;
}
