//! The fit: which policy makes the observation most likely.
//!
//! Every policy has the same two free parameters, its capacity and its noise, which is the
//! probability that a prediction comes out wrong, and is scored by the same likelihood, so that a
//! random policy, which predicts probabilities, can win fairly. The measure of agreement is Cohen's
//! kappa (Cohen, "A Coefficient of Agreement for Nominal Scales", 1960): the share of pages on
//! which prediction and observation agree, in excess of what chance would give at the same numbers
//! of resident pages, moment by moment. What is resampled for its interval, and paired for the
//! comparisons, are stripes of pages, each with all its moments: neither adjacent pages nor several
//! moments of one page are independent. Each stripe has an equal share of every part of every
//! trace, so the intervals are about repeating this battery, not about other traces.

mod bins;
mod capacity;
mod case;
mod grouping;
mod score;

use std::ops::RangeInclusive;

use stats::bootstrap::{self, Method, Resampling};
use stats::interval::mean_interval;
use stats::{Interval, Sample};

use crate::error::FitError;
use crate::observed_trace::ObservedTrace;
use crate::policy::Policy;
use case::{Model, PreparedTrace};
pub use grouping::Grouping;
use score::Score;

/// The number of resamples of stripes for each agreement's interval.
const RESAMPLES: u32 = 1000;

/// The parameters of a fit.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// The possible capacities: part of a memory limit is used for other things.
    pub capacity_pages: RangeInclusive<u32>,
    /// How many pages come and go together.
    pub grouping: Grouping,
    /// The confidence level of intervals and of the verdict, between 0 and 0.99.
    pub level: f64,
    /// The seed of random policies and of resampling.
    pub seed: u64,
}

impl Question {
    /// Capacities within `capacity_pages`, groups to be found, and a level of 95 %.
    pub fn within(capacity_pages: RangeInclusive<u32>) -> Self {
        Self { capacity_pages, grouping: Grouping::Found, level: 0.95, seed: 1 }
    }
}

/// A policy with its best parameters, compared with the observation.
#[derive(Clone, Debug, PartialEq)]
pub struct ScoredPolicy {
    /// The policy.
    pub policy: Policy,
    /// The capacity under which it explains the observation best, in pages.
    pub capacity_pages: u32,
    /// The share of its predictions that come out wrong, from 0 to 0.5.
    pub noise: f64,
    /// The log-likelihood in nats.
    pub log_likelihood: f64,
    /// Cohen's kappa: 1 is perfect agreement, 0 is as good as chance, and less is worse than
    /// chance.
    pub agreement: f64,
    /// The agreement's interval, from a bootstrap over stripes of pages.
    pub interval: Interval,
    /// The share of chance's surprise (its negative log-likelihood) that the policy removes, from 0
    /// to 1. A random policy never comes near 1, even if it is the truth.
    pub explained: f64,
    /// By how many nats the first of the ranking is more likely.
    pub behind: f64,
    /// The interval of `behind`, at a level that holds for all policies of the ranking
    /// simultaneously.
    pub behind_interval: Interval,
}

/// Whether the first of a ranking can be taken as the answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FitVerdict {
    /// It explains the observation significantly better than every other policy.
    ToldApart,
    /// Others explain it as well as the first: the observation does not decide between them.
    NotToldApart {
        /// The policies that cannot be told apart from the first, best first.
        from: Vec<Policy>,
    },
    /// Not even the first explains it better than chance.
    NoBetterThanChance,
}

/// The result of a fit.
#[derive(Clone, Debug, PartialEq)]
pub struct Fit {
    /// All policies, most likely first.
    pub ranking: Vec<ScoredPolicy>,
    /// Whether the first is told apart from the others.
    pub verdict: FitVerdict,
    /// How many pages come and go together, as given or as found.
    pub pages_per_group: u32,
    /// The share, from 0 to 1, of never accessed pages that were resident. Apart from noise, they
    /// came in together with others, by read-ahead or in large folios. Groups account only for the
    /// latter, so with read-ahead no verdict can be trusted.
    pub resident_unaccessed: f64,
}

impl Fit {
    /// The policy that explains the observation best. The verdict says whether it is the only one.
    pub fn best(&self) -> &ScoredPolicy {
        &self.ranking[0]
    }
}

/// Compares every policy with the observation.
///
/// # Errors
/// If the range of capacities is empty, groups have no pages, the level is not between 0 and 0.99,
/// or nothing was evicted or nothing resident.
pub fn fit(battery: &[ObservedTrace], question: &Question) -> Result<Fit, FitError> {
    let pages_per_group = check(battery, question)?;
    let cases: Vec<PreparedTrace> =
        battery.iter().map(|observed| PreparedTrace::new(observed, pages_per_group)).collect();
    let start = capacity::start(&cases, pages_per_group).ok_or_else(|| nothing(&cases))?;
    let (low, high) = question.capacity_pages.clone().into_inner();
    let range = (low / pages_per_group).max(1)..=(high / pages_per_group).max(1);
    let mut models = Vec::new();
    for policy in Policy::ALL {
        let model = capacity::search(&cases, policy, question.seed, start, &range);
        models.push((model, Score::new(&cases, model)));
    }
    models.sort_by(|(_, a), (_, b)| likelihood(b).total_cmp(&likelihood(a)));
    let best = &models[0].1;
    let scored = |(model, score): &(Model, Score)| {
        scored(
            Model { capacity: model.capacity * pages_per_group, ..*model },
            score,
            best,
            question,
        )
    };
    let ranking = models.iter().map(scored).collect::<Result<Vec<_>, _>>()?;
    let verdict = verdict(&ranking, best, question)?;
    Ok(Fit { ranking, verdict, pages_per_group, resident_unaccessed: unaccessed(battery) })
}

/// Rejects what cannot be answered, and returns how many pages come and go together.
fn check(battery: &[ObservedTrace], question: &Question) -> Result<u32, FitError> {
    let (low, high) = question.capacity_pages.clone().into_inner();
    if low == 0 || low > high {
        return Err(FitError::Capacity { low, high });
    }
    if !(question.level > 0.0 && question.level <= 0.99) {
        let (what, range) = ("the level", "above 0 and at most 0.99");
        return Err(stats::Refusal::OutOfRange { what, value: question.level, range }.into());
    }
    match question.grouping {
        Grouping::Pages(0) => Err(FitError::NoGroup),
        Grouping::Pages(pages) => Ok(pages),
        Grouping::Found => Ok(grouping::find(battery)),
    }
}

/// The share of pages that are resident at a moment without having been accessed before.
fn unaccessed(battery: &[ObservedTrace]) -> f64 {
    let [mut pages, mut resident] = [0u64; 2];
    for observed in battery {
        let trace = observed.trace();
        let mut is_accessed = vec![false; trace.pages() as usize];
        let mut done = 0;
        for (&moment, is_resident) in trace.moments().iter().zip(observed.resident()) {
            for access in &trace.accesses()[done..moment] {
                is_accessed[access.page as usize] = true;
            }
            done = moment;
            let others = is_accessed.iter().zip(is_resident).filter(|(accessed, _)| !**accessed);
            for (_, &is_resident) in others {
                pages += 1;
                resident += u64::from(is_resident);
            }
        }
    }
    resident as f64 / pages.max(1) as f64
}

fn nothing(cases: &[PreparedTrace]) -> FitError {
    let add = |sum: (u64, u64), look: (u64, u64)| (sum.0 + look.0, sum.1 + look.1);
    let (pages, resident) = cases.iter().flat_map(PreparedTrace::residency).fold((0, 0), add);
    FitError::NothingToExplain { pages, resident }
}

fn likelihood(score: &Score) -> f64 {
    score.sum(|stripe| stripe.log_likelihood)
}

fn scored(
    model: Model,
    score: &Score,
    best: &Score,
    question: &Question,
) -> Result<ScoredPolicy, FitError> {
    let log_likelihood = likelihood(score);
    let chance = score.sum(|stripe| stripe.chance_log_likelihood);
    let agreement = agreement(score, question)?;
    let lead = best.stripes.iter().zip(&score.stripes);
    let lead: Vec<f64> = lead.map(|(a, b)| a.log_likelihood - b.log_likelihood).collect();
    let (behind, behind_interval) = total(lead, question.level)?;
    Ok(ScoredPolicy {
        policy: model.policy,
        capacity_pages: model.capacity,
        noise: score.noise,
        log_likelihood,
        agreement: agreement.estimate,
        interval: agreement.interval,
        explained: (1.0 - log_likelihood / chance).clamp(0.0, 1.0),
        behind,
        behind_interval,
    })
}

/// Kappa as the mean over stripes of their agreement in excess of chance, in units of what perfect
/// agreement would be in excess of chance.
fn agreement(score: &Score, question: &Question) -> Result<bootstrap::Bootstrap, FitError> {
    let unit =
        score.sum(|stripe| stripe.pages - stripe.chance_agreeing) / score.stripes.len() as f64;
    let above = |stripe: &score::Stripe| (stripe.agreeing - stripe.chance_agreeing) / unit;
    let stripes: Vec<f64> = score.stripes.iter().map(above).collect();
    let Question { seed, level, .. } = *question;
    let how = Resampling { resamples: RESAMPLES, seed, level, method: Method::Percentile };
    let mean = |stripes: &[f64]| stripes.iter().sum::<f64>() / stripes.len() as f64;
    Ok(bootstrap::statistic(&stripes, mean, &how)?)
}

/// The sum of `stripes`, with its interval by Student's t at a level that holds for the comparisons
/// with all other policies simultaneously (Bonferroni).
fn total(stripes: Vec<f64>, level: f64) -> Result<(f64, Interval), FitError> {
    let count = stripes.len() as f64;
    let comparisons = (Policy::ALL.len() - 1) as f64;
    let stripes = Sample::new(stripes)?;
    let mean = mean_interval(&stripes, 1.0 - (1.0 - level) / comparisons)?;
    let interval = Interval { low: mean.low * count, high: mean.high * count, level };
    Ok((stripes.mean() * count, interval))
}

fn verdict(
    ranking: &[ScoredPolicy],
    best: &Score,
    question: &Question,
) -> Result<FitVerdict, FitError> {
    let lead = |stripe: &score::Stripe| stripe.log_likelihood - stripe.chance_log_likelihood;
    let (_, over_chance) = total(best.stripes.iter().map(lead).collect(), question.level)?;
    if over_chance.low <= 0.0 {
        return Ok(FitVerdict::NoBetterThanChance);
    }
    let alike = ranking[1..].iter().filter(|scored| scored.behind_interval.low <= 0.0);
    let from: Vec<Policy> = alike.map(|scored| scored.policy).collect();
    Ok(if from.is_empty() { FitVerdict::ToldApart } else { FitVerdict::NotToldApart { from } })
}

#[cfg(test)]
mod tests;
