# needs: cp mv tar diff dd truncate install
. "$PROGRAMS/tree.sh"
other=$(mktemp -d)
same() { diff -r --no-dereference "$1" "$2" && echo same; }
cp -a tree copy && same tree copy
mv copy/text moved && ls moved
mv moved "$other/moved" && ls "$other/moved"
mv "$other/moved" back && same tree/text back
tar cf - tree | tar xf - -C copy && same tree copy/tree
tar czf "$other/a.tgz" tree && tar tzf "$other/a.tgz" | sort | md5sum
mkdir x && tar xzf "$other/a.tgz" -C x && same x/tree tree
rm -rf x copy && ls
rm -r back
rmdir back || echo gone
rm nothing || echo status $?
cp -r tree/text "$other/text" && same tree/text "$other/text"
dd if=/dev/zero of=zeros bs=1M count=3 2>/dev/null
cp zeros "$other/zeros" && cmp zeros "$other/zeros" && echo same
cp --sparse=always zeros holes && cmp zeros holes && echo same
truncate -s 100M big && stat -c '%s %b' big && rm big
ln -s /etc/hostname out && readlink out && wc -l <out
ln -s "$PWD/zeros" absolute && cmp absolute zeros && echo absolute
(cd tree/src && wc -c <../../zeros)
wc -c <"$PWD/../$(basename "$PWD")/zeros"
install -m 700 zeros installed && chmod u+s installed && stat -c %A installed
touch -d '2001-02-03 04:05:06.5' then && stat -c %Y then
rm -rf "$other"
