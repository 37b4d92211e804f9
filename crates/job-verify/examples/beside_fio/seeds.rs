//! In jobs that read and write, seeds are compared.

use std::fs;

use job_verify::{Expected, Header, MAGIC, Method, Verifier, VerifySpec, Written};

use super::fio::{self, Outcome};

const BLOCK: usize = 4096;
const SEED_CHANGE: u64 = 1 << 32;

pub(crate) fn compare() -> Outcome<String> {
    let directory = tempfile::tempdir()?;
    let file = directory.path().join("file");
    let common = ["rw=randrw", "filename=file", "size=256k", "bs=4k", "verify=crc32c"];
    let run =
        |more: &str| fio::run(directory.path(), &fio::options(&[&common[..], &[more]].concat()));
    fio::run(directory.path(), &fio::options(&["rw=write", "filename=file", "size=256k"]))?;
    run("do_verify=0")?.assert_good("writing")?;
    let theirs = fs::read(&file)?;
    let (same, blocks) = filled_again(&theirs, 0)?;
    if same != theirs {
        return Err("blocks of a mixed job are others".into());
    }
    fs::write(&file, same)?;
    run("verify_only=1")?.assert_good("the same seeds")?;
    fs::write(&file, filled_again(&theirs, SEED_CHANGE)?.0)?;
    let other = run("verify_only=1")?;
    if other.is_success || !other.text.contains("bad header rand_seed") {
        return Err(format!("other seeds: {}", other.text).into());
    }
    Ok(format!("{blocks} blocks with the same seeds are accepted by fio, those with others not"))
}

/// The blocks that have headers, filled again by us.
fn filled_again(content: &[u8], change: u64) -> Outcome<(Vec<u8>, usize)> {
    let verifier = Verifier::new(VerifySpec::new(Method::Crc32c));
    let mut content = content.to_vec();
    let mut count = 0;
    for (index, block) in content.chunks_mut(BLOCK).enumerate() {
        let header = Header::from_bytes(block.first_chunk().ok_or("a short block")?);
        if header.magic != MAGIC {
            continue;
        }
        let file_offset = (index * BLOCK) as u64;
        let expected = Expected { file_offset, ..Expected::default() };
        verifier.check(block, &expected)?;
        let written = Written {
            file_offset,
            number: u64::from(header.number),
            seed: header.seed ^ change,
            thread: header.thread,
            time_s: header.time_s,
            time_ns: header.time_ns,
        };
        verifier.fill(block, &written)?;
        count += 1;
    }
    Ok((content, count))
}
