# needs: ninja cc
. "$PROGRAMS/tree.sh"
cd tree/src
{
    printf 'rule cc\n command = cc -MD -MF $out.d -c -o $out $in\n depfile = $out.d\n deps = gcc\n'
    printf 'rule link\n command = cc -o $out $in @$out.rsp\n rspfile = $out.rsp\n'
    printf ' rspfile_content = -lm\n'
    for i in main m0 m1 m2 m3 m4 m5 m6 m7; do printf 'build %s.o: cc %s.c\n' $i $i; done
    printf 'build prog: link main.o m0.o m1.o m2.o m3.o m4.o m5.o m6.o m7.o\ndefault prog\n'
} >build.ninja
ninja -j4 >built && tail -1 built && wc -l <built
ninja
touch m1.c && ninja | wc -l
echo 'int unused;' >>m.h && ninja -d explain 2>&1 | grep -c dirty
ninja -t deps m1.o | grep -c m.h && ninja -t targets all | wc -l
echo 'broken' >m2.c && ninja -k 0 >failed; echo $? && grep -c FAILED failed
ninja -t clean | tail -1
rm -rf built failed .ninja_*
