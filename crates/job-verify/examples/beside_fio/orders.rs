//! Blocks are verified in fio's order.

use std::fs;

use job_verify::{Fate, History, Keeping, Piece, VerifyBacklog};

use super::fio::{self, Outcome};

/// A call that reads or writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Call {
    pub(crate) is_write: bool,
    pub(crate) file: u32,
    pub(crate) offset: u64,
    pub(crate) length: u64,
    name: String,
}

impl Call {
    /// Whether it is of a file under test.
    pub(crate) fn is_of_a_file(&self) -> bool {
        self.name.contains("/file.")
    }
}

/// The calls in the output of `strace -y`, of files that are called `file.NUMBER`.
pub(crate) fn calls(trace: &str) -> Vec<Call> {
    trace.lines().filter_map(call).filter(Call::is_of_a_file).collect()
}

fn call(line: &str) -> Option<Call> {
    let at = line.find("pwrite64(").or_else(|| line.find("pread64("))?;
    let is_write = line[at..].starts_with("pwrite64");
    let (_, name) = line[at..].split_once('<')?;
    let (name, rest) = name.split_once('>')?;
    let (arguments, _) = rest.rsplit_once(')')?;
    let mut arguments = arguments.rsplit(", ");
    let offset = arguments.next()?.parse().ok()?;
    let length = arguments.next()?.parse().ok()?;
    let file = name.rsplit('.').next()?.parse().unwrap_or(u32::MAX);
    Some(Call { is_write, file, offset, length, name: name.to_owned() })
}

/// A job, how its pieces are kept, and its backlog.
struct Job(&'static str, Keeping, VerifyBacklog);

pub(crate) fn compare() -> Outcome<String> {
    let none = VerifyBacklog::new(0, 0);
    let jobs = [
        Job("rw=write", Keeping::Sorted, none),
        Job("rw=randwrite", Keeping::Logged, none),
        Job("rw=randwrite random_generator=lfsr", Keeping::Sorted, none),
        Job("rw=randwrite norandommap=1 io_size=2m", Keeping::Sorted, none),
        Job("rw=randwrite norandommap=1 bsrange=1k-13k", Keeping::Sorted, none),
        Job("rw=randwrite bsrange=1k-13k", Keeping::Logged, none),
        Job("rw=randwrite nrfiles=3", Keeping::Logged, none),
        Job("rw=write nrfiles=3", Keeping::Sorted, none),
        Job("rw=randwrite random_distribution=zipf:1.1", Keeping::Sorted, none),
        Job("rw=randwrite verify_backlog=8", Keeping::Logged, VerifyBacklog::new(8, 0)),
        Job(
            "rw=randwrite verify_backlog=8 verify_backlog_batch=3",
            Keeping::Logged,
            VerifyBacklog::new(8, 3),
        ),
        Job(
            "rw=randwrite norandommap=1 verify_backlog=7 verify_backlog_batch=2",
            Keeping::Sorted,
            VerifyBacklog::new(7, 2),
        ),
        Job(
            "rw=write verify_backlog=5 verify_backlog_batch=20",
            Keeping::Sorted,
            VerifyBacklog::new(5, 20),
        ),
    ];
    let mut reads = 0;
    for job in &jobs {
        reads += compare_job(job)?;
    }
    Ok(format!("{} jobs, {reads} reads that verify in fio's order", jobs.len()))
}

fn compare_job(job: &Job) -> Outcome<usize> {
    let Job(words, keeping, backlog) = job;
    let directory = tempfile::tempdir()?;
    let mut options = fio::options(&["filename_format=file.$filenum", "size=1m", "verify=md5"]);
    if !words.contains("bsrange") {
        options.push("bs=4k".to_owned());
    }
    options.extend(words.split(' ').map(str::to_owned));
    options.extend(fio::options(&["fallocate=none", "verify_state_save=0"]));
    let run = fio::traced(directory.path(), "pwrite64,pread64", &options)?;
    run.assert_good(words)?;
    let theirs = calls(&run.text);
    let ours = replayed(&theirs, *keeping, *backlog);
    if let Some(index) = theirs.iter().zip(&ours).position(|(their, our)| !is_same(their, our)) {
        let (their, our) = (&theirs[index], &ours[index]);
        return Err(format!("{words}: call {index}: {our:?}, fio {their:?}").into());
    }
    if ours.len() != theirs.len() {
        return Err(format!("{words}: {} calls, fio {}", ours.len(), theirs.len()).into());
    }
    fs::remove_dir_all(directory.path())?;
    Ok(ours.iter().filter(|call| !call.is_write).count())
}

fn is_same(one: &Call, other: &Call) -> bool {
    let key = |call: &Call| (call.is_write, call.file, call.offset, call.length);
    key(one) == key(other)
}

/// The calls that we would make, if we wrote what fio has written.
fn replayed(theirs: &[Call], keeping: Keeping, mut backlog: VerifyBacklog) -> Vec<Call> {
    let mut history = History::new();
    let mut calls = Vec::new();
    let mut last_was_read = false;
    let mut writes = theirs.iter().filter(|call| call.is_write).enumerate();
    loop {
        if backlog.is_due(history.len(), last_was_read)
            && let Some(piece) = history.next_to_verify()
        {
            backlog.verified();
            calls.push(read_of(piece));
            last_was_read = true;
            continue;
        }
        let Some((number, write)) = writes.next() else { break };
        let Call { file, offset, length, .. } = *write;
        let number = number as u64;
        let piece = Piece { file, offset, length, number, is_trimmed: false };
        let ticket = history.log(piece, keeping, Fate::Stays);
        calls.push(write.clone());
        history.completed(ticket);
        last_was_read = false;
    }
    while let Some(piece) = history.next_to_verify() {
        calls.push(read_of(piece));
    }
    calls
}

fn read_of(piece: Piece) -> Call {
    let Piece { file, offset, length, .. } = piece;
    Call { is_write: false, file, offset, length, name: String::new() }
}
