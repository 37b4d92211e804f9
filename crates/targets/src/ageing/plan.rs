//! The operations of ageing, planned from a seed: nothing here touches a file.
//!
//! File sizes follow the lognormal distribution fitted to the files of thousands of desktop
//! machines: mu 9.48 and sigma 2.46 of the natural logarithm of bytes, a median of 13 KiB (Agrawal
//! et al., "Generating Realistic Impressions for File-System Images", FAST 2009, Table 2; the data
//! are those of "A Five-Year Study of File-System Metadata", FAST 2007). Its far tail, which does
//! not fit into a small image, is cut off.
//!
//! Files grow side by side, a piece at a time, and are later changed and extended, as the files of
//! concurrent programs are: each piece is placed where there was room at the time.

use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution, LogNormal};
use rand_xoshiro::Xoshiro256PlusPlus;

use record::Ageing;

const MU: f64 = 9.48;
const SIGMA: f64 = 2.46;
/// File sizes are capped at this, and at a share of the room: deleting one file must free little,
/// or the free space is not fragmented.
const FILE_BYTES_MAX: u64 = 8 << 20;
const FILES_PER_ROOM_MIN: u64 = 512;
/// The unit in which file systems allocate space; the space that a file takes is counted in it.
pub(crate) const BLOCK_BYTES: u64 = 4096;
/// The space that a file takes besides its content: inode, name, a share of a tree.
const FILE_OVERHEAD_BYTES: u64 = 1024;
/// How many files grow at a time.
const GROWING: usize = 8;
/// A piece of a file is 1, 2, 4, ... or 16 blocks.
const PIECE_SHIFT_MAX: u32 = 4;
/// One in this many pieces overwrites an existing file, and one extends an existing file.
const PIECES_PER_CHANGE: u32 = 16;
/// One in this many pieces is sent to the device at once, which decides where it is placed.
const PIECES_PER_WRITE_OUT: u32 = 4;
/// Directories that the files are spread over.
pub(crate) const DIRECTORIES: u64 = 64;

/// One operation on the file system.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum AgeingStep {
    /// Writes `bytes` at the offset `at` of a file; the first piece creates the file.
    Write { file: u64, at: u64, bytes: u64, then: AfterWrite },
    /// Removes a file.
    Delete { file: u64 },
}

/// What follows a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum AfterWrite {
    /// Nothing: the kernel decides when to write.
    Nothing,
    /// The file's dirty pages are sent to the device, so that they are allocated now.
    WriteOut,
}

/// A file as the plan sees it.
#[derive(Clone, Copy, Debug)]
struct PlannedFile {
    file: u64,
    size_bytes: u64,
}

/// A file that has not reached its final size.
#[derive(Clone, Copy, Debug)]
struct GrowingFile {
    planned: PlannedFile,
    wanted_bytes: u64,
}

/// The plan for ageing one file system.
#[derive(Debug)]
pub(crate) struct Plan {
    generator: Xoshiro256PlusPlus,
    sizes: LogNormal<f64>,
    room_bytes: u64,
    ageing: Ageing,
    files: Vec<PlannedFile>,
    growing: Vec<GrowingFile>,
    used_bytes: u64,
    next_file: u64,
}

impl Plan {
    /// A plan for a file system with this much room.
    pub(crate) fn new(ageing: Ageing, room_bytes: u64, seed: u64) -> Self {
        Self {
            generator: Xoshiro256PlusPlus::seed_from_u64(seed),
            sizes: LogNormal::new(MU, SIGMA).expect("sigma is finite"),
            room_bytes,
            ageing,
            files: Vec::new(),
            growing: Vec::new(),
            used_bytes: 0,
            next_file: 0,
        }
    }

    /// What comes before the first round: writing up to the peak, so that little of the space was
    /// never used, then deleting down to the fill.
    pub(crate) fn fill(&mut self) -> Vec<AgeingStep> {
        let mut operations = Vec::new();
        self.grow_to(self.share(self.ageing.peak_percent), &mut operations);
        self.shrink_to(self.share(self.ageing.fill_percent), &mut operations);
        operations
    }

    /// One round: deletes a share of the fill, here and there, and writes it again.
    pub(crate) fn round(&mut self) -> Vec<AgeingStep> {
        let mut operations = Vec::new();
        let full = self.share(self.ageing.fill_percent);
        self.shrink_to(full - full / 100 * u64::from(self.ageing.round_percent), &mut operations);
        self.grow_to(full, &mut operations);
        operations
    }

    /// The end: deletes files here and there until only what is to stay is left.
    pub(crate) fn clear(&mut self) -> Vec<AgeingStep> {
        let mut operations = Vec::new();
        self.shrink_to(self.share(self.ageing.left_percent), &mut operations);
        operations
    }

    fn share(&self, percent: u32) -> u64 {
        self.room_bytes / 100 * u64::from(percent)
    }

    fn shrink_to(&mut self, bytes: u64, operations: &mut Vec<AgeingStep>) {
        // Files that are still growing are treated as finished from now on.
        let cut_short = self.growing.drain(..).map(|growing| growing.planned);
        self.files.extend(cut_short.filter(|planned| planned.size_bytes > 0));
        while self.used_bytes > bytes && !self.files.is_empty() {
            let index = self.generator.random_range(0..self.files.len());
            let gone = self.files.swap_remove(index);
            self.used_bytes = self.used_bytes.saturating_sub(taken_bytes(gone.size_bytes));
            operations.push(AgeingStep::Delete { file: gone.file });
        }
    }

    fn grow_to(&mut self, bytes: u64, operations: &mut Vec<AgeingStep>) {
        while self.used_bytes < bytes {
            match self.generator.random_range(0..PIECES_PER_CHANGE) {
                0 if !self.files.is_empty() => self.overwrite(operations),
                1 if !self.files.is_empty() => self.lengthen(operations),
                _ => self.grow(operations),
            }
        }
    }

    /// Writes the next piece of one of the growing files.
    fn grow(&mut self, operations: &mut Vec<AgeingStep>) {
        if self.growing.len() < GROWING {
            let wanted_bytes = self.size_bytes();
            let planned = PlannedFile { file: self.next_file, size_bytes: 0 };
            self.growing.push(GrowingFile { planned, wanted_bytes });
            self.next_file += 1;
        }
        let index = self.generator.random_range(0..self.growing.len());
        let piece_bytes = self.piece_bytes();
        let GrowingFile { planned, wanted_bytes } = self.growing[index];
        let bytes = piece_bytes.min(wanted_bytes - planned.size_bytes);
        let longer = self.write(planned, planned.size_bytes, bytes, operations);
        if longer.size_bytes < wanted_bytes {
            self.growing[index].planned = longer;
        } else {
            self.growing.swap_remove(index);
            self.files.push(longer);
        }
    }

    /// Extends a finished file by one piece.
    fn lengthen(&mut self, operations: &mut Vec<AgeingStep>) {
        let index = self.generator.random_range(0..self.files.len());
        let (planned, bytes) = (self.files[index], self.piece_bytes());
        self.files[index] = self.write(planned, planned.size_bytes, bytes, operations);
    }

    /// Overwrites whole blocks of a finished file.
    fn overwrite(&mut self, operations: &mut Vec<AgeingStep>) {
        let index = self.generator.random_range(0..self.files.len());
        let planned = self.files[index];
        let blocks = planned.size_bytes / BLOCK_BYTES;
        if blocks == 0 {
            return;
        }
        let at = self.generator.random_range(0..blocks) * BLOCK_BYTES;
        let bytes = self.piece_bytes().min(planned.size_bytes - at);
        self.write(planned, at, bytes, operations);
    }

    fn write(
        &mut self,
        planned: PlannedFile,
        at: u64,
        bytes: u64,
        operations: &mut Vec<AgeingStep>,
    ) -> PlannedFile {
        let then = match self.generator.random_range(0..PIECES_PER_WRITE_OUT) {
            0 => AfterWrite::WriteOut,
            _ => AfterWrite::Nothing,
        };
        operations.push(AgeingStep::Write { file: planned.file, at, bytes, then });
        let longer = PlannedFile { size_bytes: planned.size_bytes.max(at + bytes), ..planned };
        let before = if planned.size_bytes == 0 { 0 } else { taken_bytes(planned.size_bytes) };
        self.used_bytes += taken_bytes(longer.size_bytes) - before;
        longer
    }

    fn piece_bytes(&mut self) -> u64 {
        BLOCK_BYTES << self.generator.random_range(0..=PIECE_SHIFT_MAX)
    }

    fn size_bytes(&mut self) -> u64 {
        let most = FILE_BYTES_MAX.min(self.room_bytes / FILES_PER_ROOM_MIN).max(BLOCK_BYTES);
        let size = self.sizes.sample(&mut self.generator);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
        let size = size as u64;
        size.clamp(1, most)
    }
}

/// How much of the room a file of this size takes.
fn taken_bytes(size_bytes: u64) -> u64 {
    size_bytes.next_multiple_of(BLOCK_BYTES) + FILE_OVERHEAD_BYTES
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::hash::{DefaultHasher, Hash, Hasher};

    use super::*;

    const ROOM_BYTES: u64 = 512 << 20;

    fn plan(seed: u64) -> Plan {
        Plan::new(Ageing::new(3, 80), ROOM_BYTES, seed)
    }

    fn all(seed: u64) -> Vec<AgeingStep> {
        let mut plan = plan(seed);
        let mut operations = plan.fill();
        for _ in 0..3 {
            operations.extend(plan.round());
        }
        operations.extend(plan.clear());
        operations
    }

    #[test]
    fn the_same_seed_gives_the_same_operations() {
        let hash = |operations: &[AgeingStep]| {
            let mut hasher = DefaultHasher::new();
            operations.hash(&mut hasher);
            hasher.finish()
        };
        assert_eq!(hash(&all(7)), hash(&all(7)));
        assert_ne!(hash(&all(7)), hash(&all(8)));
    }

    /// Applies the operations as a file system would.
    fn sizes(operations: &[AgeingStep]) -> BTreeMap<u64, u64> {
        let mut sizes = BTreeMap::new();
        for operation in operations {
            match *operation {
                AgeingStep::Write { file, at, bytes, .. } => {
                    let size: &mut u64 = sizes.entry(file).or_default();
                    assert!(bytes > 0 && at <= *size, "there are no holes: {operation:?}");
                    *size = (*size).max(at + bytes);
                }
                AgeingStep::Delete { file } => {
                    sizes.remove(&file).expect("only what is there is deleted");
                }
            }
        }
        sizes
    }

    fn used_percent(operations: &[AgeingStep]) -> u64 {
        sizes(operations).values().map(|&size| taken_bytes(size)).sum::<u64>() * 100 / ROOM_BYTES
    }

    #[test]
    fn it_is_as_full_as_said_after_each_part() {
        let mut plan = plan(7);
        let mut operations = plan.fill();
        assert!((79..=80).contains(&used_percent(&operations)));
        for _ in 0..3 {
            let round = plan.round();
            let written: u64 = round
                .iter()
                .map(|operation| match operation {
                    AgeingStep::Write { bytes, .. } => *bytes,
                    AgeingStep::Delete { .. } => 0,
                })
                .sum();
            // A quarter of 80 %, plus what is overwritten.
            assert!((15..30).contains(&(written * 100 / ROOM_BYTES)), "{written}");
            operations.extend(round);
            assert_eq!(used_percent(&operations), 80);
        }
        operations.extend(plan.clear());
        let left = used_percent(&operations);
        assert!((49..=50).contains(&left), "one file of the largest size less: {left}");
    }

    #[test]
    fn sizes_have_the_median_of_the_law() {
        let mut plan = plan(7);
        let mut sizes: Vec<u64> = (0..10_001).map(|_| plan.size_bytes()).collect();
        sizes.sort_unstable();
        // exp(9.48) is 13095.
        assert!((12_000..14_500).contains(&sizes[5_000]), "{}", sizes[5_000]);
        assert_eq!(sizes[10_000], ROOM_BYTES / FILES_PER_ROOM_MIN);
    }
}
