//! Throughput by number of workers: which law it follows, and where it peaks.

use serde::Serialize;
use stats::Refusal;
use stats::scalability::{Errors, Fit, Model, ParameterEstimate, Scalability, scalability};

use super::IntervalDocument;
use textual::{Columns, figure, list, p_equation, paragraph, percent};

/// The law that the data support.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ScalabilityAnswer {
    /// The assumption about errors: a share of the throughput (`proportional`), or equally large at
    /// every number of workers (`absolute`).
    pub fit: &'static str,
    /// The estimates under the other assumption, if one of them is outside of its interval here.
    pub other_fit: Option<OtherFit>,
    /// The smallest law that describes the data: `linear`, `amdahl`, `coherency` or `usl`. If there
    /// are enough different numbers of workers, the estimates are those of `usl`, whichever this
    /// is.
    pub model: String,
    /// Throughput of a single worker.
    pub gamma: f64,
    /// Cost of waiting for each other (contention); `None` if the model does not have it.
    pub alpha: Option<f64>,
    /// Cost of agreeing with each other (coherency); `None` if the model does not have it.
    pub beta: Option<f64>,
    /// Standard errors of these three.
    pub std_errors: StdErrors,
    /// Their confidence intervals.
    pub intervals: Intervals,
    /// Number of workers at which throughput is highest.
    pub peak_n: Option<f64>,
    /// Throughput at that number of workers.
    pub peak_x: Option<f64>,
    /// The interval of `peak_n`.
    pub peak_n_interval: Option<IntervalDocument>,
    /// Whether the peak is beyond the measured range.
    pub peak_is_extrapolated: Option<bool>,
    /// Why there is no peak, or no fit with all parameters.
    pub refused: Vec<String>,
    /// The unexplained variation, as a share of the throughput.
    pub residual_std_error: f64,
    /// The p-value of "the third parameter explains nothing".
    pub third_parameter_p: Option<f64>,
}

/// The estimates under the other assumption about errors.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct OtherFit {
    /// Which assumption: `proportional` or `absolute`.
    pub fit: &'static str,
    /// Throughput of a single worker.
    pub gamma: f64,
    /// Cost of waiting for each other.
    pub alpha: Option<f64>,
    /// Cost of agreeing with each other.
    pub beta: Option<f64>,
    /// Number of workers at which throughput is highest.
    pub peak_n: Option<f64>,
}

/// Standard errors.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct StdErrors {
    /// Of gamma.
    pub gamma: f64,
    /// Of alpha.
    pub alpha: Option<f64>,
    /// Of beta.
    pub beta: Option<f64>,
}

/// Intervals.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Intervals {
    /// Of gamma.
    pub gamma: IntervalDocument,
    /// Of alpha.
    pub alpha: Option<IntervalDocument>,
    /// Of beta.
    pub beta: Option<IntervalDocument>,
}

impl ScalabilityAnswer {
    /// Fits throughput `x` as a function of `n` workers.
    ///
    /// # Errors
    /// Whatever [`scalability`] refuses.
    pub fn new(n: &[f64], x: &[f64], errors: Errors, level: f64) -> Result<Self, Refusal> {
        let other = match errors {
            Errors::InProportion => Errors::OfOneSize,
            Errors::OfOneSize => Errors::InProportion,
        };
        let mut answer = Self::from_scalability(&scalability(n, x, errors, level)?, errors);
        let other =
            scalability(n, x, other, level).map(|found| Self::from_scalability(&found, other));
        answer.other_fit =
            other.ok().filter(|other| answer.excludes(other)).map(|other| OtherFit {
                fit: other.fit,
                gamma: other.gamma,
                alpha: other.alpha,
                beta: other.beta,
                peak_n: other.peak_n,
            });
        Ok(answer)
    }

    /// Whether an estimate of the other fit is outside of its interval here.
    fn excludes(&self, other: &Self) -> bool {
        let is_outside = |value: Option<f64>, interval: Option<IntervalDocument>| {
            let both = value.zip(interval);
            both.is_some_and(|(value, ends)| value < ends.low || ends.high < value)
        };
        is_outside(Some(other.gamma), Some(self.intervals.gamma))
            || is_outside(other.alpha, self.intervals.alpha)
            || is_outside(other.beta, self.intervals.beta)
            || is_outside(other.peak_n, self.peak_n_interval)
    }

    fn from_scalability(found: &Scalability, errors: Errors) -> Self {
        // alpha and beta are estimated under the law that has both, if it could be fitted.
        let Fit { gamma, alpha, beta, residual_std_error, .. } =
            found.full.as_ref().unwrap_or(&found.chosen);
        let error = |one: &Option<ParameterEstimate>| one.as_ref().map(|one| one.std_error);
        let value = |one: &Option<ParameterEstimate>| one.as_ref().map(|one| one.value);
        let interval = |one: &Option<ParameterEstimate>| {
            one.as_ref().map(|one| IntervalDocument::from(one.interval))
        };
        let peak = found.peak.as_ref().ok();
        let refused = [found.usl.as_ref().err(), found.peak.as_ref().err()];
        Self {
            fit: fit_name(errors),
            other_fit: None,
            model: name(found.chosen.model).to_owned(),
            gamma: gamma.value,
            alpha: value(alpha),
            beta: value(beta),
            std_errors: StdErrors {
                gamma: gamma.std_error,
                alpha: error(alpha),
                beta: error(beta),
            },
            intervals: Intervals {
                gamma: gamma.interval.into(),
                alpha: interval(alpha),
                beta: interval(beta),
            },
            peak_n: peak.map(|peak| peak.n),
            peak_x: peak.map(|peak| peak.x),
            peak_n_interval: peak.map(|peak| peak.n_interval.into()),
            peak_is_extrapolated: peak.map(|peak| !peak.within_range),
            refused: refused.iter().flatten().map(ToString::to_string).collect(),
            residual_std_error: *residual_std_error,
            third_parameter_p: found.third_parameter_p,
        }
    }

    /// The answer as text; sentences are at most `width` columns wide.
    #[must_use]
    pub fn text(&self, width: usize) -> String {
        let heading = format!("{} interval", percent(self.intervals.gamma.level));
        let mut columns = Columns::headed(["", "estimate", "std error", &heading]);
        let mut row = |name: &str, value: Option<f64>, error: Option<f64>, interval| {
            let (Some(value), Some(error)) = (value, error) else { return };
            let shown =
                |one: IntervalDocument| format!("[{}, {}]", figure(one.low), figure(one.high));
            let interval = Option::map_or_else(interval, String::new, shown);
            columns.row([name.to_owned(), figure(value), figure(error), interval]);
        };
        let (errors, intervals) = (self.std_errors, self.intervals);
        row("gamma", Some(self.gamma), Some(errors.gamma), Some(intervals.gamma));
        row("alpha", self.alpha, errors.alpha, intervals.alpha);
        row("beta", self.beta, errors.beta, intervals.beta);
        let full = if self.model != "usl" && self.beta.is_some() {
            "under the full law, with alpha and beta:\n"
        } else {
            ""
        };
        let mut text = format!("{}\n{full}{}", in_words(&self.model), columns.render());
        text += &format!("  residual standard error {}\n", figure(self.residual_std_error));
        if let Some(p) = self.third_parameter_p {
            text += &format!("  third parameter: {}\n", p_equation(p));
        }
        text += &paragraph("", "  ", &self.fit_in_words(), width);
        let peak = self.peak_in_words();
        let is_guess = self.peak_is_extrapolated == Some(true);
        if let Some(peak) = peak.as_ref().filter(|_| !is_guess) {
            text += &paragraph("", "  ", peak, width);
        }
        for why in &self.refused {
            text += &paragraph("! ", "  ", why, width);
        }
        if let Some(peak) = peak.filter(|_| is_guess) {
            text +=
                &paragraph("", "  ", &format!("a guess, beyond what was measured: {peak}"), width);
        }
        text
    }

    fn peak_in_words(&self) -> Option<String> {
        let interval = self.peak_n_interval?;
        Some(format!(
            "throughput peaks at {} workers [{}, {}] with {}",
            figure(self.peak_n?),
            figure(interval.low),
            figure(interval.high),
            figure(self.peak_x?)
        ))
    }

    /// The assumption about errors, and the other fit's estimates if they differ.
    fn fit_in_words(&self) -> String {
        let of = |fit: &str| match fit {
            ABSOLUTE => "are equally large at every n (--fit absolute)",
            _ => "grow with the throughput (--fit proportional)",
        };
        let mut text = format!("this assumes that errors {}", of(self.fit));
        if let Some(other) = &self.other_fit {
            let told = [
                ("gamma is", Some(other.gamma)),
                ("alpha", other.alpha),
                ("beta", other.beta),
                ("the peak at n =", other.peak_n),
            ];
            let told: Vec<String> = told
                .iter()
                .filter_map(|(name, value)| Some(format!("{name} {}", figure((*value)?))))
                .collect();
            text += &format!(
                "; if they {}, {}: not all of that lies within these intervals",
                of(other.fit),
                list(&told, "and")
            );
        }
        text
    }
}

const ABSOLUTE: &str = "absolute";

fn fit_name(errors: Errors) -> &'static str {
    match errors {
        Errors::InProportion => "proportional",
        Errors::OfOneSize => ABSOLUTE,
    }
}

fn name(model: Model) -> &'static str {
    match model {
        Model::Linear => "linear",
        Model::Amdahl => "amdahl",
        Model::Coherency => "coherency",
        Model::Usl => "usl",
    }
}

fn in_words(model: &str) -> &'static str {
    match model {
        "linear" => "proportional throughput: X = gamma N",
        "amdahl" => "Amdahl's law: X = gamma N / (1 + alpha (N - 1))",
        "coherency" => "coherency alone: X = gamma N / (1 + beta N (N - 1))",
        _ => "Universal Scalability Law: X = gamma N / (1 + alpha (N - 1) + beta N (N - 1))",
    }
}
