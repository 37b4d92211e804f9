//! Who may take a record over.

use std::sync::atomic::Ordering;

use densefs::Arena;
use densefs::format::Shape;

/// What the program that takes a record over gets, as the record says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Claims {
    /// Nobody may take it over.
    Nothing,
    /// What is in the record.
    Record,
    /// Also the locks of byte ranges of the process with this other record, in which the program
    /// was executed, once that record is reaped.
    LocksOf(u32),
}

impl Claims {
    fn word(self) -> u32 {
        match self {
            Self::Nothing => 0,
            Self::Record => 1,
            Self::LocksOf(record) => record.saturating_add(2),
        }
    }

    /// What a record says.
    pub(crate) fn from_record(arena: &Arena<'_>, shape: Shape, record: u32) -> Self {
        let line = shape.record(record).and_then(|at| arena.line(at));
        match line.map_or(0, |line| line.load(Shape::HAND_OVER)) {
            0 => Self::Nothing,
            1 => Self::Record,
            word => Self::LocksOf(word - 2),
        }
    }

    /// Says it in a record.
    pub(crate) fn note(self, arena: &Arena<'_>, shape: Shape, record: u32) {
        if let Ok(line) = shape.record(record).and_then(|at| arena.line(at)) {
            line.atomic(Shape::HAND_OVER).store(self.word(), Ordering::Release);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Claims;

    #[test]
    fn each_record_has_a_word_of_its_own() {
        let all = [Claims::Nothing, Claims::Record, Claims::LocksOf(0), Claims::LocksOf(5)];
        assert_eq!(all.map(Claims::word), [0, 1, 2, 7]);
    }
}
