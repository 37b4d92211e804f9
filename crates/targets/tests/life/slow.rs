//! Targets whose device takes its time for every request (`delay=`).

use std::fs::{self, File};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use targets::cache::cache_state;
use targets::{DeviceFailure, TargetError};

use super::support::{make_or_skip, scratch, servers, workshop};

const DELAY: Duration = Duration::from_millis(3);
const PAGE: usize = 4096;

/// No read of the device is faster than the delay, and what was written is read.
pub(crate) fn every_request_takes_its_time() {
    let workshop = workshop();
    let Some(mut target) = make_or_skip(&workshop, "ext2:size=64m,delay=3ms") else { return };
    assert_eq!(target.facts().conditions.limits.delay_ns, Some(3_000_000));
    let byte = |at: usize| u8::try_from(at / 100 % 251).expect("below 251");
    let content: Vec<u8> = (0..64 * PAGE).map(byte).collect();
    let path = target.root().join("file");
    fs::write(&path, &content).expect("there is room");
    target.sync().expect("the device is sound");
    let left = cache_state::evict_all(target.root(), [&path], Duration::from_secs(5));
    assert!(left.expect("a plain file").is_none());
    let direct = File::options().read(true).custom_flags(libc::O_DIRECT).open(&path);
    let direct = direct.expect("ext2 has direct I/O");
    let mut buffer = vec![0; 3 * PAGE];
    let start = buffer.as_ptr().align_offset(PAGE);
    for _ in 0..16 {
        let page = &mut buffer[start..start + PAGE];
        let at = 5 * PAGE;
        let began = Instant::now();
        direct.read_exact_at(page, at as u64).expect("the device is sound");
        // The only bound on a time here: the delay is kept by whoever serves, however busy.
        assert!(began.elapsed() >= DELAY, "{:?}", began.elapsed());
        assert_eq!(page, &content[at..at + PAGE]);
    }
    let began = Instant::now();
    File::options().write(true).open(&path).expect("ours").sync_all().expect("sound");
    assert!(began.elapsed() >= DELAY, "a flush is a request too: {:?}", began.elapsed());
    drop(direct);
    target.remount().expect("nothing is open");
    assert_eq!(fs::read(&path).expect("it survives"), content);
    target.remake_with_size(96 << 20).expect("nothing is open");
    assert!(!path.exists());
    assert!(target.space().expect("it says").total_bytes > 80 << 20);
    fs::write(&path, &content).expect("there is room");
    assert_eq!(servers(&scratch()).len(), 1, "the same one serves");
    target.close().expect("nothing is open");
    assert_eq!(servers(&scratch()), [0; 0]);
    drop(target);
    workshop.close().expect("nothing is left");
}

/// Without its server, a device fails; nothing waits for it, and the reason is told.
pub(crate) fn the_death_of_its_server_is_told() {
    let workshop = workshop();
    let Some(mut target) = make_or_skip(&workshop, "ext4:size=64m,delay=1ms") else { return };
    let path = target.root().join("file");
    fs::write(&path, vec![1; 64 * PAGE]).expect("there is room");
    target.sync().expect("the device is sound");
    cache_state::evict_all(target.root(), [&path], Duration::from_secs(5)).expect("a plain file");
    assert_eq!(target.device_failure(), None);
    fs::write(target.root().join("dirty"), vec![1; 64 * PAGE]).expect("there is room");
    let [server] = servers(&scratch())[..] else { panic!("there is one") };
    let server = Pid::from_raw(server.cast_signed()).expect("a process");
    kill_process(server, Signal::KILL).expect("it lives");
    let error = fs::read(&path).expect_err("nobody serves the device");
    assert_eq!(error.raw_os_error(), Some(libc::EIO), "{error}");
    let label = target.spec().label.clone();
    assert_eq!(target.device_failure(), Some(DeviceFailure::NoServer { label }));
    let refused = target.remake().expect_err("the device fails");
    assert!(matches!(refused, TargetError::ServerEnded { .. }), "{refused}");
    let sentence = refused.to_string();
    assert!(sentence.contains("the process that delays them") && !sentence.contains("mkfs"));
    target.close().expect("it can be removed nevertheless");
    drop(target);
    workshop.close().expect("nothing is left");
}

/// What the device has used most recently, it reads faster than the delay; the rest it does not.
pub(crate) fn a_device_may_have_a_cache() {
    const DELAY: Duration = Duration::from_millis(20);
    let workshop = workshop();
    let text = "ext2:size=64m,delay=20ms,delay_cache=128k";
    let Some(target) = make_or_skip(&workshop, text) else { return };
    assert_eq!(target.facts().conditions.limits.delay_cache_bytes, Some(128 << 10));
    let path = target.root().join("file");
    fs::write(&path, vec![1; 256 * PAGE]).expect("there is room");
    target.sync().expect("the device is sound");
    let direct = File::options().read(true).custom_flags(libc::O_DIRECT).open(&path);
    let direct = direct.expect("ext2 has direct I/O");
    let mut buffer = vec![0; 2 * PAGE];
    let start = buffer.as_ptr().align_offset(PAGE);
    let mut time_of = |page: usize| {
        let began = Instant::now();
        let into = &mut buffer[start..start + PAGE];
        direct.read_exact_at(into, (page * PAGE) as u64).expect("the device is sound");
        began.elapsed()
    };
    time_of(0);
    // The fastest of many, so that it does not matter how busy the machine is.
    let fastest = (0..20).map(|_| time_of(0)).min();
    assert!(fastest.is_some_and(|fastest| fastest < DELAY), "{fastest:?}");
    let others: Vec<_> = (1..41).map(&mut time_of).collect();
    assert!(time_of(0) >= DELAY, "after {} others, of which it keeps 32", others.len());
    drop(direct);
    drop(target);
    workshop.close().expect("nothing is left");
}
