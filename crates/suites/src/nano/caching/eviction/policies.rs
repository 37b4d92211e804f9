//! The battery of traces, and reference policies compared with what stayed resident.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use record::{Better, MetricDefinition, Observation, PolicyFit, PolicyRanking};
use replacement::fit::{Fit, FitVerdict, Question, ScoredPolicy, fit};
use replacement::{ObservedTrace, Policy, Trace, battery};
use runner::Failure;
use serde_json::{Value, json};

use super::cached_file::CachedFile;
use super::replay::Replay;
use super::{LIMITS_PER_FILE, capacity_pages, check, limit_pages};
use crate::experiment::{Experiment, Site};
use crate::failure::failed;
use crate::findings::Findings;
use crate::live_target::LiveTarget;
use crate::nano::caching::cold_file::ColdFile;
use crate::nanoseconds::nanos;

/// The largest share of never accessed pages that may be resident for a verdict. Such pages came in
/// along with others, which a policy for single pages cannot explain.
const UNASKED_MAX: f64 = 0.05;

/// Finds the policy that best explains what stays resident, and how well each of the others does.
#[derive(Debug)]
pub(super) struct Policies;

impl Experiment for Policies {
    fn metrics(&self) -> Vec<MetricDefinition> {
        let percent = |name: &str| MetricDefinition::new(name, "%", Better::Neither);
        let each = Policy::ALL.into_iter().map(|policy| percent(&metric_of(policy)));
        let all = std::iter::once(percent("explained")).chain(each);
        all.chain([percent("unasked_share")]).collect()
    }

    fn parameters(&self) -> BTreeMap<String, Value> {
        BTreeMap::from([
            ("request_bytes".to_owned(), json!(rustix::param::page_size())),
            ("read_ahead_bytes".to_owned(), json!(0)),
            ("policies".to_owned(), json!(Policy::ALL.map(Policy::name))),
        ])
    }

    fn estimate(&self) -> Duration {
        Duration::from_secs(20)
    }

    fn check(&self, live: &LiveTarget) -> Result<(), String> {
        check(live)
    }

    fn execute(&self, site: &Site<'_>) -> Result<Findings, Failure> {
        let page_bytes = rustix::param::page_size() as u64;
        let limit_pages = u64::from(limit_pages(site.live.target()));
        let mut cold = ColdFile::make(site, "file", LIMITS_PER_FILE * limit_pages * page_bytes)?;
        let capacity = capacity_pages(site, &mut cold)?;
        let traces = battery(capacity, site.seed);
        let began = Instant::now();
        let accesses: usize = traces.iter().map(|trace| trace.accesses().len()).sum();
        let mut observed = Vec::with_capacity(traces.len());
        for trace in traces {
            observed.push(replay(site, &mut cold, trace)?);
        }
        let elapsed = began.elapsed();
        site.go_on()?;
        let fitted = explain(&observed, capacity, site.seed)?;
        Ok(Findings {
            metrics: values(&fitted),
            bytes: accesses as u64 * page_bytes,
            elapsed_ns: nanos(elapsed),
            evidence: cold.evidence().clone(),
            observations: vec![Observation::Policies(ranking(&fitted))],
            ..Findings::default()
        })
    }
}

/// Replays one trace, starting with an empty cache.
fn replay(site: &Site<'_>, cold: &mut ColdFile, trace: Trace) -> Result<ObservedTrace, Failure> {
    cold.cool(site)?;
    Replay::run(&trace, &mut CachedFile::open(site, cold)?)?.into_observation(trace)
}

/// Fits the policies to what was observed. What the kernel and the program use of the limit may
/// change meanwhile, so the capacity is searched for around its earlier value.
fn explain(observed: &[ObservedTrace], capacity: u32, seed: u64) -> Result<Fit, Failure> {
    let question = Question { seed, ..Question::within(capacity / 2..=capacity * 5 / 4) };
    fit(observed, &question).map_err(|error| failed(&error))
}

/// For LRU-2, `agreement_lru_2`.
fn metric_of(policy: Policy) -> String {
    let word = |letter: char| if letter.is_ascii_alphanumeric() { letter } else { '_' };
    let name: String = policy.name().to_ascii_lowercase().chars().map(word).collect();
    let words: Vec<&str> = name.split('_').filter(|part| !part.is_empty()).collect();
    format!("agreement_{}", words.join("_"))
}

/// The values of the metrics, in percent: what the best policy explains, the agreement of each (0
/// if it does no better than chance), and the share of never accessed pages that were resident.
fn values(fitted: &Fit) -> Vec<f64> {
    let agreement = |policy: Policy| {
        let scored = fitted.ranking.iter().find(|scored| scored.policy == policy);
        scored.map_or(0.0, |scored| 100.0 * scored.agreement.clamp(0.0, 1.0))
    };
    let best = 100.0 * fitted.best().explained;
    let all = std::iter::once(best).chain(Policy::ALL.into_iter().map(agreement));
    all.chain([100.0 * fitted.resident_unaccessed]).collect()
}

fn ranking(fitted: &Fit) -> PolicyRanking {
    let one = |scored: &ScoredPolicy| PolicyFit {
        policy: scored.policy.name().to_owned(),
        agreement: scored.agreement,
        interval: (scored.interval.low, scored.interval.high),
        explained: scored.explained,
        capacity_pages: scored.capacity_pages,
    };
    PolicyRanking {
        title: "policies compared with what stayed resident".to_owned(),
        verdict: sentence(fitted),
        pages_per_group: fitted.pages_per_group,
        ranking: fitted.ranking.iter().map(one).collect(),
    }
}

/// The result of the fit, in words.
fn sentence(fitted: &Fit) -> String {
    let best = fitted.best().policy;
    if fitted.resident_unaccessed > UNASKED_MAX {
        let percent = 100.0 * fitted.resident_unaccessed;
        return format!(
            "no verdict: {percent:.0} % of the pages that were never requested were resident"
        );
    }
    match &fitted.verdict {
        FitVerdict::ToldApart => format!("{best} explains it better than any other policy"),
        FitVerdict::NotToldApart { from } => {
            let names: Vec<&str> = from.iter().copied().map(Policy::name).collect();
            format!("{best} explains it best, but cannot be told apart from {}", names.join(", "))
        }
        FitVerdict::NoBetterThanChance => "no policy explains it better than chance".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::replay::tests::Simulated;
    use super::*;

    const LIMIT: u32 = 512;

    fn fitted(policy: Policy) -> Fit {
        let observed: Vec<ObservedTrace> = battery(LIMIT, 1)
            .into_iter()
            .map(|trace| {
                let mut cache = Simulated::new(policy, 400, trace.pages());
                let replayed = Replay::run(&trace, &mut cache).expect("nothing fails here");
                replayed.into_observation(trace).expect("it belongs to the trace")
            })
            .collect();
        explain(&observed, LIMIT, 1).expect("pages were thrown out")
    }

    #[test]
    fn a_policy_that_is_known_is_found() {
        for policy in [Policy::Lru, Policy::TwoQueue] {
            let fitted = fitted(policy);
            let ranking = ranking(&fitted);
            assert_eq!(ranking.ranking[0].policy, policy.name(), "{ranking:?}");
            assert!(ranking.ranking[0].agreement > 0.99, "{ranking:?}");
            assert!(ranking.verdict.contains("better than any other"), "{}", ranking.verdict);
            let values = values(&fitted);
            let own = Policy::ALL.iter().position(|other| *other == policy).expect("one of all");
            assert!(values[0] > 95.0 && values[own + 1] > 99.0, "{values:?}");
            let others = values[1..].iter().filter(|agreement| **agreement > 99.0).count();
            assert_eq!((others, values.last()), (1, Some(&0.0)));
            assert!(values.iter().all(|value| (0.0..=100.0).contains(value)), "{values:?}");
            let least = ranking.ranking.last().expect("there are several").agreement;
            assert!(least < 0.0, "worse than chance, and not only as good: {least}");
            let unasked = Fit { resident_unaccessed: 0.5, ..fitted };
            assert!(sentence(&unasked).contains("50 % of the pages that were never"));
        }
    }

    #[test]
    fn each_policy_has_a_metric_of_its_own() {
        let names: BTreeSet<String> =
            Policies.metrics().into_iter().map(|metric| metric.name).collect();
        assert_eq!(names.len(), Policy::ALL.len() + 2);
        assert!(names.contains("agreement_lru_2") && names.contains("agreement_2q"), "{names:?}");
    }
}
