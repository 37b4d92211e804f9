//! Random choices that depend only on a seed.

/// The next choice below `count`, uniform to within `count` / 2^64.
///
/// `SplitMix64` (Steele, Lea & Flood, "Fast splittable pseudorandom number generators", OOPSLA
/// 2014, figure 17) is implemented here so that a seed gives the same misses forever.
#[inline]
pub(crate) fn below(state: &mut u64, count: u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut mixed = *state;
    mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^= mixed >> 31;
    let product = u128::from(mixed) * u128::from(count);
    u64::try_from(product >> 64).expect("below count")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_are_those_of_splitmix_and_spread_evenly() {
        // The first outputs for seed 1234567 (Rosetta Code, "Pseudo-random numbers/Splitmix64"),
        // each as a fraction of 2^64.
        let wanted = [6_457_827_717_110_365_317_u64, 3_203_168_211_198_807_973];
        let mut state = 1_234_567;
        for number in wanted {
            let share = (u128::from(number) * 1_000_000) >> 64;
            assert_eq!(u128::from(below(&mut state, 1_000_000)), share);
        }
        let mut counts = [0; 8];
        (0..80_000).for_each(|_| counts[usize::try_from(below(&mut state, 8)).expect("< 8")] += 1);
        assert!(counts.iter().all(|count| (9_500..10_500).contains(count)), "{counts:?}");
    }
}
