# needs: make cc ar sort perl
. "$PROGRAMS/tree.sh"
cd tree/src
make -j4 >made && sort made && ./prog
touch m1.c && make -j4 && make -q && echo up to date
cc -fPIC -shared -o lib.so m?.c && cc -o by-library main.c ./lib.so && ./by-library
ar rcs lib.a m?.o && ar t lib.a
seq 100000 | sort -R --random-source=/bin/ls >shuffled
TMPDIR=$PWD sort -n -S 200K shuffled | md5sum
seq 100000 | md5sum
perl -e 'open F, ">", "p"; print F "x" x 10; close F; print -s "p", "\n"; rename "p", "q"'
perl -e 'print unlink("q"), "\n"'
perl -e 'opendir D, "."; print scalar(grep { /^m/ } readdir D), "\n"'
perl -e 'system("wc -l <m.h"); print `cat m.h`'
rm -f *.o *.a *.so prog by-library
