# Makes a directory `tree` with a small C project and some text, the same each time.
mkdir -p tree/src tree/text
for i in 0 1 2 3 4 5 6 7; do
    printf '#include "m.h"\nint f%s(int x) { return x * %s + EXPORT_SYMBOL; }\n' $i $i \
        >tree/src/m$i.c
    printf 'int f%s(int);\n' $i
done >tree/src/m.h
echo '#define EXPORT_SYMBOL 3' >>tree/src/m.h
cat >tree/src/main.c <<'C'
#include <stdio.h>
#include "m.h"
int main(void) {
    printf("%d\n", f0(1) + f1(1) + f2(1) + f3(1) + f4(1) + f5(1) + f6(1) + f7(1));
}
C
{
    printf 'prog: main.o m0.o m1.o m2.o m3.o m4.o m5.o m6.o m7.o\n\t$(CC) -o $@ $^\n'
    printf '%%.o: %%.c m.h\n\t$(CC) -c -o $@ $<\n'
} >tree/src/Makefile
i=0
while [ $i -lt 60 ]; do
    directory=tree/text/d$((i % 7))/e$((i % 3))
    mkdir -p $directory
    awk -v n=$i 'BEGIN {
        for (k = 0; k < n * 7; k++)
            print "line", k, "of", n, k % 13 ? "nothing" : "EXPORT_SYMBOL(x)"
    }' >$directory/f$i.txt
    i=$((i + 1))
done
ln -s d1/e1 tree/text/link
ln -s missing tree/text/dangling
ln tree/text/d0/e0/f0.txt tree/text/hard
chmod 640 tree/text/d0/e0/f0.txt
touch -d '2020-02-03 04:05:06' tree/text/d2/e2/f2.txt
