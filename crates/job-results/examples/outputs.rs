//! Writes the outputs of a run that never was to a directory, for programs that read those of fio:
//! `NAME.json`, `NAME.txt`, `NAME.terse` and the logs `NAME_*.log`.
//!
//! `cargo run -p fsprism-job-results --example outputs -- DIRECTORY [NAME]`

use std::error::Error;
use std::fs::File;
use std::io::BufWriter;
use std::path::Path;

use job_results::logs::{HistogramLog, LogKind, LogName, LogSample, SampleLog, SampleLogSettings};
use job_results::{
    DataDirection, DiskFigures, DiskUtilization, Eta, JobResult, JsonDetail, LatencyGoal,
    ProcessorUsage, RateSampler, Report, ReportTime, RunFacts, TerseVersion, write_json,
    write_normal, write_terse,
};

const OPERATIONS: u64 = 20_000;
const DEPTH: u32 = 4;
const BLOCK: u64 = 4_096;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let directory = arguments.next().unwrap_or_else(|| ".".to_owned());
    let name = arguments.next().unwrap_or_else(|| "randread-4-1".to_owned());
    let prefix = Path::new(&directory).join(&name).display().to_string();
    let job = execute(&prefix)?;
    let report = Report::new(facts(), &[job]);
    let create = |extension: &str| File::create(format!("{prefix}.{extension}"));
    write_json(&report, JsonDetail::Bins, &mut BufWriter::new(create("json")?))?;
    write_normal(&report, &mut BufWriter::new(create("txt")?))?;
    write_terse(&report, TerseVersion::V3, &mut BufWriter::new(create("terse")?))?;
    Ok(())
}

/// The logs of a job.
struct Logs {
    latencies: [SampleLog; 3],
    rates: [SampleLog; 2],
    histograms: HistogramLog,
}

impl Logs {
    fn new() -> Self {
        let each = SampleLogSettings::default();
        let averaged = SampleLogSettings { window_ms: 100, ..each };
        let kinds = [LogKind::Total, LogKind::Submission, LogKind::Completion];
        Self {
            latencies: kinds.map(|kind| SampleLog::new(kind, each)),
            rates: [LogKind::Bandwidth, LogKind::Iops].map(|kind| SampleLog::new(kind, averaged)),
            histograms: HistogramLog::new(100, 0, 0),
        }
    }

    fn write(&self, prefix: &str) -> std::io::Result<()> {
        let kinds = [
            LogKind::Total,
            LogKind::Submission,
            LogKind::Completion,
            LogKind::Bandwidth,
            LogKind::Iops,
        ];
        let open = |kind| LogName { prefix: prefix.to_owned(), kind, thread: Some(1) }.open();
        for (kind, log) in kinds.into_iter().zip(self.latencies.iter().chain(&self.rates)) {
            log.write(&mut BufWriter::new(open(kind)?))?;
        }
        self.histograms.write(&mut BufWriter::new(open(LogKind::Histogram)?))
    }
}

/// A job that reads at random: latencies follow a simple rule, and a clock that it moves itself.
fn execute(prefix: &str) -> std::io::Result<JobResult> {
    let mut job = job();
    let mut logs = Logs::new();
    let [mut bandwidth, mut iops] =
        [RateSampler::of_bandwidth(100, 0), RateSampler::of_iops(100, 0)];
    let (mut random, mut now_ns) = (1_u64, 0);
    for _ in 0..OPERATIONS {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let slow = if random.is_multiple_of(100) { 900_000 } else { 0 };
        let (submission_ns, completion_ns) = (3_000, 60_000 + (random >> 33) % 40_000 + slow);
        now_ns += (submission_ns + completion_ns) / u64::from(DEPTH);
        let now_ms = now_ns / 1_000_000;
        let read = &mut job.directions[DataDirection::Read];
        read.ios += 1;
        read.bytes += BLOCK;
        read.submission.statistics.add(submission_ns);
        read.completion.add(completion_ns);
        read.total.statistics.add(submission_ns + completion_ns);
        job.depths.add(DEPTH, 1);
        job.submitted.add(1);
        job.completed.add(1);
        job.latency_bins.add(completion_ns);
        let of = |value| LogSample {
            direction: DataDirection::Read,
            value,
            bytes: BLOCK,
            offset: 0,
            priority: 0,
        };
        let values = [submission_ns + completion_ns, submission_ns, completion_ns];
        logs.latencies.iter_mut().zip(values).for_each(|(log, value)| log.add(now_ms, of(value)));
        let histogram = &read.completion.histogram;
        logs.histograms.observe(now_ms, DataDirection::Read, BLOCK, histogram);
        let totals = [read.bytes, read.ios].map(|total| {
            let mut totals = job_results::PerDirection::default();
            totals[DataDirection::Read] = total;
            totals
        });
        let statistics = [&mut read.bandwidth, &mut read.iops];
        let samplers = [&mut bandwidth, &mut iops].into_iter().zip(totals);
        for ((sampler, totals), (statistics, log)) in
            samplers.zip(statistics.into_iter().zip(&mut logs.rates))
        {
            let rates = sampler.sample(now_ms, &totals);
            if let Some(rate) = rates.and_then(|rates| rates[DataDirection::Read]) {
                statistics.add(rate);
                log.add(now_ms, of(rate));
            }
        }
    }
    let end_ms = now_ns / 1_000_000;
    job.runtime_ms = end_ms;
    job.directions[DataDirection::Read].runtime_ms = end_ms;
    logs.latencies.iter_mut().chain(&mut logs.rates).for_each(|log| log.finish(end_ms));
    logs.write(prefix)?;
    Ok(job)
}

fn job() -> JobResult {
    let options = [
        ("name", "example"),
        ("rw", "randread"),
        ("bs", "4k"),
        ("iodepth", "4"),
        ("numjobs", "1"),
        ("ioengine", "libaio"),
        ("direct", "1"),
        ("size", "80m"),
        ("runtime", "60"),
    ];
    JobResult {
        name: "example".to_owned(),
        pid: 1,
        options: options.map(|(option, value)| (option.to_owned(), value.to_owned())).to_vec(),
        processor: ProcessorUsage {
            user_ms: 20,
            system_ms: 60,
            context_switches: OPERATIONS,
            ..ProcessorUsage::default()
        },
        latency_goal: LatencyGoal { depth: DEPTH, ..LatencyGoal::default() },
        ..JobResult::default()
    }
}

fn facts() -> RunFacts {
    let figures = DiskFigures {
        ios: [OPERATIONS, 0],
        ticks_ms: [1_400, 0],
        busy_ms: 380,
        in_queue_ms: 1_400,
        watched_ms: 400,
        ..DiskFigures::default()
    };
    RunFacts {
        version: "fio-3.33".to_owned(),
        time: ReportTime {
            epoch_ms: 1_700_000_000_123,
            text: "Tue Nov 14 22:13:20 2023".to_owned(),
        },
        eta: Eta::Unknown,
        elapsed_s: 1,
        disks: vec![DiskUtilization { name: "sda".to_owned(), figures, slaves: Vec::new() }],
        ..RunFacts::default()
    }
}
