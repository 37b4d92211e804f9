//! Traces round-trip; truncated, damaged, foreign and newer ones are detected.

use std::io;

use footprint_trace::event::{Access, AccessKind, Event, EventEncoder};
use footprint_trace::header::{Coverage, Header, Scope};
use footprint_trace::mark::{Edge, Mark};
use footprint_trace::reader::{CutReason, Ending, TraceReader};
use footprint_trace::writer::{LIMIT_BYTES_MIN, TraceWriter};
use footprint_trace::{BlockId, TraceError, TracedBlock};
use proptest::prelude::*;

const HEADER: Header = Header {
    architecture: 62,
    scope: Scope::Program,
    coverage: Coverage::Marked,
    limit_bytes: LIMIT_BYTES_MIN,
};

/// An address and the instructions' bytes.
type Description = (u64, Vec<Vec<u8>>);

fn described(block: &TracedBlock<'_>) -> Description {
    (block.address, block.instructions().map(|(_, code)| code.to_vec()).collect())
}

/// A trace that describes these blocks and contains these chunks of events.
fn written(blocks: &[Description], chunks: &[(u32, Vec<Event>)]) -> Vec<u8> {
    let mut writer = TraceWriter::new(Vec::new(), &HEADER).unwrap();
    for (address, instructions) in blocks {
        let lengths: Vec<u8> =
            instructions.iter().map(|code| u8::try_from(code.len()).unwrap()).collect();
        let code = instructions.concat();
        writer
            .describe(&TracedBlock { address: *address, lengths: &lengths, code: &code })
            .unwrap();
    }
    let mut encoder = EventEncoder::new();
    for (vcpu, events) in chunks {
        for event in events {
            match *event {
                Event::Execute(block) => encoder.execute(block),
                Event::Access(access) => encoder.access(access),
                Event::Mark { mark, repetition } => encoder.mark(mark, repetition),
            }
        }
        writer.write_events(*vcpu, &mut encoder).unwrap();
    }
    writer.finish(None, 3).unwrap()
}

/// All events with their vCPUs, the blocks they refer to, and the end.
type Contents = (Vec<(u32, Event)>, Vec<Description>, Ending);

fn read(bytes: &[u8]) -> Result<Contents, TraceError> {
    let mut reader = TraceReader::new(bytes)?;
    assert_eq!(*reader.header(), HEADER);
    let mut events = Vec::new();
    while let Some(event) = reader.next_event()? {
        events.push((reader.vcpu(), event));
    }
    let blocks = (0..).map_while(|id| reader.block(BlockId(id)).map(|b| described(&b))).collect();
    let ending = *reader.ending().expect("all events were read");
    Ok((events, blocks, ending))
}

fn any_block() -> impl Strategy<Value = Description> {
    let instruction = proptest::collection::vec(any::<u8>(), 1..16);
    (any::<u64>(), proptest::collection::vec(instruction, 1..9))
}

fn any_event(blocks: u32) -> impl Strategy<Value = Event> {
    let near = prop_oneof![any::<u64>(), 0x1000_u64..0x1100];
    let kind = prop_oneof![Just(AccessKind::Load), Just(AccessKind::Store)];
    let bytes = prop_oneof![Just(1), Just(8), Just(64), 1_u32..=u32::MAX];
    let edge = prop_oneof![Just(Edge::Begin), Just(Edge::End)];
    prop_oneof![
        4 => (0..blocks).prop_map(|id| Event::Execute(BlockId(id))),
        4 => (kind, near, bytes)
            .prop_map(|(kind, address, bytes)| Event::Access(Access { kind, address, bytes })),
        1 => (edge, 0_u8..64, 0_u16..4096, any::<u32>()).prop_map(
            |(edge, region, operation, repetition)| {
                Event::Mark { mark: Mark { edge, region, operation }, repetition }
            }
        ),
    ]
}

/// Blocks, and chunks that begin with an execution, which accesses must belong to.
fn any_trace() -> impl Strategy<Value = (Vec<Description>, Vec<(u32, Vec<Event>)>)> {
    proptest::collection::vec(any_block(), 1..300).prop_flat_map(|blocks| {
        let count = u32::try_from(blocks.len()).unwrap();
        let events = (0..count, proptest::collection::vec(any_event(count), 0..200)).prop_map(
            |(first, mut events)| {
                events.insert(0, Event::Execute(BlockId(first)));
                events
            },
        );
        (Just(blocks), proptest::collection::vec((any::<u32>(), events), 0..4))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn traces_come_back((blocks, chunks) in any_trace()) {
        let (events, known, ending) = read(&written(&blocks, &chunks)).unwrap();
        let expected: Vec<_> = chunks.iter()
            .flat_map(|(vcpu, events)| events.iter().map(|event| (*vcpu, *event))).collect();
        prop_assert_eq!(events, expected);
        if !chunks.is_empty() {
            prop_assert_eq!(known, blocks);
        }
        prop_assert_eq!((ending.cut, ending.forks), (None, 3));
    }

    #[test]
    fn arbitrary_bytes_are_refused(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        prop_assert!(read(&bytes).is_err());
    }

    #[test]
    fn a_changed_byte_is_noticed(
        (blocks, chunks) in any_trace(),
        at in any::<prop::sample::Index>(),
        change in 1_u8..,
    ) {
        let mut bytes = written(&blocks, &chunks);
        let at = at.index(bytes.len());
        bytes[at] ^= change;
        prop_assert!(read(&bytes).is_err());
    }
}

fn small_trace() -> Vec<u8> {
    let block = (0x40_1000, vec![vec![0x90], vec![0x48, 0x8b, 0x07]]);
    let load = Access { kind: AccessKind::Load, address: 0x7fff_0000, bytes: 8 };
    let events = vec![Event::Execute(BlockId(0)), Event::Access(load)];
    written(&[block], &[(0, events.clone()), (1, events)])
}

#[test]
fn every_truncation_is_noticed() {
    let whole = small_trace();
    assert!(read(&whole).is_ok());
    for length in 0..whole.len() {
        let error = read(&whole[..length]).unwrap_err();
        assert!(matches!(error, TraceError::Truncated { .. }), "{length}: {error}");
    }
}

#[test]
fn a_chunk_left_out_is_noticed() {
    let whole = small_trace();
    // The second chunk of events is as long as the first and precedes the end's 16 bytes.
    let length = whole.len() - 16 - 32;
    let (start, rest) = whole.split_at(32);
    assert_eq!(start.len() + rest.len(), whole.len());
    let events = (length - 13 - 10) / 2;
    let without = [&whole[..whole.len() - 16 - events], &whole[whole.len() - 16..]].concat();
    assert!(read(&without).is_err());
}

#[test]
fn newer_and_foreign_ones_say_so() {
    let mut newer = small_trace();
    newer[8] = 9;
    let error = read(&newer).unwrap_err();
    assert!(matches!(error, TraceError::Newer { found: 9, known: 2 }), "{error}");
    assert!(error.to_string().contains("update fsprism"));
    assert!(matches!(read(b"\x7fELF\x02\x01\x01"), Err(TraceError::Foreign)));
}

#[test]
fn a_full_trace_says_that_it_was_cut_off() {
    let mut writer = TraceWriter::new(Vec::new(), &HEADER).unwrap();
    let block = TracedBlock { address: 1, lengths: &[1], code: &[0x90] };
    let id = writer.describe(&block).unwrap();
    let mut encoder = EventEncoder::new();
    let mut chunks = 0;
    while !writer.is_full() {
        while !encoder.is_full() {
            encoder.execute(id);
        }
        writer.write_events(0, &mut encoder).unwrap();
        chunks += 1;
    }
    let bytes = writer.finish(None, 0).unwrap();
    assert!(bytes.len() as u64 <= LIMIT_BYTES_MIN && bytes.len() as u64 > LIMIT_BYTES_MIN / 2);
    let (events, _, ending) = read(&bytes).unwrap();
    assert_eq!(ending.cut, Some(CutReason::Limit));
    assert_eq!(events.len(), (chunks - 1) << 16);
}

#[test]
fn a_failing_sink_and_a_small_limit_are_errors() {
    let tiny = Header { limit_bytes: 1000, ..HEADER };
    let error = TraceWriter::new(Vec::new(), &tiny).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
    let mut full = [0_u8; 40];
    let mut writer = TraceWriter::new(&mut full[..], &HEADER).unwrap();
    let mut encoder = EventEncoder::new();
    writer.describe(&TracedBlock { address: 1, lengths: &[1], code: &[0x90] }).unwrap();
    encoder.execute(BlockId(0));
    assert!(writer.write_events(0, &mut encoder).is_err());
}
