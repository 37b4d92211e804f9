//! Verification: blocks that can be verified when they are written, what is remembered of them, and
//! the reads that verify them. What each job has to do is told in [`job_verify`].

use std::fs;

use job_offsets::{
    Direction, FileTable, Generator, JobSeeds, Opening, Openness, Order, Purpose, Width,
};
use job_verify::{
    Accesses, Completions, Expected, HeaderRules, History, IntervalRule, Keeping, Method, Pattern,
    Piece, RandomState, ReadProgress, Ticket, Verifier, VerifyBacklog, VerifySpec, VerifyState,
    Written,
};
use measure::Clock;
use rustix::io::Errno;

use super::examine::{Awaited, Examiner, Examiners};
use super::issue::Issued;
use super::trims::Trims;
use super::{Failure, Worker};
use crate::control::Stage;
use crate::engines::Call;
use crate::files::FileError;
use crate::plan::{JobPlan, VerifyPlan};

/// What a job knows of the blocks that it writes and verifies.
pub(super) struct Checks {
    plan: VerifyPlan,
    verifier: Verifier,
    pub(super) examiner: Examiner,
    pub(super) examiners: Option<Examiners>,
    rules: HeaderRules,
    keeping: Keeping,
    history: History,
    backlog: VerifyBacklog,
    trims: Trims,
    seeds: Generator,
    job_seeds: JobSeeds,
    thread: u16,
    /// Writes that have begun.
    begun: u64,
    /// Verifying reads that have ended.
    pub(super) ended: u64,
    tickets: Vec<Option<Ticket>>,
    /// What each unit that verifies expects, and whether of a block that was trimmed.
    pub(super) expected: Vec<Option<Awaited>>,
    pub(super) last_was_read: bool,
    completions: Completions,
    writes_ended: u64,
    loaded: Option<VerifyState>,
    /// Bytes that have been chosen again, to be verified without a history.
    chosen_bytes: u64,
    /// How many blocks that is, over all passes.
    chosen: u64,
}

impl Checks {
    /// `None` if the job verifies nothing.
    pub(super) fn new(
        plan: &JobPlan,
        name: &str,
        seeds: &JobSeeds,
        thread_number: u32,
        files: usize,
    ) -> Result<Option<Box<Self>>, Failure> {
        let Some(own) = plan.verify.clone() else { return Ok(None) };
        let method = Method::named(own.method).expect("the options know only these");
        let writes = &plan.offsets.spec.block_sizes[Direction::Write];
        let reads = &plan.offsets.spec.block_sizes[Direction::Read];
        let small = |bytes: u64| u32::try_from(bytes).unwrap_or(u32::MAX);
        let interval = IntervalRule {
            given_bytes: small(own.interval),
            write_bytes_min: small(writes.min_bytes),
            write_bytes_max: small(writes.max_bytes),
            read_bytes_min: plan.reads().then(|| small(reads.min_bytes)),
        };
        let pattern = (!own.pattern.bytes.is_empty()).then(|| Pattern {
            bytes: own.pattern.bytes.clone(),
            offsets: own.pattern.offsets.clone(),
        });
        let spec = VerifySpec {
            interval_bytes: interval.interval_bytes(),
            is_unaligned: plan.offsets.spec.size_rules.is_unaligned,
            offset_bytes: usize::try_from(own.offset).unwrap_or(usize::MAX),
            pattern,
            compress_percent: u8::try_from(plan.buffers.compress_percent).unwrap_or(99),
            buffer_pattern: plan.buffers.pattern.clone().unwrap_or_default(),
            is_fatal: own.is_fatal,
            ..VerifySpec::new(method)
        };
        let depth = plan.depth.depth;
        let verifier = Verifier::new(spec);
        let examiner = Examiner::new(verifier.clone(), &own);
        let mut checks = Self {
            examiners: Examiners::new(&own, &examiner)?,
            examiner,
            rules: rules(plan, &own, files),
            keeping: match plan.is_random() && plan.offsets.spec.has_map {
                true => Keeping::Logged,
                false => Keeping::Sorted,
            },
            backlog: VerifyBacklog::new(own.backlog, own.backlog_batch),
            trims: Trims::new(own.trims, seeds),
            plan: own,
            verifier,
            history: History::new(),
            seeds: seeds.generator(Purpose::Verify),
            job_seeds: seeds.clone(),
            thread: u16::try_from(thread_number & 0xffff).unwrap_or(0),
            begun: 0,
            ended: 0,
            tickets: vec![None; depth as usize],
            expected: vec![None; depth as usize],
            last_was_read: false,
            completions: Completions::new(depth, files),
            writes_ended: 0,
            loaded: None,
            chosen_bytes: 0,
            chosen: 0,
        };
        checks.load(name, thread_number)?;
        Ok(Some(Box::new(checks)))
    }

    fn load(&mut self, job: &str, thread_number: u32) -> Result<(), Failure> {
        if !self.plan.loads_state {
            return Ok(());
        }
        let name = state_name(job, thread_number);
        let wrong = |source| Failure::from(FileError::new(name.as_ref(), "verify state", source));
        let bytes = fs::read(&name).map_err(wrong)?;
        let state = VerifyState::from_bytes(&bytes)
            .map_err(|error| Failure::new(Errno::INVAL, format!("verify state {name}: {error}")))?;
        self.loaded = Some(state);
        Ok(())
    }

    /// Whether every read is checked: those of a job that does not write.
    pub(super) fn checks_all_reads(&self) -> bool {
        self.rules.accesses == Accesses::Reads
    }

    fn seed(&mut self) -> u64 {
        if self.verifier.spec().pattern.is_some() { 0 } else { self.seeds.seed() }
    }

    /// What a block that is read is expected to be.
    fn expects(&mut self, offset: u64, number: u64) -> Expected {
        let seed = self.seed();
        Expected {
            file_offset: offset,
            number: self.rules.checks_number().then_some(number),
            seed: self.rules.checks_seed().then_some(seed),
        }
    }

    /// Sets back what the phase of verification draws from.
    fn rewind_seeds(&mut self) {
        self.seeds = self.job_seeds.generator(Purpose::Verify);
    }

    /// A pass begins.
    pub(super) fn begin_pass(&mut self) {
        self.history.clear();
        self.chosen_bytes = 0;
        if self.job_seeds.repeats_passes() {
            self.rewind_seeds();
            self.trims.rewind(&self.job_seeds);
        }
    }

    /// A read was chosen: it is checked, if all are.
    pub(super) fn reads(&mut self, unit: u32, offset: u64) {
        if self.checks_all_reads() {
            let block = self.expects(offset, 0);
            self.expected[unit as usize] = Some(Awaited { block, is_trimmed: false, offset });
        }
    }

    /// Whether a unit verifies.
    pub(super) fn verifies(&self, unit: u32) -> bool {
        self.expected[unit as usize].is_some()
    }

    /// A write has ended.
    pub(super) fn wrote(&mut self, unit: u32, file: usize, offset: u64) {
        if let Some(ticket) = self.tickets[unit as usize].take() {
            self.history.completed(ticket);
        }
        self.completions.wrote(file, offset);
        self.writes_ended += 1;
    }

    /// A write has failed.
    pub(super) fn failed(&mut self, unit: u32) {
        if let Some(ticket) = self.tickets[unit as usize].take() {
            self.history.failed(ticket);
        }
        self.expected[unit as usize] = None;
    }
}

fn rules(plan: &JobPlan, own: &VerifyPlan, files: usize) -> HeaderRules {
    HeaderRules {
        accesses: match (plan.reads(), plan.writes()) {
            (true, true) => Accesses::Both,
            (false, true) => Accesses::Writes,
            (true | false, false) => Accesses::Reads,
        },
        block_bytes_min: plan.offsets.block_bytes_min(),
        block_bytes_max: plan.offsets.block_bytes_max(),
        backlog: own.backlog,
        is_time_based: plan.schedule.is_time_based,
        is_verify_only: own.only,
        forgets_rewrites: own.without_history && may_rewrite(plan),
        // Sequential blocks are verified file by file.
        is_in_order: !may_rewrite(plan) && (plan.is_random() || files <= 1),
    }
}

/// Whether offsets may come twice in a pass.
fn may_rewrite(plan: &JobPlan) -> bool {
    match plan.offsets.spec.order {
        Order::Sequential { gap_bytes } => gap_bytes != 0,
        Order::Random { .. } => !plan.offsets.spec.has_map,
    }
}

fn state_name(job: &str, thread_number: u32) -> String {
    VerifyState::file_name(job, u64::from(thread_number) - 1)
}

impl Worker<'_> {
    /// Fills a block so that it can be verified, and remembers it.
    pub(super) fn fill_to_be_verified(&mut self, unit: u32, length: usize) {
        let own = self.units[unit as usize];
        let time_ns = self.clock.nanos(own.started);
        let Some(checks) = &mut self.checks else { return };
        let written = Written {
            file_offset: own.offset,
            number: checks.begun,
            seed: checks.seed(),
            thread: checks.thread,
            time_s: u32::try_from(time_ns / 1_000_000_000).unwrap_or(u32::MAX),
            time_ns: u32::try_from(time_ns % 1_000_000_000).unwrap_or(0),
        };
        checks.begun += 1;
        let filled = checks.verifier.fill(self.memory.bytes_mut(unit as usize, length), &written);
        if checks.plan.at_end && !checks.plan.without_history {
            let piece = Piece {
                file: u32::try_from(own.file).unwrap_or(u32::MAX),
                offset: own.offset,
                length: length as u64,
                number: written.number,
                is_trimmed: false,
            };
            let fate = checks.trims.fate();
            let ticket = checks.history.log(piece, checks.keeping, fate);
            checks.tickets[unit as usize] = Some(ticket);
        }
        if let Err(error) = filled {
            self.fail(Failure::new(Errno::INVAL, error.to_string()));
        }
    }

    /// A block of the backlog that is to be verified or trimmed now, as a unit.
    pub(super) fn backlogged(&mut self) -> Option<u32> {
        let checks = self.checks.as_mut()?;
        if self.free.is_empty() {
            return None;
        }
        let (logged, last_was_read) = (checks.history.len(), checks.last_was_read);
        if checks.backlog.is_due(logged, last_was_read)
            && let Some(piece) = checks.history.next_to_verify()
        {
            checks.backlog.verified();
            return self.read_piece(piece);
        }
        let piece = checks.trims.next(&mut checks.history, last_was_read)?;
        if self.depth() > 0 {
            // The block may still be in flight, and would then be written after it is trimmed.
            self.quiesce();
        }
        self.open_file_of(piece)?;
        let length = usize::try_from(piece.length).expect("it was written from memory");
        Some(self.fill(Call::Transfer(Direction::Trim), piece.file as usize, piece.offset, length))
    }

    /// Opens the file of a piece, if it is not open, however many are: all that was written is
    /// verified.
    fn open_file_of(&mut self, piece: Piece) -> Option<()> {
        let file = piece.file as usize;
        let is_closed = self.files.openness(file) == Openness::Closed;
        if is_closed && self.files.open_beside(file) != Opening::Opened {
            if let Some(error) = self.files.error.take() {
                self.fail(error.into());
            }
            return None;
        }
        Some(())
    }

    /// A unit that reads a piece, whose file is opened if it is not.
    fn read_piece(&mut self, piece: Piece) -> Option<u32> {
        self.open_file_of(piece)?;
        let file = piece.file as usize;
        let length = usize::try_from(piece.length).expect("it was written from memory");
        let unit = self.fill(Call::Transfer(Direction::Read), file, piece.offset, length);
        let checks = self.checks.as_mut()?;
        let block = checks.expects(piece.offset, piece.number);
        let awaited = Awaited { block, is_trimmed: piece.is_trimmed, offset: piece.offset };
        checks.expected[unit as usize] = Some(awaited);
        Some(unit)
    }

    /// Verifies what the pass has written.
    pub(super) fn verify_pass(&mut self) {
        let Some(checks) = &self.checks else { return };
        let has_phase = checks.plan.at_end && self.plan.writes();
        if !has_phase || self.is_over() || self.failure.is_some() {
            return;
        }
        let began = self.clock.ticks();
        let written = self.pass_bytes[1] + self.pass_bytes[2];
        let before = self.control.stage();
        self.control.set_stage(Stage::Verifying);
        self.operations.rewind(&mut self.files);
        self.tell_of_changes();
        if let Some(checks) = &mut self.checks {
            checks.rewind_seeds();
        }
        while !self.control.is_stopped() && self.failure.is_none() {
            if self.has_time_run_out() {
                self.has_run_out = true;
                break;
            }
            let Some(unit) = self.next_to_verify(written) else { break };
            let issued = self.issue(unit);
            let waits = matches!(issued, Issued::Wait) && self.depth() > 0;
            if self.is_queue_full() || waits {
                self.wait_for_completions(waits);
            }
        }
        self.drain();
        self.files.close_beside();
        self.tell_of_changes();
        let took = self.clock.nanos(self.clock.ticks().saturating_sub(began));
        self.runtime_ns[Direction::Read as usize] += took;
        self.control.set_stage(before);
    }

    /// The next unit of the phase of verification.
    fn next_to_verify(&mut self, written: u64) -> Option<u32> {
        if let Some(unit) = self.again.pop() {
            return Some(unit);
        }
        let checks = self.checks.as_mut()?;
        let piece = match checks.plan.without_history {
            false => checks.history.next_to_verify()?,
            true => self.chosen_again(written)?,
        };
        let checks = self.checks.as_mut()?;
        let stops = checks.loaded.as_ref().is_some_and(|state| {
            state.should_stop(ReadProgress {
                reads: checks.ended,
                file: u64::from(piece.file),
                offset: piece.offset,
            })
        });
        if stops {
            return None;
        }
        self.read_piece(piece)
    }

    /// Without a history, the choices of the pass are made again: writes are what is verified.
    fn chosen_again(&mut self, written: u64) -> Option<Piece> {
        let least = self.plan.offsets.block_bytes_min();
        loop {
            let checks = self.checks.as_ref()?;
            if checks.chosen_bytes + least > written {
                return None;
            }
            match self.operations.next_again(&mut self.files) {
                job_offsets::Choice::Transfer(next) => match next.direction {
                    Direction::Read => {}
                    Direction::Write | Direction::Trim => {
                        let checks = self.checks.as_mut()?;
                        checks.chosen_bytes += next.length_bytes;
                        let number = checks.chosen;
                        checks.chosen += 1;
                        return Some(Piece {
                            file: u32::try_from(next.file).unwrap_or(u32::MAX),
                            offset: next.offset_bytes,
                            length: next.length_bytes,
                            number,
                            is_trimmed: next.direction == Direction::Trim,
                        });
                    }
                },
                job_offsets::Choice::Sync { .. } => {}
                job_offsets::Choice::Wait | job_offsets::Choice::PassEnd => return None,
            }
        }
    }

    /// Makes the choices of a pass without doing anything, so that what an earlier run has written
    /// can be verified.
    pub(super) fn pass_without_writing(&mut self) {
        while !self.control.is_stopped() {
            match self.operations.next(&mut self.files) {
                job_offsets::Choice::Transfer(next) => {
                    self.pass_bytes[next.direction as usize] += next.length_bytes;
                    let Some(checks) = &mut self.checks else { return };
                    if next.direction == Direction::Write && !checks.plan.without_history {
                        let piece = Piece {
                            file: u32::try_from(next.file).unwrap_or(u32::MAX),
                            offset: next.offset_bytes,
                            length: next.length_bytes,
                            number: checks.begun,
                            is_trimmed: false,
                        };
                        checks.begun += 1;
                        let fate = checks.trims.fate();
                        let ticket = checks.history.log(piece, checks.keeping, fate);
                        checks.history.completed(ticket);
                        // What an earlier run has trimmed is to be zeros.
                        while checks.trims.next(&mut checks.history, false).is_some() {}
                    }
                }
                job_offsets::Choice::Sync { .. } => {}
                job_offsets::Choice::Wait | job_offsets::Choice::PassEnd => return,
            }
        }
    }

    /// Saves how far writes have come.
    pub(super) fn save_verify_state(&mut self) {
        let Some(checks) = &self.checks else { return };
        if !checks.plan.saves_state || !self.plan.writes() {
            return;
        }
        let is_wide = self.plan.offsets.width == Width::Bits64;
        let state = VerifyState {
            depth: self.plan.depth.depth,
            files: u32::try_from(self.files.files.len()).unwrap_or(u32::MAX),
            begun: checks.begun,
            thread_index: u64::from(self.thread_number) - 1,
            random: match is_wide {
                true => RandomState::Wide([0; 5]),
                false => RandomState::Narrow([0; 3]),
            },
            name: self.name.as_bytes().to_vec(),
            completed: checks.completions.latest(checks.writes_ended),
        };
        let name = state_name(self.name, self.thread_number);
        if let Err(source) = fs::write(&name, state.to_bytes()) {
            self.fail(FileError::new(name.as_ref(), "verify state", source).into());
        }
    }
}
