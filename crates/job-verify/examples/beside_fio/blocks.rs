//! Blocks that fio has written are verified here, and the other way round.

use std::fs;

use job_offsets::{Generator, JobSeeds, Purpose, SeedSource};
use job_verify::{Expected, Header, Method, Pattern, Verifier, VerifySpec, Written};

use super::fio::{self, Outcome};

/// Blocks in a file.
pub(crate) const BLOCKS: usize = 16;
const FILE: &str = "file";

/// A way to verify, for fio and for us.
#[derive(Clone)]
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) spec: VerifySpec,
    pub(crate) block: usize,
    pub(crate) options: Vec<String>,
}

impl Case {
    pub(crate) fn verifier(&self) -> Verifier {
        Verifier::new(self.spec.clone())
    }

    /// What fio is told, with further options.
    pub(crate) fn with(&self, more: &[&str]) -> Vec<String> {
        let size = self.block * BLOCKS;
        let mut all = fio::options(&[&format!("filename={FILE}"), &format!("size={size}")]);
        all.push(format!("bs={}", self.block));
        all.extend(self.options.clone());
        all.extend(fio::options(more));
        all
    }

    /// The seeds of the first job of a run, if it has any.
    pub(crate) fn seeds(&self) -> impl FnMut() -> u64 {
        let source = SeedSource { thread_number: 1, ..SeedSource::default() };
        let mut generator: Generator = JobSeeds::new(&source).generator(Purpose::Verify);
        let has_pattern = self.spec.pattern.is_some();
        move || if has_pattern { 0 } else { generator.seed() }
    }

    /// A file as we would write it.
    pub(crate) fn content(&self) -> Outcome<Vec<u8>> {
        let verifier = self.verifier();
        let mut seeds = self.seeds();
        let mut content = vec![0; self.block * BLOCKS];
        for (number, block) in content.chunks_mut(self.block).enumerate() {
            let (number, file_offset) = (number as u64, (number * self.block) as u64);
            let times = Written { time_s: 3, time_ns: 4, thread: 1, ..Written::default() };
            verifier.fill(block, &Written { file_offset, number, seed: seeds(), ..times })?;
        }
        Ok(content)
    }
}

/// Every method in every way.
pub(crate) fn cases() -> Vec<Case> {
    Method::all().flat_map(cases_of).collect()
}

#[rustfmt::skip]
fn cases_of(method: Method) -> Vec<Case> {
    let plain = VerifySpec::new(method);
    let pattern = Some(Pattern {
        bytes: [&[0xde, 0xad][..], &[0; 8], b"qrs"].concat(),
        offsets: vec![2],
    });
    let pattern_option = "verify_pattern=0xdead%o\"qrs\"";
    let needs_pattern = matches!(method, Method::Pattern | Method::HeaderAndPattern);
    let ways: [(usize, &str, VerifySpec); 8] = [
        (4096, "", plain.clone()),
        (1001, "", plain.clone()),
        (4096, "verify_interval=512", VerifySpec { interval_bytes: 512, ..plain.clone() }),
        (4096, "verify_offset=1000", VerifySpec { offset_bytes: 1000, ..plain.clone() }),
        (4096, "verify_interval=1024 verify_offset=320",
            VerifySpec { interval_bytes: 1024, offset_bytes: 320, ..plain.clone() }),
        (4096, "buffer_compress_percentage=30",
            VerifySpec { compress_percent: 30, ..plain.clone() }),
        (4096, "buffer_compress_percentage=70 buffer_pattern=\"xyz\"",
            VerifySpec { compress_percent: 70, buffer_pattern: b"xyz".to_vec(), ..plain.clone() }),
        (4096, pattern_option, VerifySpec { pattern: pattern.clone(), ..plain }),
    ];
    let case = |(block, words, mut spec): (usize, &str, VerifySpec)| {
        let mut options = fio::options(&words.split_whitespace().collect::<Vec<_>>());
        if needs_pattern && spec.pattern.is_none() {
            options.push(pattern_option.to_owned());
            spec.pattern = pattern.clone();
        }
        if method != Method::HeaderAndPattern {
            options.push(format!("verify={method}"));
        }
        Case { name: format!("{method} {block} {words}"), spec, block, options }
    };
    ways.into_iter().map(case).collect()
}

pub(crate) fn compare() -> Outcome<String> {
    let directory = tempfile::tempdir()?;
    let file = directory.path().join(FILE);
    let (mut identical, mut total) = (0, 0);
    for case in cases() {
        if file.exists() {
            fs::remove_file(&file)?;
        }
        fio::run(directory.path(), &case.with(&["rw=write", "do_verify=0"]))?
            .assert_good(&case.name)?;
        let content = fs::read(&file)?;
        check(&case, &content)?;
        if case.spec.method != Method::Null {
            identical += same_again(&case, &content)?;
            total += BLOCKS;
        }
        fs::write(&file, case.content()?)?;
        for more in [&["rw=read"][..], &["rw=write", "verify_only=1"]] {
            fio::run(directory.path(), &case.with(more))?.assert_good(&case.name)?;
        }
    }
    let cases = cases().len();
    Ok(format!(
        "{cases} ways to verify, {BLOCKS} blocks each: fio's are verified here with their seeds \
         and numbers, ours by fio (rw=read, verify_only=1); {identical} of {total} blocks that \
         are filled again are fio's byte for byte"
    ))
}

fn check(case: &Case, content: &[u8]) -> Outcome<()> {
    let mut seeds = case.seeds();
    for (number, block) in content.chunks(case.block).enumerate() {
        let expected = Expected {
            file_offset: (number * case.block) as u64,
            number: Some(number as u64),
            seed: Some(seeds()),
        };
        let checked = case.verifier().check(block, &expected);
        checked.map_err(|failure| format!("{}, block {number}: {failure}", case.name))?;
    }
    Ok(())
}

/// Fills the blocks of a file again, at the times that their headers have.
fn same_again(case: &Case, content: &[u8]) -> Outcome<usize> {
    let mut seeds = case.seeds();
    for (number, block) in content.chunks(case.block).enumerate() {
        let header = block[case.spec.offset_bytes..].first_chunk().ok_or("no header")?;
        let header = Header::from_bytes(header);
        let written = Written {
            file_offset: (number * case.block) as u64,
            number: number as u64,
            seed: seeds(),
            thread: 1,
            time_s: header.time_s,
            time_ns: header.time_ns,
        };
        let mut again = vec![0; block.len()];
        case.verifier().fill(&mut again, &written)?;
        if again != block {
            return Err(format!("{}: block {number} is another one", case.name).into());
        }
    }
    Ok(BLOCKS)
}
