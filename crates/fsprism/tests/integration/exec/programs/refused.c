/* Calls that the library refuses, and how. */
#include <aio.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <linux/openat2.h>
#include <sched.h>
#include <signal.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "show.h"

int main(void) {
    int file = open("file", O_RDWR | O_CREAT, 0644), watch = inotify_init1(0), pair[2], mount;
    char bytes[8192] = "";
    SHOW_AS("write", write(file, bytes, sizeof bytes));
    SHOW_AS("inotify", inotify_add_watch(watch, ".", IN_CREATE));
    SHOW_AS("inotify elsewhere", inotify_add_watch(watch, "/", IN_CREATE) > 0);
    SHOW_AS("io_uring", syscall(SYS_io_uring_setup, 4, bytes));
    struct {
        struct file_handle head;
        char bytes[128];
    } handle = {.head.handle_bytes = 128};
    SHOW_AS("handle", name_to_handle_at(AT_FDCWD, "file", &handle.head, &mount, 0));
    aio_context_t context = 0;
    struct iocb request = {.aio_fildes = (unsigned)file, .aio_lio_opcode = IOCB_CMD_PREAD};
    struct iocb *requests[] = {&request};
    syscall(SYS_io_setup, 4, &context);
    SHOW_AS("io_submit", syscall(SYS_io_submit, context, 1, requests));
    socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
    struct iovec part = {bytes, 1};
    union {
        char bytes[CMSG_SPACE(sizeof(int))];
        struct cmsghdr aligned;
    } space;
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = space.bytes,
                             .msg_controllen = sizeof space.bytes};
    struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(head), &file, sizeof file);
    SHOW_AS("sendmsg", sendmsg(pair[0], &message, 0));
    void *mapped = mmap(NULL, 4096, PROT_READ, MAP_SHARED, file, 0);
    SHOW_AS("mremap", mremap(mapped, 4096, 8192, MREMAP_MAYMOVE));
    SHOW_AS("chroot", chroot("."));
    SHOW_AS("pivot_root", syscall(SYS_pivot_root, ".", "."));
    struct open_how how = {.flags = O_RDONLY, .resolve = RESOLVE_BENEATH};
    SHOW_AS("openat2", syscall(SYS_openat2, AT_FDCWD, "file", &how, sizeof how));
    int process = -1;
    SHOW_AS("clone", syscall(SYS_clone, CLONE_VM | CLONE_VFORK | CLONE_PIDFD | SIGCHLD, 0, &process));
    for (int number = 900; number < 1024; number++) close(number);
    SHOW_AS("read", pread(file, bytes, sizeof bytes, 0));
    SHOW_AS("unlink", unlink("file"));
    return 0;
}
