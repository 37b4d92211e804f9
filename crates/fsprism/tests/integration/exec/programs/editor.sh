# needs: vim
export HOME=$PWD
printf 'one\ntwo\nthree\n' >text
run() { vim -u NONE -i NONE -es "$@" </dev/null; echo "status $?"; }
run -c '%s/o/0/g' -c 'wq' text && cat text
run -c 'set backup backupext=.old writebackup' -c 'normal Gofour' -c 'x' text && cat text text.old
run -c 'set undofile undodir=.' -c 'normal ggdd' -c 'wq' text && ls -a | sort
run -c 'set undofile undodir=.' -c 'undo' -c 'wq' text && cat text
run -c 'r !cat text.old' -c 'w! new' -c 'e new' -c 'saveas other' -c 'qa!' text && cat other
run -c 'set directory=. swapfile' -c 'preserve' -c 'qa!' text; ls -a | grep -c sw
run -c 'args *' -c 'argdo %s/t/T/ge | update' -c 'qa' && cat new
run -c 'vimgrep /hree/ *' -c 'cw' -c 'w found' -c 'qa!' text && cat found
chmod 444 new && run -c 'normal ddp' -c 'w!' -c 'q' new && stat -c %a new
ln -s text link && run -c 'normal yyp' -c 'wq' link && readlink link && wc -l <text
rm -f ./.*.sw? .*.un~ .viminfo %*
