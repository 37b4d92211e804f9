# needs: make cc ar
. "$PROGRAMS/tree.sh"
cd tree/src
make -j4 >made && sort made
touch m1.c && make -j4 && make -q && echo up to date
make -n -W m.h | sort
cc -M main.c m0.c | grep -c 'm\.h'
ar rcs lib.a m?.o && ar t lib.a && ar d lib.a m3.o && ar t lib.a | wc -l
ld -r -o both.o m1.o m2.o && nm both.o | grep ' T ' | sort
strip -o stripped prog && objcopy -O binary -j .comment prog comment && wc -l <comment
rm -f *.o *.a prog stripped comment
