//! Live progress on standard error: what is being done, how far it is, how long it will take, and
//! how narrow the intervals have become.
//!
//! Nothing is drawn while operations are timed: there is no ticking thread, and drawing happens
//! between replicates, at most a few times per second.

use std::io::IsTerminal;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use record::{Cell, SearchPlan};
use runner::{Event, Observer, Width};
use textual::{plain_text, plural, size};

use crate::output;

const DRAWS_PER_S: u8 = 5;
/// With fewer blocks, an interval of 95 % is the whole range of the values, which grows with each
/// block; from here on, more blocks make it narrower.
const NARROWS_FROM: u32 = 9;
/// The largest value that `--runs` takes.
const RUNS_MAX: u32 = 100;

/// A bar of this length on standard error, if that is a terminal that can draw it.
pub(crate) fn bar(length: u64) -> Option<ProgressBar> {
    if !std::io::stderr().is_terminal() || !output::takes_escapes() {
        return None;
    }
    let target = ProgressDrawTarget::stderr_with_hz(DRAWS_PER_S);
    let bar = ProgressBar::with_draw_target(Some(length), target);
    let template = "{bar:24} {prefix}\n{wide_msg}";
    let style = ProgressStyle::with_template(template).expect("the template is well formed");
    bar.set_style(style.progress_chars("=> "));
    Some(bar)
}

/// Shows how a run progresses: with a live bar on a terminal, with a line per block elsewhere.
pub(crate) struct Progress {
    names: Vec<String>,
    budget: Duration,
    bar: Option<ProgressBar>,
    blocks_planned: Option<u32>,
    used: Duration,
    intervals: String,
}

impl Progress {
    /// Progress of a run of `cells` within `budget`.
    pub(crate) fn new(cells: &[Cell], budget: Duration) -> Self {
        let names = cells.iter().map(|cell| format!("{}: {}", cell.target, cell.title)).collect();
        let bar = bar(u64::try_from(budget.as_millis()).unwrap_or(u64::MAX));
        let (used, intervals) = (Duration::ZERO, String::new());
        Self { names, budget, bar, blocks_planned: None, used, intervals }
    }

    /// Removes the bar, so that only the report remains.
    pub(crate) fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }

    fn say(&self, line: &str) {
        match &self.bar {
            Some(bar) => bar.suspend(|| output::say(line)),
            None => output::say(line),
        }
    }

    fn phase(&self, block: Option<u32>) -> String {
        match (block, self.blocks_planned) {
            (None, _) => "pilot".to_owned(),
            (Some(block), Some(planned)) if block < planned => {
                format!("block {} of about {planned}", block + 1)
            }
            (Some(block), _) => format!("block {}", block + 1),
        }
    }

    /// Shows a search: every probe on a terminal, every tenth elsewhere.
    fn probing(&self, plan: &SearchPlan, position: f64, done: usize, used: Duration) {
        let at = match plan.axis.unit() {
            "bytes" => size(position, 4),
            unit => format!("{position} {unit}"),
        };
        let what = format!("{}: {} {at}", plan.target, plan.axis.title());
        let Some(bar) = &self.bar else {
            if done.is_multiple_of(10) {
                self.say(&format!("{what}, probe {}", done + 1));
            }
            return;
        };
        bar.set_position(u64::try_from(used.as_millis()).unwrap_or(u64::MAX));
        let left = self.budget.saturating_sub(used).as_secs();
        bar.set_prefix(format!("probe {}, at most {left} s left", done + 1));
        bar.set_message(plain_text(&what).into_owned());
        bar.tick();
    }

    fn block_done(&mut self, block: u32, cells: usize, blocks: u32, width: &Width) {
        self.blocks_planned = Some(blocks);
        let number = block + 1;
        self.intervals = if number >= NARROWS_FROM { intervals(width) } else { String::new() };
        if self.bar.is_none() {
            let of_all =
                if blocks > number { format!(" of about {blocks}") } else { String::new() };
            // Later blocks contain only the cells with the widest intervals.
            let part = if cells < width.of {
                format!(" with {cells} of {} cells", width.of)
            } else {
                String::new()
            };
            let to_go = self.to_go(number, blocks);
            let intervals = &self.intervals;
            self.say(&format!("block {number} done{part}{of_all}{to_go}{intervals}"));
        }
    }

    /// `, about 40 s to go`, at the pace of the blocks so far.
    fn to_go(&self, number: u32, blocks: u32) -> String {
        let left = blocks.saturating_sub(number);
        let of_one = self.used.as_secs_f64() / f64::from(number);
        let left_s = (of_one * f64::from(left)).round();
        if left_s < 1.0 { String::new() } else { format!(", about {left_s:.0} s to go") }
    }

    fn show(&self, block: Option<u32>, done: usize, of: usize, used: Duration, doing: &str) {
        let Some(bar) = &self.bar else { return };
        let left = self.budget.saturating_sub(used).as_secs();
        bar.set_position(u64::try_from(used.as_millis()).unwrap_or(u64::MAX));
        let phase = self.phase(block);
        bar.set_prefix(format!("{phase}, {done}/{of} cells, {left} s left{}", self.intervals));
        bar.set_message(plain_text(doing).into_owned());
        bar.tick();
    }
}

impl Observer for Progress {
    fn observe(&mut self, event: &Event<'_>) {
        match *event {
            Event::PreparingTargets { .. } => {
                if let Some(bar) = &self.bar {
                    bar.set_message("making new targets");
                    bar.tick();
                }
            }
            Event::Executing { cell, block, done, of, used } => {
                let name = self.names.get(cell as usize).map_or("", String::as_str);
                self.used = used;
                self.show(block, done, of, used, name);
            }
            Event::Probing { plan, position, done, used } => {
                self.probing(plan, position, done, used);
            }
            Event::Planned { blocks, left_out } => {
                let is_first = self.blocks_planned.is_none();
                self.blocks_planned = Some(blocks);
                // After the first time, the line for each block says how many there will be.
                if self.bar.is_none() && (is_first || left_out > 0) {
                    let left_out = match left_out {
                        0 => String::new(),
                        count => format!("; {} left out", plural(count, "benchmark")),
                    };
                    let blocks = plural(blocks as usize, "block");
                    self.say(&format!("planned: about {blocks}{left_out}"));
                }
            }
            Event::BlockDone { block, cells, blocks, width } => {
                self.block_done(block, cells, blocks, &width);
            }
            Event::WillBeFull { blocks, of } => {
                let runs = of.div_ceil(blocks.max(1)).clamp(2, RUNS_MAX);
                self.say(&format!(
                    "this run will end early, after about {}: one run holds no more, and there is \
                     time for {of}; to use it, measure several runs (--runs {runs})",
                    plural(blocks as usize, "block")
                ));
            }
            Event::Discarded { cell, why } => {
                let name = self.names.get(cell as usize).map_or("", String::as_str);
                self.say(&format!("thrown away and run again: {name}: {why}"));
            }
            Event::Waiting { busy, time_max } => {
                let who = plain_text(&busy.who()).into_owned();
                let limit_s = time_max.as_secs_f64().ceil();
                self.say(&format!(
                    "{who}: waiting until the machine is quiet, for {limit_s:.0} s at most (with \
                     --on-busy measure, fsprism does not wait)"
                ));
            }
            Event::Waited { time, is_quiet } => {
                let time = time.as_secs_f64();
                self.say(&match is_quiet {
                    true => format!("the machine is quiet after {time:.0} s"),
                    false => format!(
                        "the machine is still busy after {time:.0} s: measuring all the same, and \
                         marking what is measured so"
                    ),
                });
            }
            Event::CellFailed { cell, why } => {
                let name = self.names.get(cell as usize).map_or("", String::as_str);
                self.say(&format!("given up: {name}: {why}"));
            }
        }
    }
}

fn intervals(width: &Width) -> String {
    width.median.map_or(String::new(), |median| {
        format!(
            "; intervals +-{:.1} %, {}/{} narrow enough",
            median * 100.0,
            width.narrow,
            width.of
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_to_go_is_that_of_blocks_as_they_went() {
        let progress = Progress {
            names: Vec::new(),
            budget: Duration::from_secs(120),
            bar: None,
            blocks_planned: None,
            used: Duration::from_secs(30),
            intervals: String::new(),
        };
        assert_eq!(progress.to_go(3, 9), ", about 60 s to go");
        assert_eq!(progress.to_go(9, 9), "");
        assert_eq!(progress.to_go(10, 9), "");
    }

    #[test]
    fn intervals_are_told_from_the_block_on_from_which_they_narrow() {
        // NARROWS_FROM is the smallest number of values whose interval leaves out the extremes.
        let width = |n: u32| {
            let values: Vec<f64> = (0..n).map(f64::from).collect();
            let sample = ::stats::Sample::new(values).expect("there are values");
            let interval = ::stats::order::median_interval(&sample, 0.95).expect("6 are enough");
            interval.high - interval.low
        };
        assert_eq!(width(NARROWS_FROM - 1), f64::from(NARROWS_FROM - 2));
        assert!(width(NARROWS_FROM) < width(NARROWS_FROM - 1));
    }
}
