# needs: rsync
. "$PROGRAMS/tree.sh"
export RSYNC_RSH=none
rsync -a tree/ copy/ && diff -r --no-dereference tree copy && echo same
rsync -aiO tree/ copy/
echo changed >>tree/src/m1.c && rm tree/text/d1/e1/f1.txt && touch -d 2001-01-01 tree/src/m[12].c
rsync -aiO --delete tree/ copy/ | sort
rsync -aiO --checksum --delete tree/ copy/
touch -d 2001-02-02 tree/src/m3.c && rsync -aiO --checksum --no-times tree/ copy/
rsync -aH --delete-before tree/ linked/ && stat -c %h linked/text/hard
rsync -a --inplace --no-whole-file --append-verify tree/ copy/ && diff -r --no-dereference tree copy
rsync -a --link-dest="$PWD/copy" tree/ next/ && stat -c %h next/src/m1.c
rsync -a --backup --suffix=.old --exclude='d[0-4]' tree/text/ copy/ && ls copy | sort
rsync -a --remove-source-files copy/src/ moved/ && ls copy/src moved | sort
rsync -an --out-format='%n %l' --stats tree/ none/ | grep -E '^src/m|files transferred' | sort
other=$(mktemp -d) && rsync -a tree "$other" && rsync -ac --partial-dir=.part "$other/tree/" copy/
diff -r --no-dereference "$other/tree" tree && echo same; rm -r "$other"
