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
eval "exec ${COPROC[1]}>&-"; wait
false | true; echo "${PIPESTATUS[@]}"
sh -c 'echo child >c; exec cat c'
env -i /bin/sh -c 'echo clean >e; cat e'; cat e
bash -c 'echo $0 $1 >args; cat args' p q
exec 12>high 50>higher 200>highest; echo a >&12; echo b >&50; echo c >&200
exec 12>&- 50>&- 200>&-; cat high higher highest
exec {any}<>any; echo any >&$any; [ $any -ge 10 ] && echo high; exec {any}>&-; cat any
paste <(cat high) <(cat higher) <(cat <<<here)
tee >(tr a-c A-C >upper) >(wc -l >lines) <both >/dev/null; wait; sleep 0.1; cat upper lines
(sleep 0.05; echo late >late) & (echo early >early) & wait $!; wait; cat early late
{ sleep 5 & sleep 0.05; kill $!; wait $!; } 2>/dev/null; echo "killed $?"
for i in {1..30}; do (echo $i >>appended) & done; wait
sort -n -o appended appended; md5sum <appended
cat 13>duplicated >&13 <<<both; cat duplicated; cat 15<duplicated <&15
while read -r -u 20 line; do read -r other; echo "$line $other"; done 20<high <higher
select_() { printf '%s ' "$@"; }; select_ */ .[a-z]* | sort; echo
pushd a >/dev/null && touch b/x && dirs -l | sed "s,$OLDPWD,," && popd >/dev/null
shopt -s nullglob dotglob extglob
echo a/**/!(y) none*; printf '%(%Y)T\n' 0
read -r -d '' all <both; echo "${#all}"; printf 'x%.0s' {1..70000} >long; wc -c <long; echo ${#long}
compgen -f h | sort; test both -nt log && echo newer; [[ high -ef ./high ]] && echo same
ulimit -n 200; exec 150<both; head -1 <&150; (ulimit -n 30; cat both 2>&1 | head -1)
X
bash script 2>&1
echo status $?
