//! Counts, from shares with six decimals.

/// The nearest count.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "they are counts")]
pub(crate) fn rounded(number: f64) -> u64 {
    number.round() as u64
}

/// The counts that have these shares of a total in percent. A share that is `least` stands for any
/// that is smaller.
pub(crate) fn counts(shares: &[f64], total: u64, least: f64) -> Vec<u64> {
    let count = |share: f64| {
        let exact = share * total as f64 / 100.0;
        if share == least { rounded(exact.floor()).max(1) } else { rounded(exact) }
    };
    shares.iter().map(|share| count(*share)).collect()
}

/// The counts that have these shares of their own sum, which is not known: the number of operations
/// if that will do, else the smallest that will. Shares of 0.1 % share what the others leave.
pub(crate) fn counts_of_some(shares: &[f64], ios: u64) -> Vec<u64> {
    const LEAST: f64 = 0.1;
    let small = shares.iter().filter(|share| **share == LEAST).count() as u64;
    let fitting = |total: u64| {
        let mut counts = counts(shares, total, LEAST);
        let is_close = |(share, count): (&f64, &u64)| {
            *share == LEAST || (100.0 * *count as f64 / total as f64 - share).abs() < 6e-7
        };
        let are_close = shares.iter().zip(&counts).all(is_close);
        let large: u64 =
            shares.iter().zip(&counts).filter(|(share, _)| **share != LEAST).map(|(_, n)| n).sum();
        let mut left = total.checked_sub(large).filter(|_| are_close)?;
        for (place, count) in (0..small).zip(
            shares.iter().zip(&mut counts).filter(|(share, _)| **share == LEAST).map(|(_, n)| n),
        ) {
            *count = left / (small - place);
            left -= *count;
        }
        (left == 0 && counts.iter().zip(shares).all(|(n, share)| *share == 0.0 || *n > 0))
            .then_some(counts)
    };
    let totals = [ios].into_iter().filter(|ios| *ios > 0).chain(1..2_000_000);
    let mut fitting = totals.filter_map(fitting);
    fitting.next().unwrap_or_else(|| vec![0; shares.len()])
}

/// Two numbers of which one is this share of the other, in percent.
pub(crate) fn quotient(share: f64) -> (u64, u64) {
    let part = |whole: u64| rounded(share * whole as f64 / 100.0);
    let is_close = |whole: &u64| (100.0 * part(*whole) as f64 / *whole as f64 - share).abs() < 6e-7;
    let whole = (1..2_000_000).find(is_close).expect("utilization is a quotient");
    (part(whole), whole)
}
