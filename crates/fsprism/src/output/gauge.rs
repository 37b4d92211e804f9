//! How far a long command has come, and the time to go: a bar on a terminal, nothing elsewhere.
//! Commands that end soon show nothing.

use std::time::{Duration, Instant};

use densefs_process::check::Checked;
use densefs_process::{Copied, Watch};
use indicatif::ProgressBar;
use textual::{grouped, size};

use crate::output::progress::bar;

/// From then on, it is worth showing.
const SHOWN_AFTER: Duration = Duration::from_secs(1);
/// How often it is drawn at most.
const DRAWN_EVERY: Duration = Duration::from_millis(200);
/// What an inode costs to copy, in bytes of content that cost as much.
const INODE_BYTES: u64 = 32 << 10;

/// A bar that shows how much of something has been done.
pub(crate) struct Gauge {
    doing: &'static str,
    begun: Instant,
    drawn: Option<Instant>,
    bar: Option<ProgressBar>,
    all: Copied,
}

impl Gauge {
    /// Nothing has been done yet. `doing` is a word such as `importing`.
    pub(crate) fn new(doing: &'static str) -> Self {
        Self { doing, begun: Instant::now(), drawn: None, bar: bar(0), all: Copied::default() }
    }

    /// Shows how far a check has come.
    pub(crate) fn checked(&mut self, checked: Checked) {
        const LINE_BYTES: u64 = 64;
        let bytes = |lines: u64| size((lines * LINE_BYTES) as f64, 3);
        self.show(checked.lines, checked.of, || {
            format!("{} of about {}", bytes(checked.lines), bytes(checked.of))
        });
    }

    /// Removes the bar, so that only the answer remains.
    pub(crate) fn finish(&self) {
        if let Some(bar) = self.bar.as_ref().filter(|_| self.drawn.is_some()) {
            bar.finish_and_clear();
        }
    }

    fn show(&mut self, done: u64, of: u64, how_much: impl FnOnce() -> String) {
        let Some(bar) = &self.bar else { return };
        let used = self.begun.elapsed();
        let is_due = self.drawn.is_none_or(|drawn| drawn.elapsed() >= DRAWN_EVERY);
        if used < SHOWN_AFTER || !is_due {
            return;
        }
        self.drawn = Some(Instant::now());
        bar.set_length(of.max(1));
        bar.set_position(done.min(of));
        bar.set_prefix(format!("{}{}", self.doing, to_go(used, done, of)));
        bar.set_message(how_much());
        bar.tick();
    }
}

impl Watch for Gauge {
    fn wants_total(&self) -> bool {
        self.bar.is_some()
    }

    fn expect(&mut self, all: Copied) {
        self.all = all;
    }

    fn copied(&mut self, so_far: Copied) {
        let all = self.all;
        self.show(work(so_far), work(all), || {
            format!(
                "{} of {} files, {} of {}",
                grouped(so_far.inodes as f64),
                grouped(all.inodes as f64),
                size(so_far.bytes as f64, 3),
                size(all.bytes as f64, 3)
            )
        });
    }
}

fn work(copied: Copied) -> u64 {
    copied.bytes.saturating_add(copied.inodes.saturating_mul(INODE_BYTES))
}

/// `, about 40 s to go`, at the pace so far.
fn to_go(used: Duration, done: u64, of: u64) -> String {
    if done == 0 || done >= of {
        return String::new();
    }
    let left_s = (used.as_secs_f64() * (of - done) as f64 / done as f64).ceil();
    format!(", about {left_s:.0} s to go")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_to_go_is_that_of_what_is_left() {
        assert_eq!(to_go(Duration::from_secs(30), 3, 9), ", about 60 s to go");
        assert_eq!(to_go(Duration::from_secs(30), 0, 9), "");
        assert_eq!(to_go(Duration::from_secs(30), 9, 9), "");
    }
}
