//! The kernel's types, in its compact format BTF (`Documentation/bpf/btf.rst`).
//!
//! The kernel exposes its types at `/sys/kernel/btf/vmlinux`. The types of a module are in a file
//! beside it, whose type numbers and string offsets continue where the kernel's end. Everything is
//! checked once, when it is read; after that, computing a type's layout only needs to guard against
//! types that contain themselves.

use std::sync::Arc;

use footprint::description::{Field, TypeLayout};

use crate::SymbolsError;

/// Arrays of structures up to this length have their elements named individually.
const ELEMENTS_MAX: u32 = 16;

/// Limits on nested types, and on fields, beyond which a layout is rejected.
const DEPTH_MAX: usize = 32;
const FIELDS_MAX: usize = 1 << 14;

const HEADER_BYTES: usize = 24;

/// All types of a kernel, or of a module and its kernel.
#[derive(Debug)]
pub struct Btf {
    base: Option<Arc<Btf>>,
    /// The type section, and where each type begins in it.
    section: Vec<u8>,
    begins: Vec<u32>,
    strings: Vec<u8>,
    /// Number of the first type here; 0 is `void`.
    first: u32,
    /// Offset of the first string here.
    first_string: u32,
}

/// Kinds of types, as in `include/uapi/linux/btf.h`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TypeKind {
    Int,
    Pointer,
    Array,
    Struct,
    Union,
    Enum,
    Enum64,
    /// Another name for a type, or a qualified type.
    Alias,
    Float,
    Other,
}

/// A type: the fields that all kinds have, and the bytes specific to its kind.
#[derive(Clone, Copy, Debug)]
struct Type<'a> {
    name: u32,
    kind: TypeKind,
    has_bits: bool,
    /// Size in bytes, or the number of another type.
    size: u32,
    extra: &'a [u8],
}

/// A member of a structure or union.
struct Member<'a> {
    name: &'a str,
    id: u32,
    bit_offset: u32,
    /// Width of a bit field; 0 for other members.
    bits: u32,
}

impl Btf {
    /// Reads the types of a kernel; `what` names it in errors.
    ///
    /// # Errors
    /// The bytes are not BTF of this byte order, or refer to missing types or names.
    pub fn parse(what: &str, bytes: &[u8]) -> Result<Self, SymbolsError> {
        Self::parse_with(what, bytes, None)
    }

    /// Reads the types of a module of the given kernel.
    ///
    /// # Errors
    /// As [`parse`](Self::parse).
    pub fn parse_module(
        what: &str,
        bytes: &[u8],
        kernel: &Arc<Self>,
    ) -> Result<Self, SymbolsError> {
        Self::parse_with(what, bytes, Some(Arc::clone(kernel)))
    }

    fn parse_with(what: &str, bytes: &[u8], base: Option<Arc<Self>>) -> Result<Self, SymbolsError> {
        let wrong = |why| SymbolsError::Btf { what: what.to_owned(), why };
        let (section, strings) = sections(bytes).ok_or_else(|| wrong("its header"))?;
        let first = base.as_ref().map_or(1, |base| base.end());
        let first_string = base.as_ref().map_or(0, |base| base.strings_end());
        let (section, strings) = (section.to_vec(), strings.to_vec());
        let mut btf = Self { base, section, begins: Vec::new(), strings, first, first_string };
        let mut at = 0;
        while at < btf.section.len() {
            let length = Type::length(&btf.section[at..]).ok_or_else(|| wrong("a type"))?;
            btf.begins.push(u32::try_from(at).map_err(|_| wrong("its size"))?);
            at += length;
        }
        let is_terminated = btf.strings.last().is_none_or(|&last| last == 0);
        if !is_terminated || !btf.is_sound() {
            return Err(wrong("a reference to a missing type or name"));
        }
        Ok(btf)
    }

    /// The number after the last type here.
    fn end(&self) -> u32 {
        self.first + u32::try_from(self.begins.len()).unwrap_or(0)
    }

    fn strings_end(&self) -> u32 {
        self.first_string + u32::try_from(self.strings.len()).unwrap_or(0)
    }

    /// Whether all names and types that types refer to exist.
    fn is_sound(&self) -> bool {
        (self.first..self.end()).all(|id| {
            let Some(ty) = self.get(id) else { return false };
            let refers = match ty.kind {
                TypeKind::Pointer | TypeKind::Alias => ty.size < self.end(),
                TypeKind::Array => ty.word(0) < self.end(),
                TypeKind::Struct | TypeKind::Union => {
                    ty.extra.as_chunks::<12>().0.iter().all(|member| {
                        word(member, 0) < self.strings_end() && word(member, 1) < self.end()
                    })
                }
                TypeKind::Int
                | TypeKind::Enum
                | TypeKind::Enum64
                | TypeKind::Float
                | TypeKind::Other => true,
            };
            refers && ty.name < self.strings_end()
        })
    }

    fn get(&self, id: u32) -> Option<Type<'_>> {
        if id < self.first {
            return self.base.as_ref()?.get(id);
        }
        let begin = *self.begins.get((id - self.first) as usize)? as usize;
        Type::read(self.section.get(begin..)?)
    }

    fn string(&self, offset: u32) -> &str {
        if offset < self.first_string {
            return self.base.as_ref().map_or("", |base| base.string(offset));
        }
        let rest = self.strings.get((offset - self.first_string) as usize..).unwrap_or_default();
        let end = rest.iter().position(|&byte| byte == 0).unwrap_or(rest.len());
        str::from_utf8(&rest[..end]).unwrap_or("")
    }

    fn is_named(&self, offset: u32, name: &str) -> bool {
        if offset < self.first_string {
            return self.base.as_ref().is_some_and(|base| base.is_named(offset, name));
        }
        let rest = self.strings.get((offset - self.first_string) as usize..).unwrap_or_default();
        rest.strip_prefix(name.as_bytes()).is_some_and(|rest| rest.first() == Some(&0))
    }

    /// The first type with this name and one of these kinds.
    fn find(&self, name: &str, kinds: &[TypeKind]) -> Option<Type<'_>> {
        let own = (self.first..self.end())
            .filter_map(|id| self.get(id))
            .find(|ty| kinds.contains(&ty.kind) && self.is_named(ty.name, name));
        own.or_else(|| self.base.as_ref()?.find(name, kinds))
    }

    /// Size of a structure or union in bytes; `None` if there is none with this name.
    pub fn bytes(&self, name: &str) -> Option<u32> {
        Some(self.find(name, &[TypeKind::Struct, TypeKind::Union])?.size)
    }

    /// The layout of a structure or union. Fields of nested types are named by path, and short
    /// arrays of structures are expanded into their elements. `None` if there is no type with this
    /// name, or it contains itself.
    pub fn layout(&self, name: &str) -> Option<TypeLayout> {
        let ty = self.find(name, &[TypeKind::Struct, TypeKind::Union])?;
        let mut fields = Vec::new();
        self.flatten(
            ty,
            &NestedPosition { bit_offset: 0, path: String::new(), depth: 0 },
            &mut fields,
        )?;
        fields.sort_by_key(|field: &Field| (field.offset, std::cmp::Reverse(field.bytes)));
        Some(TypeLayout { name: name.to_owned(), bytes: ty.size, fields })
    }

    /// The value of an enumeration's constant; `None` if it does not exist.
    pub fn constant(&self, enumeration: &str, name: &str) -> Option<u32> {
        let ty = self.find(enumeration, &[TypeKind::Enum])?;
        let constants = ty.extra.as_chunks::<8>().0;
        let found = constants.iter().find(|constant| self.is_named(word(*constant, 0), name))?;
        Some(word(found, 1))
    }

    /// The offset and the size of a structure's member, in bits. Members of unnamed structures in
    /// it count as its own.
    pub(crate) fn member_bits(&self, structure: &str, member: &str) -> Option<(u32, u32)> {
        let ty = self.find(structure, &[TypeKind::Struct, TypeKind::Union])?;
        self.member_of(ty, member, 0)
    }

    fn member_of(&self, ty: Type<'_>, wanted: &str, depth: usize) -> Option<(u32, u32)> {
        for member in self.members(ty) {
            let of = self.resolve(member.id)?;
            if member.name == wanted {
                let bits = if member.bits > 0 { member.bits } else { self.size(of, 0)? * 8 };
                return Some((member.bit_offset, bits));
            }
            let is_nested = matches!(of.kind, TypeKind::Struct | TypeKind::Union);
            if member.name.is_empty()
                && is_nested
                && depth < DEPTH_MAX
                && let Some((offset, bits)) = self.member_of(of, wanted, depth + 1)
            {
                return Some((member.bit_offset + offset, bits));
            }
        }
        None
    }

    fn members<'a>(&'a self, ty: Type<'a>) -> impl Iterator<Item = Member<'a>> {
        ty.extra.as_chunks::<12>().0.iter().map(move |member| {
            let place = word(member, 2);
            let (bit_offset, bits) =
                if ty.has_bits { (place & 0xff_ffff, place >> 24) } else { (place, 0) };
            Member { name: self.string(word(member, 0)), id: word(member, 1), bit_offset, bits }
        })
    }

    /// Strips aliases and qualifiers from a type.
    fn resolve(&self, id: u32) -> Option<Type<'_>> {
        let mut ty = self.get(id)?;
        for _ in 0..DEPTH_MAX {
            if ty.kind != TypeKind::Alias {
                return Some(ty);
            }
            ty = self.get(ty.size)?;
        }
        None
    }

    fn size(&self, ty: Type<'_>, depth: usize) -> Option<u32> {
        match ty.kind {
            TypeKind::Pointer => Some(8),
            TypeKind::Array if depth < DEPTH_MAX => {
                let element = self.size(self.resolve(ty.word(0))?, depth + 1)?;
                element.checked_mul(ty.word(2))
            }
            TypeKind::Array | TypeKind::Alias | TypeKind::Other => None,
            TypeKind::Int
            | TypeKind::Struct
            | TypeKind::Union
            | TypeKind::Enum
            | TypeKind::Enum64
            | TypeKind::Float => Some(ty.size),
        }
    }

    fn flatten(&self, ty: Type<'_>, place: &NestedPosition, fields: &mut Vec<Field>) -> Option<()> {
        if place.depth > DEPTH_MAX || fields.len() > FIELDS_MAX {
            return None;
        }
        match ty.kind {
            TypeKind::Struct | TypeKind::Union => {
                for member in self.members(ty) {
                    let of = self.resolve(member.id)?;
                    let inner = place.within(member.name, member.bit_offset)?;
                    if member.bits > 0 {
                        fields.push(inner.field(member.bits));
                    } else {
                        self.flatten(of, &inner, fields)?;
                    }
                }
            }
            TypeKind::Array => {
                let (element, count) = (self.resolve(ty.word(0))?, ty.word(2));
                let is_nested = matches!(element.kind, TypeKind::Struct | TypeKind::Union);
                if !is_nested || count > ELEMENTS_MAX {
                    fields.push(place.field(self.size(ty, 0)?.checked_mul(8)?));
                    return Some(());
                }
                for index in 0..count {
                    let offset = element.size.checked_mul(8)?.checked_mul(index)?;
                    self.flatten(element, &place.element(index, offset)?, fields)?;
                }
            }
            TypeKind::Int
            | TypeKind::Pointer
            | TypeKind::Enum
            | TypeKind::Enum64
            | TypeKind::Alias
            | TypeKind::Float
            | TypeKind::Other => fields.push(place.field(self.size(ty, 0)?.checked_mul(8)?)),
        }
        Some(())
    }
}

/// The position of a nested type in the outermost.
struct NestedPosition {
    bit_offset: u32,
    path: String,
    depth: usize,
}

impl NestedPosition {
    fn within(&self, name: &str, bit_offset: u32) -> Option<Self> {
        let path = match (self.path.as_str(), name) {
            (path, "") => path.to_owned(),
            ("", name) => name.to_owned(),
            (path, name) => format!("{path}.{name}"),
        };
        let bit_offset = self.bit_offset.checked_add(bit_offset)?;
        Some(Self { bit_offset, path, depth: self.depth + 1 })
    }

    fn element(&self, index: u32, bit_offset: u32) -> Option<Self> {
        let bit_offset = self.bit_offset.checked_add(bit_offset)?;
        Some(Self { bit_offset, path: format!("{}[{index}]", self.path), depth: self.depth + 1 })
    }

    /// The bytes that contain the next `bits` bits.
    fn field(&self, bits: u32) -> Field {
        let (offset, within) = (self.bit_offset / 8, self.bit_offset % 8);
        Field { offset, bytes: (within + bits).div_ceil(8), name: self.path.clone() }
    }
}

impl<'a> Type<'a> {
    const BYTES: usize = 12;

    /// Kind, and number of bytes after the 12 that all types have.
    fn shape(bytes: &[u8]) -> Option<(TypeKind, usize)> {
        let information = word(bytes.get(..Self::BYTES)?, 1);
        let count = (information & 0xffff) as usize;
        Some(match information >> 24 & 0x1f {
            1 => (TypeKind::Int, 4),
            2 => (TypeKind::Pointer, 0),
            3 => (TypeKind::Array, 12),
            4 => (TypeKind::Struct, 12 * count),
            5 => (TypeKind::Union, 12 * count),
            6 => (TypeKind::Enum, 8 * count),
            8..=11 | 18 => (TypeKind::Alias, 0),
            7 | 12 => (TypeKind::Other, 0),
            13 => (TypeKind::Other, 8 * count),
            14 | 17 => (TypeKind::Other, 4),
            15 => (TypeKind::Other, 12 * count),
            16 => (TypeKind::Float, 0),
            19 => (TypeKind::Enum64, 12 * count),
            _ => return None,
        })
    }

    fn length(bytes: &[u8]) -> Option<usize> {
        let (_, extra) = Self::shape(bytes)?;
        (bytes.len() >= Self::BYTES + extra).then_some(Self::BYTES + extra)
    }

    fn read(bytes: &'a [u8]) -> Option<Self> {
        let (kind, extra) = Self::shape(bytes)?;
        let extra = bytes.get(Self::BYTES..Self::BYTES + extra)?;
        let has_bits = word(bytes, 1) >> 31 == 1;
        Some(Self { name: word(bytes, 0), kind, has_bits, size: word(bytes, 2), extra })
    }

    fn word(&self, index: usize) -> u32 {
        word(self.extra, index)
    }
}

/// A little-endian word; 0 after the end, although callers have checked that.
fn word(bytes: &[u8], index: usize) -> u32 {
    bytes.as_chunks::<4>().0.get(index).map_or(0, |word| u32::from_le_bytes(*word))
}

/// The type section and the string section.
fn sections(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let header = bytes.get(..HEADER_BYTES)?;
    if header[..3] != [0x9f, 0xeb, 1] {
        return None;
    }
    let rest = bytes.get(word(header, 1) as usize..)?;
    let part = |offset: u32, length: u32| rest.get(offset as usize..)?.get(..length as usize);
    Some((part(word(header, 2), word(header, 3))?, part(word(header, 4), word(header, 5))?))
}
