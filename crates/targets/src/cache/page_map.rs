//! Which pages of part of a file are resident: one bit for each.

use std::ops::Range;

/// Pages covered by one word of the map.
const WORD_PAGES: u64 = u64::BITS as u64;

/// Which pages of part of a file are in the page cache. Pages are numbered from the beginning of
/// the file, from 0; the map of a 64 GiB file takes 2 MiB.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageMap {
    covered: Range<u64>,
    /// Page `covered.start + n` is bit `n % 64` of word `n / 64`; bits past the end are 0.
    words: Vec<u64>,
}

impl PageMap {
    /// A map of these pages, none of which is resident.
    pub(crate) fn new(covered: Range<u64>) -> Self {
        let words = (covered.end - covered.start).div_ceil(WORD_PAGES);
        let words = usize::try_from(words).expect("a map fits in memory");
        Self { covered, words: vec![0; words] }
    }

    /// The pages that the map covers.
    #[must_use]
    pub fn covered(&self) -> Range<u64> {
        self.covered.clone()
    }

    /// How many pages are resident.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.words.iter().map(|word| u64::from(word.count_ones())).sum()
    }

    /// Whether this page is resident; false for pages that the map does not cover.
    #[must_use]
    pub fn is_resident(&self, page: u64) -> bool {
        self.covered.contains(&page) && self.bit(page - self.covered.start)
    }

    /// The runs of consecutive resident pages, ascending and as long as possible.
    pub fn runs(&self) -> impl Iterator<Item = Range<u64>> + '_ {
        let (first, pages) = (self.covered.start, self.covered.end - self.covered.start);
        let mut at = 0;
        std::iter::from_fn(move || {
            let start = self.next(at, |word| word)?;
            let end = self.next(start, |word| !word).map_or(pages, |end| end.min(pages));
            at = end;
            Some(first + start..first + end)
        })
    }

    /// The pages that are resident here but not in `earlier`: those that have been read in since.
    ///
    /// # Panics
    /// If the two maps do not cover the same pages.
    #[must_use]
    pub fn difference(&self, earlier: &Self) -> Self {
        assert_eq!(self.covered, earlier.covered, "maps of the same pages are compared");
        let words = self.words.iter().zip(&earlier.words).map(|(now, then)| now & !then).collect();
        Self { covered: self.covered(), words }
    }

    /// Stores the answers of `mincore(2)` for the pages from `first` on: the lowest bit of each
    /// byte is 1 for a resident page.
    pub(crate) fn set(&mut self, first: u64, answers: &[u8]) {
        let first = first - self.covered.start;
        assert!(first + answers.len() as u64 <= self.covered.end - self.covered.start);
        for (page, answer) in (first..).zip(answers) {
            let word = &mut self.words[Self::index(page)];
            let bit = page % WORD_PAGES;
            *word = *word & !(1 << bit) | u64::from(answer & 1) << bit;
        }
    }

    /// The first bit at or after `from` that is 1 in its word once `view` is applied.
    fn next(&self, from: u64, view: impl Fn(u64) -> u64) -> Option<u64> {
        let first = Self::index(from);
        // Masks the bits before `from`, whatever the view.
        let mut behind = u64::MAX << (from % WORD_PAGES);
        self.words.get(first..)?.iter().zip(first as u64..).find_map(|(&word, index)| {
            let seen = view(word) & std::mem::replace(&mut behind, u64::MAX);
            (seen != 0).then(|| index * WORD_PAGES + u64::from(seen.trailing_zeros()))
        })
    }

    fn bit(&self, page: u64) -> bool {
        self.words[Self::index(page)] >> (page % WORD_PAGES) & 1 == 1
    }

    fn index(page: u64) -> usize {
        usize::try_from(page / WORD_PAGES).expect("a map fits in memory")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(covered: Range<u64>, resident: impl AsRef<[Range<u64>]>) -> PageMap {
        let mut map = PageMap::new(covered);
        for run in resident.as_ref() {
            let length = usize::try_from(run.end - run.start).expect("small");
            // mincore(2) reserves the other bits.
            map.set(run.start, &vec![0xff; length]);
        }
        map
    }

    #[test]
    #[expect(clippy::single_range_in_vec_init, reason = "a list of one run")]
    fn runs_are_maximal_wherever_words_begin_and_end() {
        for resident in [
            vec![],
            vec![5..6],
            vec![5..69],
            vec![68..69, 70..133],
            vec![5..20, 60..70, 132..197, 199..205],
            vec![5..205],
            vec![204..205],
        ] {
            let map = map(5..205, &resident);
            assert_eq!(map.runs().collect::<Vec<_>>(), resident);
            let pages: u64 = resident.iter().map(|run| run.end - run.start).sum();
            assert_eq!(map.count(), pages, "{resident:?}");
            for page in 0..300 {
                let expected = resident.iter().any(|run| run.contains(&page));
                assert_eq!(map.is_resident(page), expected, "{page} of {resident:?}");
            }
        }
        assert_eq!(map(0..0, []).runs().next(), None);
    }

    #[test]
    fn a_page_can_leave_again() {
        let mut map = PageMap::new(0..128);
        map.set(0, &[1; 128]);
        map.set(63, &[0, 0xfe]);
        assert_eq!(map.runs().collect::<Vec<_>>(), [0..63, 65..128]);
    }

    #[test]
    fn the_difference_is_what_has_come() {
        let (before, after) = (map(0..200, [10..20, 30..40]), map(0..200, [15..35, 199..200]));
        let come = after.difference(&before);
        assert_eq!(come.runs().collect::<Vec<_>>(), [20..30, 199..200]);
        assert_eq!(come.count(), 11);
        assert_eq!(before.difference(&before).count(), 0);
    }

    #[test]
    #[should_panic(expected = "maps of the same pages")]
    fn maps_of_unlike_pages_are_not_compared() {
        let _refused = map(0..10, []).difference(&map(0..11, []));
    }
}
