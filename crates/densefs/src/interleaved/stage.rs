//! A stage on which threads act, one at a time: at every load from the arena and every store to it,
//! a plan decides which one continues.
//!
//! By default, a thread continues until it sleeps or ends, and then the next one does. A plan names
//! moments at which another thread continues instead, and a store after which a thread dies. The
//! same plan always leads to the same run.

use std::boxed::Box;
use std::cell::RefCell;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread_local;
use std::vec::Vec;

use crate::seams::{Life, Seams};

/// More moments than any run that terminates.
const MOMENTS_MAX: usize = 100_000;

/// At this moment, another thread continues than would by default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Turn {
    pub(super) moment: usize,
    pub(super) to: usize,
}

/// A thread dies after this many of its stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Death {
    pub(super) actor: usize,
    pub(super) stores: usize,
}

/// What is decided about a run before it begins.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Plan {
    /// In the order of their moments.
    pub(super) turns: Vec<Turn>,
    pub(super) death: Option<Death>,
}

/// A point of decision: which thread continues by default, and which others could.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moment {
    pub(super) by_itself: usize,
    ready: u32,
}

impl Moment {
    /// The others that could continue.
    pub(super) fn others(self) -> impl Iterator<Item = usize> {
        let is_other =
            move |&actor: &usize| self.ready >> actor & 1 == 1 && actor != self.by_itself;
        (0..32).filter(is_other)
    }
}

/// How a run failed to end properly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stuck {
    /// All threads sleep.
    Asleep,
    /// It does not terminate.
    Endless,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ActorState {
    Ready,
    /// On the word with this address.
    Asleep(usize),
    Over,
}

#[derive(Debug)]
struct State {
    plan: Plan,
    actors: Vec<ActorState>,
    /// The actor whose turn it is; none before the first.
    turn: Option<usize>,
    moments: Vec<Moment>,
    /// The number of stores of each actor.
    stores: Vec<usize>,
    /// Actors that are dead and not repaired yet, each with the actor that is repairing it.
    dead: Vec<(usize, Option<usize>)>,
    /// Whether anybody died.
    has_died: bool,
    stuck: Option<Stuck>,
}

impl State {
    /// Chooses the actor that continues now.
    fn decide(&mut self, by_itself: usize) -> usize {
        let number = self.moments.len();
        let bit = |(actor, is): (usize, &ActorState)| u32::from(*is == ActorState::Ready) << actor;
        let ready = self.actors.iter().enumerate().map(bit).sum();
        let moment = Moment { by_itself, ready };
        self.moments.push(moment);
        let turn = self.plan.turns.iter().find(|turn| turn.moment == number);
        let planned = turn.map(|turn| turn.to).filter(|&to| moment.others().any(|one| one == to));
        planned.unwrap_or(by_itself)
    }

    /// The actor that continues by default if this one cannot: the next that can.
    fn next_ready(&self, after: usize) -> Option<usize> {
        let count = self.actors.len();
        let next = (1..=count).map(|step| (after + step) % count);
        next.into_iter().find(|&actor| self.actors[actor] == ActorState::Ready)
    }

    fn wake(&mut self, which: impl Fn(usize) -> bool) {
        for actor in &mut self.actors {
            if let ActorState::Asleep(word) = *actor
                && which(word)
            {
                *actor = ActorState::Ready;
            }
        }
    }
}

/// Where a run takes place.
#[derive(Debug)]
pub(super) struct Stage {
    state: Mutex<State>,
    /// One for each actor.
    turns: Vec<Condvar>,
    first_slot: usize,
}

/// The payload with which an actor unwinds when it must end early.
struct Ended;

thread_local! {
    /// The actor that this thread plays.
    static ACTOR: RefCell<Option<Actor>> = const { RefCell::new(None) };
}

/// Called before every load from the arena and every store to it.
pub(crate) fn touch() {
    let actor = ACTOR.with(|actor| actor.borrow().clone());
    if let Some(actor) = actor {
        actor.stage.pause(actor.number);
    }
}

impl Stage {
    /// A stage for this many actors. The first has slot `first_slot`, the others the following
    /// ones.
    pub(super) fn new(actors: usize, first_slot: usize, plan: Plan) -> Arc<Self> {
        let state = State {
            plan,
            actors: (0..actors).map(|_| ActorState::Ready).collect(),
            turn: None,
            moments: Vec::new(),
            stores: (0..actors).map(|_| 0).collect(),
            dead: Vec::new(),
            has_died: false,
            stuck: None,
        };
        let turns = (0..actors).map(|_| Condvar::new()).collect();
        Arc::new(Self { state: Mutex::new(state), turns, first_slot })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The current time, in moments.
    pub(super) fn now(&self) -> usize {
        self.state().moments.len()
    }

    /// The moments of a finished run, and the number of stores of each actor.
    pub(super) fn record(&self) -> (Vec<Moment>, Vec<usize>) {
        let mut state = self.state();
        (core::mem::take(&mut state.moments), core::mem::take(&mut state.stores))
    }

    pub(super) fn stuck(&self) -> Option<Stuck> {
        self.state().stuck
    }

    /// The slots of dead actors that nobody has repaired.
    pub(super) fn unrepaired(&self) -> Vec<usize> {
        self.state().dead.iter().map(|&(actor, _)| actor + self.first_slot).collect()
    }

    /// Starts the first actor.
    pub(super) fn begin(&self) {
        let mut state = self.state();
        let first = state.decide(0);
        self.hand_to(&mut state, first);
    }

    fn hand_to(&self, state: &mut State, actor: usize) {
        state.turn = Some(actor);
        self.turns[actor].notify_one();
    }

    /// Waits for this actor's turn.
    fn await_turn(&self, actor: usize, state: MutexGuard<'_, State>) {
        let mut state = state;
        while state.turn != Some(actor) && state.stuck.is_none() {
            state = self.turns[actor].wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        if state.stuck.is_some() {
            drop(state);
            resume_unwind(Box::new(Ended));
        }
    }

    fn give_up(&self, state: &mut State, why: Stuck) {
        state.stuck = Some(why);
        self.turns.iter().for_each(Condvar::notify_one);
    }

    /// A moment at which another actor may continue.
    fn pause(&self, actor: usize) {
        let mut state = self.state();
        if state.moments.len() >= MOMENTS_MAX {
            self.give_up(&mut state, Stuck::Endless);
        }
        let next = state.decide(actor);
        if next != actor || state.stuck.is_some() {
            self.hand_to(&mut state, next);
            self.await_turn(actor, state);
        }
    }

    /// Lets another actor continue, as this one cannot.
    fn pass_on(&self, state: &mut State, actor: usize) {
        match state.next_ready(actor) {
            Some(next) => {
                let next = state.decide(next);
                self.hand_to(state, next);
            }
            None if state.actors.iter().all(|&is| is == ActorState::Over) => {}
            // Sleepers look again after a while, since the owner may be dead, or the thread that
            // was about to wake them. If that does not help, the run never ends.
            None if state.has_died => {
                state.wake(|_| true);
                self.pass_on(state, actor);
            }
            None => self.give_up(state, Stuck::Asleep),
        }
    }

    fn leave(&self, actor: usize, is_dead: bool) {
        let mut state = self.state();
        state.actors[actor] = ActorState::Over;
        if is_dead && state.stuck.is_none() {
            // Whatever it was repairing needs repair by another again.
            for (_, at_it) in &mut state.dead {
                *at_it = at_it.filter(|&one| one != actor);
            }
            state.dead.push((actor, None));
            state.has_died = true;
        }
        self.pass_on(&mut state, actor);
    }
}

/// A thread on a stage.
#[derive(Clone, Debug)]
pub(super) struct Actor {
    stage: Arc<Stage>,
    number: usize,
}

impl Actor {
    pub(super) fn new(stage: &Arc<Stage>, number: usize) -> Self {
        Self { stage: stage.clone(), number }
    }

    /// Runs `act` in this thread when its turn comes; returns what it panics with, unless it was
    /// killed.
    pub(super) fn act(&self, act: impl FnOnce()) -> Result<(), Box<dyn core::any::Any + Send>> {
        let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            self.stage.await_turn(self.number, self.stage.state());
            ACTOR.with(|actor| actor.replace(Some(self.clone())));
            act();
        }));
        ACTOR.with(RefCell::take);
        self.stage.leave(self.number, done.is_err());
        match done {
            Err(why) if !why.is::<Ended>() => Err(why),
            Ok(()) | Err(_) => Ok(()),
        }
    }
}

impl Seams for Actor {
    fn now_ns(&self) -> u64 {
        // Constant, like a coarse clock that does not tick during a run.
        1_000_000_000
    }

    fn supply(&self, _first_page: u32, _pages: u32) -> bool {
        true
    }

    fn life(&self, slot: u32) -> Life {
        let mut state = self.stage.state();
        let actor = (slot as usize).wrapping_sub(self.stage.first_slot);
        match state.dead.iter_mut().find(|(dead, _)| *dead == actor) {
            Some((_, at_it @ None)) => {
                *at_it = Some(self.number);
                Life::Ours
            }
            Some(_) | None => Life::Alive,
        }
    }

    fn after_repair(&self, slot: u32) {
        let actor = (slot as usize).wrapping_sub(self.stage.first_slot);
        self.stage.state().dead.retain(|&(dead, _)| dead != actor);
    }

    fn wait(&self, word: &AtomicU32, value: u32) -> bool {
        touch();
        let mut state = self.stage.state();
        if word.load(Ordering::Relaxed) == value {
            state.actors[self.number] = ActorState::Asleep(core::ptr::from_ref(word) as usize);
            self.stage.pass_on(&mut state, self.number);
            self.stage.await_turn(self.number, state);
        }
        true
    }

    fn wake(&self, word: &AtomicU32) {
        touch();
        let address = core::ptr::from_ref(word) as usize;
        self.stage.state().wake(|slept_at| slept_at == address);
    }

    fn after_store(&self) {
        if ACTOR.with(|actor| actor.borrow().is_none()) {
            return;
        }
        let is_last = {
            let mut state = self.stage.state();
            state.stores[self.number] += 1;
            let death = Death { actor: self.number, stores: state.stores[self.number] };
            state.plan.death == Some(death)
        };
        if is_last {
            resume_unwind(Box::new(Ended));
        }
    }
}
