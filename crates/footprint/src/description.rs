//! What a trace is about and what its addresses are called, stored inside the trace as JSON.
//!
//! A trace alone contains only addresses. The description makes it readable elsewhere, without the
//! kernel, the programs and the libraries that were traced. It only covers what the trace touches.
//! All lists are sorted by address, so that a reader can search them; [`Description::sort`] sorts
//! them.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use textual::plain_text;

/// What a trace is about and what its addresses are called.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Description {
    /// What was traced.
    pub subject: Subject,
    /// What the region numbers in marks stand for: labels of targets.
    pub regions: Vec<NumberedName>,
    /// What the operation numbers in marks stand for.
    pub operations: Vec<NumberedName>,
    /// How many times each operation of each region was executed.
    pub repetitions: Repetitions,
    /// The executed functions, sorted by address, not overlapping.
    pub functions: Vec<Function>,
    /// The executed inlined functions, sorted by address, then by depth.
    pub inlined: Vec<Inlined>,
    /// The accessed data that has a name, sorted by address. An object inside another follows it.
    pub data: Vec<DataObject>,
    /// The layouts of the types referred to by [`DataObject::type_name`], sorted by name.
    pub types: Vec<TypeLayout>,
    /// Which names are missing that a trace usually has, and why, as the end of a sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing: Option<String>,
}

/// What was traced.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subject {
    /// In one line: a kernel's release, or a program's command line.
    pub title: String,
    /// The kernel's release as in `uname -r`, if a machine was traced.
    pub kernel: Option<String>,
    /// The program and its arguments, if a program was traced.
    pub command: Vec<String>,
    /// The version of the QEMU that made the trace, as it reports it.
    pub qemu: Option<String>,
    /// The CPU model that QEMU emulated, for instance `max`.
    pub processor: Option<String>,
    /// Named values that identify what was traced: a build id, the hash of a recipe.
    #[serde(default)]
    pub identities: Vec<Identity>,
}

/// A named value.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// What the value is, for instance `build_id of vmlinux`.
    pub name: String,
    /// The value.
    pub value: String,
}

/// What a number in marks stands for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NumberedName {
    /// The number in marks: a region below 64, or an operation below 4096.
    pub number: u16,
    /// What it is called: the label of a target, or the name of an operation.
    pub name: String,
}

/// How many times each operation of each region was executed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Repetitions {
    /// Repetitions not to be studied, at the start: repetitions 0 to `warm_up - 1` of a mark.
    pub warm_up: u32,
    /// Repetitions to be studied, after the warm-up.
    pub traced: u32,
}

/// One function that was executed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Function {
    /// Address of its first byte in the trace, that is, after relocation.
    pub address: u64,
    /// Size of its code in bytes.
    pub bytes: u64,
    /// Its symbol's name.
    pub name: String,
    /// Where it is: `vmlinux`, a kernel module's name, or a program's or library's path.
    pub object: String,
    /// The source file that defines it, relative to the source tree, if known.
    pub file: Option<String>,
    /// The line in that file, from 1, if known.
    pub line: Option<u32>,
}

/// Code of one function inlined into another, according to DWARF.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Inlined {
    /// Address of the range's first byte. A function inlined in several ranges has several entries.
    pub address: u64,
    /// Size of the range in bytes.
    pub bytes: u64,
    /// How many inlined functions contain this one: 0 if it is directly in the [`Function`].
    pub depth: u16,
    /// The name of the inlined function.
    pub name: String,
    /// The source file that defines the inlined function, relative to the source tree, if known.
    pub file: Option<String>,
    /// The line of the call, from 1, in the file of the surrounding function, if known.
    pub call_line: Option<u32>,
}

/// What kind of data an object is.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum DataKind {
    /// A symbol of the kernel, a program or a library.
    Symbol,
    /// A per-CPU variable.
    PerCpu,
    /// A slab: pages that contain objects of one size.
    Slab,
    /// Pages of the page cache.
    PageCache,
    /// Page descriptors (`struct page`).
    PageDescriptor,
    /// Any other page.
    Page,
    /// A stack of a task or for interrupts.
    Stack,
    /// A program's heap.
    Heap,
    /// Device memory mapped by a driver.
    Device,
    /// User space of a machine.
    User,
    /// None of these.
    #[default]
    Other,
}

/// Data that has a name.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DataObject {
    /// Address of its first byte in the trace.
    pub address: u64,
    /// Size in bytes.
    pub bytes: u64,
    /// What kind of data it is.
    pub kind: DataKind,
    /// Its name: of a symbol, a slab cache, or a mapping.
    pub name: String,
    /// The distance between elements in bytes, if the data is a sequence of elements, as in a slab.
    pub element_bytes: Option<u32>,
    /// The name of its type, or of its elements' type, in [`Description::types`], if known.
    pub type_name: Option<String>,
}

/// The layout of a type.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TypeLayout {
    /// Its name in DWARF or BTF, for instance `inode` or `xfs_inode`.
    pub name: String,
    /// Size of a value in bytes.
    pub bytes: u32,
    /// Its fields, sorted by offset. Fields of nested types are named by path: `i_data.host`.
    pub fields: Vec<Field>,
}

/// One field of a type.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Field {
    /// Offset of its first byte in the type.
    pub offset: u32,
    /// Size in bytes; fields of a union and bit fields may share bytes.
    pub bytes: u32,
    /// Its name.
    pub name: String,
}

impl Description {
    /// Sorts all lists as described in the module documentation.
    pub fn sort(&mut self) {
        self.regions.sort_by_key(|named| named.number);
        self.operations.sort_by_key(|named| named.number);
        self.functions.sort_by_key(|function| function.address);
        self.inlined.sort_by_key(|inlined| (inlined.address, inlined.depth));
        self.data.sort_by_key(|object| (object.address, std::cmp::Reverse(object.bytes)));
        self.types.sort_by(|a, b| a.name.cmp(&b.name));
        for layout in &mut self.types {
            layout.fields.sort_by_key(|field| (field.offset, std::cmp::Reverse(field.bytes)));
        }
    }

    /// Removes terminal control sequences from all texts, which are untrusted: a trace may come
    /// from anyone, and paths of a program's files can contain anything.
    pub fn make_plain(&mut self) {
        let Self { subject, regions, operations, functions, inlined, data, types, missing, .. } =
            self;
        let Subject { title, kernel, command, qemu, processor, identities } = subject;
        let own = [kernel, qemu, processor, missing].into_iter().flatten();
        own.chain([title]).chain(command).for_each(plain);
        for Identity { name, value } in identities {
            plain(name);
            plain(value);
        }
        regions.iter_mut().chain(operations).for_each(|named| plain(&mut named.name));
        for Function { name, object, file, .. } in functions {
            [name, object].into_iter().chain(file).for_each(plain);
        }
        for Inlined { name, file, .. } in inlined {
            std::iter::once(name).chain(file).for_each(plain);
        }
        for DataObject { name, type_name, .. } in data {
            std::iter::once(name).chain(type_name).for_each(plain);
        }
        for TypeLayout { name, fields, .. } in types {
            let fields = fields.iter_mut().map(|field| &mut field.name);
            std::iter::once(name).chain(fields).for_each(plain);
        }
    }

    /// The function that contains an address.
    #[must_use]
    pub fn function(&self, address: u64) -> Option<&Function> {
        self.function_number(address).map(|number| &self.functions[number])
    }

    /// The index in [`functions`](Self::functions) of the function that contains an address.
    #[must_use]
    pub(crate) fn function_number(&self, address: u64) -> Option<usize> {
        let after = self.functions.partition_point(|function| function.address <= address);
        let number = after.checked_sub(1)?;
        let function = &self.functions[number];
        (address - function.address < function.bytes).then_some(number)
    }

    /// The inlined functions around an address, outermost first.
    #[must_use]
    pub fn inlined(&self, address: u64) -> Vec<&Inlined> {
        let after = self.inlined.partition_point(|inlined| inlined.address <= address);
        // Nothing before the function's start can contain an address in it.
        let start = self.function(address).map_or(0, |function| function.address);
        let before = self.inlined[..after].iter().rev();
        let near = before.take_while(|inlined| inlined.address >= start);
        let mut found = near.filter(|i| address - i.address < i.bytes).collect::<Vec<_>>();
        found.sort_by_key(|inlined| inlined.depth);
        found
    }
}

fn plain(text: &mut String) {
    if let Cow::Owned(plain) = plain_text(text) {
        *text = plain;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_orders_a_terminal_about() {
        let hostile = || "\u{1b}[2J\u{202e}".to_owned();
        let named = || vec![NumberedName { number: 1, name: hostile() }];
        let field = Field { name: hostile(), ..Field::default() };
        let mut description = Description {
            subject: Subject {
                title: hostile(),
                kernel: Some(hostile()),
                command: vec![hostile()],
                qemu: Some(hostile()),
                processor: Some(hostile()),
                identities: vec![Identity { name: hostile(), value: hostile() }],
            },
            regions: named(),
            operations: named(),
            functions: vec![Function {
                name: hostile(),
                object: hostile(),
                file: Some(hostile()),
                ..Function::default()
            }],
            inlined: vec![Inlined { name: hostile(), file: Some(hostile()), ..Inlined::default() }],
            data: vec![DataObject {
                name: hostile(),
                type_name: Some(hostile()),
                ..DataObject::default()
            }],
            types: vec![TypeLayout { name: hostile(), fields: vec![field], bytes: 0 }],
            missing: Some(hostile()),
            ..Description::default()
        };
        let orders = |description: &Description| {
            let said = serde_json::to_string(description).expect("it has names for keys");
            said.matches("\\u001b").count() + said.matches('\u{202e}').count()
        };
        assert_eq!(orders(&description), 2 * 19);
        description.make_plain();
        assert_eq!(orders(&description), 0);
    }

    #[test]
    fn addresses_find_what_is_around_them() {
        let function = |address, bytes| Function { address, bytes, ..Function::default() };
        let inlined =
            |address, bytes, depth| Inlined { address, bytes, depth, ..Inlined::default() };
        let mut description = Description {
            functions: vec![function(0x200, 0x80), function(0x100, 0x80)],
            inlined: vec![inlined(0x110, 8, 1), inlined(0x108, 0x20, 0), inlined(0x210, 4, 0)],
            ..Description::default()
        };
        description.sort();
        let number = |address| description.function_number(address);
        assert_eq!(
            [0xff, 0x100, 0x17f, 0x180, 0x200].map(number),
            [None, Some(0), Some(0), None, Some(1)]
        );
        let depths =
            |address| description.inlined(address).iter().map(|i| i.depth).collect::<Vec<_>>();
        assert_eq!([depths(0x107), depths(0x108), depths(0x117)], [vec![], vec![0], vec![0, 1]]);
        assert_eq!([depths(0x118), depths(0x211), depths(0x214)], [vec![0], vec![0], vec![]]);
    }
}
