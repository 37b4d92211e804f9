//! A run of twelve hours, which is longer than one journal can hold: it ends in an orderly way,
//! announces this hours before, and can be read and resumed.

use std::time::Duration;

use record::{BLOCKS_MAX, CourseRecord, EndReason, Run, RunDirectory, TimelineRecord};
use runner::{Event, Ledger, Observer, Plan, RunContext, conduct};

use crate::fake::{Fake, manifest, plan};

/// Records announcements that the journal will be full.
#[derive(Default)]
struct Listener {
    /// How many blocks were done at each announcement, and what it said.
    told: Vec<(u32, u32, u32)>,
    done: u32,
}

impl Observer for Listener {
    fn observe(&mut self, event: &Event<'_>) {
        if let Event::WillBeFull { blocks, of } = *event {
            self.told.push((self.done, blocks, of));
        } else if let Event::BlockDone { block, .. } = *event {
            self.done = block + 1;
        }
    }
}

/// Writes lines as long as those of a survey.
fn talkative() -> Fake {
    let slices = vec![vec![(9, 1_000); 8]; 64];
    let parts = vec![(1 << 12, 1_234_567_890); 60];
    Fake {
        noise: 0.5,
        timeline: Some(TimelineRecord { slice_ns: 1_000, slices }),
        course: Some(CourseRecord { start: parts.clone(), steady: parts }),
        ..Fake::new(1)
    }
}

#[test]
fn a_run_of_twelve_hours_ends_where_its_journal_is_full_and_can_be_read() {
    let temporary = tempfile::tempdir_in("/dev/shm").expect("a temporary directory");
    let path = temporary.path().join("run");
    let budget = Duration::from_secs(12 * 3600);
    let plan = Plan { budget, precision: 0.0001, ..plan(10) };
    let mut fake = talkative();
    let mut directory = RunDirectory::create(&path, &manifest(&plan)).expect("a new run");
    let mut listener = Listener::default();
    let mut conducted = |directory: &mut RunDirectory, ledger| {
        let (stopwatch, stop, on_busy) = (fake.stopwatch(), fake.stop(), fake.on_busy);
        let observer = &mut listener;
        let mut context = RunContext { stopwatch: &stopwatch, observer, stop: &stop, on_busy };
        conduct(&plan, ledger, &mut fake, directory, &mut context).expect("it is recorded")
    };
    assert_eq!(conducted(&mut directory, Ledger::default()), EndReason::Full);
    drop(directory);

    let (mut directory, run) = RunDirectory::resume(&path).expect("a run to go on with");
    let ledger = Ledger::replay(&run.lines);
    assert_eq!(conducted(&mut directory, ledger), EndReason::Full, "it is as full as before");
    assert_eq!(Run::read(&path).expect("a run").damage, []);

    let &[(at, blocks, of), ..] = listener.told.as_slice() else { panic!("nobody was told") };
    assert_eq!(at, 0, "told after the first block");
    assert!(blocks < of && blocks < BLOCKS_MAX, "{blocks} of {of}");
    // Later blocks contain only half of the cells.
    assert!((blocks..3 * blocks).contains(&listener.done), "{} of {blocks}", listener.done);
}
