//! What a cliff's position means, how certain it is, and how long the searches took.

use record::{Axis, Compared, Document, SearchPlan};

use super::super::table::percent;
use super::super::text::{Page, Style};
use crate::units;
use textual::plural;

/// The last section.
pub(in super::super) fn render(page: &mut Page, document: &Document) {
    page.heading("How sure this is");
    items(document).iter().for_each(|text| page.item(text, Style::Plain));
}

/// What it says.
pub(in super::super) fn items(document: &Document) -> Vec<String> {
    let level = percent(document.run.confidence_level);
    let any = |is_it: fn(&SearchPlan) -> bool| document.searches.iter().any(|it| is_it(&it.plan));
    let where_it_is = if any(|plan| plan.axis == Axis::Threads) {
        "A cliff is where each thread's share has fallen far enough to count as a break."
    } else if any(|plan| plan.compared == Compared::DeviceApart) {
        "A cliff is where reads of the device begin, if one side is served from memory and the \
         other is not; otherwise it is where the value crosses the geometric mean of the two \
         plateaus."
    } else {
        "A cliff is where the value crosses the geometric mean of the two plateaus."
    };
    let mut items = vec![
        format!(
            "{where_it_is} Its interval runs from the largest position certainly before it to the \
             smallest certainly after it, and should contain it in {level} % of searches. Beyond a \
             cache, a curve has no plateau but keeps falling: its level is the one at the \
             positions named."
        ),
        match any(|plan| plan.axis == Axis::VolumeSize) {
            true => {
                "Each probe made the file system and its file anew, on a volume of its own size, \
                 read the file in, and timed the first operations on it."
            }
            false => {
                "Each probe began with none of the file in memory, read the working set in (and \
                 wrote it once, if operations write), and was timed once its operations were \
                 steady; resident pages and device reads are those of the timed operations."
            }
        }
        .to_owned(),
    ];
    for search in &document.searches {
        let Some(noise) = search.noise_percent else { continue };
        items.push(format!(
            "{}: {} at {}; a value's relative standard deviation is {noise:.1} %.",
            search.plan.target,
            plural(search.probes as usize, "probe"),
            plural(search.positions as usize, "position"),
        ));
    }
    items.push(match &document.end {
        Some(end) => format!("Measuring took {}.", units::seconds(end.used_s)),
        None => "Measuring was cut off.".to_owned(),
    });
    items
}
