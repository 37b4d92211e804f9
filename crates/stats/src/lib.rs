//! Pure mathematics on numbers: the estimators, intervals and tests that a run's answers rest on.
//!
//! There is no I/O here, no clock and no thread: the same numbers in give the same numbers out.
//! What a sample is too small or too odd to support is refused ([`Refusal`]), never guessed.
//!
//! Where to start: [`Sample`] describes one series; [`order`] gives distribution-free intervals
//! of its quantiles, which storage measurements need first because they are not normal;
//! [`paired`] compares two targets block by block; [`multiple`] corrects many such comparisons;
//! [`planning`] says how many more blocks a wanted precision takes; [`design`] takes whole
//! experiments apart into the effects of what was varied.
//! [`planning`] says how many more blocks a wanted precision takes. Of series in order,
//! [`changepoint`] says where they change and [`steady_state`] whether they settled;
//! [`scalability`] fits laws to throughput by concurrency, and [`cliff`] finds the sizes at which
//! a value falls.
//! [`bootstrap`] gives intervals of any other statistic; [`autocorrelation`] warns of series that
//! remember their past, and [`outliers`] marks what stands far off.
//!
//! Two targets are compared block by block by [`paired`], and as independent samples by [`welch`],
//! [`mann_whitney`], [`fieller`] and [`ratio_of_medians`]; [`equivalence`] says whether they are
//! the same for practical purposes. [`multiple`] corrects many such comparisons; [`planning`] says
//! how many more blocks a wanted precision takes. How often these hold what they say is in
//! docs/coverage.md.

#![forbid(unsafe_code)]

pub mod autocorrelation;
pub mod bootstrap;
pub mod changepoint;
pub mod cliff;
pub mod design;
pub mod distribution;
pub mod equivalence;
pub mod fieller;
pub mod interval;
pub mod mann_whitney;
pub mod multiple;
pub mod order;
pub mod outliers;
pub mod paired;
pub mod planning;
pub mod ratio_of_medians;
mod refusal;
mod sample;
pub mod scalability;
pub mod signed_rank;
pub mod steady_state;
pub mod welch;

pub use interval::Interval;
pub use paired::PairedRatio;
pub use refusal::Refusal;
pub use sample::Sample;
pub use signed_rank::SignedRank;
