# needs: perl mkfifo mknod
# What is the kernel's, also in an arena: fifos and sockets.
mkdir d && cd d
mkfifo fifo && (echo through >fifo & cat fifo) && stat -c '%F %a' fifo
mknod null c 1 3 && stat -c '%F %t %T' null
perl -MSocket -e 'socket S, AF_UNIX, SOCK_STREAM, 0; bind S, pack_sockaddr_un("sock") or die $!;
    listen S, 1; socket C, AF_UNIX, SOCK_STREAM, 0; connect C, pack_sockaddr_un("sock") or die $!;
    syswrite C, "by a socket\n"; accept A, S; sysread A, $_, 99; print'
stat -c %F sock && (cd .. && stat -c %F d/sock) && ls ../d && rm sock null fifo
