//! What a cache saves and costs, in sentences.

use textual::grouped;

use super::{Counted, NetworkBenchmark, NetworkFigures, NetworkState};

/// The sentences of a benchmark: one per cache that was measured hot.
pub(super) fn of(benchmark: &NetworkBenchmark) -> Vec<String> {
    let hot = benchmark.states.iter().filter(|state| state.state == "hot");
    hot.filter_map(|hot| sentence(benchmark, hot)).collect()
}

fn sentence(benchmark: &NetworkBenchmark, hot: &NetworkState) -> Option<String> {
    let title = &benchmark.title;
    let figures = hot.figures.as_ref()?;
    let own = words(hot);
    let of = if own.is_empty() { String::new() } else { format!(" ({own})") };
    let none = beside(benchmark, hot, "none").and_then(|none| none.figures.as_ref());
    let Some(none) = none else {
        // What has no such state is about what is read, not about what is saved.
        return Some(format!(
            "{title}{of}: with a hot cache, {} calls to the server, of which {} read content.",
            shown(figures.rpcs),
            shown(figures.reads)
        ));
    };
    let filling = beside(benchmark, hot, "cold").and_then(|cold| filling(cold, none));
    Some(format!(
        "{title}{of}: with a hot cache, {} of {} calls to the server remain, and {} of the {} that \
         read content{}.",
        shown(figures.rpcs),
        shown(none.rpcs),
        if figures.reads.most == 0.0 { "none".to_owned() } else { shown(figures.reads) },
        shown(none.reads),
        filling.unwrap_or_default()
    ))
}

/// What filling the cache costs, where the link took the time with and without it.
fn filling(cold: &NetworkState, none: &NetworkFigures) -> Option<String> {
    let cold = cold.figures.as_ref()?;
    let ratio = cold.emulated_time_ns / none.emulated_time_ns;
    let is_known = cold.is_time_of_link && none.is_time_of_link && ratio.is_finite();
    is_known.then(|| format!("; filling the cache takes {ratio:.2}x as long as having none"))
}

/// The target of another state with the same version and cache, as far as it has either.
fn beside<'a>(
    benchmark: &'a NetworkBenchmark,
    one: &NetworkState,
    state: &str,
) -> Option<&'a NetworkState> {
    let own: Vec<&str> = one.target.split(' ').collect();
    let of_state = |other: &&NetworkState| other.state == state;
    let fits = |other: &&NetworkState| {
        other.target.split(' ').filter(|word| *word != state).all(|word| own.contains(&word))
    };
    benchmark.states.iter().filter(of_state).find(fits)
}

/// What its label says besides the state: the version and the cache, where there are several.
fn words(state: &NetworkState) -> String {
    let words: Vec<&str> = state.target.split(' ').filter(|word| *word != state.state).collect();
    words.join(" ")
}

fn shown(count: Counted) -> String {
    grouped(count.median)
}
