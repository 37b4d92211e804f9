//! Walks the descriptors of all pages to find out which are slabs and which belong to files.
//!
//! Each page of memory has a `struct page`; for the first page of a slab, that is also a `struct
//! slab`. Descriptors are found through `mem_section`, the table of the sparse memory model
//! (`include/linux/mmzone.h`), so it does not matter whether they are mapped as one array. Offsets
//! come from the kernel's BTF.

use std::collections::HashMap;
use std::fmt::Write;
use std::io;
use std::path::Path;

use crate::btf::Btf;
use crate::inside::kcore::{Kcore, field};
use crate::memory::{Range, Usage};
use crate::{SymbolsError, kallsyms};

/// Start of the direct mapping if the kernel has no variable for it: `__PAGE_OFFSET_BASE_L4`.
const PAGE_OFFSET: u64 = 0xffff_8880_0000_0000;

/// The lowest address of a kernel, with four or five levels of page tables.
const KERNEL_BEGIN: u64 = 0xff00_0000_0000_0000;

/// Maximum number of processors of a kernel: `NR_CPUS`.
const PROCESSORS_MAX: u64 = 8192;

/// Maximum size of the direct mapping.
const MAPPED_BYTES: u64 = 1 << 46;

const PAGE_BYTES: u64 = 4096;

/// Pages per section of memory: `SECTION_SIZE_BITS` is 27.
const SECTION_PAGES: u64 = (1 << 27) / PAGE_BYTES;

/// How many descriptors are read at once: 1 MiB of them.
const PAGES_AT_ONCE: u64 = 1 << 14;

/// Sizes and offsets of the kernel's structures.
#[derive(Debug)]
struct Layout {
    page_bytes: u64,
    mapping: usize,
    head: usize,
    section_bytes: u64,
    slab: SlabMark,
    slab_cache: usize,
    objects_bit: usize,
    cache_name: u64,
    cache_size: u64,
    cache_object_size: u64,
}

/// How to recognise a slab's descriptor.
#[derive(Clone, Copy, Debug)]
enum SlabMark {
    /// A bit of the flags, up to Linux 6.9.
    Flag(u32),
    /// The high byte of `page_type`, from Linux 6.11 on.
    Type(u8, usize),
}

impl Layout {
    fn new(btf: &Btf) -> Result<Self, SymbolsError> {
        let bits = |structure, member, what| {
            let found = btf.member_bits(structure, member);
            found.map(|(offset, _)| offset as usize).ok_or(SymbolsError::NoType(what))
        };
        let bytes = |name, what| btf.bytes(name).map(u64::from).ok_or(SymbolsError::NoType(what));
        let slab = if let Some(bit) = btf.constant("pageflags", "PG_slab") {
            SlabMark::Flag(bit)
        } else {
            let constant = btf.constant("pagetype", "PGTY_slab");
            let value = constant.ok_or(SymbolsError::NoType("PG_slab or PGTY_slab"))?;
            let offset = bits("page", "page_type", "page.page_type")? / 8;
            SlabMark::Type(value.to_le_bytes()[0], offset)
        };
        // The name since Linux 7.2, where it no longer contains a plain address.
        let head = bits("page", "compound_head", "page.compound_head");
        let head = head.or_else(|_| bits("page", "compound_info", "page.compound_info"))?;
        let cache = |member, what| bits("kmem_cache", member, what).map(|bit| bit as u64 / 8);
        Ok(Self {
            page_bytes: bytes("page", "page")?,
            mapping: bits("page", "mapping", "page.mapping")? / 8,
            head: head / 8,
            section_bytes: bytes("mem_section", "mem_section")?,
            slab,
            slab_cache: bits("slab", "slab_cache", "slab.slab_cache")? / 8,
            objects_bit: bits("slab", "objects", "slab.objects")?,
            cache_name: cache("name", "kmem_cache.name")?,
            cache_size: cache("size", "kmem_cache.size")?,
            cache_object_size: cache("object_size", "kmem_cache.object_size")?,
        })
    }

    fn is_slab(&self, page: &[u8]) -> bool {
        match self.slab {
            SlabMark::Flag(bit) => field(page, 0) >> (bit & 63) & 1 == 1,
            SlabMark::Type(value, offset) => page.get(offset + 3) == Some(&value),
        }
    }

    /// Whether it is a tail page: it was allocated with the pages before it, has no mapping, and
    /// may have other data in that place.
    fn is_tail(&self, page: &[u8]) -> bool {
        field(page, self.head) & 1 == 1
    }

    /// Whether it is a page of a file: `mapping` is an address; its low bits mark other uses.
    fn is_page_cache(&self, page: &[u8]) -> bool {
        let mapping = field(page, self.mapping);
        mapping >= KERNEL_BEGIN && mapping & 7 == 0
    }

    fn objects(&self, page: &[u8]) -> u64 {
        let word = field(page, self.objects_bit / 64 * 8);
        word >> (self.objects_bit % 64) & 0x7fff
    }
}

/// What a slab's cache says about its objects.
#[derive(Clone, Debug)]
struct Cache {
    element_bytes: u32,
    object_bytes: u32,
    name: String,
}

/// Makes the table of what this machine's memory is used for (see [`crate::memory`]), given the
/// contents of `/proc/kallsyms` and `/sys/kernel/btf/vmlinux`. Needs the capability
/// `CAP_SYS_RAWIO`.
///
/// # Errors
/// `/proc/kcore` cannot be read, or slabs of this kernel version are not understood.
pub fn memory_table(symbols: &str, btf: &[u8]) -> Result<String, SymbolsError> {
    memory_table_of(Path::new("/proc/kcore"), symbols, btf)
}

/// Makes the table from a core file.
pub(crate) fn memory_table_of(
    path: &Path,
    symbols: &str,
    btf: &[u8],
) -> Result<String, SymbolsError> {
    let layout = Layout::new(&Btf::parse("vmlinux", btf)?)?;
    let kcore = Kcore::open(path)?;
    let cannot = |error| SymbolsError::Io { path: path.to_owned(), error };
    let address = kallsyms::find(symbols, "mem_section");
    let mem_section = address.ok_or(SymbolsError::Kcore { what: "mem_section" })?;
    let page_offset = match kallsyms::find(symbols, "page_offset_base") {
        Some(address) => kcore.word(address).map_err(cannot)?,
        None => PAGE_OFFSET,
    };
    let roots = kcore.word(mem_section).map_err(cannot)?;
    let mut walk = Walk { kcore, layout, page_offset, roots, caches: HashMap::new() };
    let mut ranges: Vec<Range> = Vec::new();
    let memory: Vec<_> = walk.kcore.segments().collect();
    for (address, bytes) in memory {
        let offset = address.wrapping_sub(page_offset);
        if offset < MAPPED_BYTES {
            let pages = offset / PAGE_BYTES..(offset + bytes.min(MAPPED_BYTES)) / PAGE_BYTES;
            ranges.push(Range { address, bytes, usage: Usage::Memory });
            walk.pages(pages, &mut ranges).map_err(cannot)?;
        }
    }
    if !ranges.iter().any(|range| matches!(range.usage, Usage::Slab { .. })) {
        return Err(SymbolsError::Kcore { what: "any slab" });
    }
    ranges.extend(per_cpu(&walk.kcore, symbols).map_err(cannot)?);
    let mut text = String::new();
    for range in ranges {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{range}");
    }
    Ok(text)
}

/// Each processor's area of per-CPU variables (`mm/percpu.c`); none if the kernel supports only one
/// processor.
fn per_cpu(kcore: &Kcore, symbols: &str) -> io::Result<Vec<Range>> {
    let find = |name| kallsyms::find(symbols, name);
    let places = (find("__per_cpu_offset"), find("nr_cpu_ids"), find("pcpu_unit_size"));
    let (Some(offsets), Some(count), Some(size)) = places else { return Ok(Vec::new()) };
    let half = |address| Ok::<u64, io::Error>(kcore.word(address)? & 0xffff_ffff);
    let (count, bytes) = (half(count)?, half(size)?);
    let template = find("__per_cpu_start").unwrap_or(0);
    let range = |processor| {
        let address = kcore.word(offsets + 8 * processor)?.wrapping_add(template);
        Ok(Range { address, bytes, usage: Usage::PerCpu })
    };
    (0..count.min(PROCESSORS_MAX)).filter(|_| bytes > 0).map(range).collect()
}

struct Walk {
    kcore: Kcore,
    layout: Layout,
    page_offset: u64,
    roots: u64,
    caches: HashMap<u64, Option<Cache>>,
}

impl Walk {
    /// Walks over a range of page numbers.
    fn pages(&mut self, pages: std::ops::Range<u64>, ranges: &mut Vec<Range>) -> io::Result<()> {
        let mut number = pages.start;
        let mut descriptors = Vec::new();
        while number < pages.end {
            let section_end = (number / SECTION_PAGES + 1) * SECTION_PAGES;
            let end = pages.end.min(section_end).min(number + PAGES_AT_ONCE);
            if let Some(map) = self.map_of_section(number / SECTION_PAGES)? {
                let bytes = (end - number) * self.layout.page_bytes;
                descriptors.resize(usize::try_from(bytes).unwrap_or(0), 0);
                let address = map.wrapping_add(number * self.layout.page_bytes);
                self.kcore.read(address, &mut descriptors)?;
                ranges.push(Range { address, bytes, usage: Usage::PageDescriptors });
                self.take(number, &descriptors, ranges)?;
            }
            number = end;
        }
        Ok(())
    }

    /// Where the descriptor of page 0 would be if all descriptors continued this section's array.
    fn map_of_section(&self, section: u64) -> io::Result<Option<u64>> {
        let per_root = PAGE_BYTES / self.layout.section_bytes;
        let root = self.kcore.word(self.roots + section / per_root * 8)?;
        if root == 0 {
            return Ok(None);
        }
        let coded = self.kcore.word(root + section % per_root * self.layout.section_bytes)?;
        // The low bits are flags, such as whether the section is present and has descriptors.
        Ok((coded & 2 != 0).then_some(coded & !(PAGE_BYTES - 1)))
    }

    /// Processes the descriptors of consecutive pages, of which `first` is the first page's number.
    fn take(&mut self, first: u64, pages: &[u8], ranges: &mut Vec<Range>) -> io::Result<()> {
        let page_bytes = usize::try_from(self.layout.page_bytes).unwrap_or(64);
        for (number, page) in (first..).zip(pages.chunks_exact(page_bytes)) {
            let address = self.page_offset + number * PAGE_BYTES;
            if self.layout.is_slab(page) {
                let Some(cache) = self.cache(field(page, self.layout.slab_cache))? else {
                    continue;
                };
                let Cache { element_bytes, object_bytes, name } = cache;
                let bytes = self.layout.objects(page) * u64::from(element_bytes);
                if bytes > 0 {
                    let usage = Usage::Slab { element_bytes, object_bytes, cache: name };
                    ranges.push(Range { address, bytes, usage });
                }
            } else if self.layout.is_page_cache(page) || self.layout.is_tail(page) {
                match ranges.last_mut() {
                    Some(Range { address: begin, bytes, usage: Usage::PageCache })
                        if *begin + *bytes == address =>
                    {
                        *bytes += PAGE_BYTES;
                    }
                    _ if self.layout.is_tail(page) => {}
                    _ => ranges.push(Range { address, bytes: PAGE_BYTES, usage: Usage::PageCache }),
                }
            }
        }
        Ok(())
    }

    /// Reads the cache at an address; `None` if that is not an address.
    fn cache(&mut self, address: u64) -> io::Result<Option<Cache>> {
        if address < KERNEL_BEGIN {
            return Ok(None);
        }
        if let Some(known) = self.caches.get(&address) {
            return Ok(known.clone());
        }
        let number = |offset| {
            let [a, b, c, d, ..] = self.kcore.word(address + offset)?.to_le_bytes();
            io::Result::Ok(u32::from_le_bytes([a, b, c, d]))
        };
        let name = self.kcore.word(address + self.layout.cache_name)?;
        let cache = Cache {
            element_bytes: number(self.layout.cache_size)?,
            object_bytes: number(self.layout.cache_object_size)?,
            name: self.kcore.text(name)?,
        };
        let cache = Some(cache).filter(|cache| cache.element_bytes > 0 && !cache.name.is_empty());
        self.caches.insert(address, cache.clone());
        Ok(cache)
    }
}
