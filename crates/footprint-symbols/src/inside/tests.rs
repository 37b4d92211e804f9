//! The walk over a kernel's pages, tested on a small core file.

use std::fs;
use std::path::PathBuf;

use tempfile::TempDir;

use crate::SymbolsError;
use crate::inside::walk::memory_table_of;

const TYPES: &[u8] = include_bytes!("../../tests/fixtures/kernel_types.btf");

const SYMBOLS: &str = "\
ffffffff82000000 B mem_section
ffffffff82000008 D page_offset_base
ffffffff82000010 D __per_cpu_offset
ffffffff82000020 D nr_cpu_ids
ffffffff82000028 d pcpu_unit_size
ffffffff82000030 d mem_section_of_another\t[module]
";

const DATA: u64 = 0xffff_ffff_8200_0000;
const MAPPED: u64 = 0xff11_0000_0000_0000;
const DESCRIPTORS: u64 = 0xffd4_0000_0000_0000;
const PAGES: usize = 16;
/// `include/linux/poison.h`.
const TAIL_MAPPING: u64 = 0xdead_0000_0000_0400;

/// A core file of three ranges of memory.
struct Core {
    data: Vec<u8>,
    mapped: Vec<u8>,
    descriptors: Vec<u8>,
}

fn put(bytes: &mut [u8], at: u64, word: u64) {
    let at = usize::try_from(at).unwrap();
    bytes[at..at + 8].copy_from_slice(&word.to_le_bytes());
}

impl Core {
    fn new() -> Self {
        let mut data = vec![0; 4096];
        for (at, word) in [MAPPED, MAPPED, 0x1000, 0x9000, 2, 0x2000].into_iter().enumerate() {
            put(&mut data, 8 * at as u64, word);
        }
        let mut mapped = vec![0; PAGES * 4096];
        // The first root's first section is present and has descriptors.
        put(&mut mapped, 0, MAPPED + 0x1000);
        put(&mut mapped, 0x1000, DESCRIPTORS | 3);
        // A cache of objects with 192 bytes, 184 of them used, and its name, which spans two words.
        put(&mut mapped, 0x2008, 184 << 32 | 192);
        put(&mut mapped, 0x2010, MAPPED + 0x2105);
        mapped[0x2105..0x210c].copy_from_slice(b"dentry\0");
        let mut core = Self { data, mapped, descriptors: vec![0; PAGES * 64] };
        core.page(4, [1 << 9, MAPPED + 0x2000, 21 << 16 | 7]);
        // Since Linux 6.7, tail pages of a slab have other data in place of the mapping.
        core.tail(5, 4, DESCRIPTORS + 5 * 64 + 16);
        core.page(6, [1, MAPPED + 0x8000, 0]);
        core.page(7, [1, MAPPED + 0x8000, 0]);
        // A program's memory, whose mapping has its lowest bit set.
        core.page(8, [1, MAPPED + 0x8001, 0]);
        // A slab under construction, which has no cache yet.
        core.page(9, [1 << 9, 0, 0]);
        // Two pages of a file, allocated as one.
        core.page(10, [1, MAPPED + 0x8000, 0]);
        core.tail(11, 10, TAIL_MAPPING);
        core
    }

    /// Sets a page's flags, its mapping or cache, and its counters.
    fn page(&mut self, number: u64, [flags, owner, counters]: [u64; 3]) {
        put(&mut self.descriptors, number * 64, flags);
        put(&mut self.descriptors, number * 64 + 24, owner);
        put(&mut self.descriptors, number * 64 + 40, counters);
    }

    /// Turns a page into a tail page.
    fn tail(&mut self, number: u64, head: u64, mapping: u64) {
        self.page(number, [0, mapping, 0]);
        put(&mut self.descriptors, number * 64 + 8, DESCRIPTORS + head * 64 + 1);
    }

    fn write(&self) -> (TempDir, PathBuf) {
        let parts = [(DATA, &self.data), (MAPPED, &self.mapped), (DESCRIPTORS, &self.descriptors)];
        let mut file = vec![0; 64 + 56 * parts.len()];
        file[..4].copy_from_slice(b"\x7fELF");
        put(&mut file, 32, 64);
        file[56] = u8::try_from(parts.len()).unwrap();
        for (index, (address, bytes)) in parts.into_iter().enumerate() {
            let (header, offset) = (64 + 56 * index as u64, file.len() as u64);
            file[64 + 56 * index] = 1;
            put(&mut file, header + 8, offset);
            put(&mut file, header + 16, address);
            put(&mut file, header + 40, bytes.len() as u64);
            file.extend(bytes);
        }
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("kcore");
        fs::write(&path, file).unwrap();
        (directory, path)
    }
}

fn table(core: &Core, symbols: &str) -> Result<String, SymbolsError> {
    let (_directory, path) = core.write();
    memory_table_of(&path, symbols, TYPES)
}

#[test]
fn slabs_and_pages_of_files_are_found() {
    let expected = "\
ff11000000000000 65536 memory
ffd4000000000000 1024 page_descriptors
ff11000000004000 4032 slab 192 184 dentry
ff11000000006000 8192 page_cache
ff1100000000a000 8192 page_cache
1000 8192 per_cpu
9000 8192 per_cpu
";
    assert_eq!(table(&Core::new(), SYMBOLS).unwrap(), expected);
    let ranges = crate::memory::parse(expected).unwrap();
    assert_eq!(ranges.len(), 7);
}

#[test]
fn other_kernels_say_what_is_missing() {
    let error = table(&Core::new(), "ffffffff82000000 B other\n").unwrap_err();
    assert!(error.to_string().contains("does not contain mem_section"), "{error}");
    let mut without_slabs = Core::new();
    without_slabs.page(4, [0, 0, 0]);
    let error = table(&without_slabs, SYMBOLS).unwrap_err();
    assert!(error.to_string().contains("does not contain any slab"), "{error}");
    let mut unmapped = Core::new();
    put(&mut unmapped.data, 0, 0x1000);
    let error = table(&unmapped, SYMBOLS).unwrap_err();
    assert!(matches!(error, SymbolsError::Io { .. }), "{error}");
    let mut absent = Core::new();
    put(&mut absent.mapped, 0x1000, 0);
    assert!(matches!(table(&absent, SYMBOLS), Err(SymbolsError::Kcore { .. })));
    let (_directory, path) = Core::new().write();
    let bytes = fs::read(&path).unwrap();
    for length in (0..bytes.len()).step_by(997) {
        fs::write(&path, &bytes[..length]).unwrap();
        assert!(memory_table_of(&path, SYMBOLS, TYPES).is_err(), "{length}");
    }
}
