# needs: git
export GIT_AUTHOR_DATE=2020-01-01T00:00:00Z GIT_COMMITTER_DATE=2020-01-01T00:00:00Z HOME=$PWD
export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
git config --global init.defaultBranch main
git config --global gc.auto 0
git config --global pack.threads 1
. "$PROGRAMS/tree.sh"
mv tree r && cd r
git init -q && git add -A && git commit -qm one && git log --oneline && git status --short
echo change >>src/main.c && rm text/hard && git status --short && git diff --stat
git commit -qam two && git checkout -qb b && echo b >b && git add b && git commit -qm b
git checkout -q main && git merge -q --no-edit b && git log --oneline --graph
git gc -q && git fsck && git count-objects
cd .. && git clone -q r c && cd c && git log --oneline
git worktree add -q ../w b 2>/dev/null || git worktree add -q -b b ../w origin/b
ls ../w
echo x >src/m.h && git stash -q && git stash pop -q && git diff --stat
git grep -c EXPORT | sort | tail -2
git archive HEAD | tar t | wc -l
git reset -q --hard && git clean -fdq && git status --short
git bundle create -q ../bundle main && git clone -q ../bundle ../unbundled && ls ../unbundled
for i in 1 2 3 4 5 6 7 8; do
    [ $i -lt 6 ] || echo bad >marker
    echo $i >n && git add -A && git commit -qm "n $i"
done
git bisect start HEAD HEAD~8 >/dev/null && git bisect run sh -c '! test -e marker' | tail -1
git bisect log | grep -c '^git bisect' && git bisect reset 2>/dev/null && git status --short
git branch -q early HEAD~8 && git rebase -q --onto early HEAD~3 2>/dev/null; git status --short
git rebase --abort && git cherry-pick -n HEAD~1 2>/dev/null; git reset -q --hard
git blame -s n && git show --stat HEAD | tail -1 && git repack -adq && git fsck --full && git prune
git sparse-checkout set src 2>/dev/null && ls && git sparse-checkout disable && git ls-files | wc -l
