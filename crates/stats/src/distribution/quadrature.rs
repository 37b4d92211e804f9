//! Integrals of tails by Gauss-Legendre quadrature.
//!
//! The tail of a gamma or beta distribution with large parameters falls at least as fast as that of
//! a slightly wider normal distribution. Over the finite range that matters, a fixed number of
//! nodes gives full accuracy, however large the parameters are, while continued fractions take a
//! number of steps that grows with their square root.

use std::sync::LazyLock;

/// Nodes per integral.
const NODES: usize = 40;

/// Tails are cut where they have fallen to e^-DROP, below half a unit in the last place.
const DROP: f64 = 40.0;

/// Minimum curvature of the logarithm to rely on, per squared standard deviation: that of a normal
/// distribution is 1, and those integrated here flatten on their longer side.
const CURVATURE: f64 = 0.5;

/// The integral from 0 to infinity of `density`, which decreases with a logarithmic slope of
/// `-decay` at 0 and curves downwards like a normal density of standard deviation 1.
pub(super) fn tail(decay: f64, density: impl Fn(f64) -> f64) -> f64 {
    // The solution of decay s + CURVATURE s^2 / 2 = DROP, in a form without cancellation.
    let reach = 2.0 * DROP / (decay + (decay * decay + 2.0 * CURVATURE * DROP).sqrt());
    let half = reach / 2.0;
    let sum: f64 = RULE.iter().map(|node| node.weight * density(half * (1.0 + node.at))).sum();
    half * sum
}

/// A node on -1 to 1.
#[derive(Clone, Copy, Default)]
struct Node {
    at: f64,
    weight: f64,
}

static RULE: LazyLock<[Node; NODES]> = LazyLock::new(|| {
    let mut rule = [Node::default(); NODES];
    for index in 0..NODES / 2 {
        let node = legendre_root(index);
        rule[index] = Node { at: -node.at, ..node };
        rule[NODES - 1 - index] = node;
    }
    rule
});

/// The `index`th root of the Legendre polynomial from above, by Newton's method from the cosine
/// estimate, and its weight 2 / ((1 - x^2) P'(x)^2) (Abramowitz & Stegun, "Handbook of
/// Mathematical Functions", section 25.4.29 and equation 22.16.6).
fn legendre_root(index: usize) -> Node {
    let mut x = (std::f64::consts::PI * (index as f64 + 0.75) / (NODES as f64 + 0.5)).cos();
    for _ in 0..6 {
        let (value, slope) = legendre(x);
        x -= value / slope;
    }
    let (_, slope) = legendre(x);
    Node { at: x, weight: 2.0 / ((1.0 - x * x) * slope * slope) }
}

/// The Legendre polynomial of degree [`NODES`] and its derivative, by Bonnet's recurrence.
fn legendre(x: f64) -> (f64, f64) {
    let (mut before, mut value) = (1.0, x);
    for degree in 2..=NODES {
        let n = degree as f64;
        (before, value) = (value, ((2.0 * n - 1.0) * x * value - (n - 1.0) * before) / n);
    }
    (value, NODES as f64 * (before - x * value) / (1.0 - x * x))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distribution::{assert_relative, normal};

    #[test]
    fn polynomials_up_to_twice_the_nodes_are_exact() {
        for power in [0, 2, 10, 40, 78] {
            let sum: f64 = RULE.iter().map(|node| node.weight * node.at.powi(power)).sum();
            assert_relative(sum, 2.0 / (f64::from(power) + 1.0), 1e-13);
        }
    }

    #[test]
    fn normal_tails_and_an_exponential_one_are_exact() {
        for decay in [0.0, 1.0, 3.0, 20.0, 37.0] {
            let got = tail(decay, |s| (-decay * s - s * s / 2.0).exp());
            assert_relative(got, normal::sf(decay) / normal::density(decay), 1e-14);
        }
        assert_relative(tail(1e3, |s| (-1e3 * s).exp()), 1e-3, 1e-13);
    }
}
