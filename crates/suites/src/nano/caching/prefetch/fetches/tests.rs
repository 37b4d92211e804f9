//! Tests with a simulated read-ahead in place of the kernel, whose known properties must be found.

use std::collections::BTreeSet;

use super::*;
use crate::nano::caching::prefetch::pattern::Descriptors;

/// Read-ahead modelled on mm/readahead.c, with a state per descriptor: the first window has four
/// pages, each next one twice as many up to the maximum, and it starts when the first page of the
/// previous one is read.
struct SimulatedReadAhead {
    pages: u64,
    window_max: u64,
    resident: BTreeSet<u64>,
    /// For each descriptor, the page that triggers the next window, where that begins, and its
    /// length.
    states: [DescriptorState; 2],
}

#[derive(Clone, Copy, Default)]
struct DescriptorState {
    mark: Option<u64>,
    next: u64,
    window: u64,
}

impl SimulatedReadAhead {
    fn new(pages: u64, window_max: u64) -> Self {
        Self {
            pages,
            window_max,
            resident: BTreeSet::new(),
            states: [DescriptorState::default(); 2],
        }
    }

    fn fetch(&mut self, run: Range<u64>) -> Vec<Range<u64>> {
        let run = run.start..run.end.min(self.pages);
        let came: Vec<u64> = run.filter(|page| self.resident.insert(*page)).collect();
        came.iter().map(|&page| page..page + 1).collect()
    }
}

impl ColdPages for SimulatedReadAhead {
    fn read(&mut self, PageRead { descriptor, page }: PageRead) -> Result<ReadPage, Failure> {
        let was_resident = self.resident.contains(&page);
        let state = self.states[descriptor];
        let came = if self.window_max == 0 {
            self.fetch(page..page + 1)
        } else if was_resident && state.mark == Some(page) {
            let window = (state.window * 2).min(self.window_max);
            let next = state.next + window;
            self.states[descriptor] = DescriptorState { mark: Some(state.next), next, window };
            self.fetch(state.next..next)
        } else if was_resident {
            Vec::new()
        } else {
            let window = 4.min(self.window_max);
            let next = page + window;
            self.states[descriptor] = DescriptorState { mark: Some(page + 1), next, window };
            self.fetch(page..next)
        };
        Ok(ReadPage { page, was_resident, came })
    }
}

fn fetches_of(pattern: Pattern, pages: u64, window_max: u64) -> Fetches {
    let mut simulated = SimulatedReadAhead::new(pages, window_max);
    Fetches::read(&mut simulated, &pattern.reads(pages, 1), pattern).expect("nothing fails here")
}

#[test]
fn the_sequential_window_is_found_whatever_it_is() {
    for window in [0, 16, 32, 128, 1024] {
        let fetches = fetches_of(Pattern::Sequential, 16 * window.max(16), window);
        assert_eq!(fetches.window_pages(), window);
    }
}

#[test]
fn a_window_grows_and_the_pattern_ends_when_it_has_settled() {
    let fetches = fetches_of(Pattern::Sequential, 4096, 32);
    assert_eq!(fetches.windows(), [3, 8, 16, 32, 32, 32, 32]);
    assert_eq!(fetches.fetches_until_settled(), 3);
    assert_eq!(fetches.reads.last().map(|read| read.page), Some(4 + 8 + 16 + 32 + 32));
    // All reads but the first found their page, and hardly anything came in that was not read.
    let reads = fetches.reads.len() as f64;
    assert!((fetches.coverage_percent() - 100.0 * (reads - 1.0) / reads).abs() < 1e-9);
    let came = fetches.came_pages() as f64;
    assert!((fetches.unused_percent() - 100.0 * (came - reads) / came).abs() < 1e-9);
}

#[test]
fn a_file_that_ends_first_has_the_windows_it_had() {
    let fetches = fetches_of(Pattern::Sequential, 12, 32);
    assert_eq!(fetches.windows(), [3, 8]);
    assert_eq!((fetches.window_pages(), fetches.fetches_until_settled()), (3, 1));
    assert_eq!(fetches.reads.len(), 12);
}

#[test]
fn without_read_ahead_nothing_comes_unasked() {
    let fetches = fetches_of(Pattern::Random, 4096, 0);
    assert_eq!((fetches.window_pages(), fetches.came_pages()), (0, 64));
    assert_eq!((fetches.coverage_percent(), fetches.unused_percent()), (0.0, 0.0));
}

#[test]
fn jumps_pay_for_windows_that_they_do_not_use() {
    let page_bytes = rustix::param::page_size() as u64;
    let fetches = fetches_of(Pattern::Strided { bytes: 8 * page_bytes }, 4096, 32);
    assert_eq!((fetches.reads.len(), fetches.came_pages()), (64, 256));
    assert_eq!((fetches.coverage_percent(), fetches.unused_percent()), (0.0, 75.0));
    let two = fetches_of(Pattern::Strided { bytes: 2 * page_bytes }, 4096, 32);
    assert!(two.coverage_percent() >= 50.0, "{two:?}");
}

#[test]
fn streams_with_a_descriptor_each_have_a_window_each() {
    let fetches = fetches_of(Pattern::TwoStreams(Descriptors::Own), 4096, 32);
    assert_eq!(fetches.windows()[..6], [3, 3, 8, 8, 16, 16]);
    assert_eq!(fetches.window_pages(), 32);
}

#[test]
fn pages_from_before_the_read_are_told_apart() {
    let read = ReadPage { page: 10, was_resident: false, came: vec![4..6, 8..13] };
    assert_eq!((read.came_pages(), read.window_pages(), read.behind_pages()), (7, 6, 4));
    let unasked = ReadPage { page: 10, was_resident: true, came: vec![20..22, 23..25] };
    assert_eq!((unasked.window_pages(), unasked.behind_pages()), (4, 0));
}
