//! Options of the classic benchmarks, which other suites do not take.

use std::time::Duration;

use anyhow::anyhow;
use clap::{Args, ValueEnum};
use record::{ArrayWalkOptions, ClassicOptions, FirstWrite, RandomAlignment, SpriteLfsOptions};
use suites::classic::sprite_lfs;

use crate::arguments::values;
use crate::exit::Blame;

/// The suites that take such options.
const SPRITE_LFS: &str = "sprite-lfs";
const ARRAY_WALK: &str = "array-walk";

const HEADING: &str = "Options of sprite-lfs";

/// Options of sprite-lfs. Those that are not given are as in the variant.
#[derive(Debug, Args)]
#[command(next_help_heading = HEADING)]
pub(crate) struct ClassicArguments {
    /// The benchmark as published, or as corrected; each further option changes one step of it
    #[arg(long, value_enum, conflicts_with = "resume")]
    pub(crate) variant: Option<Variant>,
    /// Size of each file, a multiple of 4k; by default 1m
    #[arg(long, value_name = "SIZE", value_parser = values::size, conflicts_with = "resume")]
    pub(crate) file_size: Option<u64>,
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
    /// Where random reads and writes begin
    #[arg(long, value_enum, conflicts_with = "resume")]
    pub(crate) align: Option<Align>,
    /// Let each sequential operation draw a random number and seek, as random ones do
    #[arg(long, value_name = "true|false", num_args = 0..=1, require_equals = true,
        default_missing_value = "true", conflicts_with = "resume")]
    pub(crate) pad_calls: Option<bool>,
}

/// A named combination of options.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Variant {
    /// As in 2001: one file, and random operations at any byte
    Published,
    /// 11 files of which the first is dropped, random operations on pages, calls padded
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

impl ClassicArguments {
    /// The options of `suite`; none where it has none, and none was given. `size` is what --size
    /// says.
    ///
    /// # Errors
    /// When one was given that the suite does not take.
    pub(crate) fn of(
        &self,
        suite: &str,
        size: Option<u64>,
    ) -> anyhow::Result<Option<ClassicOptions>> {
        if suite == SPRITE_LFS {
            if size.is_some() {
                let refusal = anyhow!("{SPRITE_LFS} has files of its own: use --file-size");
                return Err(refusal).blame_input();
            }
            return Ok(Some(ClassicOptions::SpriteLfs(self.sprite_lfs())));
        }
        match self.given() {
            None if suite == ARRAY_WALK => {
                Ok(Some(ClassicOptions::ArrayWalk(ArrayWalkOptions { array_bytes: size })))
            }
            None => Ok(None),
            Some(name) => {
                let refusal = anyhow!(
                    "{name} is for {SPRITE_LFS}, not for '{suite}': leave it out, or run \
                             {SPRITE_LFS}"
                );
                Err(refusal).blame_input()
            }
        }
    }

    fn sprite_lfs(&self) -> SpriteLfsOptions {
        let variant = match self.variant {
            Some(Variant::Published) | None => sprite_lfs::published(),
            Some(Variant::Corrected) => sprite_lfs::corrected(),
        };
        let first_write = self.random_first.map(|is_first| match is_first {
            true => FirstWrite::Random,
            false => FirstWrite::Sequential,
        });
        let alignment = self.align.map(|align| match align {
            Align::Byte => RandomAlignment::Byte,
            Align::Page => RandomAlignment::Page,
        });
        let pause_ns =
            self.write_pause.map(|pause| u64::try_from(pause.as_nanos()).unwrap_or(u64::MAX));
        SpriteLfsOptions {
            file_bytes: self.file_size.unwrap_or(variant.file_bytes),
            files: self.files.unwrap_or(variant.files),
            drop_first: self.drop_first.unwrap_or(variant.drop_first),
            pre_read: self.pre_read.unwrap_or(variant.pre_read),
            repeat_reads: self.repeat_reads.unwrap_or(variant.repeat_reads),
            repeat_writes: self.repeat_writes.unwrap_or(variant.repeat_writes),
            write_pause_ns: pause_ns.unwrap_or(variant.write_pause_ns),
            first_write: first_write.unwrap_or(variant.first_write),
            alignment: alignment.unwrap_or(variant.alignment),
            pad_calls: self.pad_calls.unwrap_or(variant.pad_calls),
        }
    }

    /// The first of the options that was given.
    fn given(&self) -> Option<&'static str> {
        let all = [
            ("--variant", self.variant.is_some()),
            ("--file-size", self.file_size.is_some()),
            ("--files", self.files.is_some()),
            ("--drop-first", self.drop_first.is_some()),
            ("--pre-read", self.pre_read.is_some()),
            ("--repeat-reads", self.repeat_reads.is_some()),
            ("--repeat-writes", self.repeat_writes.is_some()),
            ("--write-pause", self.write_pause.is_some()),
            ("--random-first", self.random_first.is_some()),
            ("--align", self.align.is_some()),
            ("--pad-calls", self.pad_calls.is_some()),
        ];
        all.iter().find(|(_, is_given)| *is_given).map(|(name, _)| *name)
    }
}

/// A pause: `1us`, `10ms`.
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

    #[test]
    fn pauses_are_short_and_not_nothing() {
        assert_eq!(pause("1us"), Ok(Duration::from_micros(1)));
        assert_eq!(pause("10ms"), Ok(Duration::from_millis(10)));
        for wrong in ["0us", "0s", "2s", "1", "us", "-1us", "1.5us"] {
            assert!(pause(wrong).is_err(), "{wrong}");
        }
    }
}
