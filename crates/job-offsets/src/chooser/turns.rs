//! Which file is next.

use super::draws::NextFile;
use super::file_state::FileState;
use crate::files::{FileTable, Opening, Openness};
use crate::spec::{FileOrder, FileService};

/// Whose turn it is.
#[derive(Clone, Debug)]
pub(super) struct Turns {
    /// The file that comes next in turn.
    next: usize,
    current: Option<usize>,
    /// How many more transfers it gets.
    left: u32,
    /// How many files have no more offsets.
    pub(super) done: usize,
}

/// Whose turn it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    /// That of a file, which is open.
    Of(usize),
    /// Transfers in flight must end first.
    Wait,
    /// Nobody's.
    Nobody,
}

/// How many files are drawn that cannot be used, before it is given up.
const MOST_DRAWS: u32 = 1 << 20;

impl Turns {
    pub(super) const fn new() -> Self {
        Self { next: 0, current: None, left: 0, done: 0 }
    }

    /// The next file. It is opened if it was closed.
    #[inline]
    pub(super) fn next(
        &mut self,
        service: &FileService,
        drawn: &mut NextFile,
        states: &mut [FileState],
        table: &mut impl FileTable,
    ) -> Turn {
        if self.done >= states.len() {
            return Turn::Nobody;
        }
        if let Some(current) = self.current.filter(|file| table.openness(*file) == Openness::Open) {
            if matches!(service.order, FileOrder::Sequential) {
                return Turn::Of(current);
            }
            if self.left > 0 {
                self.left -= 1;
                return Turn::Of(current);
            }
        }
        let turn = match drawn {
            NextFile::InTurn => self.in_turn(states, table),
            NextFile::Uniform(_) | NextFile::Skewed(_) => draw(drawn, states, table),
        };
        match turn {
            Turn::Wait => return Turn::Wait,
            Turn::Of(file) => self.current = Some(file),
            Turn::Nobody => self.current = None,
        }
        self.left = service.transfers.wrapping_sub(1);
        turn
    }

    #[inline]
    fn in_turn(&mut self, states: &mut [FileState], table: &mut impl FileTable) -> Turn {
        for _ in 0..states.len() {
            let file = self.next;
            self.next = if file + 1 < states.len() { file + 1 } else { 0 };
            match usable(file, states, table) {
                Usable::Yes => return Turn::Of(file),
                Usable::No => {}
                Usable::TooManyOpen => return Turn::Wait,
            }
        }
        Turn::Nobody
    }
}

fn draw(drawn: &mut NextFile, states: &mut [FileState], table: &mut impl FileTable) -> Turn {
    for _ in 0..MOST_DRAWS {
        let Some(file) = drawn.draw(states.len()) else { return Turn::Nobody };
        match usable(file, states, table) {
            Usable::Yes => return Turn::Of(file),
            Usable::No => {}
            Usable::TooManyOpen => return Turn::Wait,
        }
    }
    Turn::Wait
}

enum Usable {
    Yes,
    No,
    TooManyOpen,
}

/// Whether a file has offsets and is open, or could be opened.
#[inline]
fn usable(file: usize, states: &mut [FileState], table: &mut impl FileTable) -> Usable {
    if states[file].is_done {
        return Usable::No;
    }
    match table.openness(file) {
        Openness::Open => Usable::Yes,
        Openness::Closing => Usable::No,
        Openness::Closed => match table.open(file) {
            Opening::Opened => {
                states[file].reset();
                Usable::Yes
            }
            Opening::TooManyOpen => Usable::TooManyOpen,
            Opening::Failed => Usable::No,
        },
    }
}
