//! Prints the figures of a trace's regions: `figures TRACE [NAMES [stacks]]`. For developers of the
//! analysis. NAMES is a description as JSON, or the output of `nm -nS`.

use std::error::Error;
use std::fs::{self, File};
use std::io::BufReader;

use footprint::categories::Categories;
use footprint::cgstacks::{CategorizedTrace, Frames, Weight};
use footprint::description::{Description, Function};
use footprint::touched::{Collector, Footprint, Selection};
use footprint::trace::Walk;
use footprint_trace::reader::TraceReader;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().ok_or("usage: figures TRACE [NAMES [stacks]]")?;
    let names = arguments.next().map(|path| names(&path)).transpose()?.unwrap_or_default();
    let shows_stacks = arguments.next().is_some();
    let mut reader = TraceReader::new(BufReader::with_capacity(1 << 20, File::open(&path)?))?;
    let mut walk = Walk::new(*reader.header(), names);
    let mut collector = Collector::new(Selection::default());
    walk.run(&mut reader, &mut collector)?;
    let categories = Categories::default();
    for footprint in collector.into_footprints() {
        let counts = |context: footprint::trace::Context| context.counts(walk.scope());
        let figures = footprint.figures(walk.code(), walk.stacks(), counts);
        println!("{:?} {:?}\n  {figures:?}", footprint.region, footprint.completeness);
        if shows_stacks {
            let (code, stacks, names) = (walk.code(), walk.stacks(), walk.names());
            let scope = walk.scope();
            print_stacks(
                &CategorizedTrace { scope, code, stacks, names, categories: &categories },
                &footprint,
            );
        }
    }
    Ok(())
}

fn print_stacks(trace: &CategorizedTrace<'_>, footprint: &Footprint) {
    for frames in [Frames::Categories, Frames::Functions] {
        let tree = trace.tree(footprint, frames, Weight::CodeBytes);
        let mut lines: Vec<_> = (0..).zip(&tree.own).filter(|(_, own)| **own > 0.0).collect();
        lines.sort_by(|a, b| b.1.total_cmp(a.1));
        lines.iter().for_each(|(node, own)| println!("  {own:6} {}", tree.path(*node)));
    }
}

fn names(path: &str) -> Result<Description, Box<dyn Error>> {
    let text = fs::read_to_string(path)?;
    if text.starts_with('{') {
        return Ok(serde_json::from_str(&text)?);
    }
    let mut functions: Vec<Function> = text.lines().filter_map(function).collect();
    functions.sort_by_key(|function| (function.address, function.bytes));
    functions.dedup_by_key(|function| function.address);
    let ends: Vec<u64> = functions.iter().skip(1).map(|function| function.address).collect();
    for (function, end) in functions.iter_mut().zip(ends) {
        function.bytes = end - function.address;
    }
    Ok(Description { functions, ..Description::default() })
}

fn function(line: &str) -> Option<Function> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let (address, name) = (words.first()?, words.last()?);
    let letter = words.get(words.len().checked_sub(2)?)?;
    let is_code = matches!(*letter, "t" | "T" | "w" | "W" | "i");
    let address = u64::from_str_radix(address, 16).ok()?;
    let object = "vmlinux".to_owned();
    is_code.then(|| Function { address, name: (*name).to_owned(), object, ..Function::default() })
}
