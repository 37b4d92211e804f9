//! Which libraries a process has loaded, and where their text is.

#![expect(unsafe_code, reason = "what the dynamic linker has mapped")]

use std::{
    ffi::{CStr, c_int, c_void},
    ops::Range,
    slice,
};

use super::{
    plan::Identity,
    text::{Functions, Text},
};

/// The program headers that matter here.
const LOADED: u32 = libc::PT_LOAD;
const DYNAMIC: u32 = libc::PT_DYNAMIC;
const FUNCTIONS: u32 = libc::PT_GNU_EH_FRAME;
const NOTES: u32 = libc::PT_NOTE;

/// Entries of the dynamic section: its end, where the strings are, and which is the name.
const END: i64 = 0;
const STRINGS: i64 = 5;
const NAME: i64 = 14;

/// An entry of the dynamic section.
#[repr(C)]
struct Entry {
    tag: i64,
    value: usize,
}

/// Where a library has what is looked at here.
pub(super) struct Place {
    /// Its executable segment.
    pub(super) text: Range<usize>,
    /// The table of its functions.
    functions: Range<usize>,
    /// Its build ID, if it has one of the usual length.
    pub(super) identity: Option<Identity>,
}

impl Place {
    /// The machine code; `None` if the table of functions is in a form that is not known here.
    ///
    /// # Safety
    /// The library is loaded, and nobody writes to its text while this is used.
    pub(super) unsafe fn text(&self) -> Option<Text<'_>> {
        // SAFETY: the caller's promise; and the table is never written to.
        let (bytes, section) = unsafe { (memory(&self.text), memory(&self.functions)) };
        let functions = Functions::read(self.functions.start, section)?;
        Some(Text { address: self.text.start, bytes, functions })
    }
}

/// What [`each`] calls.
type Found<'a> = dyn FnMut(&CStr, Option<Place>) + 'a;

/// Calls `found` with the name that each loaded library gives itself, and with where it is. That is
/// `None` if it is arranged in a way that is not known here.
///
/// This allocates nothing.
pub(super) fn each(found: &mut Found) {
    let mut found = found;
    // SAFETY: the callback is what the function expects, and its last argument is what is passed
    // on.
    unsafe { libc::dl_iterate_phdr(Some(look), (&raw mut found).cast()) };
}

unsafe extern "C" fn look(
    info: *mut libc::dl_phdr_info,
    _size: usize,
    found: *mut c_void,
) -> c_int {
    // SAFETY: `each` passes this, and uses it no more before it gets it back.
    let found = unsafe { &mut *found.cast::<&mut Found>() };
    // SAFETY: the dynamic linker describes what it has loaded, under its lock.
    let info = unsafe { &*info };
    // SAFETY: as above.
    let headers = unsafe { slice::from_raw_parts(info.dlpi_phdr, usize::from(info.dlpi_phnum)) };
    let object = Object { base: address(info.dlpi_addr), headers };
    // SAFETY: as above.
    if let Some(name) = unsafe { object.name() } {
        found(name, object.place());
    }
    0
}

/// An address or length in this process.
fn address(number: u64) -> usize {
    usize::try_from(number).expect("addresses have 64 bits")
}

/// What the dynamic linker has loaded.
struct Object<'a> {
    base: usize,
    headers: &'a [libc::Elf64_Phdr],
}

impl<'a> Object<'a> {
    /// The name that the library gives itself; programs have none.
    ///
    /// # Safety
    /// The object is mapped.
    unsafe fn name(&self) -> Option<&'a CStr> {
        let dynamic = self.headers.iter().find(|header| header.p_type == DYNAMIC)?;
        let mut entry: *const Entry = std::ptr::with_exposed_provenance(self.range(dynamic).start);
        let (mut strings, mut name) = (None, None);
        loop {
            // SAFETY: the section is mapped up to the entry that marks its end.
            let Entry { tag, value } = unsafe { entry.read() };
            match tag {
                END => break,
                STRINGS => strings = Some(value),
                NAME => name = Some(value),
                _ => {}
            }
            // SAFETY: as above.
            entry = unsafe { entry.add(1) };
        }
        // The dynamic linker has made an address of what was an offset, but where the section is
        // read-only.
        let strings = strings.filter(|strings| *strings >= self.base)?;
        // SAFETY: the string is in a part of the library that is mapped read-only.
        Some(unsafe { CStr::from_ptr(std::ptr::with_exposed_provenance(strings + name?)) })
    }

    /// Where its text and the table of its functions are.
    fn place(&self) -> Option<Place> {
        let mut segments = self
            .headers
            .iter()
            .filter(|header| header.p_type == LOADED && header.p_flags & libc::PF_X != 0);
        let text = segments.next().filter(|header| header.p_flags == libc::PF_R | libc::PF_X)?;
        let functions = self.headers.iter().find(|header| header.p_type == FUNCTIONS)?;
        segments.next().is_none().then(|| Place {
            text: self.range(text),
            functions: self.range(functions),
            identity: self.identity(),
        })
    }

    fn identity(&self) -> Option<Identity> {
        let mut notes = self.headers.iter().filter(|header| header.p_type == NOTES);
        // SAFETY: notes are in a part of the library that is mapped read-only.
        notes.find_map(|header| build_id(unsafe { memory(&self.range(header)) }))
    }

    /// The addresses that `header` is about.
    fn range(&self, header: &libc::Elf64_Phdr) -> Range<usize> {
        let start = self.base.wrapping_add(address(header.p_vaddr));
        start..start.wrapping_add(address(header.p_memsz))
    }
}

/// The build ID among notes (elf(5), "Notes").
fn build_id(notes: &[u8]) -> Option<Identity> {
    const BUILD_ID: u32 = 3;
    let mut rest = notes;
    loop {
        let (head, after) = rest.split_first_chunk::<12>()?;
        let mut words = head.as_chunks().0.iter().map(|word| u32::from_ne_bytes(*word));
        let (name, length, kind) = (words.next()?, words.next()?, words.next()?);
        let begin = usize::try_from(name).ok()?.checked_next_multiple_of(4)?;
        let length = usize::try_from(length).ok()?;
        let bytes = after.get(begin..)?.get(..length)?;
        if kind == BUILD_ID && after.starts_with(b"GNU\0") {
            let (words, []) = bytes.as_chunks() else { return None };
            return Some(<[[u8; 4]; 5]>::try_from(words).ok()?.map(u32::from_ne_bytes));
        }
        rest = after.get(begin + length.checked_next_multiple_of(4)?..)?;
    }
}

/// # Safety
/// The memory is mapped and readable, and nobody writes to it while this is used.
unsafe fn memory<'a>(range: &Range<usize>) -> &'a [u8] {
    let start = std::ptr::with_exposed_provenance(range.start);
    // SAFETY: the caller's promise.
    unsafe { slice::from_raw_parts(start, range.len()) }
}

#[cfg(test)]
mod tests {
    use super::build_id;

    #[test]
    fn the_build_id_is_found_among_other_notes() {
        let note = |kind: u32, name: &[u8], bytes: &[u8]| {
            let mut note = Vec::new();
            for word in [name.len() as u32, bytes.len() as u32, kind] {
                note.extend(word.to_ne_bytes());
            }
            for part in [name, bytes] {
                note.extend(part);
                note.resize(note.len().next_multiple_of(4), 0);
            }
            note
        };
        let id: Vec<u8> = (0..20).collect();
        let notes = [note(1, b"Debian\0", b"a"), note(3, b"GNU\0", &id), note(1, b"", b"")];
        let found = build_id(&notes.concat()).expect("it is there");
        assert_eq!(found[0], u32::from_ne_bytes([0, 1, 2, 3]));
        assert_eq!(found[4], u32::from_ne_bytes([16, 17, 18, 19]));
        assert_eq!(build_id(&notes[0]), None);
        assert_eq!(build_id(&note(3, b"GNU\0", &id[..16])), None);
        assert_eq!(build_id(&notes[1][..30]), None);
        assert_eq!(build_id(b""), None);
    }
}
