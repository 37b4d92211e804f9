//! Pure mathematics on numbers: the estimators, intervals and tests that a run's answers rest on.
//!
//! There is no I/O here, no clock and no thread: the same numbers in give the same numbers out.
//! What a sample is too small or too odd to support is refused ([`Refusal`]), never guessed.
//!
//! Where to start, by question:
//!
//! - *What is this series?* [`Sample`] describes it; [`order`] gives distribution-free intervals of
//!   its quantiles, which storage measurements need first because they are not normal;
//!   [`interval`] that of its mean, [`bootstrap`] that of anything else. [`autocorrelation`] warns
//!   of series that remember their past, and [`outliers`] marks what stands far off.
//! - *Do two differ?* [`paired`] compares block by block, and [`dependence`] says what successive
//!   blocks have to do with one another; [`independent`] compares what does not pair;
//!   [`multiple`] corrects many such answers.
//! - *What does it depend on?* [`design`] takes experiments apart into the effects of what was
//!   varied.
//! - *When did it change?* [`changepoint`] says where, [`steady_state`] whether it settled, and
//!   [`trend`] whether it rises or falls throughout.
//! - *How does it grow?* [`scalability`] fits laws to throughput over concurrency; [`cliff`] finds
//!   the sizes at which a curve falls, probe by probe.
//! - *How much more is needed?* [`planning`].
//!
//! How often the intervals hold what they say, by simulation, is in `docs/coverage.md`.

#![forbid(unsafe_code)]

pub mod autocorrelation;
pub mod bootstrap;
pub mod changepoint;
pub mod cliff;
pub mod dependence;
pub mod design;
pub mod distribution;
mod estimated;
pub mod independent;
pub mod interval;
pub mod multiple;
pub mod order;
pub mod outliers;
pub mod paired;
pub mod planning;
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
