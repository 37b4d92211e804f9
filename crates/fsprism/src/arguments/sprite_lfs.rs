//! Options of sprite-lfs.

use std::time::Duration;

use clap::{Args, ValueEnum};
use machine::describe::describe;
use record::{
    FirstWrite, RandomAlignment, SecondWrite, SpriteLfsOptions, SpriteLfsRun, SuiteOptions,
};
use suites::classic::sprite_lfs;
use suites::{NoSuite, OwnOptions, Suite};

use crate::arguments::counters::Counters;
use crate::arguments::sizes::{self, Sizes};
use crate::arguments::values;

/// The option that also counts the phases in guests.
pub(crate) const CACHE_TRAFFIC: &str = "cache_traffic";

/// Options of sprite-lfs. Those that are not given are as in the variant.
#[derive(Debug, Args)]
#[command(next_help_heading = "Options of sprite-lfs")]
pub(crate) struct SpriteLfsArguments {
    /// The benchmark as published, or as corrected; each further option changes one step of it
    #[arg(long, value_enum, conflicts_with = "resume")]
    pub(crate) variant: Option<Variant>,
    /// Size of each file, a multiple of 4k; several, separated by commas, make curves.
    /// `around-caches`, the default of --variant corrected, stands for sizes on both sides of each
    /// cache of this machine, from 16k on; otherwise, and for --cache-traffic, 1m is the default
    #[arg(long, value_name = "SIZE", value_parser = sizes::around_caches,
        conflicts_with = "resume")]
    pub(crate) file_size: Option<Sizes>,
    /// Number of files that each phase works on, one after another
    #[arg(long, value_name = "N", conflicts_with = "resume",
        value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) files: Option<u32>,
    /// Leave the first file out of each phase's figures
    #[arg(long, value_name = "true|false", num_args = 0..=1, require_equals = true,
        default_missing_value = "true", conflicts_with = "resume")]
    pub(crate) drop_first: Option<bool>,
    /// Read files that exist already, before anything is written
    #[arg(long, value_name = "true|false", num_args = 0..=1, require_equals = true,
        default_missing_value = "true", conflicts_with = "resume")]
    pub(crate) pre_read: Option<bool>,
    /// Execute each phase that reads N times in succession
    #[arg(long, value_name = "N", conflicts_with = "resume",
        value_parser = clap::value_parser!(u32).range(1..=100))]
    pub(crate) repeat_reads: Option<u32>,
    /// Execute each phase that writes N times in succession
    #[arg(long, value_name = "N", conflicts_with = "resume",
        value_parser = clap::value_parser!(u32).range(1..=100))]
    pub(crate) repeat_writes: Option<u32>,
    /// Pause after each write: 1us
    #[arg(long, value_name = "TIME", value_parser = pause, conflicts_with = "resume")]
    pub(crate) write_pause: Option<Duration>,
    /// Write randomly first, then sequentially
    #[arg(long, value_name = "true|false", num_args = 0..=1, require_equals = true,
        default_missing_value = "true", conflicts_with = "resume")]
    pub(crate) random_first: Option<bool>,
    /// Write new files in the second phase that writes, and read those from then on
    #[arg(long, value_name = "true|false", num_args = 0..=1, require_equals = true,
        default_missing_value = "true", conflicts_with = "resume")]
    pub(crate) new_files: Option<bool>,
    /// Where random reads and writes begin
    #[arg(long, value_enum, conflicts_with = "resume")]
    pub(crate) align: Option<Align>,
    /// Let each sequential operation draw a random number and seek, as random ones do
    #[arg(long, value_name = "true|false", num_args = 0..=1, require_equals = true,
        default_missing_value = "true", conflicts_with = "resume")]
    pub(crate) pad_calls: Option<bool>,
    /// Also count what each phase moves into and out of this machine's caches, or those given with
    /// --cache: simulated, from traces of guests (run fsprism lab build once to get one)
    #[arg(long, conflicts_with = "resume")]
    pub(crate) cache_traffic: bool,
    #[command(flatten)]
    pub(crate) counters: Counters,
}

/// A named combination of options.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Variant {
    /// As in 2001: one file, and random operations at any byte
    Published,
    /// 11 files, the first dropped, all read before, in sizes around the caches; random operations
    /// on pages, calls padded
    Corrected,
}

/// Where random operations begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Align {
    /// At any byte
    Byte,
    /// At the beginning of a page
    Page,
}

impl OwnOptions for SpriteLfsArguments {
    fn shape(self, suite: Suite, _targets: &[String]) -> Result<Suite, NoSuite> {
        let mut run = self.run();
        run.options.processor_counts = self.counters.processor_counts()?;
        let suite = suite.with_classic(Some(&SuiteOptions::SpriteLfs(run)))?;
        Ok(if self.are_sizes_placed() { suite.placing_sizes() } else { suite })
    }
}

impl SpriteLfsArguments {
    fn run(&self) -> SpriteLfsRun {
        let variant = match self.variant {
            Some(Variant::Published) | None => SpriteLfsOptions::published(),
            Some(Variant::Corrected) => SpriteLfsOptions::corrected(),
        };
        let first_write = self.random_first.map(|is_first| match is_first {
            true => FirstWrite::Random,
            false => FirstWrite::Sequential,
        });
        let second_write = self.new_files.map(|are_new| match are_new {
            true => SecondWrite::NewFiles,
            false => SecondWrite::SameFiles,
        });
        let alignment = self.align.map(|align| match align {
            Align::Byte => RandomAlignment::Byte,
            Align::Page => RandomAlignment::Page,
        });
        let pause_ns =
            self.write_pause.map(|pause| u64::try_from(pause.as_nanos()).unwrap_or(u64::MAX));
        let files = self.files.unwrap_or(variant.files);
        let sizes = match &self.file_size {
            Some(Sizes::Given(sizes)) => sizes.clone(),
            _ if self.are_sizes_placed() => sprite_lfs::around_caches(&describe().caches, files),
            _ => Vec::new(),
        };
        let mut sizes = sizes.into_iter();
        let options = SpriteLfsOptions {
            file_bytes: sizes.next().unwrap_or(variant.file_bytes),
            files,
            drop_first: self.drop_first.unwrap_or(variant.drop_first),
            pre_read: self.pre_read.unwrap_or(variant.pre_read),
            repeat_reads: self.repeat_reads.unwrap_or(variant.repeat_reads),
            repeat_writes: self.repeat_writes.unwrap_or(variant.repeat_writes),
            write_pause_ns: pause_ns.unwrap_or(variant.write_pause_ns),
            first_write: first_write.unwrap_or(variant.first_write),
            second_write: second_write.unwrap_or(variant.second_write),
            alignment: alignment.unwrap_or(variant.alignment),
            pad_calls: self.pad_calls.unwrap_or(variant.pad_calls),
            processor_counts: Vec::new(),
        };
        SpriteLfsRun { options, further_file_bytes: sizes.collect() }
    }

    /// Whether file sizes are chosen around this machine's caches: if that was asked for, and by
    /// default in the corrected variant, except when phases are counted in guests, which takes a
    /// single size.
    fn are_sizes_placed(&self) -> bool {
        match &self.file_size {
            Some(sizes) => *sizes == Sizes::Around,
            None => self.variant == Some(Variant::Corrected) && !self.cache_traffic,
        }
    }
}

/// The options as command-line words.
pub(crate) fn words(options: &SpriteLfsOptions) -> Vec<String> {
    let is = |name: &str, value: bool| format!("--{name}={value}");
    let given = |name: &str, value: String| format!("--{name}={value}");
    let align = match options.alignment {
        RandomAlignment::Byte => "byte",
        RandomAlignment::Page => "page",
    };
    let mut words = vec![
        given("file-size", options.file_bytes.to_string()),
        given("files", options.files.to_string()),
        is("drop-first", options.drop_first),
        is("pre-read", options.pre_read),
        given("repeat-reads", options.repeat_reads.to_string()),
        given("repeat-writes", options.repeat_writes.to_string()),
        is("random-first", options.first_write == FirstWrite::Random),
        is("new-files", options.second_write == SecondWrite::NewFiles),
        given("align", align.to_owned()),
        is("pad-calls", options.pad_calls),
    ];
    if options.write_pause_ns > 0 {
        words.push(given("write-pause", format!("{}us", options.write_pause_ns.div_ceil(1000))));
    }
    words
}

/// Parses a pause: `1us`, `10ms`.
fn pause(text: &str) -> Result<Duration, String> {
    let wrong = || "a pause must be a number with us, ms or s, up to 1s: 1us".to_owned();
    let pause = match text.strip_suffix("us") {
        Some(number) => number.parse().ok().map(Duration::from_micros),
        None => values::time(text).ok(),
    };
    pause.filter(|pause| !pause.is_zero() && *pause <= Duration::from_secs(1)).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(clap::Parser)]
    struct Words {
        #[command(flatten)]
        own: SpriteLfsArguments,
        #[arg(long)]
        resume: Option<String>,
    }

    #[test]
    fn options_come_back_from_their_words() {
        let changed = SpriteLfsOptions {
            write_pause_ns: 3000,
            first_write: FirstWrite::Random,
            second_write: SecondWrite::NewFiles,
            repeat_reads: 2,
            repeat_writes: 3,
            ..SpriteLfsOptions::corrected()
        };
        for options in [SpriteLfsOptions::published(), SpriteLfsOptions::corrected(), changed] {
            let words = [vec![String::new()], words(&options)].concat();
            let parsed = <Words as clap::Parser>::try_parse_from(words).unwrap();
            assert_eq!(parsed.own.run().options, options);
            assert!(parsed.resume.is_none());
        }
    }

    #[test]
    fn the_correction_places_sizes_unless_one_is_given() {
        let placed = |words: &str| {
            let words = words.split_whitespace();
            let parsed = <Words as clap::Parser>::try_parse_from([""].into_iter().chain(words));
            parsed.unwrap().own.are_sizes_placed()
        };
        assert!(placed("--variant corrected --files 3"));
        assert!(placed("--file-size around-caches"));
        for given in ["", "--variant published", "--variant corrected --file-size 1m"] {
            assert!(!placed(given), "{given}");
        }
        // Counting in guests takes a single size.
        assert!(!placed("--variant corrected --cache-traffic"));
    }

    #[test]
    fn pauses_are_short_and_not_nothing() {
        assert_eq!(pause("1us"), Ok(Duration::from_micros(1)));
        assert_eq!(pause("10ms"), Ok(Duration::from_millis(10)));
        for wrong in ["0us", "0s", "2s", "1", "us", "-1us", "1.5us"] {
            assert!(pause(wrong).is_err(), "{wrong}");
        }
    }
}
