# needs: grep find ls awk
. "$PROGRAMS/tree.sh"
grep -r EXPORT_SYMBOL tree | sort | md5sum
grep -rl 'line 5 ' tree | sort
grep -c nothing tree/text/*/*/* | sort
grep -rn --include='*.c' return tree | sort
find tree -type f -name '*.txt' -newer tree/text/d2/e2/f2.txt | sort | wc -l
find tree ! -type d -printf '%y %m %n %s %p %l\n' | sort
find "$PWD"/tree -name 'm?.c' | sort
ls -lR --time-style=+ tree | awk '!/^d|^total/ { $1 = $1; print }'
ls -a tree
ls -1U tree/text | sort
wc -l tree/text/*/*/* | tail -1
