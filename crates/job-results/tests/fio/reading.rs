//! Results, read from fio's outputs.

use std::fmt;

use job_results::{
    BatchDistribution, DataDirection, DepthDistribution, DirectionResult, DiskFigures,
    DiskUtilization, ErrorCounts, Eta, JobError, JobResult, Latencies, LatencyBins, LatencyGoal,
    LatencyHistogram, Moments, PriorityLatencies, ProcessorUsage, Report, ReportTime, RunFacts,
    SteadyGoal, SteadyQuantity, SteadyState, SteadyTest, SteadyUnit, SyncResult, Unified,
};
use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::Value;

use crate::cases::Case;
use crate::outputs::Outputs;
use crate::unknowns;

/// Options in the order of the document.
#[derive(Default)]
struct Options(Vec<(String, String)>);

impl<'de> Deserialize<'de> for Options {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder;
        impl<'de> Visitor<'de> for InOrder {
            type Value = Options;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("options")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Options, A::Error> {
                let mut options = Options::default();
                while let Some(option) = map.next_entry()? {
                    options.0.push(option);
                }
                Ok(options)
            }
        }
        deserializer.deserialize_map(InOrder)
    }
}

#[derive(Deserialize)]
struct OptionsOfJob {
    #[serde(rename = "job options", default)]
    job: Options,
}

#[derive(Deserialize)]
struct AllOptions {
    #[serde(rename = "global options", default)]
    global: Options,
    jobs: Vec<OptionsOfJob>,
}

/// The report that these outputs are of.
pub(crate) fn report(case: &Case, outputs: &Outputs) -> Report {
    let document: Value = serde_json::from_str(&outputs.json).unwrap();
    let options: AllOptions = serde_json::from_str(&outputs.json).unwrap();
    let headings: Vec<Heading> = outputs.normal.lines().filter_map(Heading::read).collect();
    let first = &document["jobs"][0];
    let eta = match number(&first["eta"]) {
        2_147_483_647 => Eta::Unknown,
        seconds => Eta::Seconds(seconds),
    };
    let disks = document["disk_util"].as_array().into_iter().flatten().map(disk).collect();
    let facts = RunFacts {
        version: text(&document["fio version"]),
        time: ReportTime {
            epoch_ms: number(&document["timestamp_ms"]),
            text: text(&document["time"]),
        },
        global_options: options.global.0,
        eta,
        elapsed_s: number(&first["elapsed"]),
        disks,
    };
    let jobs = document["jobs"].as_array().unwrap().iter().zip(options.jobs);
    let jobs: Vec<JobResult> = jobs
        .enumerate()
        .map(|(place, (document, options))| {
            let mut job = job(case, document);
            job.options = options.job.0;
            if let Some(heading) = headings.get(place) {
                heading.complete(&mut job);
            }
            job
        })
        .collect();
    Report::new(facts, &jobs)
}

/// What only the normal output says about a job.
struct Heading {
    jobs: u32,
    pid: u32,
    error: Option<String>,
}

impl Heading {
    /// Reads `NAME: (groupid=0, jobs=1): err= 0: pid=8759: TIME`.
    fn read(line: &str) -> Option<Self> {
        let (_, rest) = line.split_once(": (groupid=")?;
        let (jobs, rest) = rest.split_once("jobs=")?.1.split_once("): err=")?;
        let (error, pid) = rest.split_once(": pid=")?;
        let error = error.split_once(" (").map(|(_, text)| text.trim_end_matches(')').to_owned());
        let pid = pid.split_once(':')?.0.parse().unwrap();
        Some(Self { jobs: jobs.parse().unwrap(), pid, error })
    }

    fn complete(&self, job: &mut JobResult) {
        (job.jobs, job.pid) = (self.jobs, self.pid);
        if let (Some(error), Some(text)) = (&mut job.error, &self.error) {
            error.text.clone_from(text);
        }
    }
}

pub(crate) fn job(case: &Case, document: &Value) -> JobResult {
    let mut job = JobResult {
        name: text(&document["jobname"]),
        description: document.get("desc").map(text).unwrap_or_default(),
        group: number(&document["groupid"]).try_into().unwrap(),
        runtime_ms: number(&document["job_runtime"]),
        ..JobResult::default()
    };
    (case.present)(&mut job.presentation);
    let error = number(&document["error"]);
    job.error =
        (error > 0).then(|| JobError { number: error.try_into().unwrap(), text: String::new() });
    if let Some(total) = document.get("total_err") {
        let first = number(&document["first_error"]).try_into().unwrap();
        job.errors = ErrorCounts { are_shown: true, total: number(total), first };
    }
    match job.presentation.unified {
        Unified::Mixed => job.directions[DataDirection::Read] = direction(&document["mixed"]),
        Unified::None | Unified::Both => {
            for one in DataDirection::ALL {
                job.directions[one] = direction(&document[one.name()]);
            }
            let sync = &document["sync"];
            let ios = number(&sync["total_ios"]);
            job.sync = SyncResult { ios, latencies: latencies(&sync["lat_ns"]) };
        }
    }
    job.processor = processor(document, job.runtime_ms);
    distributions(&mut job, document);
    if let Some(depth) = document.get("latency_depth") {
        job.latency_goal = LatencyGoal {
            depth: number(depth).try_into().unwrap(),
            target_ns: number(&document["latency_target"]),
            window_us: number(&document["latency_window"]),
            percentile: float(&document["latency_percentile"]),
        };
    }
    job.steady_state = document.get("steadystate").map(steady_state);
    job
}

fn direction(document: &Value) -> DirectionResult {
    let mut done = DirectionResult {
        bytes: number(&document["io_bytes"]),
        ios: number(&document["total_ios"]),
        short_ios: number(&document["short_ios"]),
        dropped_ios: number(&document["drop_ios"]),
        runtime_ms: number(&document["runtime"]),
        submission: latencies(&document["slat_ns"]),
        completion: latencies(&document["clat_ns"]),
        total: latencies(&document["lat_ns"]),
        ..DirectionResult::default()
    };
    for one in document.get("prios").and_then(Value::as_array).into_iter().flatten() {
        let kind = one.get("clat_ns").unwrap_or(&one["lat_ns"]);
        let priority = number(&one["prioclass"]) << 13 | number(&one["prio"]);
        let priority = priority.try_into().unwrap();
        done.priorities.push(PriorityLatencies { priority, latencies: latencies(kind) });
    }
    let moments = |names: [&str; 5]| {
        let [samples, min, max, mean, deviation] = names.map(|name| &document[name]);
        let range = (number(min), number(max));
        Moments::with_deviation(number(samples), range, float(mean), float(deviation))
    };
    done.bandwidth.moments = moments(["bw_samples", "bw_min", "bw_max", "bw_mean", "bw_dev"]);
    done.iops.moments =
        moments(["iops_samples", "iops_min", "iops_max", "iops_mean", "iops_stddev"]);
    done
}

fn latencies(document: &Value) -> Latencies {
    let mut latencies = Latencies::default();
    latencies.statistics.moments = Moments::with_deviation(
        number(&document["N"]),
        (number(&document["min"]), number(&document["max"])),
        float(&document["mean"]),
        float(&document["stddev"]),
    );
    for (latency_ns, count) in document["bins"].as_object().into_iter().flatten() {
        let bucket = LatencyHistogram::bucket(latency_ns.parse().unwrap());
        latencies.histogram.add_many(bucket, number(count));
    }
    latencies
}

fn processor(document: &Value, runtime_ms: u64) -> ProcessorUsage {
    let time_ms = |share: &Value| unknowns::rounded(float(share) * runtime_ms as f64 / 100.0);
    ProcessorUsage {
        user_ms: time_ms(&document["usr_cpu"]),
        system_ms: time_ms(&document["sys_cpu"]),
        context_switches: number(&document["ctx"]),
        major_faults: number(&document["majf"]),
        minor_faults: number(&document["minf"]),
    }
}

fn distributions(job: &mut JobResult, document: &Value) {
    let depths = ["1", "2", "4", "8", "16", "32", ">=64"];
    let batches = ["0", "4", "8", "16", "32", "64", ">=64"];
    let bins = ["2", "4", "10", "20", "50", "100", "250", "500", "750", "1000", "2000", ">=2000"];
    let ios = job.ios();
    let shares = |name: &str, levels: &[&str]| -> Vec<f64> {
        levels.iter().map(|level| float(&document[name][level])).collect()
    };
    let of_ios = |name, levels: &[&str], least| unknowns::counts(&shares(name, levels), ios, least);
    let of_calls = |name| {
        let counts = unknowns::counts_of_some(&shares(name, &batches), ios);
        BatchDistribution { counts: counts.try_into().unwrap() }
    };
    job.depths =
        DepthDistribution { counts: of_ios("iodepth_level", &depths, 0.1).try_into().unwrap() };
    job.submitted = of_calls("iodepth_submit");
    job.completed = of_calls("iodepth_complete");
    job.latency_bins = LatencyBins {
        ns: of_ios("latency_ns", &bins[..10], 0.01).try_into().unwrap(),
        us: of_ios("latency_us", &bins[..10], 0.01).try_into().unwrap(),
        ms: of_ios("latency_ms", &bins, 0.01).try_into().unwrap(),
    };
}

fn steady_state(document: &Value) -> SteadyState {
    let (ss, criterion) = (text(&document["ss"]), text(&document["criterion"]));
    let (what, limit) = ss.split_once(':').unwrap();
    let is_slope = what.ends_with("_slope");
    let samples =
        |name: &str| document["data"][name].as_array().unwrap().iter().map(number).collect();
    SteadyState {
        goal: SteadyGoal {
            quantity: if what.starts_with("iops") {
                SteadyQuantity::Iops
            } else {
                SteadyQuantity::Bandwidth
            },
            test: if is_slope { SteadyTest::Slope } else { SteadyTest::Deviation },
            unit: if limit.ends_with('%') { SteadyUnit::Percent } else { SteadyUnit::Absolute },
            limit: limit.trim_end_matches('%').parse().unwrap(),
            duration_s: number(&document["duration"]).try_into().unwrap(),
        },
        is_attained: number(&document["attained"]) == 1,
        criterion: criterion.trim_end_matches('%').parse().unwrap(),
        deviation: float(&document["max_deviation"]),
        slope: float(&document["slope"]),
        bandwidth: samples("bw"),
        iops: samples("iops"),
    }
}

fn disk(document: &Value) -> DiskUtilization {
    let pair = |names: [&str; 2]| names.map(|name| number(&document[name]));
    let (busy_ms, watched_ms) = unknowns::quotient(float(&document["util"]));
    let figures = DiskFigures {
        ios: pair(["read_ios", "write_ios"]),
        merges: pair(["read_merges", "write_merges"]),
        ticks_ms: pair(["read_ticks", "write_ticks"]),
        busy_ms,
        in_queue_ms: number(&document["in_queue"]),
        watched_ms,
    };
    DiskUtilization { name: text(&document["name"]), figures, slaves: Vec::new() }
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("{value} is an integer"))
}

fn float(value: &Value) -> f64 {
    assert!(value.is_f64(), "{value} has decimals");
    value.as_f64().unwrap()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}
