//! `fsprism footprint pollution`: code between the repetitions of traced operations.

use ::caches::{CachePolicy, Inclusion};
use ::report::footprint::polluted::PollutionDocument;
use footprint_study::{CodeBetween, PollutedTrace, polluted, recorded, traces_in};
use record::CachesOrigin;

use crate::arguments::pollution::PollutedOptions;
use crate::commands::footprint::caches::CacheOptions;
use crate::exit::{OrInputError, Outcome};
use crate::output;

/// Simulates and prints.
pub(crate) fn pollution(options: &PollutedOptions) -> anyhow::Result<Outcome> {
    let caches = &options.simulated.caches[..];
    let (policy, inclusion) = (CachePolicy::Lru, Inclusion::NonInclusive);
    let hierarchy = CacheOptions { caches, policy, inclusion, seed: 0 }.hierarchy()?;
    let shapes = options.shapes().or_input_error()?;
    let codes: Result<Vec<CodeBetween>, _> = shapes.into_iter().map(CodeBetween::new).collect();
    let codes = codes.or_input_error()?;
    let (mut operations, mut warnings) = (Vec::new(), Vec::new());
    for trace in traces_in(&options.path).or_input_error()? {
        let found = polluted(&trace, options.operation.as_deref(), &codes, &hierarchy);
        let PollutedTrace { operations: own, doubt } = found.or_input_error()?;
        operations.extend(own);
        warnings.extend(doubt);
    }
    warnings.iter().for_each(|warning| output::say(&format!("fsprism: {warning}")));
    let origin = match caches.is_empty() {
        true => CachesOrigin::Machine,
        false => CachesOrigin::Given,
    };
    let document = PollutionDocument::new(recorded(&hierarchy, origin), &operations, warnings);
    output::print_answer(options.output.format, &document, |_| document.text())
}
