//! Names for data: per-CPU variables, slabs, pages, stacks, and other variables.

use std::sync::Arc;

use footprint::description::{DataKind, DataObject, Description, TypeLayout};

use crate::SymbolsError;
use crate::btf::Btf;
use crate::kallsyms::Kallsyms;
use crate::memory::{self, Range, Usage};
use crate::symbol::SymbolTable;
use crate::touched::{KERNEL_BEGIN, TouchedAddresses};

const PAGE_BYTES: u64 = 4096;

const LINE_BYTES: u64 = 64;

/// By how much a cache's objects can at most exceed the size of their type, due to alignment.
const PADDING_BYTES_MAX: u32 = 64;

/// What processors need on entry to the kernel, such as stacks and interrupt tables: first address
/// and size (`Documentation/arch/x86/x86_64/mm.rst`).
const CPU_ENTRY_AREA: (u64, u64) = (0xffff_fe00_0000_0000, 1 << 39);

/// Variables whose names contain one of these are stacks.
const STACKS: [&str; 3] = ["init_stack", "init_thread_union", "stack_backing_store"];

/// Functions that map task stacks, by the names in `/proc/vmallocinfo`.
const STACK_MAKERS: [&str; 4] =
    ["kernel_clone", "copy_process", "dup_task_struct", "alloc_thread_stack_node"];

/// Adds the per-CPU variables that were accessed. Their location is taken from the memory table, or
/// else from the trace.
pub(super) fn per_cpu(
    touched: &TouchedAddresses,
    kallsyms: &Kallsyms,
    ranges: &[Range],
    data: &mut Vec<DataObject>,
) {
    let table = &kallsyms.per_cpu;
    let template = kallsyms.per_cpu_begin;
    let areas = ranges.iter().filter(|range| range.usage == Usage::PerCpu);
    let mut bases: Vec<u64> = areas.map(|range| range.address.wrapping_sub(template)).collect();
    if bases.is_empty() {
        bases.extend(touched.per_cpu_bases());
    }
    for base in bases {
        for symbol in table.symbols() {
            let address = base.wrapping_add(symbol.address);
            if touched.is_accessed(address, address.wrapping_add(symbol.bytes - 1)) {
                let (bytes, name) = (symbol.bytes, symbol.name.clone());
                let kind = DataKind::PerCpu;
                data.push(DataObject { address, bytes, kind, name, ..DataObject::default() });
            }
        }
    }
}

/// Adds the variables that were accessed.
pub(super) fn symbols(touched: &TouchedAddresses, table: &SymbolTable, data: &mut Vec<DataObject>) {
    for symbol in table.symbols().iter().filter(|symbol| symbol.bytes > 0) {
        let (address, bytes) = (symbol.address, symbol.bytes);
        // Includes functions, whose code may be read as data.
        if touched.is_accessed(address, address + (bytes - 1)) {
            let is_stack = STACKS.iter().any(|stack| symbol.name.contains(stack));
            let kind = if is_stack { DataKind::Stack } else { DataKind::Symbol };
            let name = symbol.name.clone();
            data.push(DataObject { address, bytes, kind, name, ..DataObject::default() });
        }
    }
}

/// Adds the slabs, page cache pages and page descriptors that were accessed, with the layouts of
/// their types.
pub(super) fn ranges(
    touched: &TouchedAddresses,
    ranges: &[Range],
    types: &[Arc<Btf>],
    description: &mut Description,
) {
    for range in ranges {
        let Range { address, bytes, usage } = range;
        if !touched.is_accessed(*address, address + (bytes - 1)) {
            continue;
        }
        let object = DataObject { address: *address, bytes: *bytes, ..DataObject::default() };
        match usage {
            Usage::Slab { element_bytes, object_bytes, cache } => {
                let layout = layout_of(cache, *object_bytes, types, &mut description.types);
                description.data.push(DataObject {
                    kind: DataKind::Slab,
                    name: cache.clone(),
                    element_bytes: Some(*element_bytes),
                    type_name: layout.map(|layout| layout.name.clone()),
                    ..object
                });
            }
            Usage::PageDescriptors => {
                let found = types.first().and_then(|btf| btf.layout("page"));
                let layout = found.map(|layout| keep(layout, &mut description.types));
                description.data.push(DataObject {
                    kind: DataKind::PageDescriptor,
                    name: "page".to_owned(),
                    element_bytes: layout.map(|layout| layout.bytes),
                    type_name: layout.map(|layout| layout.name.clone()),
                    ..object
                });
            }
            Usage::PageCache => description.data.push(DataObject {
                kind: DataKind::PageCache,
                name: "page cache".to_owned(),
                ..object
            }),
            // Per-CPU data of modules and from dynamic allocation has no more specific name.
            Usage::PerCpu => description.data.push(DataObject {
                kind: DataKind::PerCpu,
                name: "per-CPU area".to_owned(),
                ..object
            }),
            Usage::Memory => {}
        }
    }
    other_pages(touched, ranges, &mut description.data);
}

/// Adds accessed memory that nothing else names, in pieces of at most a page.
fn other_pages(touched: &TouchedAddresses, ranges: &[Range], data: &mut Vec<DataObject>) {
    let is_memory = |range: &&Range| range.usage == Usage::Memory;
    let (memory, others): (Vec<&Range>, Vec<&Range>) = ranges.iter().partition(is_memory);
    let end = |range: &Range| range.address.saturating_add(range.bytes);
    let mut named = 0;
    for line in touched.lines() {
        let is_in = |range: &&Range| range.address <= line && line < end(range);
        if line < named || !memory.iter().any(is_in) {
            continue;
        }
        let after = others.partition_point(|range| range.address <= line);
        let before = after.checked_sub(1).map_or(0, |index| end(others[index]));
        let page = line & !(PAGE_BYTES - 1);
        let address = page.max(before);
        if address >= line + LINE_BYTES {
            continue;
        }
        let next = others.get(after).map_or(u64::MAX, |range| range.address);
        let (name, kind) = ("page".to_owned(), DataKind::Page);
        named = next.min(page + PAGE_BYTES);
        let bytes = named - address;
        data.push(DataObject { address, bytes, kind, name, ..DataObject::default() });
    }
}

/// The layout of a cache's objects, if their type is known and its size fits. Adds it to `kept`.
fn layout_of<'a>(
    cache: &str,
    object_bytes: u32,
    types: &[Arc<Btf>],
    kept: &'a mut Vec<TypeLayout>,
) -> Option<&'a TypeLayout> {
    let name = memory::type_of_cache(cache);
    let fits = |bytes: u32| {
        // Both end in an array whose length depends on the machine.
        matches!(name, "task_struct" | "kmem_cache")
            || (bytes <= object_bytes && object_bytes - bytes < PADDING_BYTES_MAX)
    };
    let btf = types.iter().find(|btf| btf.bytes(name).is_some_and(fits))?;
    if let Some(index) = kept.iter().position(|layout| layout.name == name) {
        return Some(&kept[index]);
    }
    Some(keep(btf.layout(name)?, kept))
}

fn keep(layout: TypeLayout, kept: &mut Vec<TypeLayout>) -> &TypeLayout {
    let found = kept.iter().position(|one| one.name == layout.name);
    let index = found.unwrap_or_else(|| {
        kept.push(layout);
        kept.len() - 1
    });
    &kept[index]
}

/// Adds accessed vmalloc memory: task stacks, devices, and other mappings named after the function
/// that made them.
pub(super) fn mappings(
    touched: &TouchedAddresses,
    text: &str,
    data: &mut Vec<DataObject>,
) -> Result<(), SymbolsError> {
    for (number, line) in text.lines().enumerate() {
        let wrong = || SymbolsError::Line {
            what: "/proc/vmallocinfo (which needs the kernel argument no_hash_pointers)",
            line: number + 1,
            text: line.to_owned(),
        };
        let (address, bytes, rest) = mapping(line).ok_or_else(wrong)?;
        if !touched.is_accessed(address, address + (bytes - 1)) {
            continue;
        }
        let maker = rest.split(['+', ' ']).next().unwrap_or_default();
        let kind = if rest.contains(" ioremap") {
            DataKind::Device
        } else if STACK_MAKERS.contains(&maker) {
            DataKind::Stack
        } else {
            DataKind::Other
        };
        let name = if kind == DataKind::Stack { "stack" } else { maker }.to_owned();
        data.push(DataObject { address, bytes, kind, name, ..DataObject::default() });
    }
    Ok(())
}

/// Splits a line into address, size and rest: `0xADDRESS-0xEND   BYTES MAKER+0x1/0x2 pages=4 ...`.
fn mapping(line: &str) -> Option<(u64, u64, &str)> {
    let (range, rest) = line.split_once(' ')?;
    let (start, end) = range.split_once('-')?;
    let number = |text: &str| u64::from_str_radix(text.strip_prefix("0x")?, 16).ok();
    let (start, end) = (number(start)?, number(end)?);
    let (_, rest) = rest.trim_start().split_once(' ')?;
    (start >= KERNEL_BEGIN && start < end).then(|| (start, end - start, rest.trim_start()))
}

/// Adds user space and areas at fixed addresses, if they were accessed.
pub(super) fn fixed(touched: &TouchedAddresses, data: &mut Vec<DataObject>) {
    if touched.is_accessed(0, KERNEL_BEGIN - 1) {
        let (kind, name) = (DataKind::User, "user side".to_owned());
        data.push(DataObject { bytes: KERNEL_BEGIN, kind, name, ..DataObject::default() });
    }
    let (address, bytes) = CPU_ENTRY_AREA;
    if touched.is_accessed(address, address + (bytes - 1)) {
        let name = "cpu_entry_area".to_owned();
        data.push(DataObject { address, bytes, name, ..DataObject::default() });
    }
}
