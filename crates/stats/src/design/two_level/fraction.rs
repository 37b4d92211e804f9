//! Which runs of a 2^k design a fraction holds, and what it confounds.
//!
//! Write a run as a row of bits, and a set of factors (a word) likewise: the product of the word's
//! codes has the same sign at every run exactly if each difference of two runs shares an even
//! number of bits with it. The runs are a regular fraction if their differences from the first are
//! all sums (exclusive or) of k-p of them; then 2^p words are constant, the defining relation
//! (Jain, "The Art of Computer Systems Performance Analysis", sections 19.2 to 19.4; Box, Hunter &
//! Hunter, "Statistics for Experimenters", 2nd edition, chapter 6). Gauss's elimination, pivots at
//! the earliest factors, gives each of the other p factors as a product of those before it.

use super::super::Refused;
use super::{Confounding, FACTORS_MOST};

/// A set of factors whose codes are multiplied, and the sign before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Word {
    /// Bit f says whether factor f belongs to the set.
    pub mask: u32,
    /// Whether the product is taken with a minus.
    pub negative: bool,
}

impl Word {
    /// The factors' names joined by " x ", "-" before them where it is negative; "1" for none.
    pub(super) fn name(self, names: &[String]) -> String {
        let members = names.iter().enumerate().filter(|(f, _)| self.mask >> f & 1 == 1);
        let members: Vec<&str> = members.map(|(_, name)| name.as_str()).collect();
        let sign = if self.negative { "-" } else { "" };
        let product = if members.is_empty() { "1".to_owned() } else { members.join(" x ") };
        format!("{sign}{product}")
    }

    /// Sorts words by size, then by the order of their factors.
    pub(super) fn place(self) -> (u32, u32) {
        (self.mask.count_ones(), !self.mask.reverse_bits())
    }

    fn times(self, other: Self) -> Self {
        Self { mask: self.mask ^ other.mask, negative: self.negative != other.negative }
    }

    const ONE: Self = Self { mask: 0, negative: false };
}

/// The runs of a regular fraction, or of a whole design.
pub(super) struct Fraction {
    /// The factors whose levels determine those of all others; ascending.
    base: Vec<usize>,
    /// A word for each other factor.
    pub(super) generators: Vec<Word>,
    /// All products of generators, the empty one first.
    relation: Vec<Word>,
}

impl Fraction {
    /// Finds the fraction which these different runs are.
    pub(super) fn of(codes: &[u32], factors: usize) -> Result<Self, Refused> {
        debug_assert!(factors <= FACTORS_MOST);
        let rows = reduced(codes, factors);
        if codes.len() != 1 << rows.len() {
            return Err(Refused::NoFraction { runs: codes.len(), full: 1 << factors });
        }
        let base: Vec<usize> = rows.iter().map(|&(pivot, _)| pivot).collect();
        let generator = |factor: usize| {
            let of_base = rows.iter().filter(|(_, row)| row >> factor & 1 == 1);
            let mask = of_base.fold(1 << factor, |mask, &(pivot, _)| mask | 1 << pivot);
            // The product of codes at the first run: one minus for each factor at its first level.
            let negative = (mask & !codes[0]).count_ones() % 2 == 1;
            Word { mask, negative }
        };
        let generators: Vec<Word> =
            (0..factors).filter(|factor| !base.contains(factor)).map(generator).collect();
        let mut relation = vec![Word::ONE];
        for generator in &generators {
            let products: Vec<Word> = relation.iter().map(|word| word.times(*generator)).collect();
            relation.extend(products);
        }
        Ok(Self { base, generators, relation })
    }

    /// What the fraction confounds; none where it is the whole design.
    pub(super) fn confounding(&self) -> Option<Confounding> {
        let mut words = self.relation[1..].to_vec();
        words.sort_by_key(|word| word.place());
        let resolution = words.first()?.mask.count_ones();
        let generators = self.generators.clone();
        Some(Confounding { generators, defining_relation: words, resolution })
    }

    /// The words confounded with this one.
    pub(super) fn aliases(&self, word: Word) -> Vec<Word> {
        let mut aliases: Vec<Word> =
            self.relation[1..].iter().map(|of_relation| word.times(*of_relation)).collect();
        aliases.sort_by_key(|alias| alias.place());
        aliases
    }

    /// The effect of every word that can be told apart, from the mean of each run.
    pub(super) fn effects(&self, codes: &[u32], means: &[f64]) -> Vec<(Word, f64)> {
        let mut transformed = vec![0.0; means.len()];
        for (code, mean) in codes.iter().zip(means) {
            transformed[self.base_bits(*code)] = *mean;
        }
        walsh_hadamard(&mut transformed);
        (1..means.len())
            .map(|set| self.effect(set, transformed[set] / means.len() as f64))
            .collect()
    }

    /// The effect of a set of base factors, under the shortest of its names.
    fn effect(&self, set: usize, transformed: f64) -> (Word, f64) {
        let members = self.base.iter().enumerate().filter(|(bit, _)| set >> bit & 1 == 1);
        let mask = members.fold(0, |mask, (_, factor)| mask | 1 << factor);
        // The transform takes 1 for the first level and -1 for the second.
        let q = if set.count_ones() % 2 == 1 { -transformed } else { transformed };
        let word = Word { mask, negative: false };
        let names = self.relation.iter().map(|of_relation| word.times(*of_relation));
        let shortest = names.min_by_key(|name| name.place()).unwrap_or(word);
        let q = if shortest.negative { -q } else { q };
        (Word { negative: false, ..shortest }, q)
    }

    fn base_bits(&self, code: u32) -> usize {
        let bits = self.base.iter().enumerate();
        bits.map(|(bit, factor)| ((code >> factor & 1) as usize) << bit).sum()
    }
}

/// Rows that span the differences from the first run, each with the factor whose bit it alone has.
fn reduced(codes: &[u32], factors: usize) -> Vec<(usize, u32)> {
    let mut rest: Vec<u32> = codes[1..].iter().map(|code| code ^ codes[0]).collect();
    let mut rows: Vec<(usize, u32)> = Vec::new();
    for factor in 0..factors {
        let bit = |row: u32| row >> factor & 1 == 1;
        let Some(&pivot) = rest.iter().find(|row| bit(**row)) else { continue };
        rest.iter_mut().filter(|row| bit(**row)).for_each(|row| *row ^= pivot);
        rows.iter_mut().filter(|(_, row)| bit(*row)).for_each(|(_, row)| *row ^= pivot);
        rows.push((factor, pivot));
    }
    rows
}

/// The fast Walsh-Hadamard transform: at each set the sum of values, those with an odd number of
/// the set's bits subtracted (Yates, "The Design and Analysis of Factorial Experiments", 1937).
fn walsh_hadamard(values: &mut [f64]) {
    let mut half = 1;
    while half < values.len() {
        for block in values.chunks_mut(2 * half) {
            let (first, second) = block.split_at_mut(half);
            for (a, b) in first.iter_mut().zip(second) {
                (*a, *b) = (*a + *b, *a - *b);
            }
        }
        half *= 2;
    }
}
