//! One phase over the file: what is timed, and what is observed around it.
//!
//! As in Bonnie, the file is opened before the clock starts and closed before it stops; closing was
//! meant to force out whatever can be forced out. With `fsync` the file is synced before that, as
//! in Bonnie++.

use std::fs::{self, File};
use std::hint;
use std::io::{self, Seek, SeekFrom};
use std::ops::Range;
use std::path::PathBuf;

use rand_xoshiro::Xoshiro256PlusPlus;
use record::BonnieOptions;
use runner::Failure;
use workload::AlignedBuffer;

use super::characters::{CharacterReader, CharacterWriter};
use super::phases::Phase;
use super::seeks;
use super::timed::{TimeTaken, timed};
use crate::classic::calls;
use crate::classic::phase_evidence::{PageCounts, PhaseEvidence};
use crate::experiment::Site;
use crate::failure::failed;
use crate::findings::Findings;

/// Size of Bonnie's `int`, the part of a block that it changes.
const WORD_BYTES: usize = 4;
/// Characters between two checks whether the run was told to stop.
const LOOK_EVERY: u64 = 1 << 20;

/// The file of one execution, and what all phases use.
pub(super) struct Passes<'a> {
    pub(super) site: &'a Site<'a>,
    pub(super) options: &'a BonnieOptions,
    pub(super) path: PathBuf,
    pub(super) generator: Xoshiro256PlusPlus,
}

/// What a phase did, and how many system calls moved its bytes.
struct PhaseResult {
    timed: TimeTaken,
    bytes: u64,
    operations: u64,
}

impl Passes<'_> {
    /// Executes a phase.
    pub(super) fn phase(&mut self, phase: Phase) -> Result<Findings, Failure> {
        self.site.go_on()?;
        let counters = self.site.counters()?;
        let before = self.pages();
        let counted = counters.read().map_err(|error| failed(&error))?;
        let done = self.execute(phase).map_err(|error| failed(&error));
        // A phase that was cut short has no result.
        self.site.go_on()?;
        let done = done?;
        let deltas = counters.read().map_err(|error| failed(&error))?.since(&counted);
        let evidence = PhaseEvidence { before, after: self.pages(), deltas };
        let units = match phase {
            Phase::CharOutput
            | Phase::BlockOutput
            | Phase::Rewrite
            | Phase::CharInput
            | Phase::BlockInput => self.options.size_bytes,
            Phase::RandomSeeks => u64::from(self.options.seeks),
        };
        let metrics = done.timed.metrics(units);
        Ok(evidence.findings(done.timed.elapsed_ns, metrics, done.bytes, done.operations))
    }

    /// Pages of the file, if it exists yet.
    fn pages(&self) -> Option<PageCounts> {
        File::open(&self.path).ok().and_then(|file| PageCounts::of_files([&file]))
    }

    fn execute(&mut self, phase: Phase) -> io::Result<PhaseResult> {
        let BonnieOptions { size_bytes, chunk_bytes, .. } = *self.options;
        let blocks = size_bytes / chunk_bytes;
        let of_blocks = |((), timed): ((), TimeTaken)| PhaseResult {
            timed,
            bytes: size_bytes,
            operations: blocks,
        };
        match phase {
            Phase::CharOutput => self.char_output(),
            Phase::BlockOutput => self.block_output().map(of_blocks),
            // The same bytes are read and written; Bonnie counts them once.
            Phase::Rewrite => self
                .rewrite()
                .map(of_blocks)
                .map(|done| PhaseResult { operations: 2 * blocks, ..done }),
            Phase::CharInput => self.char_input(),
            Phase::BlockInput => self.block_input().map(of_blocks),
            Phase::RandomSeeks => self.random_seeks(),
        }
    }

    fn char_output(&self) -> io::Result<PhaseResult> {
        let mut output = CharacterWriter::new(self.create()?)?;
        let operations = self.options.size_bytes.div_ceil(output.buffer_bytes());
        let ((), timed) = timed(self.site.clock, || {
            for stretch in self.stretches() {
                output.put_all(stretch)?;
                if !self.goes_on() {
                    break;
                }
            }
            self.close(output.into_file()?)
        })?;
        Ok(PhaseResult { timed, bytes: self.options.size_bytes, operations })
    }

    fn block_output(&self) -> io::Result<((), TimeTaken)> {
        let file = self.create()?;
        let (mut buffer, mut word) = (self.chunk(), 0);
        let chunk = buffer.bytes_mut();
        timed(self.site.clock, || {
            for _ in 0..self.blocks() {
                dirty(chunk, &mut word);
                calls::write_all(&file, chunk)?;
                if !self.goes_on() {
                    break;
                }
            }
            self.close(file)
        })
    }

    fn rewrite(&self) -> io::Result<((), TimeTaken)> {
        let mut file = self.open()?;
        let (mut buffer, mut word) = (self.chunk(), 0);
        let chunk = buffer.bytes_mut();
        let back = -i64::try_from(chunk.len()).expect("a chunk fits into memory");
        file.rewind()?;
        timed(self.site.clock, || {
            for _ in 0..self.blocks() {
                calls::read_exact(&file, chunk)?;
                dirty(chunk, &mut word);
                file.seek(SeekFrom::Current(back))?;
                calls::write_all(&file, chunk)?;
                if !self.goes_on() {
                    break;
                }
            }
            self.close(file)
        })
    }

    fn char_input(&self) -> io::Result<PhaseResult> {
        let mut input = CharacterReader::new(self.open()?)?;
        let operations = self.options.size_bytes.div_ceil(input.buffer_bytes());
        let mut counts = [0_u32; 256];
        let ((), timed) = timed(self.site.clock, || {
            for stretch in self.stretches() {
                input.get_all(stretch.end - stretch.start, &mut counts)?;
                if !self.goes_on() {
                    break;
                }
            }
            self.close(input.into_file())
        })?;
        hint::black_box(counts);
        Ok(PhaseResult { timed, bytes: self.options.size_bytes, operations })
    }

    fn block_input(&self) -> io::Result<((), TimeTaken)> {
        let mut file = self.open()?;
        let mut buffer = self.chunk();
        let chunk = buffer.bytes_mut();
        file.rewind()?;
        timed(self.site.clock, || {
            for _ in 0..self.blocks() {
                calls::read_exact(&file, chunk)?;
                hint::black_box(&*chunk);
                if !self.goes_on() {
                    break;
                }
            }
            self.close(file)
        })
    }

    fn random_seeks(&mut self) -> io::Result<PhaseResult> {
        let tickets = seeks::tickets(self.options, &mut self.generator);
        let goes_on = || self.goes_on();
        let timed = seeks::seek(&self.path, self.options, &tickets, self.site.clock, &goes_on)?;
        let updates = tickets.iter().filter(|&ticket| ticket & 1 == 1).count() as u64;
        let seeks = u64::from(self.options.seeks);
        Ok(PhaseResult {
            timed,
            bytes: (seeks + updates) * self.options.chunk_bytes,
            operations: seeks,
        })
    }

    /// Makes a new file, replacing any existing one.
    fn create(&self) -> io::Result<File> {
        match fs::remove_file(&self.path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        File::options().read(true).write(true).create_new(true).open(&self.path)
    }

    fn open(&self) -> io::Result<File> {
        File::options().read(true).write(true).open(&self.path)
    }

    fn close(&self, file: File) -> io::Result<()> {
        if self.options.fsync {
            file.sync_all()?;
        }
        drop(file);
        Ok(())
    }

    fn goes_on(&self) -> bool {
        self.site.go_on().is_ok()
    }

    fn blocks(&self) -> u64 {
        self.options.size_bytes / self.options.chunk_bytes
    }

    /// The characters, split where the run may be stopped.
    fn stretches(&self) -> impl Iterator<Item = Range<u64>> + use<> {
        let size_bytes = self.options.size_bytes;
        let starts = (0..size_bytes.div_ceil(LOOK_EVERY)).map(|number| number * LOOK_EVERY);
        starts.map(move |start| start..(start + LOOK_EVERY).min(size_bytes))
    }

    /// One chunk of zeros, which is what Bonnie writes apart from the words that it changes.
    fn chunk(&self) -> AlignedBuffer {
        let length = usize::try_from(self.options.chunk_bytes).expect("a chunk fits into memory");
        let mut chunk = AlignedBuffer::new(length);
        chunk.bytes_mut().fill(0);
        chunk
    }
}

/// Changes the next word of a chunk, wrapping around after the last one.
fn dirty(chunk: &mut [u8], word: &mut usize) {
    let at = *word * WORD_BYTES;
    chunk[at] = chunk[at].wrapping_add(1);
    *word = (*word + 1) % (chunk.len() / WORD_BYTES);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_block_differs_from_the_one_before_by_a_word() {
        let (mut chunk, mut word) = (vec![0; 256], 0);
        for _ in 0..=64 {
            dirty(&mut chunk, &mut word);
        }
        assert_eq!((chunk[0], chunk[4], chunk[252], word), (2, 1, 1, 1));
        assert!(chunk.iter().enumerate().all(|(at, &byte)| byte == 0 || at % WORD_BYTES == 0));
    }
}
