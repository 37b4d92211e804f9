//! Pieces are verified in the order that they should be, and a plain list agrees.

use super::*;
use proptest::prelude::*;

fn piece(offset: u64, length: u64, number: u64) -> Piece {
    Piece { file: 0, offset, length, number, is_trimmed: false }
}

fn landed(history: &mut History, piece: Piece, keeping: Keeping) {
    let ticket = history.log(piece, keeping, Fate::Stays);
    history.completed(ticket);
}

#[test]
fn pieces_are_verified_in_order_once_they_have_ended() {
    let mut history = History::new();
    let first = history.log(piece(8, 4, 0), Keeping::Logged, Fate::Stays);
    landed(&mut history, piece(0, 4, 1), Keeping::Logged);
    let third = history.log(piece(4, 4, 2), Keeping::Logged, Fate::Stays);
    assert_eq!(history.next_to_verify(), None);
    history.completed(first);
    assert_eq!(history.next_to_verify(), Some(piece(8, 4, 0)));
    history.failed(third);
    history.failed(third);
    assert_eq!(history.len(), 1);
    assert_eq!(history.next_to_verify(), Some(piece(0, 4, 1)));
    assert_eq!(history.next_to_verify(), None);
    assert!(history.is_empty());
}

#[test]
fn sorted_pieces_come_first_and_wait_too() {
    let mut history = History::new();
    landed(&mut history, piece(0, 4, 0), Keeping::Logged);
    let sorted = history.log(Piece { file: 1, ..piece(0, 4, 1) }, Keeping::Sorted, Fate::Stays);
    assert_eq!(history.next_to_verify(), None);
    history.shortened(sorted, 2);
    history.completed(sorted);
    assert_eq!(history.next_to_verify(), Some(Piece { file: 1, ..piece(0, 2, 1) }));
    assert_eq!(history.next_to_verify(), Some(piece(0, 4, 0)));
}

#[test]
fn a_later_write_replaces_what_it_overlaps() {
    let mut history = History::new();
    let before = history.log(piece(0, 4, 0), Keeping::Sorted, Fate::IsTrimmed);
    landed(&mut history, piece(4, 4, 1), Keeping::Sorted);
    landed(&mut history, piece(8, 4, 2), Keeping::Sorted);
    landed(&mut history, Piece { file: 1, ..piece(2, 4, 3) }, Keeping::Sorted);
    landed(&mut history, piece(2, 4, 4), Keeping::Sorted);
    assert_eq!((history.len(), history.trims()), (3, 0));
    history.completed(before);
    history.failed(before);
    assert_eq!(history.next_to_verify(), Some(piece(2, 4, 4)));
    let again = history.log(piece(8, 4, 5), Keeping::Sorted, Fate::Stays);
    assert_eq!(history.next_to_verify(), None);
    history.completed(again);
    assert_eq!(history.next_to_verify(), Some(piece(8, 4, 5)));
    history.clear();
    assert_eq!(history.next_to_verify(), None);
}

#[test]
fn trimmed_pieces_are_marked_or_forgotten() {
    let mut history = History::new();
    for keeping in [Keeping::Logged, Keeping::Sorted] {
        let ticket = history.log(piece(0, 4, 0), keeping, Fate::IsTrimmed);
        history.completed(ticket);
        landed(&mut history, piece(4, 4, 1), keeping);
        assert_eq!(history.trims(), 1);
        assert_eq!(history.next_to_trim(TrimmedBlocks::AreVerified), Some(piece(0, 4, 0)));
        assert_eq!(history.next_to_trim(TrimmedBlocks::AreVerified), None);
        let trimmed = Piece { is_trimmed: true, ..piece(0, 4, 0) };
        assert_eq!(history.next_to_verify(), Some(trimmed));
        history.log(piece(8, 4, 2), keeping, Fate::IsTrimmed);
        assert_eq!(history.next_to_trim(TrimmedBlocks::AreForgotten), Some(piece(8, 4, 2)));
        assert_eq!((history.trims(), history.len()), (0, 1));
        assert_eq!(history.next_to_verify(), Some(piece(4, 4, 1)));
    }
}

#[test]
fn tickets_of_before_are_unknown() {
    let mut history = History::new();
    let old = history.log(piece(0, 4, 0), Keeping::Logged, Fate::IsTrimmed);
    history.clear();
    assert_eq!(history.trims(), 0);
    history.log(piece(4, 4, 1), Keeping::Logged, Fate::Stays);
    history.failed(old);
    assert_eq!(history.len(), 1);
}

/// What is done to a history.
#[derive(Clone, Debug)]
enum Step {
    Log { file: u32, offset: u64, length: u64 },
    Complete(usize),
    Fail(usize),
    Verify,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        4 => (0_u32..2, 0_u64..30, 1_u64..8)
            .prop_map(|(file, offset, length)| Step::Log { file, offset, length }),
        3 => (0_usize..40).prop_map(Step::Complete),
        1 => (0_usize..40).prop_map(Step::Fail),
        2 => Just(Step::Verify),
    ];
    prop::collection::vec(step, 1..80)
}

proptest! {
    /// The history does what a plain list of pieces does.
    #[test]
    fn a_list_is_its_model(steps in steps(), is_sorted: bool) {
        let keeping = if is_sorted { Keeping::Sorted } else { Keeping::Logged };
        let mut history = History::new();
        let mut tickets = Vec::new();
        let mut model: Vec<(Piece, usize, bool)> = Vec::new();
        for step in steps {
            match step {
                Step::Log { file, offset, length } => {
                    let new = Piece { file, ..piece(offset, length, tickets.len() as u64) };
                    if is_sorted {
                        model.retain(|(old, ..)| {
                            old.file != file
                                || old.offset + old.length <= offset
                                || offset + length <= old.offset
                        });
                    }
                    model.push((new, tickets.len(), true));
                    tickets.push(history.log(new, keeping, Fate::Stays));
                }
                Step::Complete(index) => if let Some(ticket) = tickets.get(index) {
                    history.completed(*ticket);
                    model.iter_mut().filter(|old| old.1 == index).for_each(|old| old.2 = false);
                },
                Step::Fail(index) => if let Some(ticket) = tickets.get(index) {
                    history.failed(*ticket);
                    model.retain(|old| old.1 != index);
                },
                Step::Verify => {
                    if is_sorted {
                        model.sort_by_key(|(old, ..)| (old.file, old.offset));
                    }
                    let is_ready = model.first().is_some_and(|first| !first.2);
                    let expected = is_ready.then(|| model.remove(0).0);
                    prop_assert_eq!(history.next_to_verify(), expected);
                }
            }
            prop_assert_eq!(history.len(), model.len());
        }
    }
}
