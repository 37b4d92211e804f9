//! Pages counted by what a policy predicts for them and what was observed, and how likely that is.
//!
//! A policy says that a page is resident with probability p: 0 or 1 if the policy is deterministic.
//! With probability e, the noise, the opposite is observed, so the page is observed as resident
//! with probability e + (1 - 2 e) p. The likelihood is that of Bernoulli trials.

/// Pages by the number of simulations in which they are resident; each bin is `[absent, resident]`
/// as observed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Bins(Vec<[u32; 2]>);

impl Bins {
    /// Empty bins for `simulations` simulations.
    pub(super) fn new(simulations: u8) -> Self {
        Self(vec![[0; 2]; usize::from(simulations) + 1])
    }

    pub(super) fn add(&mut self, resident_in: u8, is_resident: bool) {
        self.0[usize::from(resident_in)][usize::from(is_resident)] += 1;
    }

    pub(super) fn merge(&mut self, other: &Self) {
        for (mine, theirs) in self.0.iter_mut().flatten().zip(other.0.iter().flatten()) {
            *mine += theirs;
        }
    }

    /// The number of pages.
    pub(super) fn pages(&self) -> f64 {
        self.0.iter().flatten().copied().map(f64::from).sum()
    }

    /// The number of pages observed as resident.
    pub(super) fn resident(&self) -> f64 {
        self.0.iter().map(|bin| f64::from(bin[1])).sum()
    }

    /// The expected number of resident pages according to the policy.
    pub(super) fn predicted(&self) -> f64 {
        self.by_probability().map(|(p, [absent, resident])| p * (absent + resident)).sum()
    }

    /// The expected number of pages for which the policy predicts what was observed.
    pub(super) fn agreeing(&self) -> f64 {
        self.by_probability().map(|(p, [absent, resident])| p * resident + (1.0 - p) * absent).sum()
    }

    /// The log-likelihood in nats under `noise`, which is strictly between 0 and 1.
    pub(super) fn log_likelihood(&self, noise: f64) -> f64 {
        let terms = self.by_probability().map(|(p, [absent, resident])| {
            let q = noise + (1.0 - 2.0 * noise) * p;
            resident * q.ln() + absent * (1.0 - q).ln()
        });
        terms.sum()
    }

    /// The noise, at most a half, that maximizes the likelihood. It is never 0, since a single
    /// further disagreement would then be impossible: at least half a page is assumed to disagree
    /// (Krichevsky & Trofimov, "The Performance of Universal Encoding", 1981).
    pub(super) fn noise(&self) -> f64 {
        // The log-likelihood is concave in the noise: golden-section search (Kiefer 1953).
        let ratio = (5f64.sqrt() - 1.0) / 2.0;
        let (mut low, mut high) = (0.5 / (self.pages() + 1.0), 0.5);
        for _ in 0..50 {
            let step = ratio * (high - low);
            let [left, right] = [high - step, low + step];
            if self.log_likelihood(left) < self.log_likelihood(right) {
                low = left;
            } else {
                high = right;
            }
        }
        f64::midpoint(low, high)
    }

    /// For each bin, the probability of being resident, and the pages `[absent, resident]`. If
    /// there are several simulations, half a page is added to both, as for the noise.
    fn by_probability(&self) -> impl Iterator<Item = (f64, [f64; 2])> {
        let simulations = (self.0.len() - 1) as f64;
        let prior = if self.0.len() == 2 { 0.0 } else { 0.5 };
        self.0.iter().enumerate().map(move |(resident_in, bin)| {
            let p = (resident_in as f64 + prior) / (simulations + 2.0 * prior);
            (p, bin.map(f64::from))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bins(counts: &[[u32; 2]]) -> Bins {
        Bins(counts.to_vec())
    }

    #[test]
    fn the_noise_of_one_simulation_is_the_share_that_disagrees() {
        let noise = bins(&[[80, 10], [20, 90]]).noise();
        assert!((noise - 0.15).abs() < 1e-6, "{noise}");
        let perfect = bins(&[[100, 0], [0, 100]]).noise();
        assert!((perfect - 0.5 / 201.0).abs() < 1e-6, "{perfect}");
    }

    #[test]
    fn right_probabilities_have_no_noise() {
        let quarters = bins(&[[950, 50], [700, 300], [500, 500], [300, 700], [50, 950]]);
        assert!(quarters.noise() < 0.02, "{}", quarters.noise());
        let reversed = bins(&[[50, 950], [300, 700], [500, 500], [700, 300], [950, 50]]);
        assert!(reversed.noise() > 0.49, "{}", reversed.noise());
    }

    #[test]
    fn counts_are_those_of_a_fourfold_table() {
        let mut table = bins(&[[80, 10], [20, 90]]);
        table.merge(&bins(&[[0, 0], [0, 10]]));
        let got = [table.pages(), table.resident(), table.predicted(), table.agreeing()];
        assert_eq!(got.map(f64::round), [210.0, 110.0, 120.0, 180.0]);
        let expected = 180.0 * 0.9f64.ln() + 30.0 * 0.1f64.ln();
        assert!((table.log_likelihood(0.1) - expected).abs() < 1e-9);
    }
}
