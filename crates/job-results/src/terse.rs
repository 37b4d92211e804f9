//! The output `terse`: a line for each job, its fields separated by semicolons.

use std::io::{self, Write};

use crate::direction::DataDirection;
use crate::disks::{DiskFigures, DiskUtilization};
use crate::distributions::percentages;
use crate::job::{DirectionResult, JobResult};
use crate::numbers::{decimal, six};
use crate::percentiles::PercentileList;
use crate::presentation::{PercentileChoice, Unified};
use crate::report::{GroupDirection, GroupStatus, Report, per_second};
use crate::statistics::Moments;

/// Which fields a line has: `--terse-version`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum TerseVersion {
    /// Without the program's version and devices.
    V2,
    /// The default.
    #[default]
    V3,
    /// With trims.
    V4,
    /// With trims, and samples of bandwidth and of operations per second.
    V5,
}

impl TerseVersion {
    /// Its number.
    pub fn number(self) -> u8 {
        match self {
            Self::V2 => 2,
            Self::V3 => 3,
            Self::V4 => 4,
            Self::V5 => 5,
        }
    }

    /// The version with this number.
    pub fn of(number: u64) -> Option<Self> {
        [Self::V2, Self::V3, Self::V4, Self::V5]
            .into_iter()
            .find(|version| u64::from(version.number()) == number)
    }
}

/// Writes a line for each job.
///
/// # Errors
///
/// Those of writing.
pub fn write_terse(report: &Report, version: TerseVersion, out: &mut dyn Write) -> io::Result<()> {
    for job in &report.jobs {
        let mut line = Line::default();
        line.add_job(report, job, version);
        // Version 2 puts the description on a line of its own.
        let description = match (version, job.description.as_str()) {
            (_, "") => String::new(),
            (TerseVersion::V2, text) => format!("\n;{text}"),
            (TerseVersion::V3 | TerseVersion::V4 | TerseVersion::V5, text) => format!(";{text}"),
        };
        writeln!(out, "{}{description}", line.fields.join(";"))?;
    }
    Ok(())
}

#[derive(Default)]
struct Line {
    fields: Vec<String>,
}

impl Line {
    #[expect(clippy::needless_pass_by_value, reason = "most are numbers")]
    fn add(&mut self, field: impl ToString) {
        self.fields.push(field.to_string());
    }

    fn add_job(&mut self, report: &Report, job: &JobResult, version: TerseVersion) {
        self.add(version.number());
        if version > TerseVersion::V2 {
            self.add(&report.facts.version);
        }
        self.add(&job.name);
        self.add(job.group);
        self.add(job.error_number());
        self.add_directions(job, report.group_of(job), version);
        self.add_processor(job);
        self.add_distributions(job);
        if version > TerseVersion::V2 {
            report.facts.disks.iter().for_each(|disk| self.add_disk(disk));
        }
        if job.errors.are_shown {
            self.add(job.errors.total);
            self.add(job.errors.first);
        }
    }

    fn add_directions(&mut self, job: &JobResult, group: &GroupStatus, version: TerseVersion) {
        let wanted = match (job.presentation.unified, version) {
            (Unified::Mixed, _) => &DataDirection::ALL[..1],
            (Unified::None | Unified::Both, TerseVersion::V3) => &DataDirection::ALL[..2],
            (
                Unified::None | Unified::Both,
                TerseVersion::V2 | TerseVersion::V4 | TerseVersion::V5,
            ) => &DataDirection::ALL[..],
        };
        let choice = &job.presentation.percentiles;
        for direction in wanted {
            let (done, group) = (&job.directions[*direction], &group.directions[*direction]);
            self.add_direction(done, choice, group, version);
        }
        match job.presentation.unified {
            Unified::None | Unified::Mixed => {}
            Unified::Both => {
                let mixed = job.with_directions_mixed();
                let read = DataDirection::Read;
                let (done, group) = (&mixed.directions[read], &group.directions[read]);
                self.add_direction(done, choice, group, version);
            }
        }
    }

    fn add_direction(
        &mut self,
        done: &DirectionResult,
        choice: &PercentileChoice,
        group: &GroupDirection,
        version: TerseVersion,
    ) {
        self.add(done.bytes >> 10);
        self.add(per_second(done.bytes, done.runtime_ms) / 1024);
        self.add(per_second(done.ios, done.runtime_ms));
        self.add(done.runtime_ms);
        self.add_latency(&done.submission.statistics.moments);
        self.add_latency(&done.completion.statistics.moments);
        self.add_percentiles(done, choice);
        self.add_latency(&done.total.statistics.moments);
        self.add_bandwidth(&done.bandwidth.moments, group);
        if version == TerseVersion::V5 {
            self.add(done.bandwidth.moments.samples);
            self.add_iops(&done.iops.moments);
        }
    }

    /// In microseconds. As fio is compiled, it multiplies rather than divides.
    fn add_latency(&mut self, moments: &Moments) {
        let Moments { min, max, mean, .. } = moments.known().copied().unwrap_or(NOTHING);
        self.add(min / 1000);
        self.add(max / 1000);
        self.add(six(mean * 0.001));
        self.add(six(moments.deviation() * 0.001));
    }

    /// As many as a list may have; those that it lacks are `0%=0`.
    fn add_percentiles(&mut self, done: &DirectionResult, choice: &PercentileChoice) {
        let shown = match (choice.total, choice.completion) {
            (true, _) => Some(&done.total),
            (false, true) => Some(&done.completion),
            (false, false) => None,
        };
        let latencies_ns = shown.map_or_else(Vec::new, |latencies| {
            let samples = latencies.statistics.moments.samples;
            latencies.histogram.percentiles(samples, &choice.list)
        });
        for place in 0..PercentileList::MOST {
            match (choice.list.percents().get(place), latencies_ns.get(place)) {
                (Some(percent), Some(latency_ns)) => {
                    self.add(format!("{}%={}", six(*percent), latency_ns / 1000));
                }
                (Some(_) | None, None) | (None, Some(_)) => self.add("0%=0"),
            }
        }
    }

    /// In KiB/s.
    fn add_bandwidth(&mut self, moments: &Moments, group: &GroupDirection) {
        let share = match (moments.samples, group.bandwidth) {
            (0, _) => 0.0,
            (_, 0) => 100.0,
            (_, rate) => (moments.mean * 100.0 / (rate / 1024) as f64).min(100.0),
        };
        let Moments { min, max, mean, .. } = moments.known().copied().unwrap_or(NOTHING);
        self.add(min);
        self.add(max);
        self.add(format!("{}%", six(share)));
        self.add(six(mean));
        self.add(six(moments.deviation()));
    }

    fn add_iops(&mut self, moments: &Moments) {
        let Moments { min, max, mean, samples, .. } = moments.known().copied().unwrap_or(NOTHING);
        self.add(min);
        self.add(max);
        self.add(six(mean));
        self.add(six(moments.deviation()));
        self.add(samples);
    }

    fn add_processor(&mut self, job: &JobResult) {
        let (user, system) = job.processor.shares(job.runtime_ms);
        self.add(format!("{}%", six(user)));
        self.add(format!("{}%", six(system)));
        self.add(job.processor.context_switches);
        self.add(job.processor.major_faults);
        self.add(job.processor.minor_faults);
    }

    /// Nanoseconds count as the first bin of microseconds: the format is older than they are.
    fn add_distributions(&mut self, job: &JobResult) {
        let (ios, bins) = (job.ios(), &job.latency_bins);
        for share in percentages(&job.depths.counts, ios, 0.1) {
            self.add(format!("{}%", decimal(share, 1)));
        }
        let below = bins.ns.iter().sum::<u64>() as f64;
        let mut us = percentages(&bins.us, ios, 0.01);
        // Without operations, this is what x86 makes of 0/0.
        us[0] += if ios > 0 { 100.0 * below / ios as f64 } else { -f64::NAN };
        for share in us.into_iter().chain(percentages(&bins.ms, ios, 0.01)) {
            self.add(format!("{}%", decimal(share, 2)));
        }
    }

    fn add_disk(&mut self, disk: &DiskUtilization) {
        self.add(&disk.name);
        self.add_figures(&disk.figures, disk.figures.utilization());
        if let Some((figures, utilization)) = disk.aggregate() {
            self.add("slaves");
            self.add_figures(&figures, utilization);
        }
    }

    fn add_figures(&mut self, figures: &DiskFigures, utilization: f64) {
        for pair in [figures.ios, figures.merges, figures.ticks_ms] {
            pair.into_iter().for_each(|number| self.add(number));
        }
        self.add(figures.in_queue_ms);
        self.add(format!("{}%", decimal(utilization, 2)));
    }
}

/// What is printed without samples.
const NOTHING: Moments = Moments { samples: 0, min: 0, max: 0, mean: 0.0, squares: 0.0 };

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::RunFacts;

    fn fields(job: JobResult, facts: RunFacts, version: TerseVersion) -> Vec<String> {
        let mut text = Vec::new();
        write_terse(&Report::new(facts, &[job]), version, &mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        text.strip_suffix('\n').unwrap().split(';').map(str::to_owned).collect()
    }

    #[test]
    fn versions_have_as_many_fields_as_in_the_manual() {
        let count = |version| fields(JobResult::default(), RunFacts::default(), version).len();
        let counts =
            [TerseVersion::V2, TerseVersion::V3, TerseVersion::V4, TerseVersion::V5].map(count);
        assert_eq!(counts, [4 + 41 * 3 + 34, 5 + 41 * 2 + 34, 5 + 41 * 3 + 34, 5 + 47 * 3 + 34]);
    }

    #[test]
    fn a_job_that_did_nothing_has_no_share_below_two_microseconds() {
        let all = fields(JobResult::default(), RunFacts::default(), TerseVersion::V3);
        assert_eq!(all[99..101], ["-nan%", "0.00%"]);
    }

    #[test]
    fn devices_are_followed_by_what_they_are_made_of() {
        let figures =
            DiskFigures { ios: [4, 2], busy_ms: 1, watched_ms: 3, ..DiskFigures::default() };
        let disk = DiskUtilization { name: "md0".into(), figures, slaves: vec![figures; 2] };
        let facts = RunFacts { disks: vec![disk], ..RunFacts::default() };
        let all = fields(JobResult::default(), facts, TerseVersion::V3).join(";");
        let expected = "md0;4;2;0;0;0;0;0;33.33%;slaves;4;2;0;0;0;0;0;33.33%";
        assert!(all.ends_with(expected), "{all}");
    }
}
