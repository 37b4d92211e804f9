//! Which files of a job are open: the caller opens and closes them, the chooser says when.

/// The files of a job, by number from 0.
pub trait FileTable {
    /// Whether a file is open.
    fn openness(&self, file: usize) -> Openness;

    /// Opens a file that is closed.
    fn open(&mut self, file: usize) -> Opening;

    /// Closes an open file once no transfer of it is in flight.
    fn close(&mut self, file: usize);
}

/// Whether a file is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Openness {
    /// No.
    Closed,
    /// Yes.
    Open,
    /// It will be closed when its last transfer ends.
    Closing,
}

/// What became of opening a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opening {
    /// It is open.
    Opened,
    /// As many files are open as may be (`openfiles`).
    TooManyOpen,
    /// It cannot be opened. Only in turn are others tried.
    Failed,
}

/// A table that opens nothing, but keeps account.
#[derive(Clone, Debug)]
pub struct CountedFiles {
    files: Vec<Counted>,
    most_open: usize,
    open: usize,
}

#[derive(Clone, Copy, Debug, Default)]
struct Counted {
    is_open: bool,
    is_closing: bool,
    in_flight: u32,
}

impl CountedFiles {
    /// So many files, of which so many may be open at the same time.
    #[must_use]
    pub fn new(files: usize, most_open: usize) -> Self {
        Self { files: vec![Counted::default(); files], most_open, open: 0 }
    }

    /// A transfer of a file begins.
    pub fn begin(&mut self, file: usize) {
        self.files[file].in_flight += 1;
    }

    /// A transfer of a file has ended. Says whether the file is closed by that.
    ///
    /// # Panics
    /// If none is in flight.
    pub fn end(&mut self, file: usize) -> bool {
        let counted = &mut self.files[file];
        counted.in_flight = counted.in_flight.checked_sub(1).expect("a transfer that began");
        let is_last = counted.is_closing && counted.in_flight == 0;
        if is_last {
            *counted = Counted::default();
            self.open -= 1;
        }
        is_last
    }
}

impl FileTable for CountedFiles {
    #[inline]
    fn openness(&self, file: usize) -> Openness {
        match self.files[file] {
            Counted { is_open: false, .. } => Openness::Closed,
            Counted { is_closing: false, .. } => Openness::Open,
            Counted { is_closing: true, .. } => Openness::Closing,
        }
    }

    fn open(&mut self, file: usize) -> Opening {
        if self.open >= self.most_open {
            return Opening::TooManyOpen;
        }
        self.files[file].is_open = true;
        self.open += 1;
        Opening::Opened
    }

    fn close(&mut self, file: usize) {
        let counted = &mut self.files[file];
        if counted.in_flight > 0 {
            counted.is_closing = true;
        } else if counted.is_open {
            *counted = Counted::default();
            self.open -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_stays_open_until_its_last_transfer_ends() {
        let mut files = CountedFiles::new(2, 1);
        assert_eq!(files.open(0), Opening::Opened);
        assert_eq!(files.open(1), Opening::TooManyOpen);
        files.begin(0);
        files.begin(0);
        files.close(0);
        assert_eq!(files.openness(0), Openness::Closing);
        assert!(!files.end(0));
        assert!(files.end(0));
        assert_eq!(files.openness(0), Openness::Closed);
        assert_eq!(files.open(1), Opening::Opened);
        files.close(1);
        assert_eq!(files.openness(1), Openness::Closed);
    }
}
