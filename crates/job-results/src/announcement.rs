//! What the output `normal` says before jobs start.

use std::io::{self, Write};

use crate::direction::PerDirection;
use crate::numbers::{Quantity, scaled};
use crate::presentation::NumberStyle;

/// What is said about a job: one line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JobAnnouncement {
    /// The job's name.
    pub name: String,
    /// The number of its group.
    pub group: u32,
    /// The option `rw`, without what follows a colon.
    pub kind: String,
    /// The smallest and the largest blocks, in bytes.
    pub blocks: PerDirection<(u64, u64)>,
    /// Whether blocks differ between sequential and random operations, rather than between reads
    /// and writes: `bs_is_seq_rand`.
    pub is_by_order: bool,
    /// The option `ioengine`.
    pub engine: String,
    /// The option `iodepth`.
    pub depth: u32,
    /// How numbers are written.
    pub numbers: NumberStyle,
    /// The option `numjobs`: there are three dots if it is more than one.
    pub jobs: u32,
}

impl JobAnnouncement {
    /// Writes what is said about the job.
    ///
    /// # Errors
    ///
    /// Those of writing.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let size = |bytes| {
            scaled(Quantity::Bytes(bytes), self.numbers.significant_figures, self.numbers.kilobyte)
        };
        let letters = ['R', 'W', 'T'].iter().zip(self.blocks.iter());
        let shown = if self.is_by_order { 2 } else { 3 };
        let blocks: Vec<String> = letters
            .take(shown)
            .map(|(letter, (min, max))| format!("({letter}) {}-{}", size(*min), size(*max)))
            .collect();
        let by_order = if self.is_by_order { "bs_is_seq_rand, " } else { "" };
        let Self { name, group, kind, engine, depth, .. } = self;
        let blocks = blocks.join(", ");
        writeln!(
            out,
            "{name}: (g={group}): rw={kind}, bs={blocks}, {by_order}ioengine={engine}, \
             iodepth={depth}"
        )?;
        if self.jobs > 1 { writeln!(out, "...") } else { Ok(()) }
    }
}

/// Writes which version starts how many threads and processes.
///
/// # Errors
///
/// Those of writing.
pub fn write_start(
    version: &str,
    threads: u32,
    processes: u32,
    out: &mut dyn Write,
) -> io::Result<()> {
    let several = |count, one: &'static str, many: &'static str| {
        let noun = if count == 1 { one } else { many };
        (count > 0).then(|| format!("{count} {noun}"))
    };
    let parts = [several(threads, "thread", "threads"), several(processes, "process", "processes")];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    writeln!(out, "{version}\nStarting {}", parts.join(" and "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_output_of_fio_begins_so() {
        let recorded = include_str!("../tests/fixtures/group.txt");
        let job = JobAnnouncement {
            name: "pair".into(),
            kind: "randread".into(),
            blocks: PerDirection::new((4096, 4096), (4096, 4096), (4096, 4096)),
            engine: "psync".into(),
            depth: 1,
            jobs: 2,
            ..JobAnnouncement::default()
        };
        let mut text = Vec::new();
        job.write(&mut text).unwrap();
        write_start("fio-3.33", 0, 2, &mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        assert!(recorded.starts_with(&text), "{text}");
    }

    #[test]
    fn jobs_are_announced_as_by_fio() {
        let mut job = JobAnnouncement {
            name: "r".into(),
            kind: "randread".into(),
            blocks: PerDirection::new((4096, 8192), (4096, 4096), (65_536, 1 << 20)),
            engine: "psync".into(),
            depth: 1,
            jobs: 2,
            ..JobAnnouncement::default()
        };
        let mut text = Vec::new();
        job.write(&mut text).unwrap();
        (job.is_by_order, job.jobs) = (true, 1);
        job.write(&mut text).unwrap();
        write_start("fio-3.33", 1, 2, &mut text).unwrap();
        let expected = "r: (g=0): rw=randread, bs=(R) 4096B-8192B, (W) 4096B-4096B, \
                        (T) 64.0KiB-1024KiB, ioengine=psync, iodepth=1\n...\n\
                        r: (g=0): rw=randread, bs=(R) 4096B-8192B, (W) 4096B-4096B, \
                        bs_is_seq_rand, ioengine=psync, iodepth=1\n\
                        fio-3.33\nStarting 1 thread and 2 processes\n";
        assert_eq!(String::from_utf8(text).unwrap(), expected);
    }
}
