//! Several threads use an arena at the same time. Each gets the results it expects, and the arena
//! is consistent afterwards.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use densefs::modes::{Caller, DIRECTORY, FILE};
use densefs::{Errno, Life, Member, Node, Remove, Rename, Seams};

use crate::world::{Memory, World, entry, format, hold};

/// How long a thread may sleep before the test assumes a lost wake-up.
const PATIENCE: Duration = Duration::from_secs(120);

/// The environment of threads that all live. They sleep until they are woken.
#[derive(Debug, Default)]
struct Together {
    now_ns: AtomicU64,
    /// Held between looking at a word and falling asleep, so that no wake-up comes in between.
    asleep: Mutex<()>,
    woken: Condvar,
}

impl Seams for &Together {
    fn now_ns(&self) -> u64 {
        self.now_ns.fetch_add(1, Ordering::Relaxed)
    }

    fn supply(&self, _first_page: u32, _pages: u32) -> bool {
        true
    }

    fn life(&self, _slot: u32) -> Life {
        Life::Alive
    }

    fn after_repair(&self, slot: u32) {
        panic!("slot {slot} lives");
    }

    fn wait(&self, word: &AtomicU32, value: u32) -> bool {
        let asleep = self.asleep.lock().unwrap_or_else(PoisonError::into_inner);
        if word.load(Ordering::SeqCst) == value {
            // A thread that is woken for another word looks at its own again, and goes back to
            // sleep.
            let slept = self.woken.wait_timeout(asleep, PATIENCE);
            let is_over = slept.unwrap_or_else(PoisonError::into_inner).1.timed_out();
            assert!(!is_over, "nobody wakes who waits for {value:#x}");
        }
        true
    }

    fn wake(&self, _word: &AtomicU32) {
        drop(self.asleep.lock().unwrap_or_else(PoisonError::into_inner));
        self.woken.notify_all();
    }
}

const THREADS: u32 = 4;
const ROUNDS: u32 = 20_000;

fn name(thread: u32, number: u32) -> Vec<u8> {
    format!("{thread}-{number}").into_bytes()
}

/// Creates files, writes to them, renames them back and forth between two directories, and removes
/// them. No other thread uses these names, so each call must behave as if the thread were alone.
fn work(member: &Member<'_, &Together>, thread: u32, places: [Node; 2]) -> Result<(), Errno> {
    let caller = Caller::ROOT;
    for round in 0..ROUNDS {
        let (own, other) = (name(thread, round % 50), name(thread, 50 + round % 7));
        let [here, there] = if round % 2 == 0 { places } else { [places[1], places[0]] };
        let made = member.make_at(&caller, here, &own, FILE | 0o600)?;
        let file = hold(member, here, &own)?;
        let byte = u8::try_from(thread).expect("there are few");
        let bytes = vec![byte; (round as usize * 37) % 9_000];
        assert_eq!(member.write_at(file.node, 0, &bytes)?, bytes.len());
        member.link_at(&caller, file.node, here, &other)?;
        member.rename_at(&caller, entry(&here, &own), entry(&there, &own), Rename::NoReplace)?;
        let stat = member.stat_at(&caller, there, &own)?;
        assert_eq!((stat.ino, stat.links, stat.size), (made.ino, 2, bytes.len() as u64));
        let mut read = vec![0xff; bytes.len()];
        assert_eq!(member.read_at(file.node, 0, &mut read)?, bytes.len());
        assert!(read == bytes, "somebody else's bytes");
        member.remove_at(&caller, here, &other, Remove::Name)?;
        member.remove_at(&caller, there, &own, Remove::Name)?;
        member.close(file.descriptor)?;
    }
    Ok(())
}

#[test]
fn threads_do_not_disturb_each_other() {
    let mut memory = Memory::of_pages(2048);
    format(&mut memory, &World::default()).expect("there is room");
    let (arena, together) = (memory.arena(), Together::default());
    let member = |slot| Member::new(arena, &together, slot, slot).expect("there are slots");
    let first = member(0);
    let root = first.root().expect("it is there");
    let below = {
        let mode = DIRECTORY | 0o700;
        first.make_at(&Caller::ROOT, root, b"below", mode).expect("there is room");
        hold(&first, root, b"below").expect("it is there").node
    };
    first.make_at(&Caller::ROOT, root, b"constant", FILE | 0o600).expect("there is room");
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let workers: Vec<_> = (1..=THREADS)
            .map(|thread| scope.spawn(move || work(&member(thread), thread, [root, below])))
            .collect();
        let reader = scope.spawn(|| {
            let reader = member(THREADS + 1);
            while !is_over.load(Ordering::Relaxed) {
                reader.stat_at(&Caller::ROOT, root, b"constant").expect("it is always there");
                let missing = reader.stat_at(&Caller::ROOT, below, b"constant");
                assert_eq!(missing, Err(Errno::NOENT));
            }
        });
        let worked: Vec<_> = workers.into_iter().map(std::thread::ScopedJoinHandle::join).collect();
        is_over.store(true, Ordering::Relaxed);
        for one in worked {
            one.expect("it does not panic").expect("there is room");
        }
        reader.join().expect("it does not panic");
    });
    let mut seen = vec![0; usize::try_from(arena.lines()).expect("it fits")];
    let report = first.check(&mut seen).unwrap_or_else(|problem| panic!("{problem}"));
    assert_eq!((report.directories, report.others), (2, 1));
}
