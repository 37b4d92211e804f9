//! The files of a log, by name, and which of them are open.

use std::collections::HashMap;

use super::event::FileIndex;

/// What is wrong with an action on a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Misuse {
    /// It was never added.
    Unknown,
    /// It is not open.
    Closed,
    /// It is open already.
    Open,
}

/// The files of a log.
///
/// With `replay_redirect`, all names are one file. It is opened with the first of them, as in fio,
/// and closed with the last: fio closes it with the first, and stops at the next operation.
pub(super) struct FileStates {
    indexes: HashMap<Box<[u8]>, FileIndex>,
    names: Vec<Box<[u8]>>,
    /// How many names keep a file open.
    opens: Vec<u32>,
    redirect: Option<Box<[u8]>>,
    /// Most lines have the name of the line before.
    latest: Option<FileIndex>,
}

impl FileStates {
    pub(super) fn new(redirect: Option<&[u8]>) -> Self {
        Self {
            indexes: HashMap::new(),
            names: Vec::new(),
            opens: Vec::new(),
            redirect: redirect.map(Box::from),
            latest: None,
        }
    }

    /// Adds a file. The name to list it by, unless it is known already.
    pub(super) fn add(&mut self, name: &[u8]) -> Option<Box<[u8]>> {
        if self.find(name).is_ok() {
            return None;
        }
        let name: Box<[u8]> = self.redirect.clone().unwrap_or_else(|| Box::from(name));
        self.indexes.insert(name.clone(), FileIndex::new(self.opens.len()));
        self.names.push(name.clone());
        self.opens.push(0);
        Some(name)
    }

    /// Opens a file. None if another of the names that are one file keeps it open.
    pub(super) fn open(&mut self, name: &[u8]) -> Result<Option<FileIndex>, Misuse> {
        let file = self.find(name)?;
        let opens = &mut self.opens[file.get()];
        if *opens > 0 && self.redirect.is_none() {
            return Err(Misuse::Open);
        }
        *opens += 1;
        Ok((*opens == 1).then_some(file))
    }

    /// Closes a file. None if another of the names that are one file keeps it open.
    pub(super) fn close(&mut self, name: &[u8]) -> Result<Option<FileIndex>, Misuse> {
        let file = self.find_open(name)?;
        let opens = &mut self.opens[file.get()];
        *opens -= 1;
        Ok((*opens == 0).then_some(file))
    }

    /// A file that is open.
    pub(super) fn find_open(&mut self, name: &[u8]) -> Result<FileIndex, Misuse> {
        let file = self.find(name)?;
        if self.opens[file.get()] > 0 { Ok(file) } else { Err(Misuse::Closed) }
    }

    fn find(&mut self, name: &[u8]) -> Result<FileIndex, Misuse> {
        if self.redirect.is_some() {
            let first = FileIndex::new(0);
            return if self.opens.is_empty() { Err(Misuse::Unknown) } else { Ok(first) };
        }
        if let Some(latest) = self.latest
            && *self.names[latest.get()] == *name
        {
            return Ok(latest);
        }
        let file = *self.indexes.get(name).ok_or(Misuse::Unknown)?;
        self.latest = Some(file);
        Ok(file)
    }
}

#[cfg(test)]
mod tests {
    use super::{FileStates, Misuse};
    use crate::replay::event::FileIndex;

    #[test]
    fn files_are_added_opened_used_and_closed() {
        let mut files = FileStates::new(None);
        assert_eq!(files.open(b"a"), Err(Misuse::Unknown));
        assert_eq!(files.add(b"a").as_deref(), Some(b"a".as_slice()));
        assert_eq!(files.add(b"b").as_deref(), Some(b"b".as_slice()));
        assert_eq!(files.add(b"a"), None);
        assert_eq!(files.find_open(b"b"), Err(Misuse::Closed));
        assert_eq!(files.open(b"b"), Ok(Some(FileIndex::new(1))));
        assert_eq!(files.open(b"b"), Err(Misuse::Open));
        assert_eq!(files.find_open(b"b"), Ok(FileIndex::new(1)));
        assert_eq!(files.close(b"b"), Ok(Some(FileIndex::new(1))));
        assert_eq!(files.close(b"b"), Err(Misuse::Closed));
        assert_eq!(files.open(b"b"), Ok(Some(FileIndex::new(1))));
    }

    #[test]
    fn redirected_files_are_one() {
        let mut files = FileStates::new(Some(b"target"));
        assert_eq!(files.open(b"a"), Err(Misuse::Unknown));
        assert_eq!(files.add(b"a").as_deref(), Some(b"target".as_slice()));
        assert_eq!(files.add(b"b"), None);
        let target = FileIndex::new(0);
        assert_eq!(files.open(b"a"), Ok(Some(target)));
        assert_eq!(files.open(b"b"), Ok(None));
        assert_eq!(files.close(b"a"), Ok(None));
        assert_eq!(files.find_open(b"b"), Ok(target));
        assert_eq!(files.close(b"b"), Ok(Some(target)));
        assert_eq!(files.find_open(b"b"), Err(Misuse::Closed));
    }
}
