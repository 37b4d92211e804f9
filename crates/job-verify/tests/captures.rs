//! Blocks and a state file that fio 3.33 has written.

use job_verify::{
    CompletedWrite, Expected, HEADER_BYTES, Header, MAGIC, Method, RandomState, Verifier,
    VerifySpec, VerifyState, Written, fill_randomly,
};

const BLOCKS: &str = include_str!("fixtures/fio-3.33-blocks.txt");
const STATE: &str = include_str!("fixtures/fio-3.33-state.txt");
const BLOCK: usize = 512;

fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter(|line| !line.starts_with('#'))
}

fn bytes(hexadecimal: &str) -> Vec<u8> {
    let byte = |at| u8::from_str_radix(&hexadecimal[at..at + 2], 16).expect("two digits");
    (0..hexadecimal.len()).step_by(2).map(byte).collect()
}

#[test]
fn blocks_of_fio_are_verified() {
    for line in lines(BLOCKS) {
        let (name, before) = line.split_once(' ').expect("a method and bytes");
        let method = Method::named(name).expect(name);
        let before = bytes(before);
        let header = Header::from_bytes(before.first_chunk().expect("a header"));
        assert_eq!((header.magic, header.method_code), (MAGIC, method.code()), "{name}");
        assert_eq!(before.len(), HEADER_BYTES + method.checksum_bytes(), "{name}");
        let mut block = vec![0; BLOCK];
        fill_randomly(header.seed, &mut block);
        block[..before.len()].copy_from_slice(&before);
        let verifier = Verifier::new(VerifySpec::new(method));
        let (number, seed) = (Some(0), Some(header.seed));
        let expected = Expected { file_offset: 0, number, seed };
        assert_eq!(verifier.check(&block, &expected), Ok(()), "{name}");
        let written = Written {
            file_offset: 0,
            number: 0,
            seed: header.seed,
            thread: header.thread,
            time_s: header.time_s,
            time_ns: header.time_ns,
        };
        let mut again = vec![0; BLOCK];
        verifier.fill(&mut again, &written).expect("a block with room");
        assert_eq!(again, block, "{name}");
    }
    assert_eq!(lines(BLOCKS).count(), 15);
}

#[test]
fn a_state_file_of_fio_is_read_and_written_again() {
    let file = bytes(&lines(STATE).collect::<String>());
    let state = VerifyState::from_bytes(&file).expect("a state");
    assert_eq!((state.depth, state.files, state.begun, state.thread_index), (4, 2, 16, 0));
    assert_eq!(state.name, b"a/job");
    assert!(matches!(state.random, RandomState::Narrow(_)));
    assert_eq!(state.completed.len(), 8);
    assert_eq!(state.completed[4], CompletedWrite { file: 1, offset: 16384 });
    assert_eq!(state.to_bytes(), file);
}
