//! Inodes and their names: what they have, and whether it can be what it says.

use super::{BELOW_ROOT, Check, Found, IN_STOCK, Problem, UNSEEN, USED, problem};
use crate::annex::runs_of;
use crate::arena::{LINE_BYTES, Line, Ref};
use crate::content::SIZE_MAX;
use crate::directory::Table;
use crate::file_locks::LOCKS_MAX;
use crate::layout::{annex, cell, content, superblock};
use crate::modes::{BLOCKS, CHARACTERS, DIRECTORY, FIFO, FILE, Mode, SOCKET, SYMLINK, TYPE};
use crate::name::{NAME_MAX, Name};
use crate::seams::Seams;
use crate::tree::PATH_MAX;

/// All bits that a mode can have.
const MODE_BITS: u32 = 0o177_777;

impl<'a, S: Seams> Check<'_, 'a, S> {
    /// The mode of the inode in a cell.
    fn mode(&self, at: Ref) -> Found<Mode> {
        let index = self.line(at)?.load(cell::MODE);
        let count = self.line(superblock::MODES)?.load(superblock::MODE_COUNT);
        let mode = if u32::from(index) < count { self.member.mode(index).ok() } else { None };
        let Some(mode) = mode else { return problem("an inode has no mode", at) };
        let has_type = matches!(
            mode.mode & TYPE,
            FILE | DIRECTORY | SYMLINK | CHARACTERS | BLOCKS | FIFO | SOCKET
        );
        if !has_type || mode.mode & !MODE_BITS != 0 {
            return problem("the mode of an inode has no known type", at);
        }
        Ok(mode)
    }

    pub(super) fn is_directory(&self, at: Ref) -> Found<bool> {
        if self.line(at)?.load(cell::MODE) >= cell::DESCRIPTION_MARK {
            return Ok(false);
        }
        Ok(self.mode(at)?.is_directory())
    }

    /// Claims a directory's table and entries, and checks its counts.
    pub(super) fn entries(&mut self, at: Ref) -> Found {
        let directory = self.line(at)?;
        let body = self.body(directory)?;
        if let Some(table) = Table::from_body(body) {
            if table.bits + 1 != u32::from(body.load(cell::FORM)) {
                return problem("the table of a directory is larger than can be", at);
            }
            self.claim_run(table.start, table.buckets(), USED)?;
        }
        let (mut entries, mut subdirectories) = (0, 0);
        let mut found = Ok(());
        let walked = self.member.each_entry(directory, |_, cell| {
            let one = self.entry(at, directory, cell);
            entries += 1;
            subdirectories += u32::from(matches!(one, Ok(true)));
            if let (Ok(()), Err(why)) = (&found, one) {
                found = Err(why);
            }
            Ok(())
        });
        found?;
        if walked.is_err() {
            return problem("a directory's table refers to a line outside", at);
        }
        if entries != directory.load(cell::ENTRIES) {
            return problem("a directory has more or fewer entries than it says", at);
        }
        let links = u32::from(directory.load(cell::LINKS));
        // A directory that has been removed but is still open has no links.
        if links != 0 && subdirectories + 2 != links {
            return problem("a directory has more or fewer subdirectories than it says", at);
        }
        if links == 0 && entries != 0 {
            return problem("a removed directory has entries", at);
        }
        Ok(())
    }

    /// Claims an entry; whether it is a directory.
    fn entry(&mut self, at: Ref, directory: Line<'a>, cell: Ref) -> Found<bool> {
        let line = self.line(cell)?;
        // An inode may have been claimed already, through another name.
        let is_inode = line.load(cell::MODE) != cell::LINK_MARK;
        if !(is_inode && self.seen[cell.0 as usize] >= USED) {
            self.claim_cell(cell, USED)?;
        }
        let mut bytes = [0; NAME_MAX];
        let name = self.member.name_of(line, &mut bytes);
        let Ok(name) = name.and_then(|name| Name::new(name, self.member.secret())) else {
            return problem("an entry has no name", cell);
        };
        if matches!(name.bytes(), b"." | b"..")
            || name.bytes().iter().any(|byte| b"/\0".contains(byte))
        {
            return problem("an entry has a name that no file can have", cell);
        }
        if !name.is_short() {
            self.claim_run(Ref(line.load(cell::LONG_NAME)), name.lines(), USED)?;
        }
        let found = self.member.find(directory, &name).ok().flatten();
        let Some(found) = found.filter(|entry| entry.cell == cell) else {
            return problem("an entry is not found by its name", cell);
        };
        if !self.member.is_marked(self.body(directory)?, &found, &name) {
            return problem("a bucket is wrong about which entries belong there", cell);
        }
        if line.load(cell::MODE) == cell::LINK_MARK {
            let target = Ref(line.load(cell::TARGET));
            self.named(target)?;
            return if self.is_directory(target)? {
                problem("a directory has a further name", cell)
            } else {
                Ok(false)
            };
        }
        self.named(cell)?;
        let is_directory = self.is_directory(cell)?;
        if is_directory && line.load(cell::PARENT) != at.0 {
            return problem("a directory says that it is in another", cell);
        }
        Ok(is_directory)
    }

    /// Counts one name of an inode.
    fn named(&mut self, at: Ref) -> Found {
        self.line(at)?;
        if self.seen[at.0 as usize] == UNSEEN {
            self.claim_cell(at, USED)?;
        }
        if self.seen[at.0 as usize] == USED {
            self.inode(at)?;
        }
        let names = &mut self.seen[at.0 as usize];
        if *names == IN_STOCK {
            return problem("a name stands for a cell that nobody uses", at);
        }
        *names = names.saturating_add(1);
        Ok(())
    }

    /// Claims what an inode with a name has.
    pub(super) fn inode(&mut self, at: Ref) -> Found {
        let line = self.line(at)?;
        let mode = self.mode(at)?;
        if line.load(cell::LINKS) == 0 {
            return problem("an inode with a name has no links", at);
        }
        self.annex(line, USED)?;
        if mode.is_directory() {
            self.report.directories += 1;
            return Ok(());
        }
        self.report.others += 1;
        self.content_by_type(at, line)?;
        self.content(at, USED)
    }

    /// Checks that a directory has one name, and that following its parents ends at the root. What
    /// each says of its parent is right: that has been checked with the entries.
    pub(super) fn below_root(&mut self, at: Ref) -> Found {
        if ![USED + 1, BELOW_ROOT].contains(&self.seen[at.0 as usize]) {
            let root = self.member.root().map_or(Ref::NONE, |root| root.at);
            return if at == root { Ok(()) } else { problem("a directory has several names", at) };
        }
        let parent = |check: &Self, at| Ok(Ref(check.line(at)?.load(cell::PARENT)));
        let mut here = at;
        let mut steps = 0;
        while self.seen[here.0 as usize] != BELOW_ROOT {
            here = parent(self, here)?;
            self.line(here)?;
            steps += 1;
            if steps > self.report.directories {
                return problem("directories contain each other", at);
            }
        }
        let mut here = at;
        while self.seen[here.0 as usize] != BELOW_ROOT {
            self.seen[here.0 as usize] = BELOW_ROOT;
            here = parent(self, here)?;
        }
        Ok(())
    }

    /// The line with an inode's data and form.
    fn body(&self, inode: Line<'a>) -> Found<Line<'a>> {
        let outside = |_| Problem { what: "an annex lies outside", line: inode.load(cell::DATA) };
        self.member.body(inode).map_err(outside)
    }

    /// Claims an inode's annex, if it has one.
    pub(super) fn annex(&mut self, inode: Line<'a>, what: u8) -> Found {
        if inode.load(cell::FORM) != cell::ANNEX {
            return Ok(());
        }
        let at = Ref(inode.load(cell::DATA));
        self.claim_run(at, 1, what)?;
        let body = self.body(inode)?;
        if body.load(annex::LOCK_COUNT) as usize > LOCKS_MAX {
            return problem("a file has more locks than it can", at);
        }
        self.mappings -= i64::from(body.load(annex::MAPPINGS));
        if !self.member.has_sound_attributes(inode) {
            return problem("extended attributes are not as any call writes them", at);
        }
        for (run, lines) in runs_of(body) {
            self.claim_run(run, lines, what)?;
        }
        Ok(())
    }

    /// Claims the content of a file or a symbolic link.
    pub(super) fn content(&mut self, at: Ref, what: u8) -> Found {
        let body = self.body(self.line(at)?)?;
        let form = body.load(cell::FORM);
        if (1..=content::RUN_MAX).contains(&form) {
            return self.claim_run(Ref(body.load(cell::DATA)), form.into(), what);
        }
        let mut found = Ok(());
        let mut map_lines = None;
        let walked = self.member.each_run(body, |run, lines| {
            map_lines = map_lines.or(Some(lines));
            if found.is_ok() {
                found = self.claim_run(run, lines, what);
            }
        });
        // The map comes first. Its form says how large it is.
        let lines = form.checked_sub(content::MAP).map(|bits| 1_u32.checked_shl(bits.into()));
        if walked.is_err() || lines.is_some_and(|lines| lines != map_lines) {
            return problem("a file's map is no map", at);
        }
        found
    }

    /// Checks that an inode with a name has a size and content that its type can have.
    fn content_by_type(&self, at: Ref, inode: Line<'a>) -> Found {
        let body = self.body(inode)?;
        let (size, form) = (inode.load(cell::SIZE), body.load(cell::FORM));
        match self.mode(at)?.mode & TYPE {
            FILE if size > SIZE_MAX => problem("a file is larger than any can be", at),
            FILE => Ok(()),
            SYMLINK => self.target(at, body, size),
            _ if form != 0 => problem("something other than a file has content", at),
            _ => Ok(()),
        }
    }

    /// Checks the target of a symbolic link.
    fn target(&self, at: Ref, body: Line<'a>, size: u64) -> Found {
        let lines = body.load(cell::FORM);
        let length = usize::try_from(size).unwrap_or(usize::MAX);
        let is_there = lines <= content::RUN_MAX && length <= usize::from(lines) * LINE_BYTES;
        let mut target = [0; PATH_MAX];
        let Some(target) = target.get_mut(..length).filter(|all| is_there && !all.is_empty())
        else {
            return problem("a symbolic link is longer or shorter than its target can be", at);
        };
        let read = self.member.arena().copy_out(Ref(body.load(cell::DATA)), 0, target);
        if read.is_err() || target.contains(&0) {
            return problem("the target of a symbolic link contains a zero", at);
        }
        Ok(())
    }
}
