//! How well a fitted model explains the observation, stripe by stripe.

use super::bins::Bins;
use super::case::{Model, PreparedTrace, STRIPES};

/// A model compared with the observation.
pub(super) struct Score {
    pub(super) noise: f64,
    pub(super) stripes: Vec<Stripe>,
}

/// Sums over the pages of one stripe, in all files and at all moments.
#[derive(Clone, Copy, Default)]
pub(super) struct Stripe {
    pub(super) pages: f64,
    /// Log-likelihood under the model, in nats.
    pub(super) log_likelihood: f64,
    /// Log-likelihood under chance, in nats.
    pub(super) chance_log_likelihood: f64,
    /// The expected number of pages on which the model agrees with the observation.
    pub(super) agreeing: f64,
    /// The same for chance, given the same numbers of resident pages.
    pub(super) chance_agreeing: f64,
}

impl Score {
    pub(super) fn new(cases: &[PreparedTrace], model: Model) -> Self {
        let looks: Vec<_> = cases.iter().flat_map(|case| case.compare(model)).collect();
        let noise = merged(looks.iter().flatten(), model.simulations).noise();
        let mut stripes = vec![Stripe::default(); STRIPES as usize];
        for look in &looks {
            let chance = Chance::new(&merged(look, model.simulations));
            for (bins, stripe) in look.iter().zip(&mut stripes) {
                stripe.add(bins, noise, chance);
            }
        }
        Self { noise, stripes }
    }

    /// The sum of `of` over all stripes.
    pub(super) fn sum(&self, of: impl Fn(&Stripe) -> f64) -> f64 {
        self.stripes.iter().map(of).sum()
    }
}

/// Chance at one moment: all pages are resident with the same probability.
#[derive(Clone, Copy)]
struct Chance {
    resident: f64,
    predicted: f64,
}

impl Chance {
    fn new(all: &Bins) -> Self {
        let pages = all.pages().max(1.0);
        Self { resident: all.resident() / pages, predicted: all.predicted() / pages }
    }

    /// The probability that prediction and observation agree on a page.
    fn agreeing(self) -> f64 {
        self.predicted * self.resident + (1.0 - self.predicted) * (1.0 - self.resident)
    }

    fn log_likelihood(self, bins: &Bins) -> f64 {
        let resident = bins.resident();
        let term = |pages: f64, p: f64| if pages > 0.0 { pages * p.ln() } else { 0.0 };
        term(resident, self.resident) + term(bins.pages() - resident, 1.0 - self.resident)
    }
}

impl Stripe {
    fn add(&mut self, bins: &Bins, noise: f64, chance: Chance) {
        self.pages += bins.pages();
        self.log_likelihood += bins.log_likelihood(noise);
        self.chance_log_likelihood += chance.log_likelihood(bins);
        self.agreeing += bins.agreeing();
        self.chance_agreeing += bins.pages() * chance.agreeing();
    }
}

fn merged<'a>(parts: impl IntoIterator<Item = &'a Bins>, simulations: u8) -> Bins {
    let mut all = Bins::new(simulations);
    parts.into_iter().for_each(|bins| all.merge(bins));
    all
}
