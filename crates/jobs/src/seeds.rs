//! The seeds of a job: where all its random numbers come from.

use std::fs::File;
use std::io::Read;
use std::time::{SystemTime, UNIX_EPOCH};

use job_offsets::{Accesses, JobSeeds, SEEDS, SeedSource, SharedSizes};

use crate::plan::JobPlan;

/// The seeds of the job of this number, of several by the same plan. `thread_number` is how many
/// jobs there are up to it, from 1.
pub(crate) fn seeds(plan: &JobPlan, number: u32, thread_number: u32) -> JobSeeds {
    let offsets = &plan.offsets;
    JobSeeds::new(&SeedSource {
        randseed: offsets.seed,
        repeats: offsets.repeats,
        thread_number,
        is_clone: number > 0,
        is_random: plan.is_random(),
        shared_sizes: SharedSizes {
            reads_and_writes: plan.verify.is_some(),
            trims_and_writes: offsets.spec.accesses == Accesses::TrimWrite,
        },
        width: offsets.width,
        entropy: entropy(),
    })
}

/// Seeds that are different each time.
fn entropy() -> [u64; SEEDS] {
    let mut bytes = [[0; 8]; SEEDS];
    let filled = File::open("/dev/urandom")
        .and_then(|mut source| source.read_exact(bytes.as_flattened_mut()));
    if filled.is_err() {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let now = now.map_or(0, |time| time.as_secs() ^ u64::from(time.subsec_nanos()));
        return std::array::from_fn(|at| now.wrapping_mul(0x9e37_79b9_7f4a_7c15 ^ at as u64));
    }
    bytes.map(u64::from_ne_bytes)
}
