//! Keeps data files laid out as they were when first written.
//!
//! On a file system that writes each page to a new location, such as btrfs, random overwrites split
//! a file into as many pieces, and then the first write to a clean page of it takes twice as long.
//! One benchmark must not affect the figures of the next, so such a file is rewritten from start to
//! end.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use machine::describe::extents;

const REQUEST_BYTES: usize = 1 << 20;

/// The number of pieces of each file right after it was rewritten from start to end.
#[derive(Debug, Default)]
pub(crate) struct FragmentCounts(BTreeMap<PathBuf, usize>);

impl FragmentCounts {
    /// Rewrites the file from start to end if it is in more pieces than it needs to be. Returns
    /// whether it did.
    pub(crate) fn defragment(&mut self, path: &Path) -> io::Result<bool> {
        let file = File::options().read(true).write(true).open(path)?;
        // Nothing can be done on a file system that does not report where files are.
        let Some(found) = fragments(&file) else { return Ok(false) };
        let size_bytes = usize::try_from(file.metadata()?.len()).unwrap_or(usize::MAX);
        // Until its number of pieces is known, one per request is assumed.
        let known = self.0.get(path).copied();
        if found <= known.unwrap_or(size_bytes.div_ceil(REQUEST_BYTES)) {
            return Ok(false);
        }
        write_over(&file, size_bytes)?;
        file.sync_all()?;
        self.0.extend(fragments(&file).map(|left| (path.to_owned(), left)));
        Ok(true)
    }
}

fn fragments(file: &File) -> Option<usize> {
    extents(file).ok().map(|found| found.runs())
}

/// Rewrites the contents in place, in requests of 1 MiB.
fn write_over(file: &File, size_bytes: usize) -> io::Result<()> {
    let mut buffer = vec![0; REQUEST_BYTES];
    for offset in (0..size_bytes).step_by(REQUEST_BYTES) {
        let request = &mut buffer[..REQUEST_BYTES.min(size_bytes - offset)];
        file.read_exact_at(request, offset as u64)?;
        file.write_all_at(request, offset as u64)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use rustix::fs::FallocateFlags;

    use super::*;

    const PAGES: usize = 4096;

    /// Unmounts the directory when dropped.
    struct Mounted<'a>(&'a Path);

    impl Drop for Mounted<'_> {
        fn drop(&mut self) {
            let _ended = Command::new("umount").arg(self.0).status();
        }
    }

    fn does(program: &str, arguments: &[&str]) -> bool {
        let mut command = Command::new(program);
        let quiet = command.args(arguments).stdout(std::process::Stdio::null());
        quiet.stderr(std::process::Stdio::null()).status().is_ok_and(|status| status.success())
    }

    #[test]
    fn what_was_written_over_in_pieces_lies_in_one_again_and_holds_the_same() {
        let place = tempfile::tempdir_in("/var/tmp").expect("a directory");
        let (image, root) = (place.path().join("image"), place.path().join("root"));
        std::fs::create_dir(&root).expect("the place is ours");
        let text = |path: &Path| path.to_str().expect("plain").to_owned();
        File::create(&image).and_then(|file| file.set_len(256 << 20)).expect("sparse");
        let is_made = does("mkfs.btrfs", &[&text(&image)])
            && does("mount", &["-o", "loop", &text(&image), &text(&root)]);
        if !is_made {
            println!("skipped: btrfs cannot be made or mounted here");
            return;
        }
        let _mounted = Mounted(&root);
        let path = root.join("file");
        let content: Vec<u8> = (0..=250).cycle().take(PAGES * 4096).collect();
        std::fs::write(&path, &content).expect("there is room");
        let mut known = FragmentCounts::default();
        assert!(!known.defragment(&path).expect("it is there"), "it lies in one piece");
        let file = File::options().read(true).write(true).open(&path).expect("it is there");
        let scatter = || {
            for page in (0..PAGES).step_by(2) {
                let at = page * 4096;
                let same = &content[at..][..4096];
                file.write_all_at(same, at as u64).expect("there is room");
            }
            file.sync_all().expect("the device works");
        };
        for _again in 0..2 {
            scatter();
            let before = fragments(&file).expect("btrfs tells");
            assert!(before > 1000, "{before}");
            assert!(known.defragment(&path).expect("it is there"));
            let after = fragments(&file).expect("btrfs tells");
            assert!(after < 64, "{after}");
            assert!(!known.defragment(&path).expect("it is there"), "nothing is left to do");
        }
        assert!(std::fs::read(&path).expect("it is there") == content, "it holds the same");
    }

    /// Simulates a disk with fragmented free space, where rewriting does not reduce the pieces.
    #[test]
    fn what_cannot_lie_in_one_piece_is_written_over_once() {
        let place = tempfile::tempdir_in("/var/tmp").expect("a directory");
        let path = place.path().join("file");
        std::fs::write(&path, vec![1; 128 * 4096]).expect("there is room");
        let file = File::options().read(true).write(true).open(&path).expect("it is there");
        file.sync_all().expect("the device works");
        // Punches out every other page; the rest stays where it is.
        let is_scattered = (1..64).all(|page| {
            rustix::fs::fallocate(&file, FallocateFlags::COLLAPSE_RANGE, page * 4096, 4096).is_ok()
        });
        if !is_scattered {
            println!("skipped: /var/tmp cannot take pages out of a file");
            return;
        }
        let mut known = FragmentCounts::default();
        assert!(known.defragment(&path).expect("it is there"));
        assert!(fragments(&file).is_some_and(|left| left > 32), "it was written over in place");
        assert!(!known.defragment(&path).expect("it is there"), "it is known by now");
    }
}
