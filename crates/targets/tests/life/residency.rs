//! Which pages of a file are in memory, according to two system calls that must agree.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::time::Duration;

use targets::cache::cache_state;
use targets::cache::residency::{ResidencyWatch, residency_in};

use super::support::{make_or_skip, workshop};

const FILE_PAGES: u64 = 4096;
/// Pages to read; read-ahead brings in their neighbours.
const READ: [u64; 6] = [0, 1, 700, 2000, 3333, 4095];
/// The most looks to take until read-ahead has arrived: no device is that slow.
const LOOKS_MAX: u32 = 1_000_000;

pub(crate) fn pages_are_told(text: &str) {
    let workshop = workshop();
    let Some(target) = make_or_skip(&workshop, text) else { return };
    let page_bytes = rustix::param::page_size() as u64;
    let path = target.root().join("file");
    let size = usize::try_from(FILE_PAGES * page_bytes).expect("16 MiB");
    fs::write(&path, vec![1; size]).expect("there is room");
    let left = cache_state::evict_all(target.root(), [&path], Duration::from_secs(60));
    assert!(left.expect("a plain file").is_none());

    let file = File::open(&path).expect("it was written");
    let mut watch = ResidencyWatch::open(&file, 0..u64::MAX).expect("root");
    let before = watch.look().expect("mapped").clone();
    assert_eq!((before.count(), before.covered()), (0, 0..FILE_PAGES));
    for page in READ {
        file.read_exact_at(&mut [0], page * page_bytes).expect("it is there");
    }
    let whole = || residency_in(&file, 0..u64::MAX).expect("Linux 6.5");
    // cachestat also counts pages that have not arrived yet.
    let settled =
        (0..LOOKS_MAX).any(|_| watch.look().expect("mapped").count() == whole().resident_pages);
    assert!(settled, "{:?} of {:?}", watch.map().count(), whole());
    for page in READ {
        assert!(watch.map().is_resident(page), "{page}");
    }
    assert!(watch.map().count() < FILE_PAGES, "some of it was never asked for");
    for run in watch.map().runs() {
        let bytes = run.start * page_bytes..run.end * page_bytes;
        assert_eq!(
            residency_in(&file, bytes).expect("it is there").resident_pages,
            run.end - run.start
        );
        for beside in [run.start.checked_sub(1), Some(run.end)].into_iter().flatten() {
            let bytes = beside * page_bytes..(beside + 1) * page_bytes;
            let beside = residency_in(&file, bytes).expect("it is there");
            assert_eq!(beside.resident_pages, 0, "the run {run:?} is longer");
        }
    }
    let come = watch.map().difference(&before);
    assert_eq!(&come, watch.map());
}
