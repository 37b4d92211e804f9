//! Blocks that are filled, damaged and checked.

use super::*;

const WRITTEN: Written = Written {
    file_offset: 1 << 20,
    number: 0x1_0007,
    seed: 0x1234_5678_9abc_def1,
    thread: 1,
    time_s: 5,
    time_ns: 6,
};

fn expected() -> Expected {
    Expected {
        file_offset: WRITTEN.file_offset,
        number: Some(WRITTEN.number),
        seed: Some(WRITTEN.seed),
    }
}

fn spec(method: Method) -> VerifySpec {
    let bytes = b"abcdefgh0123456789".to_vec();
    let pattern = Pattern { bytes, offsets: vec![0] };
    let needs = matches!(method, Method::Pattern | Method::HeaderAndPattern);
    VerifySpec { pattern: needs.then_some(pattern), ..VerifySpec::new(method) }
}

fn filled(verifier: &Verifier, length: usize) -> Vec<u8> {
    let mut block = vec![0xee; length];
    verifier.fill(&mut block, &WRITTEN).expect("a block with room");
    block
}

fn cause(verifier: &Verifier, block: &[u8]) -> Cause {
    cause_with(verifier, block, &expected())
}

fn cause_with(verifier: &Verifier, block: &[u8], expected: &Expected) -> Cause {
    let failure = verifier.check(block, expected).expect_err("a failure");
    failure.mismatches[0].cause.clone()
}

#[test]
fn every_method_accepts_what_it_has_filled() {
    for method in Method::all() {
        for (interval_bytes, offset_bytes) in [(0, 0), (1024, 0), (0, 300), (1024, 400)] {
            let spec = VerifySpec { interval_bytes, offset_bytes, ..spec(method) };
            let verifier = Verifier::new(spec);
            let block = filled(&verifier, 4096);
            assert_eq!(verifier.check(&block, &expected()), Ok(()), "{method} {interval_bytes}");
        }
    }
}

#[test]
fn every_method_but_null_finds_a_change_of_the_last_byte() {
    for method in Method::all() {
        let verifier = Verifier::new(spec(method));
        let mut block = filled(&verifier, 4096);
        block[4095] ^= 0x40;
        let is_found = verifier.check(&block, &expected()).is_err();
        assert_eq!(is_found, !matches!(method, Method::Null | Method::Meta), "{method}");
    }
}

#[test]
fn each_field_of_a_header_is_compared() {
    let verifier = Verifier::new(spec(Method::Crc32c));
    let block = filled(&verifier, 512);
    let changed = |at: usize| {
        let mut block = block.clone();
        block[at] ^= 1;
        cause(&verifier, &block)
    };
    assert_eq!(changed(0), Cause::Magic { received: MAGIC ^ 1 });
    assert_eq!(changed(4), Cause::Length { expected: 512, received: 513 });
    let (seed, offset) = (WRITTEN.seed, WRITTEN.file_offset);
    assert_eq!(changed(8), Cause::Seed { expected: seed, received: seed ^ 1 });
    assert_eq!(changed(16), Cause::Offset { expected: offset, received: offset + 1 });
    assert_eq!(changed(34), Cause::Number { expected: 7, received: 6 });
    assert!(matches!(changed(24), Cause::HeaderChecksum { .. }));
    assert!(matches!(changed(36), Cause::HeaderChecksum { .. }));
    assert!(matches!(changed(40), Cause::Checksum { other_code: None, .. }));
}

#[test]
fn seeds_and_numbers_count_only_where_they_are_known() {
    let verifier = Verifier::new(spec(Method::Md5));
    let block = filled(&verifier, 512);
    let unknown = Expected { number: None, seed: None, ..expected() };
    assert_eq!(verifier.check(&block, &unknown), Ok(()));
    let other = Expected { number: Some(8), ..unknown };
    assert_eq!(cause_with(&verifier, &block, &other), Cause::Number { expected: 8, received: 7 });
    let other = Expected { seed: Some(1), ..unknown };
    assert!(matches!(cause_with(&verifier, &block, &other), Cause::Seed { .. }));
}

#[test]
fn only_the_last_interval_makes_an_error() {
    let mut spec = VerifySpec { interval_bytes: 1024, ..spec(Method::Crc32) };
    let verifier = Verifier::new(spec.clone());
    let block = filled(&verifier, 4096);
    let with_changes = |places: &[usize]| {
        let mut block = block.clone();
        places.iter().for_each(|at| block[*at] ^= 1);
        block
    };
    let failure = |verifier: &Verifier, places: &[usize]| {
        let failure = verifier.check(&with_changes(places), &expected()).expect_err("a failure");
        let offsets = failure.mismatches.iter().map(|one| one.begin).collect::<Vec<_>>();
        (offsets, failure.is_error)
    };
    assert_eq!(failure(&verifier, &[500, 3000]), (vec![0, 2048], false));
    assert_eq!(failure(&verifier, &[500, 4000]), (vec![0, 3072], true));
    assert_eq!(failure(&verifier, &[1024, 2048]), (vec![1024], true));
    spec.is_fatal = true;
    assert_eq!(failure(&Verifier::new(spec), &[500, 3000]), (vec![0], true));
}

#[test]
fn another_method_is_named() {
    let block = filled(&Verifier::new(spec(Method::Md5)), 512);
    let found = cause(&Verifier::new(spec(Method::Crc64)), &block);
    assert!(matches!(found, Cause::Checksum { other_code: Some(2), .. }));
    // A header for more than there is.
    let block = filled(&Verifier::new(spec(Method::Meta)), 64);
    let mut header = Header::from_bytes(block.first_chunk().expect("a header"));
    header.method_code = Method::Sha512.code();
    let mut block = block.clone();
    block[..HEADER_BYTES].copy_from_slice(&header.to_bytes());
    let found = cause(&Verifier::new(spec(Method::Crc7)), &block);
    assert_eq!(found, Cause::UnknownMethod { code: 10 });
}

#[test]
fn patterns_know_where_they_are() {
    let verifier = Verifier::new(VerifySpec { interval_bytes: 512, ..spec(Method::Pattern) });
    let mut block = filled(&verifier, 2048);
    assert_eq!(block[..8], WRITTEN.file_offset.to_le_bytes());
    block[515] ^= 3;
    let found = verifier.check(&block, &expected()).expect_err("a failure").mismatches.remove(0);
    let received = block[515];
    assert_eq!(found.cause, Cause::Pattern { expected: received ^ 3, received, at: 3 });
    let bits = "(2 bits differ) at byte 3 of the content";
    assert!(found.to_string().ends_with(bits), "{found}");
    let bare = Verifier::new(VerifySpec::new(Method::Pattern));
    assert_eq!(cause(&bare, &block), Cause::NoPattern);
}

#[test]
fn contents_can_compress() {
    let spec = VerifySpec { compress_percent: 50, ..spec(Method::Md5) };
    let verifier = Verifier::new(spec);
    let block = filled(&verifier, 4096);
    assert_eq!(block[2048..], [0; 2048]);
    assert_ne!(block[2047], 0);
    assert_eq!(verifier.check(&block, &expected()), Ok(()));
}

#[test]
fn headers_can_be_written_alone() {
    let pattern = Some(Pattern { bytes: b"abc".to_vec(), offsets: Vec::new() });
    let verifier = Verifier::new(VerifySpec { pattern, ..spec(Method::Crc32) });
    let whole = filled(&verifier, 512);
    let mut block = whole.clone();
    block[..44].fill(0);
    verifier.fill_headers(&mut block, &WRITTEN).expect("a block with room");
    assert_eq!(block, whole);
}

#[test]
fn a_header_that_is_moved_onto_itself_is_lost() {
    let verifier = Verifier::new(VerifySpec { offset_bytes: 40, ..spec(Method::Md5) });
    let block = filled(&verifier, 512);
    assert!(matches!(cause(&verifier, &block), Cause::Checksum { .. }));
}

#[test]
fn blocks_without_room_are_refused() {
    let verifier = Verifier::new(spec(Method::Sha512));
    let error = verifier.fill(&mut [0; 168], &WRITTEN).expect_err("no room");
    assert_eq!((error.length, error.needed), (168, 168));
    assert_eq!(cause(&verifier, &[0; 168]), Cause::TooSmall(error));
    let moved = Verifier::new(VerifySpec { offset_bytes: 480, ..spec(Method::Meta) });
    assert_eq!(moved.fill(&mut [0; 512], &WRITTEN).expect_err("no room").needed, 520);
}

#[test]
fn the_last_interval_can_be_shorter() {
    let verifier = Verifier::new(VerifySpec { interval_bytes: 1024, ..spec(Method::Md5) });
    let mut block = filled(&verifier, 2500);
    assert_eq!(verifier.check(&block, &expected()), Ok(()));
    block[1500] ^= 1;
    let failure = verifier.check(&block, &expected()).expect_err("a failure");
    assert_eq!(verifier.dumps(&failure.mismatches[0], &block, &WRITTEN, "f").len(), 2);
}

#[test]
fn dumps_are_what_was_received_and_expected() {
    for offset_bytes in [0, 400] {
        let spec = VerifySpec { interval_bytes: 1024, offset_bytes, ..spec(Method::Md5) };
        let verifier = Verifier::new(spec);
        let good = filled(&verifier, 2048);
        let mut block = good.clone();
        block[2000] ^= 1;
        let failure = verifier.check(&block, &expected()).expect_err("a failure");
        let dumps = verifier.dumps(&failure.mismatches[0], &block, &WRITTEN, "/tmp/file");
        let names = dumps.iter().map(|dump| &*dump.name).collect::<Vec<_>>();
        assert_eq!(names, ["file.1049600.received", "file.1049600.expected"]);
        assert_eq!(dumps[1].content, good[1024..]);
        assert_eq!(dumps[0].content, *verifier.in_order(&block[1024..]));
        let mut header = good.clone();
        header[1024 + offset_bytes] = 0;
        let failure = verifier.check(&header, &expected()).expect_err("a failure");
        let dumps = verifier.dumps(&failure.mismatches[0], &header, &WRITTEN, "file");
        assert_eq!((dumps.len(), &*dumps[0].name), (1, "file.1049600.hdr_fail"));
        assert_eq!(dumps[0].content.len(), 1024);
    }
    let verifier = Verifier::new(VerifySpec { interval_bytes: 512, ..spec(Method::Pattern) });
    let good = filled(&verifier, 2048);
    let mut block = good.clone();
    block[700] ^= 1;
    let failure = verifier.check(&block, &expected()).expect_err("a failure");
    let dumps = verifier.dumps(&failure.mismatches[0], &block, &WRITTEN, "file");
    assert_eq!(dumps[0].content, block);
    assert_eq!(dumps[1].content, good);
}

#[test]
fn what_was_trimmed_is_zeros() {
    let verifier = Verifier::new(spec(Method::Md5));
    let mut block = [0; 512];
    assert_eq!(verifier.check_zeros(&block, 512), Ok(()));
    block[9] = 1;
    let failure = verifier.check_zeros(&block, 512).expect_err("a failure");
    let text = "offset 512, 512 bytes: verify=md5: trimmed, but byte 9 is not zero";
    assert_eq!(failure.to_string(), text);
}

#[test]
fn messages_say_what_and_where() {
    let verifier = Verifier::new(VerifySpec { interval_bytes: 512, ..spec(Method::Crc16) });
    let mut block = filled(&verifier, 1024);
    block[40] = !block[40];
    block[511] ^= 1;
    block[512] = 0;
    let failure = verifier.check(&block, &expected()).expect_err("a failure").to_string();
    let lines = failure.lines().collect::<Vec<_>>();
    let first = "offset 1048576, 512 bytes (of a block at 1048576, 1024 bytes): verify=crc16: \
                 expected checksum ";
    assert!(lines[0].starts_with(first), "{failure}");
    let second = "no header: it would begin with acca, not ac00";
    assert!(lines[1].ends_with(second), "{failure}");
}

#[test]
fn null_leaves_blocks_alone() {
    let verifier = Verifier::new(spec(Method::Null));
    assert_eq!(filled(&verifier, 64), [0xee; 64]);
    assert_eq!(verifier.check(&[1; 64], &expected()), Ok(()));
}
