//! `filecreate`, `filestat`, `filedelete`, `filerename`, `dircreate`, `dirstat` and `dirdelete`:
//! one operation for each file or directory, by its name.
//!
//! As in fio, what is timed is the opening of a file, which for these engines is the operation;
//! the request that follows does nothing.

use super::{Answer, Engine, Request};
use crate::plan::{EngineChoice, JobPlan, StatCall};

/// What is done to each file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ByName {
    Create,
    Stat(StatCall),
    Delete,
    Rename,
    CreateDirectory,
    DeleteDirectory,
}

impl ByName {
    /// What the engine of a job does, if it is one of these.
    pub(crate) fn of(plan: &JobPlan) -> Option<Self> {
        match plan.engine {
            EngineChoice::FileCreate => Some(Self::Create),
            EngineChoice::FileStat | EngineChoice::DirStat => {
                Some(Self::Stat(plan.engine_options.stat))
            }
            EngineChoice::FileDelete => Some(Self::Delete),
            EngineChoice::FileRename => Some(Self::Rename),
            EngineChoice::DirCreate => Some(Self::CreateDirectory),
            EngineChoice::DirDelete => Some(Self::DeleteDirectory),
            EngineChoice::Sync
            | EngineChoice::Psync
            | EngineChoice::Vsync
            | EngineChoice::Pvsync
            | EngineChoice::Pvsync2
            | EngineChoice::Libaio
            | EngineChoice::PosixAio
            | EngineChoice::IoUring
            | EngineChoice::Mmap
            | EngineChoice::Null
            | EngineChoice::Splice
            | EngineChoice::Falloc
            | EngineChoice::Ftruncate => None,
        }
    }
}

impl Engine for ByName {
    fn is_synchronous(&self) -> bool {
        true
    }

    fn queue(&mut self, request: &Request<'_>) -> Answer {
        Answer::Complete(Ok(request.span.length()))
    }
}
