//! Tells the kernel what library calls have removed, so that it forgets the inodes.
//!
//! The kernel looks at a name again only when a program uses it, and remembers what it has found
//! until it needs the memory. The server keeps an inode's number as long, which takes some 130
//! bytes of the arena. So a thread goes through the known inodes from time to time, and names to
//! the kernel those that are gone.

use std::time::{Duration, Instant};

use densefs::Errno;
use densefs::modes::Caller;
use densefs_process::DenseFs;
use fuser::{INodeNo, Notifier};

use crate::contested::Contested;
use crate::entry::KnownEntry;
use crate::known_inodes::{Core, KnownInodes};

/// How long it sleeps between rounds while the kernel looks for new names.
const SHORTEST: Duration = Duration::from_secs(1);
/// And while it does not.
const LONGEST: Duration = Duration::from_secs(60);
/// It sleeps so many times as long as the last round took.
const SLEEP_RATIO: u32 = 50;

/// Makes rounds until the alarm ends it.
pub(crate) fn sweep(
    files: &DenseFs,
    known: &KnownInodes,
    contested: &Contested,
    notifier: &Notifier,
) {
    let mut sleep = SHORTEST;
    while known.await_sweep(sleep, sleep > SHORTEST) {
        let began = Instant::now();
        let has_new = known.take_new() > 0;
        let round = files.with_core(|core| {
            if !contested.goes_on() {
                known.let_content_go(core)?;
            }
            let gone = known.take_gone(core);
            Ok(gone.into_iter().filter(|entry| is_absent(core, known, entry)).collect())
        });
        files.leave();
        let gone: Vec<KnownEntry> = round.unwrap_or_default();
        for entry in &gone {
            // If it has forgotten it meanwhile, that is as good.
            notifier.inval_entry(INodeNo(entry.at().parent), entry.at().name).ok();
        }
        let is_busy = has_new || !gone.is_empty() || known.has_whole();
        sleep = if is_busy { SHORTEST } else { (sleep * 2).min(LONGEST) };
        sleep = sleep.max(began.elapsed() * SLEEP_RATIO);
    }
}

/// Whether nothing has this name. The kernel must not be told of a name that something else has by
/// now: it would also unmount what may be mounted there.
fn is_absent(core: &Core, known: &KnownInodes, entry: &KnownEntry) -> bool {
    let found = core.retry(|| {
        let directory = known.node(core, entry.at().parent)?;
        core.step(&Caller::ROOT, directory, entry.at().name.as_encoded_bytes())
    });
    matches!(found, Err(Errno::NOENT))
}
