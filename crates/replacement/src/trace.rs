//! A trace: a sequence of accesses to the pages of one file, and the moments at which residency is
//! checked.

/// What an access does to its page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessKind {
    /// It reads the page.
    Read,
    /// It writes the page, which is then dirty.
    Write,
}

/// One access to one page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// The page's number in its file, from 0.
    pub page: u32,
    /// What is done to it.
    pub kind: AccessKind,
}

impl Access {
    /// A read of `page`.
    pub fn read(page: u32) -> Self {
        Self { page, kind: AccessKind::Read }
    }

    /// A write of `page`.
    pub fn write(page: u32) -> Self {
        Self { page, kind: AccessKind::Write }
    }
}

/// Accesses to one file, starting with an empty cache, and when to check what is resident.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    name: &'static str,
    pages: u32,
    accesses: Vec<Access>,
    moments: Vec<usize>,
}

impl Trace {
    /// A trace of `accesses` whose residency is checked `looks` times, at regular intervals, the
    /// last time at the end. The file is just long enough for the highest page accessed.
    ///
    /// # Panics
    /// If there are fewer accesses than looks, or no looks.
    pub fn new(name: &'static str, accesses: Vec<Access>, looks: usize) -> Self {
        assert!(looks > 0, "a trace is looked at");
        assert!(accesses.len() >= looks, "an access lies before each look");
        let pages = accesses.iter().map(|access| access.page + 1).max().unwrap_or(0);
        let moments = (1..=looks).map(|look| accesses.len() * look / looks).collect();
        Self { name, pages, accesses, moments }
    }

    /// The trace's name in reports.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The length of the file, in pages.
    pub fn pages(&self) -> u32 {
        self.pages
    }

    /// The accesses, in order.
    pub fn accesses(&self) -> &[Access] {
        &self.accesses
    }

    /// The moments at which residency is checked, as the number of accesses before each, ascending.
    pub fn moments(&self) -> &[usize] {
        &self.moments
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_look_is_at_the_end_and_the_file_holds_the_highest_page() {
        let trace = Trace::new("t", [4, 0, 9, 1, 2].map(Access::read).to_vec(), 2);
        assert_eq!(trace.moments(), [2, 5]);
        assert_eq!(trace.pages(), 10);
    }
}
