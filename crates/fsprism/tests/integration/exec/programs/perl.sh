# needs: perl sort
seq 100000 | sort -R --random-source=/bin/ls >shuffled
TMPDIR=$PWD sort -n -S 200K shuffled | md5sum
TMPDIR=$PWD sort -n -S 200K --parallel=4 -o shuffled shuffled && md5sum <shuffled
seq 100000 | md5sum
split -n l/4 shuffled part. && sort -m -n part.* | cmp - shuffled && echo merged && rm part.*
perl -e 'open F, ">", "p"; print F "x" x 10; close F; print -s "p", "\n"; rename "p", "q"'
perl -e 'print unlink("q"), "\n"'
mkdir d && touch d/m1 d/m2 d/n
perl -e 'opendir D, "d"; print scalar(grep { /^m/ } readdir D), "\n"; rewinddir D;
    print join(" ", sort grep { !/^\./ } readdir D), "\n"; print telldir(D) > 0, "\n"'
perl -e 'system("wc -l <shuffled"); print `cat d/n`, "$?\n"'
perl -MFile::Find -e 'find({ wanted => sub { print "$File::Find::name\n" },
    preprocess => sub { sort @_ } }, "d")'
perl -MFile::Temp=tempfile -e '($f, $n) = tempfile(DIR => ".", UNLINK => 1); print $f "abc";
    close $f; print -s $n, "\n"'
perl -MFcntl=:flock -e 'open F, ">", "l"; flock F, LOCK_EX; $p = fork;
    if (!$p) { open G, ">", "l"; exit(flock(G, LOCK_EX | LOCK_NB) ? 1 : 0) }
    waitpid $p, 0; print "$?\n"'
perl -MFile::Copy -MFile::Path=make_path,remove_tree -e 'make_path("a/b/c");
    copy("shuffled", "a/b/c/s"); move("a/b/c/s", "a/s");
    print -s "a/s", "\n"; print remove_tree("a"), "\n"'
perl -e 'open F, "+<", "shuffled"; seek F, 10, 0; print F "zz"; seek F, 8, 0; read F, $x, 6;
    print "$x\n"; truncate F, 20; print -s F, "\n"'
perl -pi -e 's/1/one/' shuffled && cat shuffled
perl -e 'open F, ">&", \*STDOUT; print F "dup\n"; open S, "<", \"in memory\n"; print <S>;
    open P, "-|", "cat shuffled"; print scalar(<P>); close P'
perl -e '@s = lstat "shuffled"; print "$s[7]\n"; utime 5, 6, "shuffled"; @s = stat _;
    @s = stat "shuffled"; print "$s[8] $s[9]\n"; print join(" ", sort glob("*")), "\n"'
