//! The least-squares optimum of a scalability law, by the Levenberg-Marquardt method.
//!
//! Start: N / X is linear in 1 / gamma, alpha / gamma and beta / gamma (Gunther's own
//! transformation). Weighting each equation by X^2 / N turns an error of N / X into one of X, so
//! the start is near the optimum. Then come damped Gauss-Newton steps (Marquardt, "An Algorithm for
//! Least-Squares Estimation of Nonlinear Parameters", SIAM Journal 11(2), 1963), damped in
//! proportion to the squares of the Jacobian's columns, until a step moves no parameter by more
//! than rounding, and finally the undamped steps that still help.
//!
//! Throughputs are in units of the largest, so that no square overflows. Proportional errors are
//! errors of the throughput's logarithm.

use super::Errors;

/// Which parameters besides gamma may differ from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Free {
    pub(super) alpha: bool,
    pub(super) beta: bool,
}

impl Free {
    fn mask(self) -> [bool; 3] {
        [true, self.alpha, self.beta]
    }
}

/// gamma N / (1 + alpha (N - 1) + beta N (N - 1)).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Curve {
    pub(super) gamma: f64,
    pub(super) alpha: f64,
    pub(super) beta: f64,
}

impl Curve {
    fn new([gamma, alpha, beta]: [f64; 3]) -> Self {
        Self { gamma, alpha, beta }
    }

    fn parameters(self) -> [f64; 3] {
        [self.gamma, self.alpha, self.beta]
    }

    fn denominator(self, n: f64) -> f64 {
        1.0 + (n - 1.0) * (self.alpha + self.beta * n)
    }

    pub(super) fn at(self, n: f64) -> f64 {
        self.gamma * n / self.denominator(n)
    }

    /// Derivatives with respect to gamma, alpha and beta.
    pub(super) fn gradient(self, n: f64) -> [f64; 3] {
        let denominator = self.denominator(n);
        let by_alpha = -self.at(n) * (n - 1.0) / denominator;
        [n / denominator, by_alpha, by_alpha * n]
    }

    pub(super) fn within_bounds(self) -> bool {
        self.alpha >= 0.0 && self.beta >= 0.0
    }
}

/// A least-squares minimum. Throughputs are in units of the largest one given.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Optimum {
    /// The largest throughput given.
    pub(super) unit: f64,
    pub(super) curve: Curve,
    /// The residual sum of squares.
    pub(super) squares: f64,
    /// The inverse of the Jacobian's product with itself; 0 for parameters that are not free.
    pub(super) inverse: [[f64; 3]; 3],
}

impl Optimum {
    /// The quadratic form of `gradient`: a variance, in units of the residual variance.
    pub(super) fn form(&self, gradient: [f64; 3]) -> f64 {
        let row = |i: usize| (0..3).map(|j| self.inverse[i][j] * gradient[j]).sum::<f64>();
        (0..3).map(|i| gradient[i] * row(i)).sum::<f64>().max(0.0)
    }
}

/// The optimum of the model with the parameters `free`, whether or not it is within bounds; none if
/// the values do not determine it.
pub(super) fn optimum(n: &[f64], x: &[f64], errors: Errors, free: Free) -> Option<Optimum> {
    let unit = x.iter().copied().fold(0.0, f64::max);
    let shares: Vec<f64> = x.iter().map(|value| value / unit).collect();
    let problem = Problem { n, x: &shares, errors, mask: free.mask() };
    let curve = problem.descend(problem.start()?)?;
    let inverse = inverse(problem.normal_equations(curve).0, problem.mask)?;
    let squares = problem.squares(curve);
    let finite = squares.is_finite() && inverse.iter().flatten().all(|it| it.is_finite());
    finite.then_some(Optimum { curve, squares, inverse, unit })
}

struct Problem<'a> {
    n: &'a [f64],
    x: &'a [f64],
    errors: Errors,
    mask: [bool; 3],
}

type Matrix = [[f64; 3]; 3];

impl Problem<'_> {
    /// The optimum of the linear form, or, if that is not a sensible curve, of the linear model.
    fn start(&self) -> Option<Curve> {
        let (mut matrix, mut right) = ([[0.0; 3]; 3], [0.0; 3]);
        for (&n, &x) in self.n.iter().zip(self.x) {
            let weight = match self.errors {
                Errors::OfOneSize => x * x / n,
                Errors::InProportion => x / n,
            };
            let terms = [1.0, n - 1.0, n * (n - 1.0)].map(|term| term * weight);
            accumulate(&mut matrix, &mut right, terms, n / x * weight);
        }
        let pairs = || self.n.iter().zip(self.x);
        let gamma = match self.errors {
            Errors::OfOneSize => {
                let product: f64 = pairs().map(|(n, x)| n * x).sum();
                let squares: f64 = self.n.iter().map(|n| n * n).sum();
                product / squares
            }
            Errors::InProportion => {
                let logs: f64 = pairs().map(|(n, x)| (x / n).ln()).sum();
                (logs / self.n.len() as f64).exp()
            }
        };
        let line = Curve { gamma, alpha: 0.0, beta: 0.0 };
        let [a0, a1, a2] = solve(matrix, right, self.mask)?;
        let curve = Curve { gamma: 1.0 / a0, alpha: a1 / a0, beta: a2 / a0 };
        let usable = a0 > 0.0 && self.squares(curve) <= self.squares(line);
        Some(if usable { curve } else { line })
    }

    /// Infinite for a curve that is not positive throughout.
    fn squares(&self, curve: Curve) -> f64 {
        if self.n.iter().any(|&n| curve.denominator(n) <= 0.0) || curve.gamma <= 0.0 {
            return f64::INFINITY;
        }
        let pairs = self.n.iter().zip(self.x);
        let sum: f64 = pairs.map(|(&n, &x)| self.residual(curve, n, x).powi(2)).sum();
        if sum.is_nan() { f64::INFINITY } else { sum }
    }

    /// The Jacobian's product with itself, and with the residuals.
    fn normal_equations(&self, curve: Curve) -> (Matrix, [f64; 3]) {
        let (mut matrix, mut right) = ([[0.0; 3]; 3], [0.0; 3]);
        for (&n, &x) in self.n.iter().zip(self.x) {
            let row = match self.errors {
                Errors::OfOneSize => curve.gradient(n),
                Errors::InProportion => curve.gradient(n).map(|by| by / curve.at(n)),
            };
            accumulate(&mut matrix, &mut right, row, self.residual(curve, n, x));
        }
        (matrix, right)
    }

    /// How far the value `x` is from the curve, in the form of its errors.
    fn residual(&self, curve: Curve, n: f64, x: f64) -> f64 {
        match self.errors {
            Errors::OfOneSize => x - curve.at(n),
            Errors::InProportion => (x / curve.at(n)).ln(),
        }
    }

    fn descend(&self, mut curve: Curve) -> Option<Curve> {
        let mut squares = self.squares(curve);
        let mut damping = 1e-3;
        for _ in 0..500 {
            let (matrix, right) = self.normal_equations(curve);
            let mut damped = matrix;
            for (i, row) in damped.iter_mut().enumerate() {
                row[i] *= 1.0 + damping;
            }
            let step = solve(damped, right, self.mask)?;
            let next = stepped(curve, step);
            let there = self.squares(next);
            if there <= squares {
                let still = is_rounding(curve, step);
                (curve, squares, damping) = (next, there, damping / 10.0);
                if still {
                    break;
                }
            } else {
                damping *= 10.0;
                if damping > 1e20 {
                    break;
                }
            }
        }
        Some(self.polished(curve, squares))
    }

    /// Near the optimum, the sum of squares is flat to within rounding well before the parameters
    /// are exact; undamped steps continue by the gradient alone.
    fn polished(&self, mut curve: Curve, squares: f64) -> Curve {
        for _ in 0..50 {
            let (matrix, right) = self.normal_equations(curve);
            let Some(step) = solve(matrix, right, self.mask) else { break };
            let next = stepped(curve, step);
            let worse = self.squares(next) > squares * (1.0 + 1e-12);
            if worse || is_rounding(curve, step) {
                break;
            }
            curve = next;
        }
        curve
    }
}

fn stepped(curve: Curve, step: [f64; 3]) -> Curve {
    let from = curve.parameters();
    Curve::new([from[0] + step[0], from[1] + step[1], from[2] + step[2]])
}

fn is_rounding(curve: Curve, step: [f64; 3]) -> bool {
    curve.parameters().iter().zip(step).all(|(at, by)| by.abs() <= 1e-14 * at.abs())
}

fn accumulate(matrix: &mut Matrix, right: &mut [f64; 3], row: [f64; 3], value: f64) {
    for i in 0..3 {
        for j in 0..3 {
            matrix[i][j] += row[i] * row[j];
        }
        right[i] += row[i] * value;
    }
}

/// Solves the rows and columns under `mask` of a symmetric positive system, after scaling its
/// diagonal to 1; the other unknowns are 0. None if it is singular to working precision.
fn solve(matrix: Matrix, right: [f64; 3], mask: [bool; 3]) -> Option<[f64; 3]> {
    let inverse = inverse(matrix, mask)?;
    let row = |i: usize| (0..3).map(|j| inverse[i][j] * right[j]).sum::<f64>();
    Some([row(0), row(1), row(2)])
}

/// The inverse of the rows and columns under `mask`, by Gauss-Jordan elimination; 0 elsewhere.
fn inverse(matrix: Matrix, mask: [bool; 3]) -> Option<Matrix> {
    let scale = [0, 1, 2].map(|i| if mask[i] { matrix[i][i].sqrt() } else { 1.0 });
    if scale.iter().any(|it| !it.is_finite() || *it == 0.0) {
        return None;
    }
    let identity = |i: usize, j: usize| if i == j { 1.0 } else { 0.0 };
    let mut left = [[0.0; 3]; 3];
    let mut result = [[0.0; 3]; 3];
    for i in 0..3 {
        for j in 0..3 {
            let kept = mask[i] && mask[j];
            left[i][j] = if kept { matrix[i][j] / scale[i] / scale[j] } else { identity(i, j) };
            result[i][j] = identity(i, j);
        }
    }
    for column in 0..3 {
        let pivot = left[column][column];
        if pivot <= 1e-13 {
            return None;
        }
        for j in 0..3 {
            left[column][j] /= pivot;
            result[column][j] /= pivot;
        }
        for row in (0..3).filter(|row| *row != column) {
            let factor = left[row][column];
            for j in 0..3 {
                left[row][j] -= factor * left[column][j];
                result[row][j] -= factor * result[column][j];
            }
        }
    }
    for i in 0..3 {
        for j in 0..3 {
            let kept = mask[i] && mask[j];
            result[i][j] = if kept { result[i][j] / scale[i] / scale[j] } else { 0.0 };
        }
    }
    Some(result)
}
