# needs: sqlite3
sqlite3 db 'create table t(a integer primary key, b); insert into t(b) values (1), (2), (3);'
sqlite3 db 'begin; insert into t(b) select b + 10 from t; rollback; select count(*) from t;'
sqlite3 db 'pragma journal_mode=wal; insert into t(b) select b + 10 from t; select sum(b) from t;'
for i in 1 2 3 4; do
    for k in 1 2 3 4 5 6 7 8; do
        sqlite3 -cmd '.timeout 30000' db "insert into t(b) values ($i$k);"
    done &
done
wait
sqlite3 db 'select count(*), sum(b) from t; pragma integrity_check;'
sqlite3 db 'pragma journal_mode=delete;'
for i in 1 2 3; do
    for k in 1 2 3 4; do
        sqlite3 -cmd '.timeout 30000' db "begin immediate; insert into t(b) values ($i$k); commit;"
    done &
done
wait
sqlite3 db "attach 'other' as other; create table other.u as select * from t;
    select count(*) from u;"
sqlite3 db 'pragma temp_store=file; pragma cache_size=10; select count(*) from (select distinct a.b
    from t a, t b, t c order by a.b + c.b);'
sqlite3 db .dump | sqlite3 again && sqlite3 again 'pragma journal_mode=persist; delete from t;
    select count(*) from t; pragma integrity_check;' && ls && rm again* other
sqlite3 db '.backup saved' && sqlite3 saved 'select count(*) from t;' && rm saved
sqlite3 db 'pragma mmap_size=1000000; select sum(b) from t; update t set b = b + 1;
    select sum(b) from t;'
sqlite3 db 'vacuum; create index i on t(b); pragma integrity_check;'
sqlite3 db 'select b from t order by b;' | md5sum
ls
rm db
