//! Walks a trace, event by event.

use std::collections::HashMap;
use std::io::Read;

use footprint_trace::event::{Access, Event};
use footprint_trace::header::{Coverage, Header, Scope};
use footprint_trace::mark::{Edge, Mark};
use footprint_trace::reader::TraceReader;
use footprint_trace::{BlockId, TraceError};

use super::code::{Code, CodeBlock};
use super::names::Names;
use super::shadow::{CodeAndStacks, ShadowStacks};
use super::stacks::{StackId, StackTree};
use crate::hash::BuildMix;

/// A part of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Region {
    /// Everything outside of marks.
    Unmarked,
    /// Everything between a begin mark and the next end mark.
    Marked {
        /// The region number in its marks, which stands for a target.
        region: u8,
        /// The operation number in its marks.
        operation: u16,
        /// How many times the vCPU had executed the same mark before.
        repetition: u32,
    },
}

/// Whether the trace contains all of a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Completeness {
    /// It does.
    Whole,
    /// The trace, or its readable part, stops within the region.
    Cut,
}

/// One execution of a block.
#[derive(Clone, Copy, Debug)]
pub struct Step<'a> {
    /// The vCPU, or the thread of a program.
    pub vcpu: u32,
    /// The block's number.
    pub id: BlockId,
    /// The block.
    pub block: &'a CodeBlock,
    /// The stack that it runs on top of.
    pub stack: StackId,
}

/// One access by a block's last instruction.
#[derive(Clone, Copy, Debug)]
pub struct Touch<'a> {
    /// The execution of the block.
    pub step: Step<'a>,
    /// The access.
    pub access: Access,
}

/// Receives what a walk finds. Everything between `begin` and `end` of a region on one vCPU belongs
/// to the region; regions on different vCPUs may overlap in time.
pub trait Observer {
    /// A region begins on a vCPU.
    fn begin(&mut self, vcpu: u32, region: Region);

    /// A block is executed.
    fn execute(&mut self, code: &Code, stacks: &StackTree, step: Step<'_>);

    /// The block's last instruction accesses memory.
    fn access(&mut self, code: &Code, stacks: &StackTree, touch: Touch<'_>);

    /// The region that began on the vCPU ends.
    fn end(&mut self, vcpu: u32, completeness: Completeness);
}

#[derive(Clone, Debug)]
struct Vcpu {
    number: u32,
    shadow: ShadowStacks,
    region: Option<Region>,
    executed: Option<(BlockId, StackId)>,
}

/// A walk through one trace. Its memory is bounded by the distinct code and stacks in the trace,
/// not by the trace's length.
#[derive(Clone, Debug)]
pub struct Walk<N> {
    names: N,
    header: Header,
    code: Code,
    stacks: StackTree,
    vcpus: Vec<Vcpu>,
    /// The index of each vCPU, by number.
    places: HashMap<u32, usize, BuildMix>,
    /// The index of the vCPU of the last event.
    current: usize,
}

impl<N: Names> Walk<N> {
    /// Prepares to walk a trace with this header.
    pub fn new(header: Header, names: N) -> Self {
        let (code, stacks) = (Code::new(header.scope), StackTree::new());
        let places = HashMap::default();
        Self { names, header, code, stacks, vcpus: Vec::new(), places, current: 0 }
    }

    /// The blocks executed so far.
    pub fn code(&self) -> &Code {
        &self.code
    }

    /// The stacks seen so far.
    pub fn stacks(&self) -> &StackTree {
        &self.stacks
    }

    /// The names of addresses.
    pub fn names(&self) -> &N {
        &self.names
    }

    /// What was traced: a program or a machine.
    pub fn scope(&self) -> Scope {
        self.header.scope
    }

    /// Prepares to walk the same trace again. Blocks and stacks keep their numbers.
    pub fn rewind(&mut self) {
        self.vcpus.clear();
        self.places.clear();
        self.current = 0;
    }

    /// Walks to the trace's end. A region that has not ended by then is cut, except the unmarked
    /// one.
    ///
    /// # Errors
    /// The trace stops or is damaged. Everything before that has been observed, and regions that
    /// had begun have been ended as cut.
    pub fn run<R: Read>(
        &mut self,
        reader: &mut TraceReader<R>,
        observer: &mut impl Observer,
    ) -> Result<(), TraceError> {
        while self.run_region(reader, observer)? {}
        Ok(())
    }

    /// Walks until a marked region has ended, so that it can be processed before the next. Returns
    /// whether there was one; if not, the trace's end was reached and all regions have been ended.
    ///
    /// # Errors
    /// As [`Walk::run`].
    pub(crate) fn run_region<R: Read>(
        &mut self,
        reader: &mut TraceReader<R>,
        observer: &mut impl Observer,
    ) -> Result<bool, TraceError> {
        let result = self.read(reader, observer);
        if matches!(result, Ok(true)) {
            return result;
        }
        let is_whole = result.is_ok() && reader.ending().is_some_and(|end| end.cut.is_none());
        for vcpu in &mut self.vcpus {
            let Some(region) = vcpu.region.take() else { continue };
            let is_done = is_whole && region == Region::Unmarked;
            let completeness = if is_done { Completeness::Whole } else { Completeness::Cut };
            observer.end(vcpu.number, completeness);
        }
        result
    }

    /// Reads until a marked region has ended, or to the trace's end. Returns whether one has ended.
    fn read<R: Read>(
        &mut self,
        reader: &mut TraceReader<R>,
        observer: &mut impl Observer,
    ) -> Result<bool, TraceError> {
        while let Some(event) = reader.next_event()? {
            let number = reader.vcpu();
            match event {
                Event::Execute(id) => {
                    if self.code.get(id).is_none() {
                        let Some(block) = reader.block(id) else { continue };
                        self.code.decode(id, block, &self.names);
                    }
                    self.execute(number, id, observer);
                }
                Event::Access(access) => self.access(number, access, observer),
                Event::Mark { mark, repetition } => {
                    if self.mark(number, mark, repetition, observer) {
                        return Ok(true);
                    }
                }
            }
        }
        Ok(false)
    }

    #[inline]
    fn execute(&mut self, number: u32, id: BlockId, observer: &mut impl Observer) {
        self.turn_to(number, observer);
        let vcpu = &mut self.vcpus[self.current];
        let mut scene = CodeAndStacks { code: &self.code, tree: &mut self.stacks };
        let Some(stack) = vcpu.shadow.arrive(id, &mut scene) else { return };
        vcpu.executed = Some((id, stack));
        if vcpu.region.is_some()
            && let Some(block) = self.code.get(id)
        {
            let step = Step { vcpu: number, id, block, stack };
            observer.execute(&self.code, &self.stacks, step);
        }
    }

    #[inline]
    fn access(&mut self, number: u32, access: Access, observer: &mut impl Observer) {
        self.turn_to(number, observer);
        let vcpu = &mut self.vcpus[self.current];
        vcpu.shadow.access(access);
        if let Some((id, stack)) = vcpu.executed
            && vcpu.region.is_some()
            && let Some(block) = self.code.get(id)
        {
            let step = Step { vcpu: number, id, block, stack };
            observer.access(&self.code, &self.stacks, Touch { step, access });
        }
    }

    /// Makes a vCPU the current one.
    #[inline]
    fn turn_to(&mut self, number: u32, observer: &mut impl Observer) {
        if self.vcpus.get(self.current).is_none_or(|vcpu| vcpu.number != number) {
            match self.places.get(&number) {
                Some(&place) => self.current = place,
                None => self.meet(number, observer),
            }
        }
    }

    /// A vCPU is seen for the first time.
    #[cold]
    fn meet(&mut self, number: u32, observer: &mut impl Observer) {
        let is_whole = self.header.coverage == Coverage::Whole;
        let region = is_whole.then_some(Region::Unmarked);
        if let Some(region) = region {
            observer.begin(number, region);
        }
        let shadow = ShadowStacks::new(self.header.scope);
        self.current = self.vcpus.len();
        self.places.insert(number, self.current);
        self.vcpus.push(Vcpu { number, shadow, region, executed: None });
    }

    /// A vCPU executes a mark. Returns whether a marked region ends there.
    fn mark(
        &mut self,
        number: u32,
        mark: Mark,
        repetition: u32,
        observer: &mut impl Observer,
    ) -> bool {
        self.turn_to(number, observer);
        let vcpu = &mut self.vcpus[self.current];
        let Mark { edge, region, operation } = mark;
        let is_whole = self.header.coverage == Coverage::Whole;
        let unmarked = is_whole.then_some(Region::Unmarked);
        let next = match edge {
            Edge::Begin => Some(Region::Marked { region, operation, repetition }),
            Edge::End => unmarked,
        };
        let ended = vcpu.region;
        if let Some(ended) = ended {
            // A mark that begins a region inside another, or ends a different one, cuts the current
            // one.
            let is_its_end = matches!(ended, Region::Marked { region: r, operation: o, .. }
                if edge == Edge::End && (r, o) == (region, operation));
            let is_whole = is_its_end || ended == Region::Unmarked;
            let completeness = if is_whole { Completeness::Whole } else { Completeness::Cut };
            observer.end(number, completeness);
        }
        if edge == Edge::Begin {
            if !is_whole {
                vcpu.shadow.forget();
            }
            vcpu.shadow.own();
        }
        vcpu.region = next;
        vcpu.executed = None;
        if let Some(region) = next {
            observer.begin(number, region);
        }
        matches!(ended, Some(Region::Marked { .. }))
    }
}
