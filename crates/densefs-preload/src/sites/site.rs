//! The `syscall` instructions of a text, and what a jump can be put over at each.

use std::ops::Range;

use super::{
    accumulator::{self, Effect},
    instruction::{self, Flow, Instruction},
    opcodes, scan,
    targets::Targets,
    text::Text,
};

/// The number of `rt_sigreturn`.
pub(super) const RETURN_FROM_SIGNAL: usize = 15;

/// What comes before the `syscall` of the function to which signal handlers return. Unwinders and
/// debuggers know that function by these bytes.
const RETURNER: [u8; 7] = [0x48, 0xc7, 0xc0, 15, 0, 0, 0];

/// The length of a jump to anywhere within 2 GiB.
pub(super) const JUMP: usize = 5;

/// How many instructions before a `syscall` are remembered.
const MOST_BEFORE: usize = 8;

/// How many instructions after a `syscall` may be moved.
const MOST_AFTER: usize = 3;

/// A place that makes a system call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Site {
    /// Where its `syscall` is in the text.
    pub(super) call: usize,
    /// The number of the system call, if it is always the same.
    pub(super) number: Option<usize>,
    /// What a jump may be put over; `None` if there is nothing.
    pub(super) window: Option<Window>,
}

/// Whole instructions that give way to a jump, and run elsewhere instead.
///
/// Either they all come before the `syscall`, which is then still where it was and is executed
/// there, or the `syscall` is among them.
pub(super) type Window = Range<usize>;

/// Calls `found` with each site of `text`, in order. Of those whose number is not `wanted`, only
/// the number is told.
pub(super) fn each(text: &Text, wanted: &dyn Fn(usize) -> bool, found: &mut impl FnMut(Site)) {
    let mut targets = Targets::new();
    let mut function = Function::none();
    let mut next = 0;
    while let Some(call) = scan::next(text.bytes, next) {
        next = call + 1;
        if let Some(number) = number_left(text.bytes, call, wanted) {
            found(Site { call, number: Some(number), window: None });
            continue;
        }
        if call >= function.range.end {
            function = Function::around(text, call);
        }
        match function.reach(text, call) {
            Reached::Call => found(site(text, wanted, &function, &mut targets)),
            // These bytes are part of another instruction.
            Reached::Other => {}
            Reached::Unknown => found(Site { call, number: None, window: None }),
        }
    }
}

/// The number that is loaded directly before the call, if that leaves no need to look closer: what
/// is left as it is needs no proof.
fn number_left(text: &[u8], call: usize, wanted: &dyn Fn(usize) -> bool) -> Option<usize> {
    if text[..call].ends_with(&RETURNER) {
        return Some(RETURN_FROM_SIGNAL);
    }
    let before = text[..call].last_chunk()?;
    // Not if the first byte may be a prefix or an opcode, and this the rest of its instruction.
    let [first @ (0x00..=0x3f | 0x50..=0xff), 0xb8, a, b, 0, 0] = *before else { return None };
    let may_go_on = opcodes::ONE_BYTE[usize::from(first)] & opcodes::OPERANDS != 0;
    let number = usize::from(u16::from_le_bytes([a, b]));
    (!may_go_on && !wanted(number)).then_some(number)
}

/// A function, decoded from its beginning on.
struct Function {
    range: Range<usize>,
    /// How far it is decoded.
    at: usize,
    /// Where the last instructions begin: that with the number `n` is at `n % MOST_BEFORE`.
    starts: [usize; MOST_BEFORE],
    /// How many instructions are decoded.
    count: usize,
}

/// What is where two bytes are those of a `syscall`.
enum Reached {
    Call,
    Other,
    Unknown,
}

impl Function {
    fn none() -> Self {
        Self { range: 0..0, at: 0, starts: [0; MOST_BEFORE], count: 0 }
    }

    fn around(text: &Text, offset: usize) -> Self {
        let range = text.function(offset).unwrap_or(offset..offset);
        Self { at: range.start, range, ..Self::none() }
    }

    /// Decodes up to `call`.
    fn reach(&mut self, text: &Text, call: usize) -> Reached {
        if self.range.is_empty() {
            return Reached::Unknown;
        }
        while self.at < call {
            let Some(step) = instruction::step(text.bytes, self.at) else {
                // What comes later in this function is as unknown.
                self.range.start = self.range.end;
                return Reached::Unknown;
            };
            self.starts[self.count % MOST_BEFORE] = self.at;
            self.count += 1;
            self.at = step.end;
        }
        if self.at == call { Reached::Call } else { Reached::Other }
    }

    /// The last instructions, the latest first.
    fn before(&self, text: &Text) -> impl Iterator<Item = Instruction> {
        let numbers = self.count.saturating_sub(MOST_BEFORE)..self.count;
        let starts = numbers.rev().map(|number| self.starts[number % MOST_BEFORE]);
        starts.map_while(|start| instruction::decode(text.bytes, start))
    }
}

/// The site at the call that `function` is decoded up to.
fn site(
    text: &Text,
    wanted: &dyn Fn(usize) -> bool,
    function: &Function,
    targets: &mut Targets,
) -> Site {
    let call = function.at;
    let number = number(text, wanted, function);
    if number.is_some_and(|number| !wanted(number)) {
        return Site { call, number, window: None };
    }
    if let Some(last) = function.before(text).next()
        && last.end - last.start >= JUMP
        && let Effect::Constant(_) = accumulator::effect(text.bytes, &last)
    {
        return Site { call, number, window: Some(last.start..last.end) };
    }
    targets.look_at(text, &function.range);
    Site { call, number, window: window(text, function, targets, call) }
}

/// The number that the instructions before the call load, or copy from a register. For loops and
/// locks, compilers keep the number in one all the time; then this is one that is not wanted, if
/// the function loads no other to that register.
fn number(text: &Text, wanted: &dyn Fn(usize) -> bool, function: &Function) -> Option<usize> {
    for instruction in function.before(text) {
        match accumulator::effect(text.bytes, &instruction) {
            Effect::None if instruction.flow == Flow::Next => {}
            Effect::Constant(number) => return Some(number),
            Effect::None => return None,
            Effect::Unknown => {
                let register = accumulator::source(text.bytes, &instruction)?;
                let code = &text.bytes[function.range.clone()];
                let mut last = None;
                for number in accumulator::loaded(code, register) {
                    if wanted(number) {
                        return None;
                    }
                    last = Some(number);
                }
                return last;
            }
        }
    }
    None
}

/// The best window: one that leaves the `syscall` where it is if there is such a one, and then the
/// shortest.
fn window(text: &Text, function: &Function, targets: &Targets, call: usize) -> Option<Window> {
    let mut end = call;
    let mut last = Flow::Next;
    for after in 0..=MOST_AFTER {
        if let Some(start) = start(text, function, targets, call..end) {
            return Some(start..end);
        }
        // What is after the call is moved only together with the call.
        if after == 0 {
            end = call + scan::SYSTEM_CALL.len();
            continue;
        }
        let instruction = instruction::decode(text.bytes, end)?;
        let is_movable = !targets.may_have(end)
            && if last == Flow::Next {
                is_movable_at_end(instruction.flow)
            } else {
                is_padding(text, &instruction)
            };
        if !is_movable {
            return None;
        }
        last = instruction.flow;
        end = instruction.end;
    }
    start(text, function, targets, call..end).map(|start| start..end)
}

/// Where the shortest window begins that ends with `rest`, which begins with the call unless it is
/// empty.
fn start(text: &Text, function: &Function, targets: &Targets, rest: Range<usize>) -> Option<usize> {
    let Range { mut start, end } = rest;
    for instruction in function.before(text) {
        if end - start >= JUMP {
            break;
        }
        // A branch to the call itself would pass by a jump that comes before it.
        if targets.may_have(start) || instruction.flow != Flow::Next {
            return None;
        }
        start = instruction.start;
    }
    (end - start >= JUMP).then_some(start)
}

/// Whether an instruction can be executed elsewhere, and may be the last one of those.
fn is_movable_at_end(flow: Flow) -> bool {
    match flow {
        Flow::Next | Flow::Jump(_) | Flow::Branch { .. } | Flow::Ends => true,
        Flow::Loop(_) | Flow::Call(_) | Flow::Computed | Flow::SystemCall => false,
    }
}

/// Whether this does nothing but fill the space up to the next function or label.
fn is_padding(text: &Text, instruction: &Instruction) -> bool {
    match text.bytes[instruction.opcode..instruction.end] {
        [0x90 | 0xcc] | [0x0f, 0x1f, ..] => instruction.extension & 1 == 0,
        _ => false,
    }
}
