//! State files: fio's are read and written again, and fio stops where we say that it does.

use std::fs;

use job_verify::{CompletedWrite, Completions, RandomState, ReadProgress, VerifyState};

use super::fio::{self, Outcome};
use super::orders::{Call, calls};

const BLOCK: u64 = 4096;
const BLOCKS: u64 = 16;

pub(crate) fn compare() -> Outcome<String> {
    let written = [
        states_are_the_same(&["rw=write", "iodepth=1"], 1)?,
        states_are_the_same(&["rw=randwrite", "iodepth=4", "nrfiles=2"], 4)?,
        states_are_the_same(&["rw=randwrite", "iodepth=64", "random_generator=tausworthe64"], 64)?,
    ];
    let stops = stops_are_the_same()?;
    Ok(format!(
        "{} files of fio are read and written again byte for byte, with the writes that were \
         traced; of {stops} files of ours, fio makes as many reads as we say",
        written.len()
    ))
}

fn common() -> Vec<String> {
    fio::options(&["filename_format=file.$filenum", "size=64k", "bs=4k", "verify=crc32c"])
}

fn states_are_the_same(more: &[&str], depth: u32) -> Outcome<()> {
    let directory = tempfile::tempdir()?;
    let mut options = common();
    options.extend(fio::options(more));
    options.extend(fio::options(&["do_verify=0", "fallocate=none"]));
    // A thread of fio is counted from 1; the file from 0.
    let run = fio::traced(directory.path(), "pwrite64", &options)?;
    let path = directory.path().join(VerifyState::file_name("job", 0));
    let file = fs::read(&path)?;
    let state = VerifyState::from_bytes(&file)?;
    if state.to_bytes() != file {
        return Err("a state file is another one when it is written again".into());
    }
    let files = state.files as usize;
    let mut completions = Completions::new(depth, files);
    let calls = calls(&run.text);
    for call in &calls {
        completions.wrote(call.file as usize, call.offset);
    }
    let writes = calls.len() as u64;
    let is_wide = matches!(state.random, RandomState::Wide(_));
    let says = (state.completed, state.begun, state.depth, state.thread_index, is_wide);
    let is_wide = more.contains(&"random_generator=tausworthe64");
    let should = (completions.latest(writes), writes, depth, 0, is_wide);
    if says != should {
        return Err(format!("{more:?}: {says:?}, not {should:?}").into());
    }
    Ok(())
}

fn stops_are_the_same() -> Outcome<usize> {
    let directory = tempfile::tempdir()?;
    let mut options = common();
    options.push("rw=write".to_owned());
    fio::run(directory.path(), &options)?.assert_good("writing")?;
    options.extend(fio::options(&["verify_only=1", "verify_state_load=1", "verify_state_save=0"]));
    let path = directory.path().join(VerifyState::file_name("job", 0));
    let states = states();
    for state in &states {
        fs::write(&path, state.to_bytes())?;
        let run = fio::traced(directory.path(), "pread64", &options)?;
        let theirs = calls(&run.text).into_iter().filter(Call::is_of_a_file).count() as u64;
        let ours = (0..BLOCKS).take_while(|reads| {
            let offset = reads * BLOCK;
            !state.should_stop(ReadProgress { reads: *reads, file: 0, offset })
        });
        let ours = ours.count() as u64;
        if ours != theirs {
            return Err(format!("{state:?}: {ours} reads, fio {theirs}").into());
        }
    }
    Ok(states.len())
}

fn states() -> Vec<VerifyState> {
    let of = |depth: u32, begun: u64, blocks: &[u64]| VerifyState {
        depth,
        files: 1,
        begun,
        thread_index: 0,
        random: RandomState::Narrow([1, 2, 3]),
        name: b"job".to_vec(),
        completed: blocks
            .iter()
            .map(|block| CompletedWrite { file: 0, offset: block * BLOCK })
            .collect(),
    };
    vec![
        of(1, 16, &[15]),
        of(1, 12, &[11]),
        of(1, 12, &[10]),
        of(4, 12, &[11, 10, 9, 8]),
        of(4, 12, &[8, 9, 11]),
        of(4, 12, &[10, 9, 8, 7]),
        of(4, 3, &[2, 1, 0]),
        of(4, 3, &[0, 2]),
        of(4, 4, &[]),
        of(16, 16, &[0, 1, 2, 3, 4]),
        of(16, 17, &[1, 2, 3, 4]),
        of(8, 0, &[]),
    ]
}
