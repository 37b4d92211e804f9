//! Real rings on real files.

use std::fs::File;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::*;
use crate::uring::availability::io_uring_availability;

/// An unnamed file on tmpfs, where requests are processed by other threads.
fn file() -> Option<File> {
    if let Err(why) = io_uring_availability() {
        eprintln!("skipped: needs io_uring: {why}");
        return None;
    }
    let directory = if std::path::Path::new("/dev/shm").is_dir() { "/dev/shm" } else { "." };
    let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
    let flags = rustix::fs::OFlags::TMPFILE | rustix::fs::OFlags::RDWR;
    match rustix::fs::open(directory, flags, mode) {
        Ok(file) => Some(File::from(file)),
        Err(errno) => {
            eprintln!("skipped: needs a file without a name in {directory}: {errno}");
            None
        }
    }
}

fn ring(spec: RingSpec, file: &File) -> Ring {
    let mut ring = Ring::new(spec, &[file.as_raw_fd()]).expect("there is io_uring");
    ring.enable().expect("this thread made it");
    ring
}

fn request(slot: u32, bytes: u32) -> Request {
    Request { slot, file: 0, offset_bytes: u64::from(slot) * u64::from(bytes), done_bytes: 0 }
}

#[test]
fn whoever_drops_a_ring_waits_for_all_that_is_in_flight() {
    let Some(file) = file() else { return };
    let (slots, bytes) = (64, 1 << 20);
    let spec = RingSpec { queue_depth: slots, slots, request_bytes: bytes };
    let mut ring = ring(spec, &file);
    for slot in 0..slots {
        ring.bytes_mut(slot).fill(u8::try_from(slot + 1).expect("there are fewer"));
        ring.push(Direction::Write, request(slot, bytes));
    }
    ring.submit().expect("there is room");
    // No completion has been looked at.
    drop(ring);
    let mut last = [0];
    for slot in 0..slots {
        let end = u64::from(slot + 1) * u64::from(bytes) - 1;
        file.read_exact_at(&mut last, end).expect("it was written");
        assert_eq!(u32::from(last[0]), slot + 1);
    }
}

#[test]
fn a_slot_in_flight_is_nobodys_until_it_was_reaped() {
    let Some(file) = file() else { return };
    let spec = RingSpec { queue_depth: 2, slots: 3, request_bytes: 512 };
    let mut ring = ring(spec, &file);
    ring.bytes_mut(1).fill(7);
    ring.push(Direction::Write, request(1, 512));
    let refused = |ring: &mut Ring, act: fn(&mut Ring)| {
        catch_unwind(AssertUnwindSafe(|| act(ring))).expect_err("it is the kernel's");
    };
    refused(&mut ring, |ring| ring.bytes_mut(1).fill(0));
    refused(&mut ring, |ring| ring.push(Direction::Write, request(1, 512)));
    ring.push(Direction::Write, request(0, 512));
    // The queue is two deep.
    refused(&mut ring, |ring| ring.push(Direction::Write, request(2, 512)));
    ring.submit().expect("there is room");
    refused(&mut ring, |ring| ring.bytes_mut(1).fill(0));
    let mut landed = Vec::new();
    while landed.len() < 2 {
        ring.wait(1).expect("two are in flight");
        let count = ring.ready();
        ring.reap(count, &mut landed);
    }
    landed.sort_by_key(|completion| completion.slot);
    let whole = |slot| Completion { slot, result: 512 };
    assert_eq!(landed, [whole(0), whole(1)]);
    assert_eq!(ring.bytes_mut(1), [7; 512]);
    assert_eq!(file.metadata().expect("it is open").len(), 1024);
}

#[test]
fn what_was_pushed_and_never_submitted_is_not_waited_for() {
    let Some(file) = file() else { return };
    let spec = RingSpec { queue_depth: 4, slots: 4, request_bytes: 4096 };
    let mut ring = ring(spec, &file);
    ring.push(Direction::Write, request(0, 4096));
    drop(ring);
    assert_eq!(file.metadata().expect("it is open").len(), 0);
}

#[test]
fn a_request_is_gone_on_with_where_it_stopped() {
    let Some(file) = file() else { return };
    file.write_all_at(&[3; 600], 0).expect("there is room");
    file.write_all_at(&[4; 400], 600).expect("there is room");
    let spec = RingSpec { queue_depth: 1, slots: 1, request_bytes: 1000 };
    let mut ring = ring(spec, &file);
    ring.push(Direction::Read, Request { slot: 0, file: 0, offset_bytes: 0, done_bytes: 600 });
    ring.submit().expect("there is memory");
    while ring.ready() == 0 {
        ring.wait(1).expect("one is in flight");
    }
    let mut landed = Vec::new();
    ring.reap(1, &mut landed);
    assert_eq!(landed, [Completion { slot: 0, result: 400 }]);
    let bytes = ring.bytes_mut(0);
    assert_eq!((&bytes[..600], &bytes[600..]), (&[FILLER; 600][..], &[4; 400][..]));
}

#[test]
fn one_thread_makes_a_ring_and_another_uses_it() {
    let Some(file) = file() else { return };
    file.write_all_at(&[9; 512], 0).expect("there is room");
    let spec = RingSpec { queue_depth: 1, slots: 1, request_bytes: 512 };
    let mut ring = Ring::new(spec, &[file.as_raw_fd()]).expect("there is io_uring");
    let used = std::thread::spawn(move || {
        ring.enable()?;
        ring.push(Direction::Read, request(0, 512));
        ring.submit()?;
        while ring.ready() == 0 {
            ring.wait(1)?;
        }
        ring.reap(1, &mut Vec::new());
        Ok::<_, Errno>(ring.bytes_mut(0)[511])
    });
    assert_eq!(used.join().expect("nothing panics"), Ok(9));
}
