//! Tausworthe generators, and fio's way to seed them and to bring their numbers into a range.
//!
//! - 32 bits: three components, period about 2^88: L'Ecuyer, "Maximally Equidistributed Combined
//!   Tausworthe Generators", Mathematics of Computation 65 (1996), section 5 (`taus88`).
//! - 64 bits: five components, period about 2^258: L'Ecuyer, "Tables of Maximally Equidistributed
//!   Combined LFSR Generators", Mathematics of Computation 68 (1999), section 3 (`lfsr258`).
//!
//! Both ask for states above a minimum. fio's seeding reaches the minimum of each component, but
//! with some seeds not more: a first component of 1 is 0 from then on.

/// How many random bits a generator gives at a time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Width {
    /// 32, `tausworthe`.
    #[default]
    Bits32,
    /// 64, `tausworthe64`.
    Bits64,
}

/// A generator of random numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Generator {
    /// `tausworthe`.
    Narrow(Tausworthe88),
    /// `tausworthe64`.
    Wide(Tausworthe258),
}

/// L'Ecuyer's `taus88`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tausworthe88([u32; 3]);

/// L'Ecuyer's `lfsr258`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tausworthe258([u64; 5]);

/// What seeding begins with.
const BEFORE_FIRST: u8 = 53;

/// How many numbers are thrown away after seeding.
const WARM_UP: usize = 6;

const TWO_POW_32: f64 = 4_294_967_296.0;
const TWO_POW_64: f64 = TWO_POW_32 * TWO_POW_32;

impl Tausworthe88 {
    /// The generator with this seed.
    #[must_use]
    pub fn new(seed: u32) -> Self {
        let mut last = u32::from(BEFORE_FIRST);
        let states = [1, 7, 15].map(|minimum| {
            let state = last.wrapping_mul(69_069) ^ seed;
            last = if state < minimum { state + minimum } else { state };
            last
        });
        let mut generator = Self(states);
        for _ in 0..WARM_UP {
            generator.draw();
        }
        generator
    }

    /// The next number.
    #[inline]
    pub fn draw(&mut self) -> u32 {
        let [one, two, three] = &mut self.0;
        *one = ((*one & !1) << 12) ^ (((*one << 13) ^ *one) >> 19);
        *two = ((*two & !7) << 4) ^ (((*two << 2) ^ *two) >> 25);
        *three = ((*three & !15) << 17) ^ (((*three << 3) ^ *three) >> 11);
        *one ^ *two ^ *three
    }

    /// The next number, as a share of 2^32: from 0 to less than 1.
    #[inline]
    pub fn share(&mut self) -> f64 {
        f64::from(self.draw()) / TWO_POW_32
    }

    /// A whole percentage from 1 to 100.
    #[inline]
    pub fn percent(&mut self) -> u8 {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "below 100")]
        let below_100 = (100.0 * self.share()) as u8;
        1 + below_100
    }
}

impl Tausworthe258 {
    /// The generator with this seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        let mut last = u64::from(BEFORE_FIRST);
        let states = [1, 7, 15, 33, 49].map(|minimum| {
            let state = last.wrapping_mul(6_906_969_069) ^ seed;
            last = if state < minimum { state + minimum } else { state };
            last
        });
        let mut generator = Self(states);
        for _ in 0..WARM_UP {
            generator.draw();
        }
        generator
    }

    /// The next number.
    #[inline]
    pub fn draw(&mut self) -> u64 {
        let step = |state: &mut u64, feedback: u32, right: u32, lost_bits: u32, left: u32| {
            let low = ((*state << feedback) ^ *state) >> right;
            *state = ((*state >> lost_bits << lost_bits) << left) ^ low;
        };
        let [one, two, three, four, five] = &mut self.0;
        step(one, 1, 53, 1, 10);
        step(two, 24, 50, 9, 5);
        step(three, 3, 23, 12, 29);
        step(four, 5, 24, 17, 23);
        step(five, 3, 33, 23, 8);
        *one ^ *two ^ *three ^ *four ^ *five
    }
}

impl Generator {
    /// The generator with this seed. That of 32 bits takes the seed's low ones.
    #[must_use]
    pub fn new(width: Width, seed: u64) -> Self {
        match width {
            Width::Bits32 => Self::Narrow(Tausworthe88::new(low_bits(seed))),
            Width::Bits64 => Self::Wide(Tausworthe258::new(seed)),
        }
    }

    /// The next number, of 32 or 64 bits.
    #[inline]
    pub fn draw(&mut self) -> u64 {
        match self {
            Self::Narrow(generator) => u64::from(generator.draw()),
            Self::Wide(generator) => generator.draw(),
        }
    }

    /// The highest number that it gives.
    #[must_use]
    pub fn max(&self) -> u64 {
        match self {
            Self::Narrow(_) => u64::from(u32::MAX),
            Self::Wide(_) => u64::MAX,
        }
    }

    /// The next number as a share of how many there are: from 0 to less than 1, but for the last
    /// thousand of 2^64, which round to 1.
    #[inline]
    pub fn share(&mut self) -> f64 {
        match self {
            Self::Narrow(generator) => generator.share(),
            Self::Wide(generator) => to_f64(generator.draw()) / TWO_POW_64,
        }
    }

    /// The next number as a share that is not 0: more than 0, up to 1.
    pub fn positive_share(&mut self) -> f64 {
        match self {
            Self::Narrow(generator) => (f64::from(generator.draw()) + 1.0) / TWO_POW_32,
            Self::Wide(generator) => (to_f64(generator.draw()) + 1.0) / TWO_POW_64,
        }
    }

    /// A whole number below a limit.
    pub fn below(&mut self, limit: u64) -> u64 {
        to_u64(to_f64(limit) * self.share())
    }

    /// A whole number between two, both included. That of 32 bits knows spans up to 2^31.
    pub fn between(&mut self, low: u64, high: u64) -> u64 {
        let span = high.wrapping_sub(low);
        match self {
            Self::Narrow(_) => low.wrapping_add(self.below(u64::from(low_bits(span)) + 1)),
            Self::Wide(_) => low.wrapping_add(self.below(span.wrapping_add(1))),
        }
    }

    /// A seed for other generators, of 64 bits: the product of the next two numbers.
    pub fn seed(&mut self) -> u64 {
        let first = self.draw();
        first.wrapping_mul(self.draw())
    }
}

/// The low half.
#[expect(clippy::cast_possible_truncation, reason = "that is what it is for")]
pub(crate) const fn low_bits(number: u64) -> u32 {
    number as u32
}

/// The nearest number with 53 significant bits.
pub(crate) const fn to_f64(number: u64) -> f64 {
    number as f64
}

/// The whole part, or the nearest that fits into 64 bits.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it saturates")]
pub(crate) const fn to_u64(number: f64) -> u64 {
    number as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_seeds_give_equal_numbers_and_others_do_not() {
        for width in [Width::Bits32, Width::Bits64] {
            let draw = |seed| {
                let mut generator = Generator::new(width, seed);
                (0..8).map(|_| generator.draw()).collect::<Vec<_>>()
            };
            assert_eq!(draw(1), draw(1));
            assert_ne!(draw(1), draw(2));
        }
    }

    #[test]
    fn ranges_are_kept_and_filled() {
        for width in [Width::Bits32, Width::Bits64] {
            let mut generator = Generator::new(width, 7);
            let mut seen = [0; 100];
            for _ in 0..100_000 {
                let number = generator.between(1, 100);
                seen[usize::try_from(number).unwrap() - 1] += 1;
            }
            assert!(seen.iter().all(|count| (800..1200).contains(count)), "{seen:?}");
        }
        let mut generator = Tausworthe88::new(7);
        let all: Vec<u8> = (0..10_000).map(|_| generator.percent()).collect();
        assert_eq!((all.iter().min(), all.iter().max()), (Some(&1), Some(&100)));
    }
}
