//! Functions that were executed, their source locations, and what is inlined into them.

use footprint::description::{Description, Function, Inlined};

use crate::SymbolsError;
use crate::dwarf::{DebugInfo, InlinedFrame, Lines};
use crate::elf::Binary;
use crate::symbol::SymbolTable;
use crate::touched::TouchedAddresses;

/// The functions that were executed, each with its object's number.
pub(super) fn functions(touched: &TouchedAddresses, table: &SymbolTable) -> Vec<(Function, u32)> {
    let mut functions = Vec::<(Function, u32)>::new();
    for (address, _) in touched.instructions() {
        let is_in = |function: &Function| address - function.address < function.bytes;
        if functions.last().is_some_and(|(function, _)| is_in(function)) {
            continue;
        }
        let Some(symbol) = table.at(address) else { continue };
        let function = Function {
            address: symbol.address,
            bytes: symbol.bytes,
            name: symbol.name.clone(),
            object: table.object(symbol).to_owned(),
            file: None,
            line: None,
        };
        functions.push((function, symbol.object));
    }
    functions
}

/// Adds the source locations of one object's functions, and what is inlined into them.
pub(super) fn sources(
    touched: &TouchedAddresses,
    binary: &Binary,
    bias: u64,
    object: u32,
    functions: &mut [(Function, u32)],
    description: &mut Description,
) -> Result<(), SymbolsError> {
    let mut own = functions.iter_mut().filter(|(_, number)| *number == object).peekable();
    if own.peek().is_none() {
        return Ok(());
    }
    let Some(debug) = DebugInfo::read(binary)? else { return Ok(()) };
    let mut lines = debug.lines()?;
    for (function, _) in own {
        let source = lines.source(function.address.wrapping_sub(bias));
        (function.file, function.line) = (source.file, source.line);
        inlined(touched, &mut lines, bias, function, &mut description.inlined);
    }
    Ok(())
}

/// Adds what is inlined around the executed instructions of a function.
fn inlined(
    touched: &TouchedAddresses,
    lines: &mut Lines<'_>,
    bias: u64,
    function: &Function,
    inlined: &mut Vec<Inlined>,
) {
    let last = function.address + (function.bytes - 1);
    // The inlined frames around the previous instruction, by depth.
    let mut open = Vec::<(InlinedFrame, u64)>::new();
    let mut end = function.address;
    for (address, bytes) in touched.instructions_within(function.address, last) {
        let frames = lines.inlined(address.wrapping_sub(bias));
        let is_next = address == end;
        let same = open.iter().zip(&frames).take_while(|((one, _), other)| one == *other).count();
        close(&mut open, if is_next { same } else { 0 }, end, inlined);
        open.extend(frames.into_iter().skip(open.len()).map(|frame| (frame, address)));
        end = address + u64::from(bytes);
    }
    close(&mut open, 0, end, inlined);
}

/// Adds the ranges that end here: those from `depth` on.
fn close(open: &mut Vec<(InlinedFrame, u64)>, depth: usize, end: u64, inlined: &mut Vec<Inlined>) {
    for (depth, (frame, address)) in (depth..).zip(open.drain(depth..)) {
        let InlinedFrame { name, file, call_line } = frame;
        let (bytes, depth) = (end - address, u16::try_from(depth).unwrap_or(u16::MAX));
        inlined.push(Inlined { address, bytes, depth, name, file, call_line });
    }
}
