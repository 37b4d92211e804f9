//! The orders of the folios of a file, on real file systems.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::Duration;

use rustix::fs::{Advice, fadvise};
use targets::cache::cache_state;
use targets::cache::folios::{FolioOrders, folio_orders};
use targets::cache::residency::{residency_in, resident_pages};

use super::support::{make_or_skip, workshop};

const FILE_PAGES: u64 = 4096;
const REQUEST_BYTES: usize = 1 << 20;

pub(crate) fn of_memory_are_told() {
    let workshop = workshop();
    let Some(target) = make_or_skip(&workshop, "tmpfs:size=64m,mount=huge=never") else { return };
    let path = written(target.root());
    // Without huge pages every folio of it is one page.
    assert_eq!(looked_at(&path).pages_by_order, [(0, FILE_PAGES)].into());
}

/// Files read without read-ahead are in single pages on every kernel; files read in larger pieces
/// are in folios as large as the file system supports.
pub(crate) fn are_told(text: &str) {
    let workshop = workshop();
    let Some(target) = make_or_skip(&workshop, text) else { return };
    let path = written(target.root());
    assert_eq!(looked_at(&path).pages(), FILE_PAGES);

    evict(target.root(), &path);
    assert_eq!(looked_at(&path), FolioOrders::default());
    assert_eq!(folio_orders(&path).expect("root").largest(), None);

    let page = vec![0; rustix::param::page_size()];
    let file = File::open(&path).expect("it was written");
    fadvise(&file, 0, None, Advice::Random).expect("a plain file");
    // Two pages out of three: looking must not bring in the others.
    let wanted = (0..FILE_PAGES).filter(|page| page % 3 > 0);
    let of_single_pages = undisturbed(&path, wanted.clone().count() as u64, || {
        wanted.clone().for_each(|number| read(&file, page.len(), number));
    });
    assert_eq!(of_single_pages.pages_by_order, [(0, wanted.count() as u64)].into());

    evict(target.root(), &path);
    let file = File::open(&path).expect("it was written");
    let requests = FILE_PAGES * page.len() as u64 / REQUEST_BYTES as u64;
    let orders = undisturbed(&path, FILE_PAGES, || {
        (0..requests).for_each(|number| read(&file, REQUEST_BYTES, number));
    });
    assert_eq!(orders.pages(), FILE_PAGES);
    for (&order, pages) in &orders.pages_by_order {
        assert_eq!(pages % (1 << order), 0, "folios inside the file are whole: {orders:?}");
    }
    // Since Linux 5.18.
    if target.facts().file_system == "xfs" {
        assert!(orders.largest() > Some(0), "{orders:?}");
    }
}

/// What is seen after reading in: the first of several tries in which this many pages are there. A
/// kernel that reclaims early (DAMON) may evict some meanwhile, and those are read again.
fn undisturbed(path: &Path, pages: u64, read_in: impl Fn()) -> FolioOrders {
    const TRIES: u32 = 5;
    let tries = (0..TRIES).map(|_| {
        read_in();
        looked_at(path)
    });
    let mut found = FolioOrders::default();
    for orders in tries {
        found = orders;
        if found.pages() == pages {
            break;
        }
    }
    found
}

fn written(root: &Path) -> std::path::PathBuf {
    let path = root.join("file");
    let size = usize::try_from(FILE_PAGES).expect("small") * rustix::param::page_size();
    fs::write(&path, vec![1; size]).expect("there is room");
    path
}

fn evict(root: &Path, path: &Path) {
    let left = cache_state::evict_all(root, [path], Duration::from_secs(60));
    assert!(left.expect("a plain file").is_none(), "looking kept pages in use");
}

fn read(file: &File, length_bytes: usize, number: u64) {
    let mut bytes = vec![0; length_bytes];
    file.read_exact_at(&mut bytes, number * length_bytes as u64).expect("it is there");
}

/// Looks, and checks that looking has changed nothing.
fn looked_at(path: &Path) -> FolioOrders {
    let file = File::open(path).expect("it was written");
    let resident = || resident_pages(&file, 0..u64::MAX).expect("root");
    let (before, accessed) = (resident(), accessed(path));
    let orders = folio_orders(path).expect("root");
    assert_eq!(orders.pages(), before.count());
    assert_eq!(resident(), before, "looking fetched pages");
    assert_eq!(residency_in(&file, 0..u64::MAX).expect("6.5").resident_pages, before.count());
    assert_eq!(self::accessed(path), accessed);
    assert_eq!(folio_orders(path).expect("root"), orders, "they stay as they are");
    orders
}

fn accessed(path: &Path) -> std::time::SystemTime {
    fs::metadata(path).and_then(|said| said.accessed()).expect("it has one")
}
