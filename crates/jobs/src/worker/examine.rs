//! Looking at blocks that have been read: by the job itself, or by threads of its own, which are
//! given copies of them (`verify_async`).

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread::{Builder, JoinHandle};

use job_verify::{Expected, Verifier, Written};
use rustix::io::Errno;
use rustix::thread::{CpuSet, sched_setaffinity};

use super::{Failure, Worker};
use crate::plan::{EngineChoice, ErrorOf, VerifyPlan};

/// What a read that verifies expects.
#[derive(Clone, Copy, Debug)]
pub(super) struct Awaited {
    pub(super) block: Expected,
    /// The block was trimmed, and reads as zeros.
    pub(super) is_trimmed: bool,
    /// Where in its file it was read.
    pub(super) offset: u64,
}

/// Looks at blocks.
#[derive(Clone, Debug)]
pub(super) struct Examiner {
    verifier: Verifier,
    dumps: bool,
}

impl Examiner {
    pub(super) fn new(verifier: Verifier, plan: &VerifyPlan) -> Self {
        Self { verifier, dumps: plan.dumps }
    }

    /// What is wrong with a block of the file of this name, which is written to files if the job
    /// wants that.
    pub(super) fn look(&self, block: &[u8], awaited: &Awaited, path: &Path) -> Option<String> {
        let checked = match awaited.is_trimmed {
            true => self.verifier.check_zeros(block, awaited.offset),
            false => self.verifier.check(block, &awaited.block),
        };
        let wrong = checked.err()?;
        let path = super::shown_path(path);
        if self.dumps {
            let read = Written { file_offset: awaited.offset, ..Written::default() };
            for mismatch in &wrong.mismatches {
                for dump in self.verifier.dumps(mismatch, block, &read, &path) {
                    // A dump that cannot be written does not hide what it is about.
                    let _written = fs::write(&dump.name, &dump.content);
                }
            }
        }
        let text: Vec<String> = wrong.mismatches.iter().map(ToString::to_string).collect();
        Some(format!("verify: {path}: {}", text.join("; ")))
    }
}

/// A copy of a block that has been read.
struct Copied {
    block: Vec<u8>,
    awaited: Awaited,
    path: PathBuf,
}

/// Threads that look at blocks. They end when this is dropped.
pub(super) struct Examiners {
    /// `None` once no more will come.
    blocks: Option<SyncSender<Copied>>,
    /// Of each block, what is wrong with it.
    findings: Receiver<Option<String>>,
    /// How many have not been answered.
    open: usize,
    threads: Vec<JoinHandle<()>>,
}

impl Examiners {
    /// As many as the plan has; `None` if the job looks for itself.
    pub(super) fn new(plan: &VerifyPlan, examiner: &Examiner) -> Result<Option<Self>, Failure> {
        if plan.threads == 0 {
            return Ok(None);
        }
        // As many wait as are looked at: the job does not run away from those who verify.
        let (blocks, incoming) = sync_channel(plan.threads as usize);
        let (found, findings) = channel();
        let incoming = Arc::new(Mutex::new(incoming));
        let mut all = Self { blocks: Some(blocks), findings, open: 0, threads: Vec::new() };
        for _ in 0..plan.threads {
            let (examiner, incoming, found) =
                (examiner.clone(), Arc::clone(&incoming), found.clone());
            let processors = plan.thread_processors.clone();
            let thread = Builder::new()
                .name("verify".to_owned())
                .spawn(move || examine(&examiner, &incoming, &found, &processors));
            let wrong = |source: std::io::Error| {
                let errno = Errno::from_io_error(&source).unwrap_or(Errno::AGAIN);
                Failure::new(errno, "verify_async")
            };
            all.threads.push(thread.map_err(wrong)?);
        }
        Ok(Some(all))
    }

    /// Has a block looked at. Waits if too many are.
    pub(super) fn examine(&mut self, block: Vec<u8>, awaited: Awaited, path: PathBuf) {
        if let Some(blocks) = &self.blocks
            && blocks.send(Copied { block, awaited, path }).is_ok()
        {
            self.open += 1;
        }
    }

    /// What is wrong with blocks that have been looked at; with all, if `must_wait`.
    pub(super) fn findings(&mut self, must_wait: bool) -> Vec<String> {
        let mut all = Vec::new();
        while self.open > 0 {
            let found = match must_wait {
                true => self.findings.recv().ok(),
                false => self.findings.try_recv().ok(),
            };
            let Some(found) = found else { break };
            self.open -= 1;
            all.extend(found);
        }
        all
    }
}

impl Drop for Examiners {
    fn drop(&mut self) {
        self.blocks = None;
        for thread in self.threads.drain(..) {
            // One that has panicked has said so.
            let _ended = thread.join();
        }
    }
}

fn examine(
    examiner: &Examiner,
    blocks: &Mutex<Receiver<Copied>>,
    found: &Sender<Option<String>>,
    processors: &[usize],
) {
    if !processors.is_empty() {
        let mut set = CpuSet::new();
        processors.iter().for_each(|one| set.set(*one));
        // Where they run does not change what they find.
        let _moved = sched_setaffinity(None, &set);
    }
    loop {
        let next = blocks.lock().expect("nobody panics while holding it").recv();
        let Ok(Copied { block, awaited, path }) = next else { return };
        if found.send(examiner.look(&block, &awaited, &path)).is_err() {
            return;
        }
    }
}

impl Worker<'_> {
    /// Checks what a unit has read, if it verifies.
    pub(super) fn check(&mut self, unit: u32) {
        let own = self.units[unit as usize];
        let Some(checks) = &mut self.checks else { return };
        let Some(awaited) = checks.expected[unit as usize].take() else { return };
        checks.ended += 1;
        if self.plan.engine == EngineChoice::Null {
            // It moves nothing, so there is nothing to look at.
            return;
        }
        let block = self.memory.bytes(unit as usize, own.length);
        let path = &self.files.files[own.file].path;
        if let Some(examiners) = &mut checks.examiners {
            examiners.examine(block.to_vec(), awaited, path.clone());
            self.note_findings(false);
        } else if let Some(text) = checks.examiner.look(block, &awaited, path) {
            self.note_wrong(text);
        }
    }

    /// Notes what threads have found; waits for all that they have been given, if `must_wait`.
    pub(super) fn note_findings(&mut self, must_wait: bool) {
        let examiners = self.checks.as_mut().and_then(|checks| checks.examiners.as_mut());
        let found = examiners.map(|examiners| examiners.findings(must_wait));
        found.into_iter().flatten().for_each(|text| self.note_wrong(text));
    }

    /// A block is not what was written: the job goes on, or ends.
    fn note_wrong(&mut self, text: String) {
        let is_fatal = self.plan.verify.as_ref().is_some_and(|plan| plan.is_fatal);
        if self.plan.errors.goes_on(ErrorOf::Content, Errno::ILSEQ.raw_os_error()) && !is_fatal {
            self.go_on_after(Errno::ILSEQ);
            // fio prints every one, whatever `error_dump` is.
            self.control.complain(text);
        } else {
            self.fail(Failure::new(Errno::ILSEQ, text));
        }
    }
}
