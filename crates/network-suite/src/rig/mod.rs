//! The rig of a server and its clients, which are asked to do one thing after another. What all
//! clients are asked to do, they do at the same time.

mod layout;

use std::time::Duration;

use lab::GuestProgram;
use lab::rig::{Rig, RigConditions, RigError, Shape};
use network_guest::content::{Content, FileSet};
use network_guest::counters::Counters;
use network_guest::task::Task;
use network_guest::{
    Answer, CachePlace, CommandResult, CullLimits, Question, SERVER, Settled, TaskMeasurement,
    Version,
};

use crate::observation::ServerCounters;
use crate::plan::{NetworkBenchmark, Plan};
use layout::{Client, PATIENCE};

/// What a kernel must support for this rig, in addition to the file systems of caches.
pub const NEEDS: [&str; 6] = ["virtio-net", "virtio-blk", "tbf", "nfs", "nfsd", "cachefiles"];

/// The programs that the guests' image must contain.
#[must_use]
pub fn programs() -> Vec<GuestProgram> {
    lab::rig::PROGRAMS.into_iter().chain(network_guest::PROGRAMS).collect()
}

/// The rig.
#[derive(Debug)]
pub struct NetworkRig {
    rig: Rig,
    clients: Vec<Client>,
    /// How many of the clients were booted last; only those are asked.
    booted: usize,
    /// How long reading everything may take.
    patience: Duration,
    /// Whether the server that was booted last got as far as serving.
    serves: bool,
}

/// What all clients did at the same time.
pub(crate) struct JointMeasurement {
    /// What each did, in the order of the clients.
    pub(crate) measured: Vec<TaskMeasurement>,
    pub(crate) server: ServerCounters,
}

impl NetworkRig {
    /// The rig that a plan needs, with no guest running yet.
    ///
    /// # Errors
    /// If it cannot be set up.
    pub fn new(conditions: RigConditions, plan: &Plan) -> Result<Self, RigError> {
        let (description, clients) = layout::layout(plan);
        let patience = layout::patience(plan);
        let rig = Rig::new(conditions, description)?;
        Ok(Self { rig, clients, booted: 0, patience, serves: false })
    }

    /// Boots the server, fills it and lets it serve.
    ///
    /// # Errors
    /// If it does not boot, or cannot be filled or serve.
    pub fn serve(&mut self, plan: &Plan) -> Result<(), RigError> {
        self.serve_content(plan.content)
    }

    /// Like [`Self::serve`], with other content.
    pub(crate) fn serve_content(&mut self, content: Content) -> Result<(), RigError> {
        self.serves = false;
        self.rig.boot(SERVER)?;
        self.ask_server(&Question::Fill(content))?;
        self.ask_server(&Question::Serve)?;
        self.serves = true;
        Ok(())
    }

    /// Lets the server make one more set of files.
    pub(crate) fn add_set(&mut self, set: FileSet, seed: u64) -> Result<(), RigError> {
        self.ask_server(&Question::AddSet(set, seed))
    }

    /// Changes the shape of all links.
    pub(crate) fn reshape(&mut self, shape: Shape) -> Result<(), RigError> {
        let mut clients = self.clients.iter();
        clients.try_for_each(|client| self.rig.reshape(client.link, shape, PATIENCE))
    }

    /// Whether the server is serving, as far as known.
    pub(crate) fn is_serving(&self) -> bool {
        self.serves && self.rig.process(SERVER).is_some()
    }

    /// Boots the first `count` clients anew, all at once.
    pub(crate) fn boot_clients(&mut self, count: usize) -> Result<(), RigError> {
        self.booted = count;
        let roles = self.booted_roles();
        roles.iter().try_for_each(|role| self.rig.start(role))?;
        roles.iter().try_for_each(|role| self.rig.wait(role).map(drop))
    }

    /// Powers the clients off.
    pub(crate) fn end_clients(&mut self) -> Result<(), RigError> {
        let roles = self.booted_roles();
        self.booted = 0;
        roles.iter().try_for_each(|role| self.rig.power_off(role, PATIENCE))
    }

    /// Kills the clients.
    pub(crate) fn give_clients_up(&mut self) {
        for role in self.booted_roles() {
            self.rig.end(&role);
        }
        self.booted = 0;
    }

    /// Starts the cache on each client, after making it anew if `is_new`.
    pub(crate) fn start_caches(&mut self, at: &CachePlace, is_new: bool) -> Result<(), RigError> {
        if is_new {
            self.ask_clients(|_| Question::MakeCache(at.clone()))?;
        }
        self.ask_clients(|_| Question::StartCache(at.clone()))
    }

    pub(crate) fn mount(&mut self, version: Version) -> Result<(), RigError> {
        self.ask_clients(|client| Question::Mount {
            version,
            server: client.server_address(),
            client: client.address(),
        })
    }

    /// Lets all clients do something at the same time.
    pub(crate) fn perform(&mut self, task: Task) -> Result<JointMeasurement, RigError> {
        let before = self.count_server()?;
        let measured = self.ask_all(|_| Question::Do(task), measured_of)?;
        let server = ServerCounters { before, after: self.count_server()? };
        Ok(JointMeasurement { measured, server })
    }

    /// Lets the server do something with its own files.
    pub(crate) fn perform_locally(&mut self, task: Task) -> Result<TaskMeasurement, RigError> {
        let answer = self.rig.ask(SERVER, &Question::DoLocally(task), self.patience)?;
        measured_of(answer).ok_or_else(|| unexpected(SERVER))
    }

    /// Lets the server change the large file. Returns the checksum of its new content.
    pub(crate) fn change(&mut self, seed: u64) -> Result<u64, RigError> {
        self.ask_server(&Question::Change(seed))?;
        Ok(self.perform_locally(Task::ReadFile)?.did.sum)
    }

    /// Unmounts and stops the caches.
    pub(crate) fn settle(&mut self) -> Result<Vec<Settled>, RigError> {
        self.ask_all(
            |_| Question::Settle,
            |answer| {
                if let Answer::Settled(settled) = answer { Some(*settled) } else { None }
            },
        )
    }

    /// Boots a client, lets it mount what is served, with a cache on this file system if one is
    /// given, and runs a program there. What is served is at `/mnt`, and fsprism is `/init`.
    ///
    /// # Errors
    /// If it does not boot, or cannot mount.
    pub fn run_on_client(
        &mut self,
        version: Version,
        cache: Option<&str>,
        words: &[&str],
    ) -> Result<CommandResult, RigError> {
        self.boot_clients(1)?;
        if let Some(cache) = cache {
            let place = NetworkBenchmark::File.cache_place(cache, CullLimits::default());
            self.start_caches(&place, true)?;
        }
        self.mount(version)?;
        let ran = self.ask_all(
            |_| Question::Run(words.iter().map(|&word| word.to_owned()).collect()),
            |answer| if let Answer::Ran(ran) = answer { Some(ran) } else { None },
        )?;
        self.end_clients()?;
        ran.into_iter().next().ok_or_else(|| unexpected(SERVER))
    }

    fn booted_roles(&self) -> Vec<String> {
        self.clients[..self.booted].iter().map(|client| client.role.clone()).collect()
    }

    fn count_server(&mut self) -> Result<Counters, RigError> {
        let answer = self.rig.ask(SERVER, &Question::Count, PATIENCE)?;
        let Answer::Counted(counters) = answer else { return Err(unexpected(SERVER)) };
        Ok(*counters)
    }

    /// Lets the server do something that has no result.
    fn ask_server(&mut self, question: &Question) -> Result<(), RigError> {
        let answer: Answer = self.rig.ask(SERVER, question, self.patience)?;
        if answer == Answer::Done { Ok(()) } else { Err(unexpected(SERVER)) }
    }

    /// Lets all clients do something that has no result.
    fn ask_clients(&mut self, question: impl Fn(&Client) -> Question) -> Result<(), RigError> {
        self.ask_all(question, |answer| (answer == Answer::Done).then_some(())).map(drop)
    }

    /// Asks all clients before waiting for the first answer.
    fn ask_all<T>(
        &mut self,
        question: impl Fn(&Client) -> Question,
        of: impl Fn(Answer) -> Option<T>,
    ) -> Result<Vec<T>, RigError> {
        let clients = &self.clients[..self.booted];
        for client in clients {
            self.rig.tell(&client.role, &question(client))?;
        }
        let mut answers = Vec::new();
        for Client { role, .. } in clients {
            let answer = self.rig.hear(role, self.patience)?;
            answers.push(of(answer).ok_or_else(|| unexpected(role))?);
        }
        Ok(answers)
    }
}

fn measured_of(answer: Answer) -> Option<TaskMeasurement> {
    if let Answer::Measured(measured) = answer { Some(*measured) } else { None }
}

fn unexpected(role: &str) -> RigError {
    RigError::Garbled { role: role.to_owned(), why: "it answers another question".to_owned() }
}
