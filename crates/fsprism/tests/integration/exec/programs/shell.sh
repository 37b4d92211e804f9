# needs: bash
cat >script <<'X'
exec 3>log; echo three >&3; exec 3>&-; cat log
cat <<H
here $((1 + 2))
H
cat <<<"string"
diff <(sort <(printf 'b\na\n')) <(printf 'a\nb\n') && echo equal
for i in 1 2 3; do echo $i >bg$i & done; wait; cat bg1 bg2 bg3
echo abc >rw; exec 5<rw; read -r x <&5; echo "x=$x"; exec 5>&-
{ echo out; echo err >&2; } >both 2>&1; cat both
echo append >>both; cat both
while read -r l; do echo "l:$l"; done <both
(cd / && pwd); mkdir -p a/b; cd a/b; cd ..; basename "$PWD"; cd ..
test -e both && test -f both && ! test -d both && echo tests
f() { echo "in f"; }; f >ff; cat ff; echo "$(<ff)"
set -o noclobber; echo x >ff || echo clobbered; set +o noclobber
trap 'echo trapped' EXIT; umask 027; touch masked; stat -c %a masked
cat /dev/stdin <both; echo via >/dev/stdout
printf '%s\n' *; echo a*/b; shopt -s globstar; echo **/
exec 7<both; cat <&7; cat /dev/fd/7; cat /proc/self/fd/7 7<both | head -1
mapfile -t lines <both; echo ${#lines[@]}
coproc cat; echo hi >&"${COPROC[1]}"; read -r y <&"${COPROC[0]}"; echo "$y"
false | true; echo "${PIPESTATUS[@]}"
sh -c 'echo child >c; exec cat c'
env -i /bin/sh -c 'echo clean >e; cat e'
bash -c 'echo $0 $1 >args; cat args' p q
X
bash script 2>&1
echo status $?
