//! What the phases of a benchmark move into and out of simulated caches, as text and as figures.
//! The traffic is counted in addition to a run.

use std::path::Path;

use record::traffic::{BYTES_IN, BYTES_OUT, DIRTY_BYTES, metric};
use record::{CachesOrigin, Run};
use textual::{Columns, paragraph, plural, size};

use crate::analysis::{Gathered, gather, summary};

/// Bytes that one phase moves into and out of one cache on one target, as medians.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PhaseTraffic {
    pub(crate) target: String,
    pub(crate) benchmark: String,
    pub(crate) title: String,
    pub(crate) bytes_in: f64,
    pub(crate) bytes_out: f64,
    /// What is dirty in the cache at the end of the phase.
    pub(crate) dirty_bytes: f64,
}

/// What was counted in addition to a run.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Traffic {
    /// The cache's usual name: `L2`.
    pub(crate) cache: String,
    pub(crate) cache_bytes: u64,
    pub(crate) kernel: String,
    /// Whether the caches are shaped like those of the machine that timed the run.
    pub(crate) is_of_machine: bool,
    /// Number of executions that the medians are taken over.
    executions: u32,
    /// By target, each with its phases in their order.
    pub(crate) phases: Vec<PhaseTraffic>,
}

impl Traffic {
    /// An upper bound on the data of the previous phase that one phase moves out, on one target:
    /// what that phase left dirty, but no more than is moved out.
    pub(crate) fn inherited_bytes(&self, target: &str, benchmark: &str) -> Option<f64> {
        let mut before = 0.0;
        for one in self.phases.iter().filter(|one| one.target == target) {
            if one.benchmark == benchmark {
                return Some(one.bytes_out.min(before));
            }
            before = one.dirty_bytes;
        }
        None
    }

    pub(crate) fn from_run(run: &Run) -> Option<Self> {
        let record = &run.manifest.run;
        // The second level if there is one, since that is what the paper counted.
        let caches = &record.simulated_caches.as_ref()?.caches;
        let cache = caches.iter().find(|one| one.name == "l2").or(caches.last())?;
        let moved = |gathered: &Gathered<'_>| {
            let median = |what: &str| {
                let values = gathered.values_of(&metric(&cache.name, what));
                let values: Vec<f64> = values.into_values().collect();
                Some(summary(&values, record.confidence_level)?.median)
            };
            Some(PhaseTraffic {
                target: gathered.cell.target.clone(),
                benchmark: gathered.cell.benchmark.clone(),
                title: gathered.cell.title.clone(),
                bytes_in: median(BYTES_IN)?,
                bytes_out: median(BYTES_OUT)?,
                dirty_bytes: median(DIRTY_BYTES)?,
            })
        };
        let gathered = gather(run);
        let phases: Vec<PhaseTraffic> = gathered.iter().filter_map(moved).collect();
        (!phases.is_empty()).then_some(Self {
            cache: cache.name.to_uppercase(),
            cache_bytes: cache.size_bytes,
            kernel: record.guest_kernel.clone().unwrap_or_default(),
            is_of_machine: record.simulated_caches.as_ref()?.origin == CachesOrigin::Machine,
            executions: gathered.iter().map(Gathered::count).max().unwrap_or(0),
            phases,
        })
    }

    fn text(&self, width: usize) -> String {
        let (cache, kernel) = (&self.cache, &self.kernel);
        let holds = size(self.cache_bytes as f64, 3);
        let what = format!(
            "What each phase moves into and out of {cache} ({holds}), and what it leaves dirty \
             there: simulated, from a trace of a guest with Linux {kernel}. Medians of {}, too few \
             for intervals.",
            plural(self.executions as usize, "execution")
        );
        let mut columns = Columns::headed(["phase", "target", "in", "out", "left dirty"]);
        let mut titles: Vec<&str> = Vec::new();
        for one in &self.phases {
            if !titles.contains(&one.title.as_str()) {
                titles.push(&one.title);
            }
        }
        for title in titles {
            for (at, one) in self.phases.iter().filter(|one| one.title == title).enumerate() {
                let bytes = |bytes: f64| size(bytes, 3);
                columns.row([
                    if at == 0 { title.to_owned() } else { String::new() },
                    one.target.clone(),
                    bytes(one.bytes_in),
                    bytes(one.bytes_out),
                    bytes(one.dirty_bytes),
                ]);
            }
        }
        format!("\n{}{}", paragraph("", "", &what, width), columns.render())
    }
}

/// What was counted in addition to the run at `path`, as text; empty if nothing was counted.
#[must_use]
pub fn traffic_beside(run: &Run, path: &Path, width: usize) -> String {
    match run.traffic(path) {
        Ok(None) => String::new(),
        Ok(Some(counted)) => {
            Traffic::from_run(&counted).map(|one| one.text(width)).unwrap_or_default()
        }
        Err(why) => {
            let what = format!("What phases move into and out of caches is left out: {why}");
            format!("\n{}", paragraph("", "", &what, width))
        }
    }
}

/// The same text for a run that itself is such a count; `None` for any other.
#[must_use]
pub fn traffic_alone(run: &Run, width: usize) -> Option<String> {
    let is_traffic = run.manifest.run.kind == record::RunKind::Traffic;
    let text = Traffic::from_run(run).filter(|_| is_traffic)?.text(width);
    Some(text.trim_start().to_owned())
}
