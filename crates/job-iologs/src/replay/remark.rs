//! Lines of a log that a replay ignores.

use std::fmt;

use crate::place::Place;

/// A line that a replay ignores.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remark {
    /// Where.
    pub place: Place,
    /// Why.
    pub reason: RemarkReason,
}

/// Why a line is ignored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RemarkReason {
    /// Another first line: what several jobs append to one log begins again.
    SecondLog,
    /// Too few words, or words where numbers belong.
    Malformed,
    /// An action that doesn't exist, or not with so many words.
    UnknownAction(String),
    /// A `wait` in version 3.
    WaitWithTime,
    /// A trim.
    Trim,
}

impl fmt::Display for Remark {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: ignored: ", self.place)?;
        match &self.reason {
            RemarkReason::SecondLog => formatter.write_str(
                "another log begins here; give each job that writes one a name of its own",
            ),
            RemarkReason::Malformed => formatter.write_str(
                "neither `FILE ACTION` nor `FILE ACTION OFFSET LENGTH`, with a time before FILE in \
                 version 3",
            ),
            RemarkReason::UnknownAction(action) => {
                write!(formatter, "there is no action `{action}`, or not with this number of words")
            }
            RemarkReason::WaitWithTime => {
                formatter.write_str("version 3 has no `wait`, since every line has a time")
            }
            RemarkReason::Trim => formatter.write_str("trims in logs are not replayed by fio 3.33"),
        }
    }
}

/// What was ignored.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Remarks {
    first: Vec<Remark>,
    count: u64,
}

impl Remarks {
    const KEPT: usize = 20;

    /// The first 20 of them.
    #[must_use]
    pub fn first(&self) -> &[Remark] {
        &self.first
    }

    /// How many lines were ignored.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    pub(super) fn push(&mut self, place: &Place, reason: RemarkReason) {
        if self.first.len() < Self::KEPT {
            self.first.push(Remark { place: place.clone(), reason });
        }
        self.count += 1;
    }

    pub(super) fn append(&mut self, later: Self) {
        let room = Self::KEPT.saturating_sub(self.first.len());
        self.first.extend(later.first.into_iter().take(room));
        self.count += later.count;
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::Arc;

    use super::{RemarkReason, Remarks};
    use crate::place::Place;

    fn place(line: u64) -> Place {
        Place { file: Arc::from(Path::new("a.log")), line }
    }

    #[test]
    fn the_first_are_kept_and_all_are_counted() {
        let mut remarks = Remarks::default();
        for part in 0..4 {
            let mut more = Remarks::default();
            for line in 0..15 {
                more.push(&place(part * 15 + line), RemarkReason::Trim);
            }
            remarks.append(more);
        }
        assert_eq!(remarks.count(), 60);
        let lines: Vec<_> = remarks.first().iter().map(|remark| remark.place.line).collect();
        assert_eq!(lines, (0..20).collect::<Vec<_>>());
    }

    #[test]
    fn remarks_say_where_and_why() {
        let mut remarks = Remarks::default();
        remarks.push(&place(3), RemarkReason::UnknownAction("unlink".to_owned()));
        remarks.push(&place(4), RemarkReason::WaitWithTime);
        let texts: Vec<_> = remarks.first().iter().map(ToString::to_string).collect();
        let expected = [
            "a.log, line 3: ignored: there is no action `unlink`, or not with this number of words",
            "a.log, line 4: ignored: version 3 has no `wait`, since every line has a time",
        ];
        assert_eq!(texts, expected);
    }
}
