//! With `refill_buffers=0`, a buffer keeps its pattern, and old headers too.

use std::fs;

use job_verify::{Header, Method, Pattern, Verifier, VerifySpec, Written, repeat};

use super::fio::{self, Outcome};

const BLOCK: usize = 4096;

pub(crate) fn compare() -> Outcome<String> {
    let mut blocks = 0;
    for (option, offset_bytes) in [("verify_offset=0", 0), ("verify_offset=512", 512)] {
        blocks += compare_at(option, offset_bytes)?;
    }
    Ok(format!("{blocks} blocks byte for byte"))
}

fn compare_at(option: &str, offset_bytes: usize) -> Outcome<usize> {
    let directory = tempfile::tempdir()?;
    let words = ["filename=file", "size=64k", "bs=4k", "rw=write", "verify=crc32", "do_verify=0"];
    let mut options = fio::options(&words);
    options.extend(fio::options(&["verify_pattern=0xabcdef", "refill_buffers=0"]));
    if offset_bytes > 0 {
        options.push(option.to_owned());
    }
    fio::run(directory.path(), &options)?.assert_good(option)?;
    let bytes = vec![0xab, 0xcd, 0xef];
    let mut buffer = vec![0; BLOCK];
    repeat(&bytes, &mut buffer);
    let pattern = Some(Pattern { bytes, offsets: Vec::new() });
    let spec = VerifySpec { offset_bytes, pattern, ..VerifySpec::new(Method::Crc32) };
    let verifier = Verifier::new(spec);
    let content = fs::read(directory.path().join("file"))?;
    for (number, block) in content.chunks(BLOCK).enumerate() {
        let header = block[offset_bytes..].first_chunk().ok_or("no header")?;
        let Header { time_s, time_ns, .. } = Header::from_bytes(header);
        let (file_offset, number) = ((number * BLOCK) as u64, number as u64);
        let written = Written { file_offset, number, seed: 0, thread: 1, time_s, time_ns };
        verifier.fill_headers(&mut buffer, &written)?;
        if buffer != block {
            return Err(format!("{option}: block {number} is another one").into());
        }
    }
    Ok(content.len() / BLOCK)
}
