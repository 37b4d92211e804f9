//! A stage on which threads act, one at a time: which one goes on is decided at every load of the
//! arena and every store to it, by a plan.
//!
//! By itself, a thread goes on until it sleeps or is done, and then the next one does. A plan names
//! moments at which another one goes on instead, and a store after which a thread dies. The same
//! plan leads to the same run.

use std::boxed::Box;
use std::cell::RefCell;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread_local;
use std::vec::Vec;

use crate::seams::{Life, Seams};

/// More moments than any run has that comes to an end.
const MOMENTS_MOST: usize = 100_000;

/// Another thread goes on at a moment than would by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Turn {
    pub(super) moment: usize,
    pub(super) to: usize,
}

/// A thread dies after so many of its stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Death {
    pub(super) actor: usize,
    pub(super) stores: usize,
}

/// What is decided of a run before it begins.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Plan {
    /// In the order of their moments.
    pub(super) turns: Vec<Turn>,
    pub(super) death: Option<Death>,
}

/// What could have been decided at a moment: who goes on by itself, and who else could.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moment {
    pub(super) by_itself: usize,
    ready: u32,
}

impl Moment {
    /// Who else could go on.
    pub(super) fn others(self) -> impl Iterator<Item = usize> {
        let is_other =
            move |&actor: &usize| self.ready >> actor & 1 == 1 && actor != self.by_itself;
        (0..32).filter(is_other)
    }
}

/// How a run ended that did not as it should.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stuck {
    /// Everybody sleeps.
    Asleep,
    /// Nobody comes to an end.
    Endless,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Is {
    Ready,
    /// At the word with this address.
    Asleep(usize),
    Over,
}

#[derive(Debug)]
struct State {
    plan: Plan,
    actors: Vec<Is>,
    /// Whose turn it is; nobody's before the first.
    turn: Option<usize>,
    moments: Vec<Moment>,
    /// Stores of each actor.
    stores: Vec<usize>,
    /// Who is dead and has not been repaired, and who is at it.
    dead: Vec<(usize, Option<usize>)>,
    /// Whether anybody died.
    has_died: bool,
    stuck: Option<Stuck>,
}

impl State {
    /// Who goes on now.
    fn decide(&mut self, by_itself: usize) -> usize {
        let number = self.moments.len();
        let bit = |(actor, is): (usize, &Is)| u32::from(*is == Is::Ready) << actor;
        let ready = self.actors.iter().enumerate().map(bit).sum();
        let moment = Moment { by_itself, ready };
        self.moments.push(moment);
        let turn = self.plan.turns.iter().find(|turn| turn.moment == number);
        let planned = turn.map(|turn| turn.to).filter(|&to| moment.others().any(|one| one == to));
        planned.unwrap_or(by_itself)
    }

    /// Who goes on by itself if this one cannot: the next that can.
    fn next_ready(&self, after: usize) -> Option<usize> {
        let count = self.actors.len();
        let next = (1..=count).map(|step| (after + step) % count);
        next.into_iter().find(|&actor| self.actors[actor] == Is::Ready)
    }

    fn wake(&mut self, which: impl Fn(usize) -> bool) {
        for actor in &mut self.actors {
            if let Is::Asleep(word) = *actor
                && which(word)
            {
                *actor = Is::Ready;
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

/// What an actor that ends too early unwinds with.
struct Ended;

thread_local! {
    /// Whom this thread acts for.
    static ACTOR: RefCell<Option<Actor>> = const { RefCell::new(None) };
}

/// Called before every load of the arena, and before every store.
pub(crate) fn touch() {
    let actor = ACTOR.with(|actor| actor.borrow().clone());
    if let Some(actor) = actor {
        actor.stage.pause(actor.number);
    }
}

impl Stage {
    /// A stage for so many actors, the first of which has this slot, and the others the next ones.
    pub(super) fn new(actors: usize, first_slot: usize, plan: Plan) -> Arc<Self> {
        let state = State {
            plan,
            actors: (0..actors).map(|_| Is::Ready).collect(),
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

    /// What happened so far, in moments.
    pub(super) fn now(&self) -> usize {
        self.state().moments.len()
    }

    /// The moments of a run that is over, and the stores of each actor.
    pub(super) fn record(&self) -> (Vec<Moment>, Vec<usize>) {
        let mut state = self.state();
        (core::mem::take(&mut state.moments), core::mem::take(&mut state.stores))
    }

    pub(super) fn stuck(&self) -> Option<Stuck> {
        self.state().stuck
    }

    /// The slots of the dead that nobody has repaired.
    pub(super) fn unrepaired(&self) -> Vec<usize> {
        self.state().dead.iter().map(|&(actor, _)| actor + self.first_slot).collect()
    }

    /// Lets the first one begin.
    pub(super) fn begin(&self) {
        let mut state = self.state();
        let first = state.decide(0);
        self.hand_to(&mut state, first);
    }

    fn hand_to(&self, state: &mut State, actor: usize) {
        state.turn = Some(actor);
        self.turns[actor].notify_one();
    }

    /// Waits until it is this one's turn.
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

    /// A moment at which another may go on.
    fn pause(&self, actor: usize) {
        let mut state = self.state();
        if state.moments.len() >= MOMENTS_MOST {
            self.give_up(&mut state, Stuck::Endless);
        }
        let next = state.decide(actor);
        if next != actor || state.stuck.is_some() {
            self.hand_to(&mut state, next);
            self.await_turn(actor, state);
        }
    }

    /// Lets another go on, as this one cannot.
    fn pass_on(&self, state: &mut State, actor: usize) {
        match state.next_ready(actor) {
            Some(next) => {
                let next = state.decide(next);
                self.hand_to(state, next);
            }
            None if state.actors.iter().all(|&is| is == Is::Over) => {}
            // Who sleeps looks again after a while: the owner may be dead, or whoever was about to
            // wake somebody. If that does not help, they do so for ever.
            None if state.has_died => {
                state.wake(|_| true);
                self.pass_on(state, actor);
            }
            None => self.give_up(state, Stuck::Asleep),
        }
    }

    fn leave(&self, actor: usize, is_dead: bool) {
        let mut state = self.state();
        state.actors[actor] = Is::Over;
        if is_dead && state.stuck.is_none() {
            // What it was at repairing is anybody's again.
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

    /// Acts in this thread when its turn comes, unless it dies; what it panics with, if it does.
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
        // The clock is a coarse one.
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
            state.actors[self.number] = Is::Asleep(core::ptr::from_ref(word) as usize);
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
