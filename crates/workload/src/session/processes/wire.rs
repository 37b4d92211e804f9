//! How a worker's result is encoded: its numbers, or why there are none.

use measure::Recorder;

use super::super::course::{Course, Stretch};
use super::super::outcome::ThreadResult;
use super::super::run::WorkerError;
use crate::error::EngineError;
use crate::round::TickSpan;
use crate::run_loop::{LoopOutcome, Tally};

/// The first byte of a result.
const PART: u8 = 0;
const TROUBLE: u8 = 1;

pub(super) fn encode(result: Result<ThreadResult, WorkerError>) -> Vec<u8> {
    match result {
        Ok(part) => {
            let LoopOutcome { operations, bytes, interrupted } = part.outcome;
            let mut words = vec![
                operations,
                bytes,
                u64::from(interrupted),
                part.checked_bytes,
                part.tally.reads,
                part.tally.writes,
                part.tally.would_block,
                part.whole.start_ticks,
                part.whole.end_ticks,
                part.processor_ns,
                part.thread_ns,
                part.start_read_bytes.unwrap_or(u64::MAX),
                part.waited_ns.unwrap_or(u64::MAX),
                part.read_bytes.unwrap_or(u64::MAX),
            ];
            for stretches in [&part.course.start, &part.course.steady] {
                words.push(stretches.len() as u64);
                words.extend(stretches.iter().flat_map(|one| [one.operations, one.busy_ns]));
            }
            words.push(part.rounds.len() as u64);
            words.extend(part.rounds.iter().flat_map(|one| [one.start_ticks, one.end_ticks]));
            words.extend(part.recorder.to_words());
            let bytes = words.iter().flat_map(|word| word.to_ne_bytes());
            std::iter::once(PART).chain(bytes).collect()
        }
        Err(trouble) => {
            let message = match trouble {
                WorkerError::Engine(error) => error.to_string(),
                WorkerError::Call(call, errno) => format!("{call} failed: {errno}"),
            };
            std::iter::once(TROUBLE).chain(message.into_bytes()).collect()
        }
    }
}

pub(super) fn decode(bytes: &[u8]) -> Result<ThreadResult, WorkerError> {
    let failed = |message: String| WorkerError::Engine(EngineError::Worker { message });
    match bytes.split_first() {
        Some((&PART, rest)) => part(rest).ok_or_else(|| failed("its result is damaged".to_owned())),
        Some((_, message)) => Err(failed(String::from_utf8_lossy(message).into_owned())),
        None => Err(failed("it returned no result".to_owned())),
    }
}

fn part(bytes: &[u8]) -> Option<ThreadResult> {
    let (words, []) = bytes.as_chunks() else { return None };
    let words: Vec<u64> = words.iter().map(|word| u64::from_ne_bytes(*word)).collect();
    let ([operations, bytes, interrupted, checked_bytes, rest @ ..], words): (&[u64; 14], _) =
        words.split_first_chunk()?;
    let [reads, writes, would_block, start_ticks, end_ticks, rest @ ..] = rest;
    let [processor_ns, thread_ns, start_read_bytes, waited_ns, read_bytes] = rest;
    let told = |&number: &u64| Some(number).filter(|&number| number < u64::MAX);
    let stretch = |&[operations, busy_ns]: &[u64; 2]| Stretch { operations, busy_ns };
    let span = |&[start_ticks, end_ticks]: &[u64; 2]| TickSpan { start_ticks, end_ticks };
    let (start, words) = pairs(words)?;
    let (steady, words) = pairs(words)?;
    let (rounds, recorder) = pairs(words)?;
    Some(ThreadResult {
        recorder: Recorder::from_words(recorder)?,
        course: Course {
            start: start.iter().map(stretch).collect(),
            steady: steady.iter().map(stretch).collect(),
        },
        processor_ns: *processor_ns,
        thread_ns: *thread_ns,
        waited_ns: told(waited_ns),
        read_bytes: told(read_bytes),
        start_read_bytes: told(start_read_bytes),
        outcome: LoopOutcome {
            operations: *operations,
            bytes: *bytes,
            interrupted: *interrupted != 0,
        },
        checked_bytes: *checked_bytes,
        tally: Tally { reads: *reads, writes: *writes, would_block: *would_block },
        // Workers have no operations in flight: processes can only make one call after another.
        asynchronous: None,
        whole: TickSpan { start_ticks: *start_ticks, end_ticks: *end_ticks },
        rounds: rounds.iter().map(span).collect(),
    })
}

/// Reads a count and that many pairs. Returns the pairs and the words after them.
fn pairs(words: &[u64]) -> Option<(&[[u64; 2]], &[u64])> {
    let (&count, words) = words.split_first()?;
    let length = usize::try_from(count).ok()?.checked_mul(2)?;
    let (pairs, rest) = words.split_at_checked(length)?;
    let (pairs, []) = pairs.as_chunks() else { return None };
    Some((pairs, rest))
}

#[cfg(test)]
mod tests {
    use measure::ManualClock;

    use super::*;

    #[test]
    fn a_part_comes_back_as_it_was() {
        let mut recorder = Recorder::new(100, 8);
        recorder.record(110, 125, &ManualClock::new());
        let outcome = LoopOutcome { operations: 1, bytes: 4096, interrupted: true };
        let checked_bytes = 9;
        let span = |start_ticks, end_ticks| TickSpan { start_ticks, end_ticks };
        let (whole, rounds) = (span(105, 130), vec![span(105, 110), span(120, 125)]);
        let tally = Tally { reads: 3, writes: 4, would_block: 5 };
        let asynchronous = None;
        let stretch = |operations, busy_ns| Stretch { operations, busy_ns };
        let course = Course { start: vec![stretch(1, 9)], steady: vec![stretch(2, 4); 2] };
        let part = ThreadResult {
            recorder,
            outcome,
            course: course.clone(),
            processor_ns: 23,
            thread_ns: 30,
            waited_ns: Some(31),
            read_bytes: Some(32),
            start_read_bytes: None,
            checked_bytes,
            tally,
            asynchronous,
            whole,
            rounds: rounds.clone(),
        };
        let Ok(back) = decode(&encode(Ok(part))) else { panic!("a part went in") };
        assert_eq!(back.recorder.operations(), 1);
        assert_eq!(back.recorder.busy_ns(), 15);
        let LoopOutcome { operations, bytes, interrupted } = back.outcome;
        assert_eq!((operations, bytes, interrupted), (1, 4096, true));
        assert_eq!((back.tally, back.course), (tally, course));
        assert_eq!((back.processor_ns, back.thread_ns, back.start_read_bytes), (23, 30, None));
        assert_eq!((back.waited_ns, back.read_bytes), (Some(31), Some(32)));
        assert_eq!((back.checked_bytes, back.whole, back.rounds), (9, whole, rounds));
    }

    #[test]
    fn trouble_comes_back_in_words_and_damage_is_noticed() {
        let said = |result: Result<ThreadResult, WorkerError>| match result {
            Err(WorkerError::Engine(error)) => error.to_string(),
            _ => panic!("there was trouble"),
        };
        let trouble = WorkerError::Engine(EngineError::AlreadyRun);
        let expected = EngineError::AlreadyRun.to_string();
        assert!(said(decode(&encode(Err(trouble)))).contains(&expected));
        assert!(said(decode(&[])).contains("no result"));
        assert!(said(decode(&[PART, 1, 2, 3])).contains("damaged"));
        assert!(said(decode(&[PART])).contains("damaged"));
    }
}
