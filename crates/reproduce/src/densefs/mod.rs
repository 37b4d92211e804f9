//! Weiss, Arpaci-Dusseau & Arpaci-Dusseau, "`DenseFS`: A Cache-Compact Filesystem" (`HotStorage`
//! 2018): the cache access patterns of file systems, traced here (section 2); what makes DenseFS
//! compact (section 3); what calls cost the code around them, timed here (section 4).
//!
//! The paper prints its figures without tables, so ours are compared with what its text says and
//! what can be read off the axes. Footprints are the medians of a run's cells, with their intervals
//! over the repetitions; stacks come from the traces of the run, by way of [`TargetStacks`].

mod code;
mod figure_3;
mod figure_4;
mod figures;
mod functions;
mod grep;
mod inode;
mod part;
mod statements;
mod text;

use footprint_study::OperationStacks;
use record::Run;
use serde::Serialize;

pub use self::code::CallCode;
pub use self::figure_3::Compaction;
pub use self::figure_4::{FIGURE_4_TARGETS, PollutionPoint};
pub use self::functions::{FunctionPlace, kernel_functions};
pub use self::grep::{GREP_TARGETS, GrepExecution};
pub use self::inode::InodeStep;
use self::part::OPERATIONS;
pub use self::part::{FIGURE_OPERATIONS, Part};
pub use crate::gathered::Estimate;
use crate::gathered::{self, Gathered};
pub use crate::statement::{Outcome, Statement};

/// What a reproduction is made from. What is not there says why.
#[derive(Clone, Debug)]
pub struct Sources<'a> {
    /// A run of the suite `footprint`.
    pub traced: Result<TracedRun<'a>, String>,
    /// A run of the suite `pollution`, and its name.
    pub timed: Result<(&'a Run, &'a str), String>,
    /// Lines of a kernel's symbols: see [`kernel_functions`].
    pub functions: Result<&'a str, String>,
    /// grep on [`GREP_TARGETS`].
    pub grep: Result<&'a [GrepExecution], String>,
    /// Why DenseFS was not traced in a kernel, if that was tried.
    pub no_densefs: Option<String>,
}

/// A run of the suite `footprint`.
#[derive(Clone, Debug)]
pub struct TracedRun<'a> {
    /// The run.
    pub run: &'a Run,
    /// Its name.
    pub name: &'a str,
    /// The stacks in its targets' traces.
    pub stacks: &'a [TargetStacks],
}

/// Why something cannot be told.
#[derive(Clone, Debug, Default)]
struct Lacking {
    traces: Option<String>,
    compaction: Option<String>,
    functions: Option<String>,
    pollution: Option<String>,
    grep: Option<String>,
}

/// The stacks from a target's trace, which its cells do not contain.
#[derive(Clone, Debug, PartialEq)]
pub struct TargetStacks {
    /// The target.
    pub target: String,
    /// The release of its kernel, if known.
    pub kernel: Option<String>,
    /// Its operations.
    pub operations: Vec<OperationStacks>,
}

/// The paper, as reproduced here.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Reproduction {
    /// The paper.
    pub paper: &'static str,
    /// The name of the run that was traced.
    pub run: Option<String>,
    /// The name of the run that was timed, for Figure 4.
    pub pollution_run: Option<String>,
    /// The releases of the kernels that were traced.
    pub kernels: Vec<String>,
    /// Figure 1: the lines of each operation on xfs.
    pub figure_1: Vec<CachemapSize>,
    /// Figure 2: the code of each file system by category.
    pub figure_2: Vec<CodeShares>,
    /// The footprints that section 2 is about.
    pub footprints: Vec<OperationFootprint>,
    /// Section 3.1: the bytes of an inode.
    pub inode: Vec<InodeStep>,
    /// Figure 3: the lines of creat on DenseFS in a kernel, before and after compaction.
    pub figure_3: Vec<Compaction>,
    /// Section 3.2: lines of instructions by how the code is laid out.
    pub code: Vec<CallCode>,
    /// Section 3.2: where functions lie.
    pub functions: Vec<FunctionPlace>,
    /// Figure 4: each point of each curve.
    pub figure_4: Vec<PollutionPoint>,
    /// Section 4: grep on each target.
    pub grep: Vec<GrepExecution>,
    /// What the paper says, and what was found here.
    pub statements: Vec<Statement>,
    /// What could not be measured, and why.
    pub missing: Vec<String>,
    /// Whether all was traced that was to be.
    #[serde(skip)]
    pub is_traced_whole: bool,
}

/// The size of one cachemap of Figure 1.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CachemapSize {
    /// The paper's name for the operation.
    pub operation: &'static str,
    /// The paper's rows of instructions.
    pub published_instruction_lines: &'static str,
    /// The paper's rows of data.
    pub published_data_lines: &'static str,
    /// Instruction lines measured here.
    pub instruction_lines: Estimate,
    /// Data lines measured here.
    pub data_lines: Estimate,
}

/// One flame graph of Figure 2, as shares of the code of all [`FIGURE_OPERATIONS`].
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CodeShares {
    /// The target.
    pub target: String,
    /// Bytes of code, with each instruction counted once per stack of an operation.
    pub code_bytes: f64,
    /// The categories, largest first.
    pub categories: Vec<CategoryShare>,
    /// The coarse-grained stacks, largest first.
    pub cgstacks: Vec<CgstackShare>,
}

/// The share of a category in a flame graph.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CategoryShare {
    /// Its name.
    pub category: String,
    /// Percentage of code in stacks with this category on top.
    pub own_percent: f64,
    /// Percentage of code in stacks that contain this category anywhere.
    pub with_callees_percent: f64,
}

/// The share of a coarse-grained stack in a flame graph.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CgstackShare {
    /// Its categories from callers to callees, joined by `;`.
    pub cgstack: String,
    /// Percentage of the bytes of code.
    pub percent: f64,
}

/// The footprint of an operation on a target: medians over the repetitions.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OperationFootprint {
    /// The target.
    pub target: String,
    /// The operation.
    pub operation: String,
    /// Instruction lines.
    pub instruction_lines: Estimate,
    /// Data lines.
    pub data_lines: Estimate,
    /// Instruction lines divided by data lines.
    pub ratio: f64,
    /// Percentage of the bytes of instruction lines that were not executed.
    pub instruction_bytes_unused_percent: f64,
    /// Percentage of the bytes of data lines that were not accessed.
    pub data_bytes_unused_percent: f64,
    /// Percentage of instruction lines in which no byte was executed twice.
    pub instruction_lines_used_once_percent: f64,
    /// Percentage of data lines that only a single access touched.
    pub data_lines_used_once_percent: f64,
    /// Percentage of data lines in which at most eight bytes were accessed; `None` without a trace.
    pub sparse_data_lines_percent: Option<f64>,
}

impl Reproduction {
    /// Reproduces a part of the paper.
    #[must_use]
    pub fn new(part: Part, sources: &Sources<'_>) -> Self {
        let mut reproduction = Self {
            paper: "Weiss et al., DenseFS: A Cache-Compact Filesystem",
            is_traced_whole: true,
            inode: inode::steps(),
            code: code::calls(),
            functions: sources
                .functions
                .as_ref()
                .map_or(Vec::new(), |text| functions::places(text)),
            grep: sources.grep.as_ref().map_or(Vec::new(), |all| all.to_vec()),
            ..Self::default()
        };
        if let Ok(traced) = &sources.traced {
            reproduction.take_traced(traced);
        }
        if let Ok((run, name)) = sources.timed {
            reproduction.pollution_run = Some(name.to_owned());
            reproduction.figure_4 = figure_4::points(run);
            let missing = gathered::missing(run).into_iter();
            reproduction.missing.extend(missing.map(|what| format!("in Figure 4, {what}")));
        }
        let lacking = Lacking::new(sources);
        reproduction.statements = statements::all(&reproduction, part, &lacking);
        reproduction.keep(part);
        reproduction
    }

    fn take_traced(&mut self, traced: &TracedRun<'_>) {
        let TracedRun { run, name, stacks } = traced;
        let densefs = run.manifest.targets.iter().filter(|one| figure_3::is_densefs(one));
        let densefs: Vec<&str> = densefs.map(|one| one.label.as_str()).collect();
        let is_other = |target: &str| !densefs.contains(&target);
        let others: Vec<TargetStacks> =
            stacks.iter().filter(|one| is_other(&one.target)).cloned().collect();
        let all = figures::footprints(&Gathered::new(run), stacks);
        self.run = Some((*name).to_owned());
        self.kernels = stacks.iter().filter_map(|one| one.kernel.clone()).collect();
        self.kernels.sort();
        self.kernels.dedup();
        self.figure_1 = figures::cachemaps(&all, &figures::targets_of(run, "xfs"));
        self.figure_2 = figures::flame_graphs(&others);
        self.figure_3 = figure_3::compaction(run, &all);
        // Section 2 is about the others.
        self.footprints = all.into_iter().filter(|one| is_other(&one.target)).collect();
        self.missing.extend(gathered::missing(run));
        self.is_traced_whole = self.missing.is_empty();
    }

    /// Drops what belongs to other parts.
    fn keep(&mut self, part: Part) {
        fn drop_unless<T>(keeps: bool, of: &mut Vec<T>) {
            if !keeps {
                of.clear();
            }
        }
        drop_unless(part.has(Part::Figure1), &mut self.figure_1);
        drop_unless(part.has(Part::Figure2), &mut self.figure_2);
        drop_unless(part.has(Part::Section2), &mut self.footprints);
        drop_unless(part.has(Part::Section31), &mut self.inode);
        drop_unless(part.has(Part::Figure3), &mut self.figure_3);
        drop_unless(part.has(Part::Section32), &mut self.code);
        drop_unless(part.has(Part::Section32), &mut self.functions);
        drop_unless(part.has(Part::Figure4), &mut self.figure_4);
        drop_unless(part.has(Part::Section4), &mut self.grep);
    }

    /// Renders the reproduction for people.
    #[must_use]
    pub fn text(&self, width: usize) -> String {
        text::render(self, width)
    }
}

impl Lacking {
    fn new(sources: &Sources<'_>) -> Self {
        let traces = sources.traced.as_ref().err();
        let without = || "the run has no DenseFS of both layouts".to_owned();
        Self {
            traces: traces.cloned(),
            compaction: Some(
                sources.no_densefs.as_ref().or(traces).cloned().unwrap_or_else(without),
            ),
            functions: sources.functions.as_ref().err().cloned(),
            pollution: sources.timed.as_ref().err().cloned(),
            grep: sources.grep.as_ref().err().cloned(),
        }
    }
}

#[cfg(test)]
mod tests;
