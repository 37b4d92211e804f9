# needs: make cc perl
. "$PROGRAMS/tree.sh"
cd tree/src
make >made && ./prog
cc -fPIC -shared -o lib.so m?.c && cc -o by-library main.c ./lib.so && ./by-library
LD_LIBRARY_PATH=. ./by-library && (cd / && "$OLDPWD/prog")
PATH=$PWD:$PATH prog
printf '#!/bin/sh\necho "$0" "$@"; wc -c <"$0"\n' >script && chmod +x script && ./script a 'b c'
printf '#!%s\n' "$PWD/script" >nested && chmod +x nested && ./nested d | sed "s,$PWD,,"
echo text >text && chmod +x text && ./text 2>/dev/null; echo $?
mkdir -p closed && cp prog closed && chmod 644 closed/prog && closed/prog 2>/dev/null; echo $?
mv prog moved && ./moved && ln -s moved linked && ./linked && rm moved && ./linked 2>/dev/null
echo $?
perl -e 'exec {"./by-library"} "named"'
rm -f *.o *.so by-library
