//! What a cache saves and costs, in sentences.

use textual::grouped;

use super::{COLD, Counted, HOT, NONE, NetworkBenchmark, NetworkFigures, StateCounts};

/// The sentence about a benchmark; `None` if no cache was measured hot.
pub(super) fn sentence(benchmark: &NetworkBenchmark) -> Option<String> {
    let title = &benchmark.title;
    let hot = benchmark.states.iter().filter(|state| state.state == HOT);
    let caches: Vec<Cache<'_>> = hot.filter_map(|hot| Cache::new(benchmark, hot)).collect();
    match caches.as_slice() {
        [] => None,
        [only] => Some(format!(
            "{title}{}: with a hot cache, {}.",
            only.in_brackets(),
            only.remaining_calls()
        )),
        several => Some(format!("{title}: with a hot cache, {}.", said_of_several(several))),
    }
}

/// A cache that was measured hot, compared with reading without one.
struct Cache<'a> {
    /// The protocol version and the cache's file system, if there are several.
    label: String,
    hot: &'a NetworkFigures,
    /// Figures without a cache. A mount that always has a cache is never read without one, so there
    /// these are the figures of filling it.
    without: Option<&'a NetworkFigures>,
    filling: Option<String>,
}

impl<'a> Cache<'a> {
    fn new(benchmark: &'a NetworkBenchmark, state: &'a StateCounts) -> Option<Self> {
        let of_state = |name| in_state(benchmark, state, name).and_then(|one| one.figures.as_ref());
        let (none, cold) = (of_state(NONE), of_state(COLD));
        let filling = none.zip(cold).and_then(|(none, cold)| filling(cold, none));
        let hot = state.figures.as_ref()?;
        Some(Self { label: words(state), hot, without: none.or(cold), filling })
    }

    fn in_brackets(&self) -> String {
        if self.label.is_empty() { String::new() } else { format!(" ({})", self.label) }
    }

    fn remaining_calls(&self) -> String {
        let (rpcs, reads) = (count_text(self.hot.rpcs), count_text(self.hot.reads));
        let Some(without) = self.without else {
            return format!("it takes {rpcs} calls to the server, of which {reads} read content");
        };
        format!(
            "{rpcs} of {} calls to the server remain, and {} of the {} that read content{}",
            count_text(without.rpcs),
            if self.hot.reads.most == 0.0 { "none" } else { &reads },
            count_text(without.reads),
            self.filling.as_deref().unwrap_or_default()
        )
    }

    /// The remaining share of a count, in whole percent.
    fn remains_percent(&self, count: fn(&NetworkFigures) -> Counted) -> Option<f64> {
        let without = count(self.without?).median;
        (without > 0.0).then(|| (count(self.hot).median / without * 100.0).round())
    }
}

/// From the largest saving to the smallest; tables show the rest.
fn said_of_several(caches: &[Cache<'_>]) -> String {
    let calls = range(caches, |figures| figures.rpcs);
    let reads = match caches.iter().all(|cache| cache.hot.reads.most == 0.0) {
        true => "none".to_owned(),
        false => range(caches, |figures| figures.reads),
    };
    format!("{calls} of the calls to the server remain, and {reads} of those that read content")
}

/// `68 % (nfs3 ext4) to 71 % (nfs4.2 xfs)`, or the figure that is the same for all.
fn range(caches: &[Cache<'_>], count: fn(&NetworkFigures) -> Counted) -> String {
    let percent = |cache: &Cache<'_>| cache.remains_percent(count).unwrap_or(100.0);
    let by_percent = |one: &&Cache<'_>, other: &&Cache<'_>| percent(one).total_cmp(&percent(other));
    let ends = (caches.iter().min_by(by_percent), caches.iter().max_by(by_percent));
    let (Some(least), Some(most)) = ends else { return String::new() };
    match (percent(least), percent(most)) {
        (low, high) if low < high => {
            format!("{low} % ({}) to {high} % ({})", least.label, most.label)
        }
        (all, _) => format!("{all} %"),
    }
}

/// The cost of filling the cache, if the time with and without it was spent on the link: the ratio
/// of the medians, and how far it can be off given how much runs vary.
fn filling(cold: &NetworkFigures, none: &NetworkFigures) -> Option<String> {
    let ratio = |one: f64, other: f64| (one / other * 100.0).round() / 100.0;
    let (with, without) = (cold.time_ns, none.time_ns);
    let ratio = Counted {
        median: ratio(with.median, without.median),
        least: ratio(with.least, without.most),
        most: ratio(with.most, without.least),
    };
    let is_known = cold.is_time_of_link && none.is_time_of_link && ratio.most.is_finite();
    let Counted { median, least, most } = ratio;
    let range = if least < most { format!(" [{least:.2}, {most:.2}]") } else { String::new() };
    is_known.then(|| {
        format!("; reading while filling it takes {median:.2}x{range} as long as without a cache")
    })
}

/// The target in another state with the same version and cache, as far as it has either.
fn in_state<'a>(
    benchmark: &'a NetworkBenchmark,
    one: &StateCounts,
    state: &str,
) -> Option<&'a StateCounts> {
    let own: Vec<&str> = one.target.split(' ').collect();
    let of_state = |other: &&StateCounts| other.state == state;
    let fits = |other: &&StateCounts| {
        other.target.split(' ').filter(|word| *word != state).all(|word| own.contains(&word))
    };
    benchmark.states.iter().filter(of_state).find(fits)
}

/// The rest of its label besides the state: the version and the cache, if there are several.
fn words(state: &StateCounts) -> String {
    let words: Vec<&str> = state.target.split(' ').filter(|word| *word != state.state).collect();
    words.join(" ")
}

fn count_text(count: Counted) -> String {
    grouped(count.median)
}
