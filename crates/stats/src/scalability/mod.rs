//! How throughput grows with concurrency: Amdahl's law and the Universal Scalability Law.
//!
//! X(N) = gamma N / (1 + alpha (N - 1) + beta N (N - 1)): gamma is the throughput at a concurrency
//! of one, alpha the cost of waiting for each other, beta the cost of agreeing with each other;
//! beta = 0 is Amdahl's law (Gunther, "Guerrilla Capacity Planning", Springer 2007, chapters 4 to
//! 6). With beta above 0, throughput peaks at N = sqrt((1 - alpha) / beta) and falls beyond.
//!
//! Fit: least squares by the Levenberg-Marquardt method, for errors that are proportional to the
//! throughput or constant ([`Errors`]), with alpha and beta unbounded. Their intervals come from
//! that fit of the full law, whichever law describes the values: a smaller law that has been
//! selected knows nothing about the parameters that it leaves out, and its own intervals contain
//! the truth in a tenth of cases. If values come in blocks and those within a block have something
//! in common, intervals come from leaving out one block after another ([`of_blocks`]).
//!
//! Description: in the model, neither alpha nor beta can be negative. If the free optimum is, the
//! models without alpha, without beta and without both are fitted, and the closest of those within
//! bounds represents the law; the rejected optimum is reported beside it. From the larger model to
//! the smaller, each parameter must earn its place by an F test of the extra sum of squares at the
//! requested level (Bates & Watts, "Nonlinear Regression Analysis and Its Applications", Wiley
//! 1988, chapter 3).

mod blocks;
mod least_squares;

use crate::distribution::{fisher, student};
use crate::interval::Interval;
use crate::refusal::{Refusal, check_count, check_finite, check_open_unit};
pub use blocks::{OfBlocks, Parameter, of_blocks};
use least_squares::{Free, Optimum};

/// Which parameters a model has; the others are 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Model {
    /// gamma: throughput proportional to concurrency.
    Linear,
    /// gamma and alpha.
    Amdahl,
    /// gamma and beta, where waiting costs nothing but agreeing does.
    Coherency,
    /// gamma, alpha and beta.
    Usl,
}

impl Model {
    fn free(self) -> Free {
        match self {
            Self::Linear => Free { alpha: false, beta: false },
            Self::Amdahl => Free { alpha: true, beta: false },
            Self::Coherency => Free { alpha: false, beta: true },
            Self::Usl => Free { alpha: true, beta: true },
        }
    }

    /// The number of parameters.
    pub fn parameters(self) -> u64 {
        match self {
            Self::Linear => 1,
            Self::Amdahl | Self::Coherency => 2,
            Self::Usl => 3,
        }
    }
}

/// How errors depend on the throughput.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Errors {
    /// Proportional to it, as in storage measurements.
    #[default]
    InProportion,
    /// The same at every concurrency.
    OfOneSize,
}

/// A parameter's estimate and its error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ParameterEstimate {
    /// The estimate.
    pub value: f64,
    /// Its standard error, from the Jacobian at the optimum.
    pub std_error: f64,
    /// Its interval, by Student's t with the fit's degrees of freedom. It may reach below 0.
    pub interval: Interval,
}

/// One model fitted.
#[derive(Clone, Debug, PartialEq)]
pub struct Fit {
    /// The model.
    pub model: Model,
    /// Throughput at a concurrency of one, in the throughput's unit.
    pub gamma: ParameterEstimate,
    /// Cost of waiting, at least 0; none if the model has no alpha.
    pub alpha: Option<ParameterEstimate>,
    /// Cost of agreeing, at least 0; none if the model has no beta.
    pub beta: Option<ParameterEstimate>,
    /// sqrt(residual sum of squares / degrees of freedom): in the throughput's unit for constant
    /// errors, otherwise as a share of the throughput.
    pub residual_std_error: f64,
    /// The number of values minus the number of parameters.
    pub degrees_of_freedom: u64,
    /// alpha and beta at the unbounded optimum, if that is out of bounds.
    pub given_up: Option<(f64, f64)>,
    optimum: Optimum,
}

impl Fit {
    /// The throughput that the model predicts for `n`.
    pub fn throughput(&self, n: f64) -> f64 {
        self.optimum.curve.at(n) * self.optimum.unit
    }
}

/// Where throughput is highest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Peak {
    /// The concurrency of highest throughput.
    pub n: f64,
    /// Its interval, by the delta method on ln n.
    pub n_interval: Interval,
    /// The throughput there.
    pub x: f64,
    /// Its interval, by the delta method.
    pub x_interval: Interval,
    /// Whether `n` is within the range of concurrencies measured; beyond it, it is an
    /// extrapolation.
    pub within_range: bool,
}

/// Both laws fitted, and the choice between them.
#[derive(Clone, Debug, PartialEq)]
pub struct Scalability {
    /// The smallest model that the values support: a description of them.
    pub chosen: Fit,
    /// The Universal Scalability Law without bounds: possible values of alpha and beta.
    pub full: Result<Fit, Refusal>,
    /// The linear model.
    pub linear: Fit,
    /// Amdahl's law, or the linear model if that is at the bound.
    pub amdahl: Result<Fit, Refusal>,
    /// The Universal Scalability Law, or a smaller model if it is at a bound.
    pub usl: Result<Fit, Refusal>,
    /// p value of "alpha and beta together explain no more than the better of them alone", if the
    /// law with three parameters could be fitted within its bounds.
    pub third_parameter_p: Option<f64>,
    /// Where throughput peaks by the full law, if that is certain.
    pub peak: Result<Peak, Refusal>,
}

/// Fits throughput `x[i]` at concurrency `n[i]`; concurrencies may repeat. Intervals are at
/// `level`, and a parameter is kept if it is significant at 1 - `level`.
///
/// A model needs one more distinct concurrency than it has parameters: two for the linear one,
/// three for Amdahl's law, four for the Universal Scalability Law. If there are too few for a
/// model, only that model is refused. A peak is refused unless the interval of the full law's beta
/// is above 0, and also if it would be below all concurrencies.
///
/// # Errors
/// Refuses a `level` outside 0 to 1, series that differ in length, values that are not finite,
/// concurrencies below 1, throughputs not above 0, and fewer than two distinct concurrencies.
pub fn scalability(
    n: &[f64],
    x: &[f64],
    errors: Errors,
    level: f64,
) -> Result<Scalability, Refusal> {
    check_open_unit("the level", level)?;
    let data = Data::new(n, x, errors, level)?;
    let linear = data.fit(Model::Linear)?;
    let amdahl = data.bounded(Model::Amdahl);
    let usl = data.bounded(Model::Usl);
    let (chosen, third_parameter_p) = data.choose(&linear, &usl);
    let full = data.fit(Model::Usl);
    let peak = full.clone().and_then(|full| data.peak(&full));
    Ok(Scalability { chosen, full, linear, amdahl, usl, third_parameter_p, peak })
}

struct Data<'a> {
    n: &'a [f64],
    x: &'a [f64],
    errors: Errors,
    level: f64,
    distinct: u64,
}

impl<'a> Data<'a> {
    fn new(n: &'a [f64], x: &'a [f64], errors: Errors, level: f64) -> Result<Self, Refusal> {
        if n.len() != x.len() {
            return Err(Refusal::LengthsDiffer { first: n.len(), second: x.len() });
        }
        check_finite(n)?;
        check_finite(x)?;
        if let Some(&value) = n.iter().find(|&&value| value < 1.0) {
            return Err(Refusal::OutOfRange { what: "a concurrency", value, range: "at least 1" });
        }
        if let Some(index) = x.iter().position(|&value| value <= 0.0) {
            return Err(Refusal::NotPositive { index, value: x[index] });
        }
        let mut ascending = n.to_vec();
        ascending.sort_by(f64::total_cmp);
        ascending.dedup();
        Ok(Self { n, x, errors, level, distinct: ascending.len() as u64 })
    }

    /// The model's optimum, within bounds or not.
    fn optimum(&self, model: Model) -> Result<Optimum, Refusal> {
        let what = match model {
            Model::Linear => "a line of throughput over concurrency",
            Model::Amdahl | Model::Coherency => {
                "a law of two parameters, over distinct concurrencies,"
            }
            Model::Usl => "the Universal Scalability Law, over distinct concurrencies,",
        };
        let distinct = usize::try_from(self.distinct).unwrap_or(usize::MAX);
        check_count(what, distinct, model.parameters() + 1)?;
        least_squares::optimum(self.n, self.x, self.errors, model.free()).ok_or(
            Refusal::NotIdentified { what, why: "the sum of squares has no definite minimum" },
        )
    }

    fn fit(&self, model: Model) -> Result<Fit, Refusal> {
        self.optimum(model).map(|optimum| self.describe(model, optimum, None))
    }

    /// The model, or the closest smaller one if its optimum is out of bounds.
    fn bounded(&self, model: Model) -> Result<Fit, Refusal> {
        let free = self.optimum(model)?;
        if free.curve.within_bounds() {
            return Ok(self.describe(model, free, None));
        }
        let smaller = if let Model::Usl = model {
            &[Model::Linear, Model::Amdahl, Model::Coherency][..]
        } else {
            &[Model::Linear]
        };
        let given_up = Some((free.curve.alpha, free.curve.beta));
        let fits = smaller.iter().filter_map(|&it| Some((it, self.optimum(it).ok()?)));
        let within = fits.filter(|(_, optimum)| optimum.curve.within_bounds());
        let closest = within.min_by(|a, b| a.1.squares.total_cmp(&b.1.squares));
        let (what, why) = ("this law", "no model has an optimum within its bounds");
        let (model, optimum) = closest.ok_or(Refusal::NotIdentified { what, why })?;
        Ok(self.describe(model, optimum, given_up))
    }

    fn describe(&self, model: Model, optimum: Optimum, given_up: Option<(f64, f64)>) -> Fit {
        let degrees_of_freedom = self.n.len() as u64 - model.parameters();
        let df = degrees_of_freedom as f64;
        let variance = optimum.squares / df;
        let t = student::quantile(f64::midpoint(1.0, self.level), df);
        // With proportional errors, the residuals are shares.
        let unit_of_residual = match self.errors {
            Errors::OfOneSize => optimum.unit,
            Errors::InProportion => 1.0,
        };
        let estimate = |value: f64, which: usize, unit: f64| {
            let std_error = (variance * optimum.inverse[which][which]).sqrt() * unit;
            let interval = around(value, t * std_error, self.level);
            ParameterEstimate { value, std_error, interval }
        };
        let unit = optimum.unit;
        let (curve, free) = (optimum.curve, model.free());
        Fit {
            model,
            gamma: estimate(curve.gamma * unit, 0, unit),
            alpha: free.alpha.then(|| estimate(curve.alpha, 1, 1.0)),
            beta: free.beta.then(|| estimate(curve.beta, 2, 1.0)),
            residual_std_error: variance.sqrt() * unit_of_residual,
            degrees_of_freedom,
            given_up,
            optimum,
        }
    }

    /// Drops parameters as long as the F test allows.
    fn choose(&self, linear: &Fit, usl: &Result<Fit, Refusal>) -> (Fit, Option<f64>) {
        let two = [Model::Amdahl, Model::Coherency].into_iter().filter_map(|it| self.fit(it).ok());
        let within = two.filter(|it| it.optimum.curve.within_bounds());
        let two = within.min_by(|a, b| a.optimum.squares.total_cmp(&b.optimum.squares));
        let mut third_parameter_p = None;
        if let Ok(usl) = usl
            && usl.model == Model::Usl
        {
            let p = self.extra_squares_p(two.as_ref().unwrap_or(linear), usl);
            third_parameter_p = Some(p);
            if p < 1.0 - self.level {
                return (usl.clone(), third_parameter_p);
            }
        }
        match two {
            Some(two) if self.extra_squares_p(linear, &two) < 1.0 - self.level => {
                (two, third_parameter_p)
            }
            _ => (linear.clone(), third_parameter_p),
        }
    }

    /// The F test of the larger model's extra parameters.
    fn extra_squares_p(&self, smaller: &Fit, larger: &Fit) -> f64 {
        let extra = smaller.optimum.squares - larger.optimum.squares;
        // Squares are in units of the largest throughput's.
        let rounding = 1e-24 * self.x.len() as f64;
        if extra <= rounding {
            return 1.0;
        }
        if larger.optimum.squares <= rounding {
            return 0.0;
        }
        let df1 = (larger.model.parameters() - smaller.model.parameters()) as f64;
        let df2 = larger.degrees_of_freedom as f64;
        fisher::sf(extra / df1 / (larger.optimum.squares / df2), df1, df2)
    }

    fn peak(&self, fit: &Fit) -> Result<Peak, Refusal> {
        let refused = |why| Err(Refusal::NotIdentified { what: "a peak of throughput", why });
        let curve = fit.optimum.curve;
        match fit.beta {
            None => return refused("the values support no law with a peak"),
            Some(beta) if beta.interval.low <= 0.0 => {
                return refused("the interval of beta reaches 0");
            }
            Some(_) if curve.alpha >= 1.0 => return refused("alpha is 1 or more"),
            Some(_) if fit.alpha.is_some_and(|alpha| alpha.interval.high < 0.0) => {
                return refused("alpha is below 0, which the law does not allow");
            }
            Some(_) => {}
        }
        let n = ((1.0 - curve.alpha) / curve.beta).sqrt();
        let least = self.n.iter().copied().fold(f64::INFINITY, f64::min);
        if n < least {
            return refused("throughput falls from the fewest workers on");
        }
        let df = fit.degrees_of_freedom as f64;
        let t = student::quantile(f64::midpoint(1.0, self.level), df);
        let (variance, unit) = (fit.optimum.squares / df, fit.optimum.unit);
        let error = |gradient: [f64; 3]| t * (variance * fit.optimum.form(gradient)).sqrt();
        // The gradients of ln n and of X; at the peak, n does not influence X.
        let of_ln_n = [0.0, -0.5 / (1.0 - curve.alpha), -0.5 / curve.beta];
        let factor = error(of_ln_n).exp();
        let x = fit.throughput(n);
        Ok(Peak {
            n,
            n_interval: Interval { low: n / factor, high: n * factor, level: self.level },
            x,
            x_interval: around(x, error(curve.gradient(n)) * unit, self.level),
            within_range: n <= largest(self.n),
        })
    }
}

fn around(value: f64, half_width: f64, level: f64) -> Interval {
    Interval { low: value - half_width, high: value + half_width, level }
}

fn largest(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}

#[cfg(test)]
mod tests;
