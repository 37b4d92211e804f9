//! Pure mathematics on numbers: the estimators, intervals and tests behind a run's answers.
//!
//! This crate uses no I/O, no clock and no threads: the same input gives the same output. If a
//! sample is too small or too unusual to support an answer, the answer is refused ([`Refusal`]),
//! never guessed.
//!
//! Is the second of two alternatives slower, each measured once in each of eight blocks?
//!
//! ```
//! use stats::{Paired, Sample, order};
//!
//! let first = [102.0, 98.0, 101.0, 110.0, 99.0, 104.0, 97.0, 103.0];
//! let second = [125.0, 119.0, 121.0, 138.0, 118.0, 130.0, 120.0, 122.0];
//! let paired = Paired::new(&second, &first)?;
//! let ratio = paired.interval(0.95)?;
//! assert!(ratio.low > 1.15 && ratio.high < 1.3, "{ratio:?}");
//! assert!(paired.p() < 0.001);
//!
//! let median = order::median_interval(&Sample::new(first)?, 0.95)?;
//! assert!(median.contains(101.5));
//! // Too few values support no answer.
//! assert!(Paired::new(&second[..2], &first[..2]).is_err());
//! # Ok::<(), stats::Refusal>(())
//! ```
//!
//! Where to start, by question:
//!
//! - *What is this series?* [`Sample`] describes it. [`order`] gives distribution-free intervals of
//!   its quantiles, which storage measurements need first because they are not normal, and
//!   [`clustered`] those of clustered values; [`interval`] gives that of its mean, and
//!   [`bootstrap`] that of anything else. [`autocorrelation`] warns of series whose values depend
//!   on earlier ones, and [`outliers`] marks values that are far off.
//! - *Do two differ?* [`paired`] compares block by block, and [`dependence`] says how strongly
//!   successive blocks depend on one another; [`independent`] compares values that are not paired;
//!   [`multiple`] corrects for many such answers, and [`reconciled`] finds the levels that agree
//!   best with all of them.
//! - *What does it depend on?* [`design`] breaks experiments down into the effects of the factors
//!   that were varied.
//! - *When did it change?* [`changepoint`] says where, [`steady_state`] whether it settled, and
//!   [`trend`] whether it rises or falls throughout.
//! - *How does it grow?* [`scalability`] fits laws to throughput over concurrency; [`cliff`] finds
//!   the sizes at which a curve falls, and [`crossing`] where two become equal, probe by probe.
//! - *How much more is needed?* [`planning`].
//!
//! `docs/coverage.md` of fsprism shows, by simulation, how often the intervals contain the true
//! value.

#![forbid(unsafe_code)]

pub mod autocorrelation;
mod biweight;
pub mod bootstrap;
pub mod changepoint;
pub mod cliff;
pub mod clustered;
pub mod crossing;
pub mod dependence;
pub mod design;
mod design_kind;
pub mod distribution;
mod estimated;
pub mod independent;
pub mod interval;
pub mod multiple;
pub mod order;
pub mod outliers;
pub mod paired;
pub mod planning;
mod positive;
pub mod reconciled;
mod refusal;
mod sample;
pub mod scalability;
pub mod steady_state;
pub mod trend;
pub mod trimmed;

pub use independent::Independent;
pub use interval::Interval;
pub use paired::Paired;
pub use refusal::Refusal;
pub use sample::Sample;
