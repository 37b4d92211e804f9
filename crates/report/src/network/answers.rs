//! What a cache saves and costs, in sentences.

use textual::grouped;

use super::{COLD, Counted, HOT, NONE, NetworkBenchmark, NetworkFigures, StateCounts};

/// The sentences of a benchmark: one per cache that was measured hot.
pub(super) fn of(benchmark: &NetworkBenchmark) -> Vec<String> {
    let hot = benchmark.states.iter().filter(|state| state.state == HOT);
    hot.filter_map(|hot| sentence(benchmark, hot)).collect()
}

fn sentence(benchmark: &NetworkBenchmark, hot: &StateCounts) -> Option<String> {
    let title = &benchmark.title;
    let figures = hot.figures.as_ref()?;
    let own = words(hot);
    let of = if own.is_empty() { String::new() } else { format!(" ({own})") };
    let of_state = |state| beside(benchmark, hot, state).and_then(|one| one.figures.as_ref());
    let none = of_state(NONE);
    // On a mount that has a cache, nothing is read without one.
    let Some(without) = none.or_else(|| of_state(COLD)) else {
        return Some(format!(
            "{title}{of}: with a hot cache, it takes {} calls to the server, of which {} read \
             content.",
            shown(figures.rpcs),
            shown(figures.reads)
        ));
    };
    let filling = none.zip(of_state(COLD)).and_then(|(none, cold)| filling(cold, none));
    Some(format!(
        "{title}{of}: with a hot cache, {} of {} calls to the server remain, and {} of the {} that \
         read content{}.",
        shown(figures.rpcs),
        shown(without.rpcs),
        if figures.reads.most == 0.0 { "none".to_owned() } else { shown(figures.reads) },
        shown(without.reads),
        filling.unwrap_or_default()
    ))
}

/// What filling the cache costs, where the link took the time with and without it: the ratio of the
/// medians, and how far it can be off as runs differ.
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

/// The target of another state with the same version and cache, as far as it has either.
fn beside<'a>(
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

/// What its label says besides the state: the version and the cache, where there are several.
fn words(state: &StateCounts) -> String {
    let words: Vec<&str> = state.target.split(' ').filter(|word| *word != state.state).collect();
    words.join(" ")
}

fn shown(count: Counted) -> String {
    grouped(count.median)
}
