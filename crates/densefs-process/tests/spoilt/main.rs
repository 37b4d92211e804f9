//! An arena's file has been tampered with. A process that attaches it nevertheless is refused or
//! gets errors, and no call panics, accesses memory outside of it, or loops forever.
//!
//! `FSPRISM_SPOILT_ROUNDS` sets the number of such files. `make fuzz` lets a fuzzer choose them.

mod image;
#[path = "../../../densefs/src/random.rs"]
mod random;

use image::{BYTES, Images};
use random::Random;

impl Random {
    /// A random line: of the superblock, the slots, the records, the first zone's header, or
    /// anywhere.
    fn line(&mut self) -> u64 {
        let (first, lines) =
            [(0, 32), (64, 256), (320, 64), (384, 64), (384 + 9 * 64, 512), (0, BYTES as u64 / 64)]
                [usize::try_from(self.below(6)).expect("it is small")];
        first + self.below(lines)
    }

    /// A random change, or a plausible one.
    fn change(&mut self) -> [u8; image::CHANGE] {
        let width = self.below(4);
        let place = self.line() * 64 + self.below(64);
        let value = match self.below(6) {
            0 => self.next(),
            1 => self.below(256),
            2 => u64::MAX - self.below(256),
            3 => self.line(),
            4 => self.line() | self.below(4_096) << 32,
            _ => 1 << self.below(64),
        };
        let mut change = [0; image::CHANGE];
        let place = u32::try_from(place << 2 | width).expect("it is small");
        change[..4].copy_from_slice(&place.to_le_bytes());
        change[4..].copy_from_slice(&value.to_le_bytes());
        change
    }
}

#[test]
fn whoever_attaches_a_spoilt_arena_is_told() {
    let rounds = std::env::var("FSPRISM_SPOILT_ROUNDS").ok();
    let rounds: u64 = rounds.map_or(3_000, |text| text.parse().expect("it is a number"));
    let images = Images::new();
    let mut attached = 0;
    for round in 1..=rounds {
        let mut random = Random(round.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let changes: Vec<u8> = (0..=round % 8).flat_map(|_| random.change()).collect();
        let which = usize::try_from(round).expect("it is small");
        let mut bytes = images.spoilt(which, &changes);
        if round.is_multiple_of(50) {
            let length = random.below(2 * BYTES as u64);
            bytes.resize(usize::try_from(length).expect("it is small"), 0);
        }
        attached += u64::from(images.try_out(&bytes));
    }
    println!("{attached} of {rounds} could be attached");
    assert!(attached > rounds / 2 && attached < rounds, "{attached} of {rounds}");
}

#[test]
fn one_that_nobody_has_changed_is_whole() {
    let images = Images::new();
    for which in 0..3 {
        assert!(images.try_out(&images.spoilt(which, &[])));
        let files = densefs_process::DenseFs::attach(images.path()).expect("it was made");
        files.check().expect("there is memory").unwrap_or_else(|why| panic!("{why}"));
        assert!(files.stat("new").expect("it was made").size > 0);
        files.leave();
    }
}
