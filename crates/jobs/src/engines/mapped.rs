//! `mmap`: bytes are copied from and to mapped files.

use rustix::fd::BorrowedFd;
use rustix::io::Errno;
use rustix::mm::{Advice, ProtFlags};

use super::synchronous::trim;
use super::{Answer, Call, Engine, Request};
use crate::edge::calls::Moved;
use crate::edge::mapping::{Mapping, MappingKind};
use job_offsets::Direction;

use crate::plan::{Fadvise, JobPlan};

/// How much of the files is mapped at a time where not all of it can be.
const WINDOW_BYTES: u64 = 1 << 30;

pub(super) struct Mapped {
    mappings: Vec<Option<Mapping>>,
    how: MappingKind,
    drops_pages: bool,
    window: u64,
}

impl Mapped {
    pub(super) fn new(plan: &JobPlan, files: usize) -> Self {
        let access = match (plan.writes(), plan.reads() || plan.verify.is_some()) {
            (true, true) => ProtFlags::READ | ProtFlags::WRITE,
            (true, false) => ProtFlags::WRITE,
            (false, _) => ProtFlags::READ,
        };
        let advice = match (plan.files.fadvise, plan.is_random()) {
            (Fadvise::None, _) => None,
            (_, true) => Some(Advice::Random),
            (_, false) => Some(Advice::Sequential),
        };
        Self {
            mappings: (0..files).map(|_| None).collect(),
            how: MappingKind {
                access,
                advice,
                has_huge_pages: plan.engine_options.huge_pages,
                // fio maps privately in any case, by which what is written never reaches the file.
                is_private: plan.engine_options.huge_pages && !plan.writes(),
            },
            drops_pages: plan.files.direct,
            window: (WINDOW_BYTES / files.max(1) as u64).max(1 << 20),
        }
    }

    /// The mapping with a range of a file, made if it is not there.
    fn mapping(
        &mut self,
        request: &Request<'_>,
        file: BorrowedFd<'_>,
    ) -> Result<(&Mapping, usize), Errno> {
        let (index, offset) = (request.file.index, request.offset);
        let length = request.span.length();
        let held = self.mappings[index].take();
        let held = held.filter(|one| one.place(offset, length).is_some());
        let mapping = match held {
            Some(mapping) => mapping,
            None => self.mapped(request, file)?,
        };
        let mapping = self.mappings[index].insert(mapping);
        let place = mapping.place(offset, length).ok_or(Errno::INVAL)?;
        Ok((mapping, place))
    }

    fn mapped(&self, request: &Request<'_>, file: BorrowedFd<'_>) -> Result<Mapping, Errno> {
        let all = usize::try_from(request.file.bytes).map_err(|_| Errno::NOMEM);
        let whole = all.and_then(|all| Mapping::new(file, 0, all, self.how));
        whole.or_else(|_| {
            let page = rustix::param::page_size() as u64;
            let from = request.offset / page * page;
            let rest = request.file.bytes.saturating_sub(from).min(self.window);
            let length = usize::try_from(rest).map_err(|_| Errno::NOMEM)?;
            Mapping::new(file, from, length, self.how)
        })
    }

    fn transfer(&mut self, request: &Request<'_>, direction: Direction) -> Moved {
        let file = request.file.open()?;
        if direction == Direction::Trim {
            return trim(request.file, file, request);
        }
        let (span, drops_pages) = (request.span, self.drops_pages);
        let (mapping, place) = self.mapping(request, file)?;
        match direction {
            Direction::Read => mapping.copy_out(place, span),
            Direction::Write | Direction::Trim => mapping.copy_in(place, span),
        }
        if drops_pages {
            mapping.sync(Some((place, span.length())))?;
            mapping.drop_pages(place, span.length())?;
        }
        Ok(span.length())
    }
}

impl Engine for Mapped {
    fn is_synchronous(&self) -> bool {
        true
    }

    fn queue(&mut self, request: &Request<'_>) -> Answer {
        Answer::Complete(match request.call {
            Call::Transfer(direction) => self.transfer(request, direction),
            Call::Sync | Call::DataSync | Call::SyncRange { .. } => {
                match &self.mappings[request.file.index] {
                    Some(mapping) => mapping.sync(None).map(|()| 0),
                    None => Ok(0),
                }
            }
        })
    }

    fn add_file(&mut self) {
        self.mappings.push(None);
    }

    fn close(&mut self, file: usize) {
        self.mappings[file] = None;
    }
}
