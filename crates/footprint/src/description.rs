//! What a trace is about and what its addresses are called, kept inside the trace as JSON.
//!
//! A trace alone has addresses. This is what makes it readable elsewhere, without the kernel, the
//! programs and the libraries it was made of. Only what the trace touches is kept. All lists are
//! sorted by address, so that a reader can search them; [`Description::sort`] brings them there.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use textual::plain_text;

/// What a trace is about and what its addresses are called.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Description {
    /// What was traced.
    pub subject: Subject,
    /// What the numbers of regions in marks stand for: the labels of the targets.
    pub regions: Vec<Named>,
    /// What the numbers of operations in marks stand for.
    pub operations: Vec<Named>,
    /// How often each operation of each region was executed.
    pub repetitions: Repetitions,
    /// The functions executed, sorted by address, not overlapping.
    pub functions: Vec<Function>,
    /// The inlined functions executed, sorted by address, then by depth.
    pub inlined: Vec<Inlined>,
    /// The data accessed that has a name, sorted by address. One within another follows it.
    pub data: Vec<DataObject>,
    /// The layouts of the types that [`DataObject::type_name`] names, sorted by name.
    pub types: Vec<TypeLayout>,
    /// Which names are missing that a trace has otherwise, and why, as the end of a sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing: Option<String>,
}

/// What was traced.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subject {
    /// In one line: a kernel's release, or a program's command line.
    pub title: String,
    /// The kernel's release as `uname -r` says it, where the trace is of a machine.
    pub kernel: Option<String>,
    /// The program and its arguments, where the trace is of a program.
    pub command: Vec<String>,
    /// The release of QEMU that made the trace, as it says it.
    pub qemu: Option<String>,
    /// The processor that QEMU was told to be, for instance `max`.
    pub processor: Option<String>,
    /// Names with values that identify what was traced: a build id, the hash of a recipe.
    #[serde(default)]
    pub identities: Vec<Identity>,
}

/// One name with its value.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// What the value is, for instance `build_id of vmlinux`.
    pub name: String,
    /// The value.
    pub value: String,
}

/// What one number in a mark stands for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Named {
    /// The number in the mark: a region below 64, an operation below 4096.
    pub number: u16,
    /// What it is called: the label of a target, or the name of an operation.
    pub name: String,
}

/// How often each operation of each region was executed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Repetitions {
    /// The repetitions before those to study: repetitions 0 to `warm_up - 1` of a mark.
    pub warm_up: u32,
    /// The repetitions to study, after them.
    pub traced: u32,
}

/// One function that was executed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Function {
    /// Of its first byte, as the trace has it (after relocation).
    pub address: u64,
    /// How many bytes of code it has from there.
    pub bytes: u64,
    /// Its name as its symbol has it.
    pub name: String,
    /// Where it is: `vmlinux`, a kernel module's name, a program's or library's path.
    pub object: String,
    /// The source file that defines it, relative to the tree, where it is known.
    pub file: Option<String>,
    /// The line there, from 1, where it is known.
    pub line: Option<u32>,
}

/// Code of one function that stands within another, as DWARF knows.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Inlined {
    /// Of the first byte of this range. A function inlined in several ranges has several entries.
    pub address: u64,
    /// How many bytes of code the range has.
    pub bytes: u64,
    /// How many inlined functions this one is within: 0 directly within the [`Function`].
    pub depth: u16,
    /// The name of the inlined function.
    pub name: String,
    /// The source file that defines the inlined function, relative to the tree, where known.
    pub file: Option<String>,
    /// The line of the call, from 1, in the file of the function around it, where known.
    pub call_line: Option<u32>,
}

/// What kind of thing some data is.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum DataKind {
    /// A symbol of the kernel, a program or a library.
    Symbol,
    /// A variable of one processor.
    PerCpu,
    /// A slab: pages of objects of one size.
    Slab,
    /// A page or pages of the page cache.
    PageCache,
    /// The descriptor of a page (`struct page`).
    PageDescriptor,
    /// Another page.
    Page,
    /// A stack of a task or of interrupts.
    Stack,
    /// A program's heap.
    Heap,
    /// Memory that a driver maps to a device.
    Device,
    /// The user side of a machine.
    User,
    /// Known by address alone.
    #[default]
    Other,
}

/// Data that has a name.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DataObject {
    /// Of its first byte, as the trace has it.
    pub address: u64,
    /// How many bytes it has.
    pub bytes: u64,
    /// What kind of thing it is.
    pub kind: DataKind,
    /// What it is called: a symbol, a slab cache, a mapping.
    pub name: String,
    /// The bytes from one object of a slab to the next, where the data is a sequence of equals.
    pub element_bytes: Option<u32>,
    /// The name of its type, or its elements', among [`Description::types`], where known.
    pub type_name: Option<String>,
}

/// The layout of a type.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TypeLayout {
    /// As DWARF has it, for instance `inode` or `xfs_inode`.
    pub name: String,
    /// How many bytes a value has.
    pub bytes: u32,
    /// Its fields, sorted by offset. Those of nested types are named by path: `i_data.host`.
    pub fields: Vec<Field>,
}

/// One field of a type.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Field {
    /// Its first byte's distance from the type's.
    pub offset: u32,
    /// How many bytes it has; several fields of a union or of bits may share bytes.
    pub bytes: u32,
    /// What it is called.
    pub name: String,
}

impl Description {
    /// Sorts all lists as this module says.
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

    /// Makes what a terminal would obey plain in all texts: whoever wrote them may have been
    /// anybody, and the paths of a program's files can hold anything.
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

    /// The function that an address is in.
    #[must_use]
    pub fn function(&self, address: u64) -> Option<&Function> {
        self.function_number(address).map(|number| &self.functions[number])
    }

    /// The number, in [`functions`](Self::functions), of the function that an address is in.
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
        // Nothing before the function's start is around an address in it.
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
        let named = || vec![Named { number: 1, name: hostile() }];
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
