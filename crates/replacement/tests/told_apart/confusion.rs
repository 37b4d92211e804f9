//! Which policy the fit names for which true policy, over many seeds.

use std::fmt::Write;
use std::thread;

use replacement::{Fit, FitVerdict, Grouping, Policy, Question, fit};

use crate::truth::{Folios, Truth};

/// One case for each policy and seed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cases {
    pub(crate) folios: Folios,
    pub(crate) noise: f64,
    pub(crate) limit_pages: u32,
    pub(crate) seeds: u64,
    /// The grouping passed to the fit.
    pub(crate) grouping: Grouping,
}

/// How often each policy was named.
pub(crate) struct Confusion {
    /// By true policy, then by policy named, in the order of [`Policy::ALL`].
    named: Vec<Vec<u32>>,
    /// By true policy: how often it was named and told apart from all others.
    told_apart: Vec<u32>,
    /// By true policy: how often a wrong one was told apart from it.
    misled: Vec<u32>,
}

impl Cases {
    /// Runs all cases on two threads.
    pub(crate) fn run(self) -> Confusion {
        let run = |first: usize| {
            let truths = Policy::ALL.into_iter().enumerate().skip(first).step_by(2);
            truths.map(|(index, policy)| (index, self.fits(policy))).collect::<Vec<_>>()
        };
        let mut all = thread::scope(|scope| {
            let other = scope.spawn(|| run(1));
            let mine = run(0);
            [mine, other.join().expect("fits do not panic")].concat()
        });
        all.sort_by_key(|(index, _)| *index);
        let mut confusion = Confusion { named: vec![], told_apart: vec![], misled: vec![] };
        all.iter().for_each(|(index, fits)| confusion.add(Policy::ALL[*index], fits));
        confusion
    }

    fn fits(self, policy: Policy) -> Vec<Fit> {
        let Self { folios, noise, limit_pages, .. } = self;
        let fit = |seed| {
            let truth = Truth { policy, folios, noise, limit_pages, seed };
            let range = limit_pages * 7 / 10..=limit_pages * 21 / 20;
            let question = Question { grouping: self.grouping, ..Question::within(range) };
            fit(&truth.observe(), &question).expect("an answer")
        };
        (0..self.seeds).map(fit).collect()
    }
}

impl Confusion {
    fn add(&mut self, truth: Policy, fits: &[Fit]) {
        let named = |policy| fits.iter().filter(|fit| fit.best().policy == policy).count();
        let count = |found: usize| u32::try_from(found).expect("few seeds");
        let is_right = |fit: &&Fit| fit.best().policy == truth;
        let is_sure = |fit: &&Fit| fit.verdict == FitVerdict::ToldApart;
        let is_misled = |fit: &&Fit| {
            let right = fit.ranking.iter().find(|scored| scored.policy == truth);
            right.expect("all are ranked").behind_interval.low > 0.0
        };
        self.named.push(Policy::ALL.map(|policy| count(named(policy))).to_vec());
        let sure = fits.iter().filter(is_right).filter(is_sure);
        self.told_apart.push(count(sure.count()));
        self.misled.push(count(fits.iter().filter(is_misled).count()));
    }

    /// How often each true policy was named, in the order of [`Policy::ALL`].
    pub(crate) fn right(&self) -> Vec<u32> {
        self.named.iter().enumerate().map(|(truth, named)| named[truth]).collect()
    }

    /// How often each true policy was significantly behind a wrong one.
    pub(crate) fn misled(&self) -> &[u32] {
        &self.misled
    }

    /// The matrix, with one line per true policy.
    pub(crate) fn table(&self) -> String {
        let mut text = format!("{:>15}", "truth \\ named");
        Policy::ALL.iter().for_each(|policy| text += &format!(" {:>12}", policy.name()));
        text += "  sure misled\n";
        for (truth, policy) in Policy::ALL.iter().enumerate() {
            write!(text, "{policy:>15}").expect("text");
            self.named[truth].iter().for_each(|named| text += &format!(" {named:>12}"));
            let (sure, misled) = (self.told_apart[truth], self.misled[truth]);
            writeln!(text, " {sure:>5} {misled:>6}").expect("text");
        }
        text
    }
}
