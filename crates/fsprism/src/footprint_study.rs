//! `fsprism footprint map`, `stacks` and `diff`: what traces hold.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use ::footprint::cachemap::picture::{self, Scale};
use ::footprint::cachemap::text::Rows;
use ::footprint::cachemap::{Cachemap, CachemapOf};
use ::footprint::categories::Categories;
use ::footprint::cgstacks::Frames;
use ::report::footprint::documents::{
    DiffDocument, Difference, Map, MapDocument, SCHEMA_VERSION, StacksDocument, Tree,
};
use ::report::footprint::{
    Executed, Questions, Studied, StudyError, Weighted, caches_of, text, traces_in,
};
use anyhow::Context as _;
use footprint_trace::header::MAGIC;

use crate::exit::{Blame, Done};
use crate::footprint_arguments::{DiffOptions, FramesOf, MapOptions, Of, StacksOptions};
use crate::{output, stats};

/// Lines of a map that the terminal shows unless all are asked for.
const LINES_SHOWN: usize = 40;

/// Traces that were read, and what is said of them.
pub(crate) struct StudiedTraces {
    pub(crate) traces: Vec<Studied>,
    warnings: Vec<String>,
}

/// Whether a path is a directory, or a trace by its first bytes.
pub(crate) fn is_traced(path: &Path) -> bool {
    let mut start = [0; MAGIC.len()];
    let is_trace = |mut file: File| file.read_exact(&mut start).is_ok() && start == MAGIC;
    path.is_dir() || path.is_file() && File::open(path).is_ok_and(is_trace)
}

/// Reads a trace, or those of a directory. What makes one doubtful is said.
pub(crate) fn studied(path: &Path, questions: &Questions) -> anyhow::Result<StudiedTraces> {
    let mut traces = Vec::new();
    for trace in traces_in(path).blame_input()? {
        traces.push(Studied::read(&trace, questions).blame_input()?);
    }
    let warnings: Vec<String> = traces.iter().filter_map(|one| one.doubt.clone()).collect();
    warnings.iter().for_each(|warning| output::say(&format!("fsprism: {warning}")));
    Ok(StudiedTraces { traces, warnings })
}

/// What was executed of an operation, or all, in all traces.
fn asked<'a>(
    studied: &'a [Studied],
    operation: Option<&str>,
) -> Result<Vec<(&'a Studied, &'a Executed)>, StudyError> {
    let mut found = Vec::new();
    for one in studied {
        found.extend(one.asked(operation)?.into_iter().map(|executed| (one, executed)));
    }
    Ok(found)
}

/// Draws maps.
pub(crate) fn map(options: &MapOptions) -> anyhow::Result<Done> {
    let studied = studied(&options.path, &Questions::default())?;
    let executed = asked(&studied.traces, options.operation.as_deref()).blame_input()?;
    let wanted = CachemapOf::ALL.into_iter().filter(|of| match options.of {
        None => true,
        Some(Of::Instructions) => *of == CachemapOf::Instructions,
        Some(Of::Data) => *of == CachemapOf::Data,
    });
    let wanted: Vec<CachemapOf> = wanted.collect();
    let mut maps = Vec::new();
    for (one, executed) in executed {
        for &of in &wanted {
            maps.push((executed, Cachemap::new(of, &executed.footprint, one.known())));
        }
    }
    if let Some(png) = &options.png {
        draw(png, options.scale, &maps)?;
        return Ok(Done::Well);
    }
    let rows = if options.all { Rows::All } else { Rows::Wasteful(LINES_SHOWN) };
    let document = MapDocument {
        schema_version: SCHEMA_VERSION,
        maps: maps.iter().map(|(executed, map)| Map::new(map, executed)).collect(),
        warnings: studied.warnings.clone(),
    };
    let width = output::terminal_options().width;
    stats::print(options.output.format, &document, || {
        let texts = maps.iter().map(|(executed, map)| text::map(map, executed, rows, width));
        texts.collect::<Vec<String>>().join("\n")
    })
}

/// Writes the only map as a picture.
fn draw(path: &Path, byte_pixels: u32, maps: &[(&Executed, Cachemap)]) -> anyhow::Result<()> {
    let [(executed, map)] = maps else {
        let why = anyhow::anyhow!(
            "--png draws one map, and here are {}: name one trace, --op and --of",
            maps.len()
        );
        return Err(why).blame_input();
    };
    let title = format!("{}, {}: {}", executed.target, executed.operation, map.of.name());
    let bytes = picture::png(map, &title, Scale { byte_pixels })?;
    fs::write(path, bytes).with_context(|| format!("cannot write {}", path.display()))?;
    output::print(&format!("{}\n", path.display()))
}

/// Shows trees of stacks.
pub(crate) fn stacks(options: &StacksOptions) -> anyhow::Result<Done> {
    let caches = caches_of(&::machine::describe::describe().caches);
    let StudiedTraces { traces, warnings } = studied(&options.path, &Questions { caches })?;
    let traces = categorised(traces, options.categories.as_deref())?;
    let frames = match options.frames {
        FramesOf::Categories => Frames::Categories,
        FramesOf::Functions => Frames::Functions,
    };
    let mut trees = Vec::new();
    for (one, executed) in asked(&traces, options.operation.as_deref()).blame_input()? {
        let weight = Weighted::named(&options.weight, executed).blame_input()?;
        trees.push(Tree::new(one, executed, frames, &weight));
    }
    if options.folded {
        output::print(&text::folded(&trees))?;
        return Ok(Done::Well);
    }
    let document = StacksDocument { schema_version: SCHEMA_VERSION, trees, warnings };
    stats::print(options.output.format, &document, || {
        document.trees.iter().map(text::tree).collect::<Vec<String>>().join("\n")
    })
}

/// The traces with the categories of a file, where one is named.
fn categorised(traces: Vec<Studied>, file: Option<&Path>) -> anyhow::Result<Vec<Studied>> {
    let categories = match file {
        None => Categories::default(),
        Some(path) => {
            let read = fs::read_to_string(path);
            let read = read.with_context(|| format!("cannot read {}", path.display()));
            let parsed = Categories::parse(&read.blame_input()?);
            let named = parsed.map_err(|error| anyhow::anyhow!("{}: {error}", path.display()));
            named.blame_input()?
        }
    };
    Ok(traces.into_iter().map(|one| one.with_categories(categories.clone())).collect())
}

/// Compares traces.
pub(crate) fn diff(options: &DiffOptions) -> anyhow::Result<Done> {
    let mut warnings = Vec::new();
    let mut differences = Vec::new();
    for (before, after) in pairs(&options.before, &options.after, &mut warnings)? {
        let [first, second] = [before, after].map(|path| -> anyhow::Result<Studied> {
            let StudiedTraces { traces, warnings: own } = studied(&path, &Questions::default())?;
            warnings.extend(own);
            let mut traces = categorised(traces, options.categories.as_deref())?;
            Ok(traces.swap_remove(0))
        });
        let (first, second) = (first?, second?);
        for operation in operations(&first, &second, options.operation.as_deref()) {
            let found = Difference::new(&first, &second, &operation);
            differences.push(found.blame_input()?);
        }
    }
    if differences.is_empty() {
        let why = anyhow::anyhow!("the traces have no operation in common: name others");
        return Err(why).blame_input();
    }
    let document = DiffDocument { schema_version: SCHEMA_VERSION, differences, warnings };
    stats::print(options.output.format, &document, || {
        document.differences.iter().map(text::difference).collect::<Vec<String>>().join("\n")
    })
}

/// The operation that is asked for, or all that both traces have.
fn operations(first: &Studied, second: &Studied, asked: Option<&str>) -> Vec<String> {
    if let Some(asked) = asked {
        return vec![asked.to_owned()];
    }
    let has = |name: &String| second.executed.iter().any(|one| one.operation == *name);
    let mut names: Vec<String> = Vec::new();
    for one in &first.executed {
        if has(&one.operation) && !names.contains(&one.operation) {
            names.push(one.operation.clone());
        }
    }
    names
}

/// Two traces, or those of two directories that have one name; others are said to be left out.
fn pairs(
    before: &Path,
    after: &Path,
    warnings: &mut Vec<String>,
) -> anyhow::Result<Vec<(PathBuf, PathBuf)>> {
    let (first, second) = (traces_in(before).blame_input()?, traces_in(after).blame_input()?);
    if let ([one], [other]) = (first.as_slice(), second.as_slice()) {
        return Ok(vec![(one.clone(), other.clone())]);
    }
    let mut pairs = Vec::new();
    for one in first {
        match second.iter().find(|other| other.file_name() == one.file_name()) {
            Some(other) => pairs.push((one, other.clone())),
            None => {
                let warning =
                    format!("{} has no trace of its name in {}", one.display(), after.display());
                output::say(&format!("fsprism: {warning}"));
                warnings.push(warning);
            }
        }
    }
    Ok(pairs)
}
