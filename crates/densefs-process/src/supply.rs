//! Memory for pages of an arena's file, and back.
//!
//! If a page is first touched through the mapping, or populated by madvise(2), the kernel zeroes it
//! on its own. To write zeros to the file costs less, as many pages are written by one call. Pages
//! that the file has then need not be mapped one by one: the kernel maps several around each that
//! is read.

use std::hint::black_box;
use std::io::IoSlice;
use std::iter::once;
use std::os::fd::AsFd;

use densefs::arena::{Field, LINES_PER_PAGE, Ref};
use rustix::fs::{FallocateFlags, fallocate};
use rustix::io::{Errno, pwritev, retry_on_intr};
use rustix::process::{Resource, getrlimit};

use crate::edge::Mapping;

/// The size of a page, in a file and in memory.
pub(crate) const PAGE_BYTES: u64 = PAGE_LENGTH as u64;
const PAGE_LENGTH: usize = 4096;
/// What a new page contains.
static ZEROS: [u8; PAGE_LENGTH] = [0; PAGE_LENGTH];
/// How many pages are written at a time.
const WRITTEN_PAGES: u32 = 64;
/// How many pages the kernel maps at a time, unless it is configured otherwise.
const MAPPED_PAGES: usize = 16;

/// Allocates space for some pages of an arena's file, zeroes them, and maps them; false if there is
/// no space. Whatever they contain is lost.
pub(crate) fn supply(file: impl AsFd, mapping: &Mapping, first_page: u32, pages: u32) -> bool {
    if may_write(first_page + pages) && write_zeros(&file, first_page, pages).is_ok() {
        map(mapping, first_page, pages);
        return true;
    }
    let is_there = allocate(&file, FallocateFlags::empty(), first_page, pages).is_ok();
    if !is_there {
        // Some may have been written.
        release(&file, first_page, pages);
    }
    is_there
}

/// Makes holes of some pages of an arena's file, if its file system can. They read as zeros.
pub(crate) fn release(file: impl AsFd, first_page: u32, pages: u32) {
    let holes = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
    allocate(file, holes, first_page, pages).ok();
}

fn allocate(
    file: impl AsFd,
    how: FallocateFlags,
    first_page: u32,
    pages: u32,
) -> Result<(), Errno> {
    let (first, bytes) = (u64::from(first_page) * PAGE_BYTES, u64::from(pages) * PAGE_BYTES);
    retry_on_intr(|| fallocate(&file, how, first, bytes))
}

/// Whether the process may write to a file before this page. A write behind its limit would kill
/// it.
fn may_write(end: u32) -> bool {
    let limit = getrlimit(Resource::Fsize).current;
    limit.is_none_or(|bytes| u64::from(end) * PAGE_BYTES <= bytes)
}

fn write_zeros(file: impl AsFd, first_page: u32, pages: u32) -> Result<(), Errno> {
    let zeros = [IoSlice::new(&ZEROS); WRITTEN_PAGES as usize];
    let (mut page, end) = (first_page, first_page + pages);
    while page < end {
        let (at, most) = (u64::from(page) * PAGE_BYTES, (end - page).min(WRITTEN_PAGES));
        let written = retry_on_intr(|| pwritev(&file, &zeros[..most as usize], at))?;
        match u32::try_from(written / PAGE_LENGTH) {
            Ok(written @ 1..) => page += written,
            _ => return Err(Errno::NOSPC),
        }
    }
    Ok(())
}

/// Puts pages that the file has into the page tables.
fn map(mapping: &Mapping, first_page: u32, pages: u32) {
    let (arena, end) = (mapping.arena(), first_page + pages);
    for page in (first_page..end).step_by(MAPPED_PAGES).chain(once(end - 1)) {
        if let Ok(line) = arena.line(Ref(page * LINES_PER_PAGE)) {
            black_box(line.load(Field::<u32>::at(0)));
        }
    }
}
