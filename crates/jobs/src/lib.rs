//! fio's jobs: what they do, and their execution.

mod contents;
mod control;
mod disks;
mod edge;
mod engines;
mod error;
mod files;
mod instance;
mod pages;
pub mod plan;
mod present;
mod replay;
mod seeds;
mod session;
mod steadiness;
mod worker;

pub use control::{JobControl, Stage};
pub use error::JobError;
pub use files::paths;
pub use instance::{JobInstance, instances};
pub use pages::{PageCounts, Pages};
pub use present::announcement;
pub use replay::LoggedJob;
pub use session::{SessionResult, Watch, run};
