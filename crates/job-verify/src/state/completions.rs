//! The latest writes of a job that have ended.

use super::CompletedWrite;

/// The latest writes to each file, as many as can be in flight.
#[derive(Clone, Debug)]
pub struct Completions {
    depth: usize,
    files: Vec<Ring>,
}

#[derive(Clone, Debug)]
struct Ring {
    offsets: Vec<u64>,
    next: usize,
}

impl Completions {
    /// For a job with this `iodepth` and number of files.
    pub fn new(depth: u32, files: usize) -> Self {
        let depth = (depth as usize).max(1);
        Self { depth, files: vec![Ring { offsets: vec![0; depth], next: 0 }; files] }
    }

    /// A write to a file has ended. `offset` is where it began; after a short write that went on,
    /// it is where its last part began.
    ///
    /// # Panics
    /// If there is no such file.
    pub fn wrote(&mut self, file: usize, offset: u64) {
        let ring = &mut self.files[file];
        ring.offsets[ring.next] = offset;
        ring.next = (ring.next + 1) % self.depth;
    }

    /// The latest writes to each file, the last one first. `ended` is the number of writes of the
    /// whole job that have ended: a file with fewer than that has writes at 0 that never were.
    pub fn latest(&self, ended: u64) -> Vec<CompletedWrite> {
        let count = usize::try_from(ended).unwrap_or(usize::MAX).min(self.depth);
        let of_file = |(file, ring): (usize, &Ring)| {
            let indices = (1..=count).map(move |back| (ring.next + self.depth - back) % self.depth);
            let offsets = indices.map(|index| ring.offsets[index]).collect::<Vec<_>>();
            let file = file as u64;
            offsets.into_iter().map(move |offset| CompletedWrite { file, offset })
        };
        self.files.iter().enumerate().flat_map(of_file).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_writes_come_first() {
        let mut completions = Completions::new(2, 2);
        completions.wrote(0, 10);
        let write = |file, offset| CompletedWrite { file, offset };
        assert_eq!(completions.latest(1), [write(0, 10), write(1, 0)]);
        for offset in [20, 30] {
            completions.wrote(0, offset);
        }
        completions.wrote(1, 40);
        let both = [write(0, 30), write(0, 20), write(1, 40), write(1, 0)];
        assert_eq!(completions.latest(4), both);
    }
}
