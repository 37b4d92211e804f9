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
sqlite3 db 'pragma journal_mode=delete; vacuum; create index i on t(b); pragma integrity_check;'
sqlite3 db 'select b from t order by b;' | md5sum
ls
rm db
