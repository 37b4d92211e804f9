//! The rig of a server and a client, and what they are asked, one thing after another.

use std::time::Duration;

use lab::GuestProgram;
use lab::rig::{Description, GuestRole, Link, Rig, RigConditions, RigError};
use network_guest::counters::Counters;
use network_guest::task::Task;
use network_guest::{Answer, CLIENT, Measured, Question, SERVER, Settled, Version};

use crate::plan::Plan;

/// Memory of a guest besides what it reads.
const MEMORY_BYTES: u64 = 768 << 20;
/// The smallest disk of a cache.
const CACHE_LEAST_BYTES: u64 = 512 << 20;
/// How long a guest may take for what does not depend on the size of the files.
const PATIENCE: Duration = Duration::from_secs(120);
/// Bytes a second that a guest handles at least.
const BYTES_PER_SECOND_LEAST: u64 = 100_000;
/// Files a second.
const FILES_PER_SECOND_LEAST: u64 = 5;

/// What a kernel must know for this rig, besides the file systems of caches.
pub const NEEDS: [&str; 6] = ["virtio-net", "virtio-blk", "tbf", "nfs", "nfsd", "cachefiles"];

/// What must be in the guests' image.
#[must_use]
pub fn programs() -> Vec<GuestProgram> {
    lab::rig::PROGRAMS.into_iter().chain(network_guest::PROGRAMS).collect()
}

/// The rig.
#[derive(Debug)]
pub struct NetworkRig {
    rig: Rig,
    /// How long reading everything may take.
    patience: Duration,
    /// Whether the server that was booted last came to serve.
    serves: bool,
}

impl NetworkRig {
    /// The rig that a plan needs, of which nothing runs yet.
    ///
    /// # Errors
    /// It cannot be set up.
    pub fn new(conditions: RigConditions, plan: &Plan) -> Result<Self, RigError> {
        let content_bytes = plan.content.bytes();
        // File systems need some room for each file, and caches stop when little is left.
        let files_bytes = u64::from(plan.content.tree.files) * 8192;
        let disk_bytes = (2 * content_bytes + files_bytes).max(CACHE_LEAST_BYTES);
        let role = |name: &str, disk_bytes: u64| GuestRole {
            name: name.to_owned(),
            memory_bytes: MEMORY_BYTES + content_bytes * 3 / 2 + files_bytes,
            disks_bytes: vec![disk_bytes.next_multiple_of(1 << 20)],
            load: vec!["virtio-blk".to_owned()],
        };
        let cache_bytes = plan.cache_bytes.unwrap_or(disk_bytes);
        let description = Description {
            roles: vec![role(SERVER, disk_bytes), role(CLIENT, cache_bytes)],
            links: vec![Link { ends: [SERVER.to_owned(), CLIENT.to_owned()], shape: plan.link }],
        };
        let rate = plan.link.rate_bits_per_s.map_or(u64::MAX, |bits| bits / 8);
        let bytes_per_second = rate.clamp(1, BYTES_PER_SECOND_LEAST);
        let seconds = content_bytes / bytes_per_second
            + u64::from(plan.content.tree.files) / FILES_PER_SECOND_LEAST;
        // A delay is waited for with each file a few times.
        let delays = Duration::from_micros(u64::from(plan.link.delay_us))
            .saturating_mul(plan.content.tree.files.saturating_mul(10));
        let patience = PATIENCE + Duration::from_secs(seconds.saturating_mul(2)) + delays;
        Ok(Self { rig: Rig::new(conditions, description)?, patience, serves: false })
    }

    /// Boots the server, fills it and has it serve.
    ///
    /// # Errors
    /// It does not come up, or cannot be filled or serve.
    pub fn serve(&mut self, plan: &Plan) -> Result<(), RigError> {
        self.serves = false;
        self.rig.boot(SERVER)?;
        self.done(SERVER, &Question::Fill(plan.content))?;
        self.done(SERVER, &Question::Serve)?;
        self.serves = true;
        Ok(())
    }

    /// Whether the server serves, as far as is known.
    pub(crate) fn is_serving(&self) -> bool {
        self.serves && self.rig.process(SERVER).is_some()
    }

    /// Boots the client anew.
    pub(crate) fn boot_client(&mut self) -> Result<(), RigError> {
        self.rig.boot(CLIENT).map(drop)
    }

    /// Powers the client off.
    pub(crate) fn end_client(&mut self) -> Result<(), RigError> {
        self.rig.power_off(CLIENT, PATIENCE)
    }

    /// Ends the client at once.
    pub(crate) fn give_client_up(&mut self) {
        self.rig.end(CLIENT);
    }

    /// Makes a cache anew, if it is to be, and starts it.
    pub(crate) fn start_cache(&mut self, cache: &str, is_new: bool) -> Result<(), RigError> {
        if is_new {
            self.done(CLIENT, &Question::MakeCache(cache.to_owned()))?;
        }
        self.done(CLIENT, &Question::StartCache(cache.to_owned()))
    }

    pub(crate) fn mount(&mut self, version: Version) -> Result<(), RigError> {
        let (server, client) = (Description::address(0, 0), Description::address(0, 1));
        self.done(CLIENT, &Question::Mount { version, server, client })
    }

    /// Has the client do something; with what the server counted before and after.
    pub(crate) fn perform(
        &mut self,
        task: Task,
    ) -> Result<(Measured, Counters, Counters), RigError> {
        let before = self.count_server()?;
        let measured = self.measured(CLIENT, &Question::Do(task))?;
        Ok((measured, before, self.count_server()?))
    }

    /// Has the server do something on its own files.
    pub(crate) fn perform_locally(&mut self, task: Task) -> Result<Measured, RigError> {
        self.measured(SERVER, &Question::DoLocally(task))
    }

    /// Has the server change the large file; the sum of what is in it then.
    pub(crate) fn change(&mut self, seed: u64) -> Result<u64, RigError> {
        self.done(SERVER, &Question::Change(seed))?;
        Ok(self.perform_locally(Task::ReadFile)?.did.sum)
    }

    /// Unmounts and stops the cache.
    pub(crate) fn settle(&mut self) -> Result<Settled, RigError> {
        let answer = self.rig.ask(CLIENT, &Question::Settle, self.patience)?;
        let Answer::Settled(settled) = answer else { return Err(unexpected(CLIENT)) };
        Ok(*settled)
    }

    fn count_server(&mut self) -> Result<Counters, RigError> {
        let answer = self.rig.ask(SERVER, &Question::Count, PATIENCE)?;
        let Answer::Counted(counters) = answer else { return Err(unexpected(SERVER)) };
        Ok(*counters)
    }

    fn measured(&mut self, role: &str, question: &Question) -> Result<Measured, RigError> {
        let answer: Answer = self.rig.ask(role, question, self.patience)?;
        let Answer::Measured(measured) = answer else { return Err(unexpected(role)) };
        Ok(*measured)
    }

    fn done(&mut self, role: &str, question: &Question) -> Result<(), RigError> {
        let answer: Answer = self.rig.ask(role, question, self.patience)?;
        if answer == Answer::Done { Ok(()) } else { Err(unexpected(role)) }
    }
}

fn unexpected(role: &str) -> RigError {
    RigError::Garbled { role: role.to_owned(), why: "it answers another question".to_owned() }
}
