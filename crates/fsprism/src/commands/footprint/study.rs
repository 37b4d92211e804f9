//! `fsprism footprint map` and `stacks`: what traces contain.

use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

use ::footprint::cachemap::picture::{self, Scale};
use ::footprint::cachemap::text::LineFilter;
use ::footprint::cachemap::{Cachemap, CachemapOf};
use ::footprint::categories::Categories;
use ::footprint::cgstacks::Frames;
use ::report::footprint::documents::{Map, MapDocument, SCHEMA_VERSION, StacksDocument, Tree};
use ::report::footprint::text;
use footprint_study::{
    Executed, NamedWeight, Questions, Studied, StudyError, caches_of, traces_in,
};
use footprint_trace::header::MAGIC;

use crate::arguments::footprint::{FramesOf, MapOptions, Of, StacksOptions};
use crate::exit::{OrInputError, Outcome};
use crate::output::{self, destination::Destination};

/// How many lines of a map the terminal shows unless all are asked for.
const LINES_SHOWN: usize = 40;

/// Traces that were read, and warnings about them.
pub(crate) struct StudiedTraces {
    pub(crate) traces: Vec<Studied>,
    pub(crate) warnings: Vec<String>,
}

/// Whether a path is a directory, or a file that starts with the magic bytes of a trace.
pub(crate) fn is_traced(path: &Path) -> bool {
    let mut start = [0; MAGIC.len()];
    let is_trace = |mut file: File| file.read_exact(&mut start).is_ok() && start == MAGIC;
    path.is_dir() || path.is_file() && File::open(path).is_ok_and(is_trace)
}

/// Reads a trace, or all traces in a directory. Warns about traces that are doubtful, and about
/// those of several that cannot be read.
pub(crate) fn studied(path: &Path, questions: &Questions) -> anyhow::Result<StudiedTraces> {
    let (mut traces, mut warnings) = (Vec::new(), Vec::new());
    let paths = traces_in(path).or_input_error()?;
    for (trace, left) in paths.iter().zip((0..paths.len()).rev()) {
        match Studied::read(trace, questions) {
            Ok(one) => {
                warnings.extend(one.doubt.clone());
                traces.push(one);
            }
            Err(error) if left == 0 && traces.is_empty() => return Err(error).or_input_error(),
            Err(error) => warnings.push(error.to_string()),
        }
    }
    warnings.iter().for_each(|warning| output::say(&format!("fsprism: {warning}")));
    Ok(StudiedTraces { traces, warnings })
}

/// The executions of one operation, or of all, in all traces.
fn selected<'a>(
    studied: &'a [Studied],
    operation: Option<&str>,
) -> Result<Vec<(&'a Studied, &'a Executed)>, StudyError> {
    let mut found = Vec::new();
    for one in studied {
        found.extend(one.executions(operation)?.into_iter().map(|executed| (one, executed)));
    }
    Ok(found)
}

/// Draws maps.
pub(crate) fn map(options: &MapOptions) -> anyhow::Result<Outcome> {
    let studied = studied(&options.path, &Questions::default())?;
    let executed = selected(&studied.traces, options.operation.as_deref()).or_input_error()?;
    let wanted = CachemapOf::ALL.into_iter().filter(|of| match options.of {
        None => true,
        Some(Of::Instructions) => *of == CachemapOf::Instructions,
        Some(Of::Data) => *of == CachemapOf::Data,
    });
    let wanted: Vec<CachemapOf> = wanted.collect();
    let mut maps = Vec::new();
    for (one, executed) in executed {
        for &of in &wanted {
            maps.push((executed, Cachemap::new(of, &executed.footprint, one.walked_trace())));
        }
    }
    if let Some(png) = &options.png {
        draw(png, options.scale, &maps)?;
        return Ok(Outcome::Success);
    }
    let rows = if options.all { LineFilter::All } else { LineFilter::Wasteful(LINES_SHOWN) };
    let document = MapDocument {
        schema_version: SCHEMA_VERSION,
        maps: maps.iter().map(|(executed, map)| Map::new(map, executed)).collect(),
        warnings: studied.warnings.clone(),
    };
    output::print_answer(options.output.format, &document, |width| {
        let texts = maps.iter().map(|(executed, map)| text::map(map, executed, rows, width));
        texts.collect::<Vec<String>>().join("\n")
    })
}

/// Writes a map as a picture. There must be exactly one.
fn draw(path: &Path, byte_pixels: u32, maps: &[(&Executed, Cachemap)]) -> anyhow::Result<()> {
    let [(executed, map)] = maps else {
        let why = anyhow::anyhow!(
            "--png saves one map, but {} are selected: select one with a trace, --op and --of",
            maps.len()
        );
        return Err(why).or_input_error();
    };
    let title = format!("{}, {}: {}", executed.target, executed.operation, map.of.name());
    let bytes = picture::png(map, &title, Scale { byte_pixels })?;
    Destination::new(path)?.write(&bytes)?;
    output::print_written(path)
}

/// Shows trees of stacks.
pub(crate) fn stacks(options: &StacksOptions) -> anyhow::Result<Outcome> {
    let caches = caches_of(&::machine::describe::describe().caches);
    let StudiedTraces { traces, warnings } = studied(&options.path, &Questions { caches })?;
    let traces = categorised(traces, options.categories.as_deref())?;
    let frames = match options.frames {
        FramesOf::Categories => Frames::Categories,
        FramesOf::Functions => Frames::Functions,
    };
    let mut trees = Vec::new();
    for (one, executed) in selected(&traces, options.operation.as_deref()).or_input_error()? {
        let weight = NamedWeight::from_name(&options.weight, executed).or_input_error()?;
        trees.push(Tree::new(one, executed, frames, &weight));
    }
    if options.folded {
        output::print(&text::folded(&trees))?;
        return Ok(Outcome::Success);
    }
    let document = StacksDocument { schema_version: SCHEMA_VERSION, trees, warnings };
    output::print_answer(options.output.format, &document, |_| {
        document.trees.iter().map(text::tree).collect::<Vec<String>>().join("\n")
    })
}

/// The traces, with the categories in a file if one is named.
pub(crate) fn categorised(
    traces: Vec<Studied>,
    file: Option<&Path>,
) -> anyhow::Result<Vec<Studied>> {
    let categories = match file {
        None => Categories::default(),
        Some(path) => {
            let cannot = |error| anyhow::anyhow!("cannot read {}: {error}", path.display());
            let read = fs::read_to_string(path).map_err(cannot);
            let parsed = Categories::parse(&read.or_input_error()?);
            let named = parsed.map_err(|error| anyhow::anyhow!("{}: {error}", path.display()));
            named.or_input_error()?
        }
    };
    Ok(traces.into_iter().map(|one| one.with_categories(categories.clone())).collect())
}
