//! The suite `fscache`: a network file system measured in every state of its caches.
//!
//! A rig of guests (a server and one or two clients) does what "FS-Cache Benchmarks" (Howells 2008)
//! did by hand with two computers, a throttled link, reboots and newly made caches. Each state is
//! made and then proved by the kernel's counters; a replicate whose state is not proved is
//! discarded. Every count becomes a metric of a cell of an ordinary run: the target is the file
//! system in one state, and a block is one round of all of them. A mount of the user's own is
//! measured in the states that can be reached on it.

#![forbid(unsafe_code)]

mod attempts;
pub mod break_even;
mod cells;
mod chain;
mod conduct;
mod forecast;
mod kernel_counts;
mod metrics;
mod mounted;
mod observation;
mod plan;
mod proof;
mod read_content;
mod recorder;
mod rig;
mod run_record;
mod state;

pub use conduct::{Ended, conduct};
pub use kernel_counts::{KernelCounts, NetfsStatistics};
pub use metrics::{EMULATED_TIME, RPCS, SERVER_BYTES, is_network_bound, rpc_metric};
pub use mounted::{MountLost, MountRefusal, OwnMount, Watch, conduct_on_mount};
pub use plan::{NetworkBenchmark, OnMount, Plan, PlanRefusal, Target};
pub use record::network::SUITE;
pub use recorder::RunRecorder;
pub use rig::{NEEDS, NetworkRig, programs};
pub use run_record::{manifest, skipped};
pub use state::NetworkState;
