//! State files, whole and damaged, and where jobs stop.

use super::*;

fn state() -> VerifyState {
    VerifyState {
        depth: 2,
        files: 2,
        begun: 9,
        thread_index: 3,
        random: RandomState::Narrow([1, 2, 3]),
        name: b"a/b".to_vec(),
        completed: vec![
            CompletedWrite { file: 0, offset: 4096 },
            CompletedWrite { file: 1, offset: 8192 },
        ],
    }
}

#[test]
fn states_are_read_as_they_are_written() {
    let wide = VerifyState { random: RandomState::Wide([1, 2, 3, 4, u64::MAX]), ..state() };
    for state in [state(), wide] {
        let bytes = state.to_bytes();
        assert_eq!(bytes.len(), 24 + 152 + 16 * 4);
        assert_eq!(VerifyState::from_bytes(&bytes), Ok(state));
    }
}

#[test]
fn long_names_are_cut() {
    let long = VerifyState { name: vec![b'x'; 100], ..state() };
    let read = VerifyState::from_bytes(&long.to_bytes()).expect("a state");
    assert_eq!(read.name, [b'x'; 63]);
}

#[test]
fn what_is_no_state_is_refused() {
    let whole = state().to_bytes();
    for length in 0..whole.len() {
        let error = StateError::Truncated { length };
        assert_eq!(VerifyState::from_bytes(&whole[..length]), Err(error));
    }
    let mut other = whole.clone();
    other[0] = 2;
    assert_eq!(VerifyState::from_bytes(&other), Err(StateError::Version { version: 2 }));
    for at in 16..whole.len() {
        let mut damaged = whole.clone();
        damaged[at] ^= 1;
        assert_eq!(VerifyState::from_bytes(&damaged), Err(StateError::Damaged), "{at}");
    }
    let many = VerifyState { completed: vec![CompletedWrite::default(); 4], ..state() };
    let mut bytes = many.to_bytes();
    bytes[24] = 5;
    let checksum = u64::from(crc32c_uninverted(&bytes[24..]));
    bytes[16..24].copy_from_slice(&checksum.to_le_bytes());
    assert_eq!(VerifyState::from_bytes(&bytes), Err(StateError::Damaged));
}

#[test]
fn jobs_stop_at_the_first_write_that_may_not_have_ended() {
    let state = state();
    let stops = |reads, file, offset| state.should_stop(ReadProgress { reads, file, offset });
    assert!(!stops(0, 0, 0));
    assert!(!stops(6, 0, 0));
    assert!(stops(7, 0, 0));
    assert!(!stops(7, 0, 4096));
    assert!(stops(7, 1, 4096));
    assert!(!stops(8, 1, 8192));
    assert!(!stops(10, 0, 0), "beyond what was written, it goes on");
    let short = VerifyState { begun: 2, ..state.clone() };
    assert!(short.should_stop(ReadProgress::default()));
}
