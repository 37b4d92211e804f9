//! The init process of a guest that serves or reads.

use std::path::Path;

use lab::inside::rig;

use crate::cache::{self, Cache};
use crate::client;
use crate::counters::Counters;
use crate::messages::{Answer, Question, Settled};
use crate::{programs, server};

/// Whether this process is in a guest that belongs to a rig.
#[must_use]
pub fn has_part() -> bool {
    rig::has_part()
}

/// Answers the host's questions, and powers off when told to. Only for the init process of a guest.
pub fn init() -> ! {
    let mut guest = Guest::default();
    rig::serve(move |question| guest.answer(question))
}

/// What a guest has set up so far.
#[derive(Debug, Default)]
struct Guest {
    cache: Option<Cache>,
    is_mounted: bool,
}

impl Guest {
    fn answer(&mut self, question: Question) -> Result<Answer, String> {
        match question {
            Question::Fill(content) => server::fill(&content)?,
            Question::AddSet(set, seed) => server::add_set(set, seed)?,
            Question::Serve => server::serve()?,
            Question::DoLocally(task) => {
                return Ok(Answer::Measured(Box::new(server::do_locally(task)?)));
            }
            Question::Change(seed) => server::change(seed)?,
            Question::Count => return Ok(Answer::Counted(Box::new(self.count()?))),
            Question::MakeCache(place) => cache::make(&place)?,
            Question::StartCache(place) => self.cache = Some(cache::start(&place)?),
            Question::Mount { version, server, client } => {
                client::mount_served(version, &server, &client)?;
                self.is_mounted = true;
            }
            Question::Do(task) => {
                return Ok(Answer::Measured(Box::new(client::perform(task, self.disk())?)));
            }
            Question::Run(words) => return Ok(Answer::Ran(programs::run_words(&words)?)),
            Question::Settle => return Ok(Answer::Settled(Box::new(self.settle()?))),
        }
        Ok(Answer::Done)
    }

    /// The disk whose I/O is counted: the cache's, or the first one if there is no cache.
    fn disk(&self) -> &str {
        self.cache.as_ref().map_or(server::DISK, Cache::disk)
    }

    fn count(&self) -> Result<Counters, String> {
        let mount = self.is_mounted.then_some(Path::new(client::MOUNT));
        Counters::now(mount, Some(self.disk())).map_err(|error| error.to_string())
    }

    fn settle(&mut self) -> Result<Settled, String> {
        if self.is_mounted {
            client::unmount_served()?;
            self.is_mounted = false;
        }
        match self.cache.take() {
            Some(cache) => cache.settle(),
            None => Ok(Settled { objects: 0, bytes: 0, counters: self.count()? }),
        }
    }
}
