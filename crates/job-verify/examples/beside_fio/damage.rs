//! Blocks that are damaged are found by both, with the same number of errors and the same dumps.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use job_verify::{Expected, Header, Method, Written};

use super::blocks::{BLOCKS, Case, cases};
use super::fio::{self, Outcome};

/// Bytes that are changed, one per block, as shares of 4096.
const PLACES: [usize; BLOCKS] =
    [0, 2, 4, 8, 16, 24, 34, 36, 40, 43, 200, 700, 1300, 2100, 3900, 4095];

pub(crate) fn compare() -> Outcome<String> {
    let (mut errors, mut dumps, mut runs) = (0, 0, 0);
    for case in cases().into_iter().filter(is_sound) {
        let directory = tempfile::tempdir()?;
        let content = damaged(&case)?;
        fs::write(directory.path().join("file"), &content)?;
        let more = ["rw=read", "verify_dump=1", "continue_on_error=verify"];
        let run = fio::run(directory.path(), &case.with(&more))?;
        let counted = run.number("total_err").ok_or("no `total_err`")?;
        let theirs = dumps_of(directory.path())?;
        let (ours, is_error) = our_dumps(&case, &content, &theirs);
        if is_error != counted {
            return Err(format!("{}: {is_error} errors, fio {counted}", case.name).into());
        }
        if ours != theirs {
            let (ours, theirs) = (ours.keys(), theirs.keys());
            return Err(format!("{}: dumps {ours:?}, fio {theirs:?}", case.name).into());
        }
        errors += counted;
        dumps += theirs.len();
        runs += 1;
    }
    Ok(format!(
        "{runs} files with {BLOCKS} blocks that have one changed bit each: {errors} errors, \
         {dumps} dumps with the same names and contents"
    ))
}

/// Without headers, fio takes content for the length of the first interval.
fn is_sound(case: &Case) -> bool {
    case.spec.method != Method::Pattern || case.spec.interval_bytes == 0
}

fn damaged(case: &Case) -> Outcome<Vec<u8>> {
    let mut content = case.content()?;
    for (block, place) in content.chunks_mut(case.block).zip(PLACES) {
        let last = block.len() - 1;
        block[place.min(last)] ^= 1 << (place % 8);
    }
    Ok(content)
}

type Dumps = BTreeMap<String, Vec<u8>>;

fn dumps_of(directory: &Path) -> Outcome<Dumps> {
    let mut dumps = Dumps::new();
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with("file.") {
            dumps.insert(name, fs::read(entry.path())?);
        }
    }
    Ok(dumps)
}

/// Our dumps and the number of errors. Headers of what was expected are as fio has dumped them.
fn our_dumps(case: &Case, content: &[u8], theirs: &Dumps) -> (Dumps, u64) {
    let verifier = case.verifier();
    let mut dumps = Dumps::new();
    let mut errors = 0;
    for (index, block) in content.chunks(case.block).enumerate() {
        let file_offset = (index * case.block) as u64;
        let expected = Expected { file_offset, ..Expected::default() };
        let Err(failure) = verifier.check(block, &expected) else { continue };
        errors += u64::from(failure.is_error);
        for mismatch in &failure.mismatches {
            let name = format!("file.{}.expected", mismatch.file_offset);
            let header = theirs.get(&name).and_then(|their| {
                their.get(case.spec.offset_bytes..)?.first_chunk().map(Header::from_bytes)
            });
            let header = header.unwrap_or_default();
            let read = Written {
                file_offset,
                number: u64::from(header.number),
                seed: 0,
                thread: header.thread,
                time_s: header.time_s,
                time_ns: header.time_ns,
            };
            let files = verifier.dumps(mismatch, block, &read, "some/file");
            dumps.extend(files.into_iter().map(|dump| (dump.name, dump.content)));
        }
    }
    (dumps, errors)
}
