//! The footprints of a run: cachemaps and flame graphs of the traces in its directory.
//!
//! Traces are in `footprint/` below the run directory, one for each target. The names and stacks
//! that targets and operations have in common are stored in the page only once.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use footprint::cachemap::{Cachemap, CachemapOf};
use footprint::cgstacks::Frames;
use footprint::touched::LINE_BYTES;
use footprint::trace::StackId;
use footprint::tree::FlameTree;
use record::{Run, TRACES};

use super::block::Bulk;
use super::contract::{FlameFrames, FlameGraph, FlameWeight, PageCachemap, Stacks, Traced};
use crate::AnalysedRun;
use crate::sentences::{Sentence, SentenceKind};
use footprint_study::{
    Executed, NamedWeight, Questions, Repetition, Studied, caches_of_run, traces_in,
};

/// The footprints of all runs of a page, under construction.
#[derive(Debug, Default)]
pub(super) struct Footprints {
    stacks: StackTable,
    cachemaps: Vec<PageCachemap>,
    flame_graphs: Vec<FlameGraph>,
}

impl Footprints {
    /// Adds the traces of a run; returns a sentence for each that is doubtful or unreadable.
    pub(super) fn take(
        &mut self,
        block: &mut Bulk,
        run: usize,
        analysed: &AnalysedRun<'_>,
    ) -> Vec<Sentence> {
        let directory = analysed.path.join(TRACES);
        if !directory.is_dir() {
            return Vec::new();
        }
        let traces = match traces_in(&directory) {
            Ok(traces) => traces,
            Err(error) => return vec![warning(error.to_string(), Vec::new())],
        };
        let mut said = Vec::new();
        let manifest = &analysed.run.manifest;
        let caches =
            caches_of_run(&manifest.run, &manifest.machine.caches).unwrap_or_else(|error| {
                said.push(warning(error.to_string(), Vec::new()));
                None
            });
        let questions = Questions { caches };
        let mut studied = Vec::new();
        for trace in traces {
            match Studied::read(&trace, &questions) {
                Ok(one) => studied.push(one),
                Err(error) => said.push(warning(error.to_string(), Vec::new())),
            }
        }
        studied.sort_by_key(|one| place_of(analysed.run, one));
        for one in &studied {
            let targets = one.executed.iter().map(|executed| executed.target.clone());
            let targets: Vec<String> = targets.take(1).collect();
            said.extend(one.doubt.clone().map(|doubt| warning(doubt, targets)));
            self.take_trace(block, run, one, &|executed| Some(executed.target.clone()));
        }
        said
    }

    /// Adds the executions of a trace for which `label` gives a label.
    pub(super) fn take_trace(
        &mut self,
        block: &mut Bulk,
        run: usize,
        studied: &Studied,
        label: &dyn Fn(&Executed) -> Option<String>,
    ) {
        let mut known = HashMap::new();
        for executed in &studied.executed {
            let Some(target) = label(executed) else { continue };
            let traced = Traced {
                run: narrow(run),
                target,
                operation: executed.operation.clone(),
                repetition: executed.repetition.number,
                repetitions: executed.repetition.of,
            };
            for of in CachemapOf::ALL {
                let map = Cachemap::new(of, &executed.footprint, studied.walked_trace());
                let map = self.cachemap(block, traced.clone(), &map, &mut |table, stack| {
                    table.stack(studied, stack, &mut known)
                });
                self.cachemaps.push(map);
            }
            if !studied.description().functions.is_empty() {
                for frames in [Frames::Categories, Frames::Functions] {
                    let graph = self.flame_graph(block, traced.clone(), studied, executed, frames);
                    self.flame_graphs.push(graph);
                }
            }
        }
    }

    fn cachemap(
        &mut self,
        block: &mut Bulk,
        traced: Traced,
        map: &Cachemap,
        number: &mut impl FnMut(&mut StackTable, StackId) -> u32,
    ) -> PageCachemap {
        let table = &mut self.stacks;
        let names: Vec<u32> = map.lines.iter().map(|line| table.name(&line.name)).collect();
        let touches = || map.lines.iter().flat_map(|line| &line.touches);
        let stacks: Vec<u32> = touches().map(|touch| number(table, touch.stack)).collect();
        let ends = map.lines.iter().scan(0, |end, line| {
            *end += line.touches.len();
            Some(narrow(*end))
        });
        let counts = map.lines.iter().flat_map(|line| line.counts.iter());
        PageCachemap {
            title: format!("{}: {}", title(&traced), map.of.name()),
            of: map.of,
            line_bytes: narrow(usize::try_from(LINE_BYTES).unwrap_or(0)),
            address: block.u64s(map.lines.iter().map(|line| line.address)),
            name: block.u32s(names),
            count: block.u32s(counts.map(|&count| u32::try_from(count).unwrap_or(u32::MAX))),
            touches: block.u32s(std::iter::once(0).chain(ends)),
            touch_stack: block.u32s(stacks),
            touch_bytes: block.u64s(touches().map(|touch| touch.bytes)),
            traced,
        }
    }

    fn flame_graph(
        &mut self,
        block: &mut Bulk,
        traced: Traced,
        studied: &Studied,
        executed: &Executed,
        frames: Frames,
    ) -> FlameGraph {
        let weights = NamedWeight::all(executed);
        let mut own: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
        for (place, weight) in weights.iter().enumerate() {
            let tree = weight.tree(studied, executed, frames);
            for (stack, value) in self.stacks.tree(&tree) {
                own.entry(stack).or_insert_with(|| vec![0.0; weights.len()])[place] += value;
            }
        }
        let arrays = weights.iter().enumerate().map(|(place, weight)| FlameWeight {
            name: weight.name(),
            unit: weight.unit(),
            own: block.f64s(own.values().map(|values| values[place])),
        });
        let weights = arrays.collect();
        FlameGraph {
            title: title(&traced),
            frames: match frames {
                Frames::Functions => FlameFrames::Functions,
                Frames::Categories => FlameFrames::Categories,
            },
            stack: block.u32s(own.keys().copied()),
            weights,
            traced,
        }
    }

    /// The parts of the payload.
    pub(super) fn finish(self, block: &mut Bulk) -> (Stacks, Vec<PageCachemap>, Vec<FlameGraph>) {
        let StackTable { names, parent, name, .. } = self.stacks;
        let (parent, name) = (block.u32s(parent), block.u32s(name));
        (Stacks { names, parent, name }, self.cachemaps, self.flame_graphs)
    }
}

/// Stacks, each stored once, in the page's format.
#[derive(Debug)]
struct StackTable {
    names: Vec<String>,
    places: HashMap<String, u32>,
    parent: Vec<u32>,
    name: Vec<u32>,
    nodes: HashMap<(u32, u32), u32>,
}

impl Default for StackTable {
    fn default() -> Self {
        let (names, places) = (vec![String::new()], HashMap::from([(String::new(), 0)]));
        Self { names, places, parent: vec![0], name: vec![0], nodes: HashMap::new() }
    }
}

impl StackTable {
    fn name(&mut self, name: &str) -> u32 {
        if let Some(&place) = self.places.get(name) {
            return place;
        }
        let place = narrow(self.names.len());
        self.names.push(name.to_owned());
        self.places.insert(name.to_owned(), place);
        place
    }

    /// The stack of a frame on top of another stack.
    fn child(&mut self, parent: u32, name: &str) -> u32 {
        let name = self.name(name);
        let (parents, frames) = (&mut self.parent, &mut self.name);
        *self.nodes.entry((parent, name)).or_insert_with(|| {
            parents.push(parent);
            frames.push(name);
            narrow(parents.len() - 1)
        })
    }

    /// The number of a trace's stack.
    fn stack(
        &mut self,
        studied: &Studied,
        stack: StackId,
        known: &mut HashMap<StackId, u32>,
    ) -> u32 {
        let walked = studied.categorized_trace();
        let frames: Vec<StackId> =
            walked.stacks.frames(stack).take_while(|frame| !known.contains_key(frame)).collect();
        let outermost = frames.last().copied().unwrap_or(stack);
        let below = match frames.is_empty() {
            true => Some(stack),
            false => walked.stacks.caller(outermost),
        };
        let mut number = below.and_then(|below| known.get(&below)).copied().unwrap_or(0);
        for frame in frames.into_iter().rev() {
            number = self.child(number, &walked.name(walked.stacks.function(frame)));
            known.insert(frame, number);
        }
        number
    }

    /// The stacks of a tree that did work themselves.
    fn tree(&mut self, tree: &FlameTree) -> Vec<(u32, f64)> {
        let mut numbers = vec![0; tree.own.len()];
        for node in 1..tree.own.len() {
            let parent = numbers[tree.parent[node] as usize];
            numbers[node] = self.child(parent, &tree.names[tree.name[node] as usize]);
        }
        numbers.into_iter().zip(tree.own.iter().copied()).filter(|&(_, own)| own != 0.0).collect()
    }
}

/// `xfs, create, repetition 3 of 8`.
fn title(traced: &Traced) -> String {
    let Traced { target, operation, repetition, repetitions, .. } = traced;
    let repetition = Repetition { number: *repetition, of: *repetitions };
    let parts = [Some(target.clone()), Some(operation.clone()), repetition.text()];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// The position of a trace's target among those of the run, or after all of them if it is unknown.
fn place_of(run: &Run, studied: &Studied) -> (usize, PathBuf) {
    let target = studied.executed.first().map(|executed| executed.target.as_str());
    let place = run.manifest.targets.iter().position(|one| Some(one.label.as_str()) == target);
    (place.unwrap_or(usize::MAX), Path::to_owned(&studied.path))
}

fn warning(text: String, targets: Vec<String>) -> Sentence {
    let subject = Some(TRACES.to_owned());
    Sentence { kind: SentenceKind::Warning, dimension: None, subject, targets, text }
}

fn narrow(number: usize) -> u32 {
    u32::try_from(number).expect("a page holds less than 4 GiB")
}

#[cfg(test)]
mod tests {
    use record::{CachesOrigin, Replacement, SimulatedCache, SimulatedCaches};

    use super::*;
    use crate::sample::Sample;
    use footprint_study::sample_traces::{FILE_SYSTEMS, write};

    #[test]
    fn traces_come_in_the_order_of_targets_and_share_their_stacks() {
        let place = tempfile::tempdir().unwrap();
        let directory = place.path().join(TRACES);
        std::fs::create_dir(&directory).unwrap();
        for (name, allocations) in FILE_SYSTEMS {
            write(&directory, name, allocations);
        }
        std::fs::write(directory.join("bad.trace"), "no trace").unwrap();
        let run = Sample::new(&["xfs", "ext4"]).run;
        let analysed = AnalysedRun::new(&run, place.path());
        let (mut footprints, mut block) = (Footprints::default(), Bulk::default());
        let said = footprints.take(&mut block, 0, &analysed);
        assert_eq!(said.len(), 1);
        assert!(said[0].text.contains("bad.trace: this is not a footprint trace"), "{said:?}");
        let (stacks, maps, graphs) = footprints.finish(&mut block);
        let titles: Vec<&str> = maps.iter().map(|map| map.title.as_str()).collect();
        assert_eq!(titles[..2], ["xfs, create: instructions", "xfs, create: data"]);
        assert_eq!((titles.len(), titles[4]), (8, "ext4, create: instructions"));
        let frames: Vec<FlameFrames> = graphs.iter().map(|graph| graph.frames).collect();
        assert_eq!(frames[..2], [FlameFrames::Categories, FlameFrames::Functions]);
        assert_eq!(graphs[0].weights.len(), 4, "no caches are known of the sample's machine");
        // The root; five functions each, three of which are shared; entry, vfs, file system and
        // malloc.
        assert_eq!(stacks.parent.length, 1 + 3 + 2 + 2 + 4, "{:?}", stacks.names);
        assert_eq!(maps[0].address.length * 64, maps[0].count.length);
        assert_eq!(maps[0].touches.length, maps[0].address.length + 1);
        assert_eq!(maps[0].touch_stack.length, maps[0].touch_bytes.length);
    }

    #[test]
    fn the_caches_that_a_run_has_recorded_are_simulated() {
        let place = tempfile::tempdir().unwrap();
        let directory = place.path().join(TRACES);
        std::fs::create_dir(&directory).unwrap();
        write(&directory, "ext4", 1);
        let mut run = Sample::new(&["ext4"]).run;
        let cache = SimulatedCache {
            name: "l1".to_owned(),
            size_bytes: 1 << 15,
            line_bytes: 64,
            ways: 8,
            replacement: Replacement::Lru,
            inclusive: false,
        };
        let origin = CachesOrigin::Given;
        let mut weights = |cache: SimulatedCache| {
            let caches = vec![cache];
            run.manifest.run.simulated_caches = Some(SimulatedCaches { origin, caches });
            let analysed = AnalysedRun::new(&run, place.path());
            let (mut footprints, mut block) = (Footprints::default(), Bulk::default());
            let said = footprints.take(&mut block, 0, &analysed);
            let graphs = footprints.finish(&mut block).2;
            let names = graphs[0].weights.iter().map(|weight| weight.name.clone());
            (names.collect::<Vec<_>>(), said)
        };
        let (names, said) = weights(cache.clone());
        assert_eq!((names[4].as_str(), names.len()), ("l1_misses", 5));
        assert_eq!(said, Vec::new());
        let (names, said) = weights(SimulatedCache { ways: 3, ..cache });
        assert_eq!(names.len(), 4);
        assert!(said[0].text.contains("a cache l1 that cannot be simulated"), "{said:?}");
    }

    #[test]
    fn a_stack_is_taken_in_from_its_outermost_frame() {
        let place = tempfile::tempdir().unwrap();
        let trace = write(place.path(), "xfs", 1);
        let studied = Studied::read(&trace, &Questions::default()).unwrap();
        let stacks = studied.walked_trace().stacks;
        let all = (0..stacks.len()).map(|number| StackId(narrow(number)));
        let deepest = all.max_by_key(|&stack| stacks.frames(stack).count()).unwrap();
        let mut table = StackTable::default();
        let mut number = table.stack(&studied, deepest, &mut HashMap::new());
        let mut names = Vec::new();
        while number != 0 {
            names.push(table.names[table.name[number as usize] as usize].as_str());
            number = table.parent[number as usize];
        }
        let within = ["kmem_cache_alloc", "xfs_create", "vfs_create", "do_syscall_64"];
        assert_eq!(names[..4], within, "the innermost first");
        assert_eq!(names[4], "entry_SYSCALL_64");
    }

    #[test]
    fn a_run_without_traces_has_none_and_says_nothing() {
        let place = tempfile::tempdir().unwrap();
        let run = Sample::new(&["ext4"]).run;
        let analysed = AnalysedRun::new(&run, place.path());
        let mut footprints = Footprints::default();
        assert_eq!(footprints.take(&mut Bulk::default(), 0, &analysed), Vec::new());
        std::fs::create_dir(place.path().join(TRACES)).unwrap();
        let said = footprints.take(&mut Bulk::default(), 0, &analysed);
        assert!(said[0].text.contains("contains no *.trace"), "{said:?}");
        assert_eq!(footprints.finish(&mut Bulk::default()).1, Vec::new());
    }
}
