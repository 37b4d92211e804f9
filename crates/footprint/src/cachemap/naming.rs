//! Names for bytes of data: the object, the offset in it, and the fields.

use crate::description::{DataKind, DataObject, Description, Field};

/// How many fields of one object are named per line; any more are shown as dots.
const FIELDS_MAX: usize = 3;

/// Looks data up by address.
#[derive(Clone, Debug)]
pub(super) struct DataNames<'a> {
    description: &'a Description,
    /// The largest end among each object and those before it, which says when a search can stop.
    reach: Vec<u64>,
}

/// An object, or one element of a sequence of objects.
#[derive(Clone, Copy, Debug)]
struct Element<'a> {
    object: &'a DataObject,
    /// The address of its first byte.
    address: u64,
}

impl<'a> DataNames<'a> {
    pub(super) fn new(description: &'a Description) -> Self {
        let ends = description.data.iter().scan(0, |reach: &mut u64, object| {
            *reach = (*reach).max(object.address.saturating_add(object.bytes));
            Some(*reach)
        });
        Self { description, reach: ends.collect() }
    }

    /// The name of some bytes of one line, given in address order: `dentry+0x38 d_lockref`.
    pub(super) fn name_of(&self, addresses: impl Iterator<Item = u64>) -> String {
        let mut parts: Vec<ElementBytes<'_>> = Vec::new();
        for address in addresses {
            let Some(element) = self.element(address) else { continue };
            let is_new = parts.last().is_none_or(|part| part.element.address != element.address);
            if is_new {
                parts.push(ElementBytes { element, first: address, fields: Vec::new() });
            }
            if let Some(part) = parts.last_mut()
                && let Some(field) = self.field(element, address - element.address)
                && !part.fields.contains(&field)
            {
                part.fields.push(field);
            }
        }
        let mut names: Vec<String> = parts.iter().map(ElementBytes::name).collect();
        names.dedup();
        names.join(", ")
    }

    /// The innermost object that contains a byte.
    fn element(&self, address: u64) -> Option<Element<'a>> {
        let data = &self.description.data;
        let after = data.partition_point(|object| object.address <= address);
        let reached = (0..after).rev().take_while(|&index| self.reach[index] > address);
        let mut around = reached.map(|index| &data[index]);
        let object = around.find(|object| address - object.address < object.bytes)?;
        let element_bytes = object.element_bytes.filter(|&bytes| bytes > 0).map(u64::from);
        let within = element_bytes.map_or(0, |bytes| (address - object.address) / bytes * bytes);
        Some(Element { object, address: object.address + within })
    }

    /// The field at an offset of an element, or the smallest if several overlap.
    fn field(&self, element: Element<'_>, offset: u64) -> Option<&'a str> {
        let name = element.object.type_name.as_deref()?;
        let types = &self.description.types;
        let at = types.binary_search_by(|layout| layout.name.as_str().cmp(name)).ok()?;
        let contains = |field: &&Field| {
            let from = u64::from(field.offset);
            (from..from + u64::from(field.bytes)).contains(&offset)
        };
        let fields = types[at].fields.iter().filter(contains);
        fields.min_by_key(|field| field.bytes).map(|field| field.name.as_str())
    }
}

/// The bytes of one element in one line.
#[derive(Clone, Debug)]
struct ElementBytes<'a> {
    element: Element<'a>,
    /// The first byte touched.
    first: u64,
    fields: Vec<&'a str>,
}

impl ElementBytes<'_> {
    fn name(&self) -> String {
        let DataObject { kind, name, .. } = self.element.object;
        let name = match kind {
            // Offsets in a stack or a page are meaningless.
            DataKind::Stack => return "stack".to_owned(),
            DataKind::Page | DataKind::PageCache | DataKind::User | DataKind::Heap => {
                return name.clone();
            }
            DataKind::PerCpu => format!("per-CPU {name}"),
            DataKind::Symbol
            | DataKind::Slab
            | DataKind::PageDescriptor
            | DataKind::Device
            | DataKind::Other => name.clone(),
        };
        let offset = self.first - self.element.address;
        let mut text = if offset == 0 { name } else { format!("{name}+{offset:#x}") };
        for (index, field) in self.fields.iter().enumerate() {
            match index {
                0 => text.extend([" ", field]),
                1..FIELDS_MAX => text.extend([" ", field]),
                FIELDS_MAX => text.push_str(" ..."),
                _ => {}
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use crate::description::TypeLayout;

    use super::*;

    fn object(address: u64, bytes: u64, kind: DataKind, name: &str) -> DataObject {
        DataObject { address, bytes, kind, name: name.to_owned(), ..DataObject::default() }
    }

    fn field(offset: u32, bytes: u32, name: &str) -> Field {
        Field { offset, bytes, name: name.to_owned() }
    }

    fn description() -> Description {
        let slab = DataObject {
            element_bytes: Some(0x80),
            type_name: Some("dentry".to_owned()),
            ..object(0x1000, 0x1000, DataKind::Slab, "dentry")
        };
        let fields =
            vec![field(0, 4, "d_flags"), field(0x30, 16, "d_lockref"), field(0x34, 4, "count")];
        let layout = TypeLayout { name: "dentry".to_owned(), bytes: 0x78, fields };
        let mut description = Description {
            data: vec![
                slab,
                object(0x4000, 0x100, DataKind::PerCpu, "runqueues"),
                object(0x4000, 0x4000, DataKind::Stack, "init_stack"),
                object(0x9000, 8, DataKind::Symbol, "jiffies"),
                object(0x9008, 0x80, DataKind::Symbol, "init_task"),
            ],
            types: vec![layout],
            ..Description::default()
        };
        description.sort();
        description
    }

    #[test]
    fn bytes_are_named_by_object_place_and_field() {
        let description = description();
        let names = DataNames::new(&description);
        let of = |addresses: &[u64]| names.name_of(addresses.iter().copied());
        assert_eq!(of(&[0x10b0, 0x10b4]), "dentry+0x30 d_lockref count", "the second element");
        assert_eq!(of(&[0x1080]), "dentry d_flags");
        assert_eq!(of(&[0x1078]), "dentry+0x78", "behind all fields");
        assert_eq!(of(&[0x4040]), "per-CPU runqueues+0x40", "within what lies around it");
        assert_eq!(of(&[0x4200, 0x4208]), "stack");
        assert_eq!(of(&[0x9000, 0x9008, 0x9010]), "jiffies, init_task");
        assert_eq!(of(&[0x8ff0, 0xff00]), "", "unknown");
    }
}
