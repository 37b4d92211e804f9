//! Interleaves threads at every load and every store of the actual code.
//!
//! In this crate's unit tests, a thread can be made to pause before every load from the arena and
//! every store to it, while others continue ([`stage`]). All plans with up to a given number of
//! turns are tried systematically, since most bugs need only a few ("Iterative Context Bounding for
//! Systematic Testing of Multithreaded Programs", M. Musuvathi and S. Qadeer, PLDI 2007;
//! "Delay-Bounded Scheduling", M. Emmi, S. Qadeer and Z. Rakamaric, POPL 2011). Plans with more
//! turns, and plans in which a thread dies after one of its stores, are drawn at random.
//!
//! Every run must be explained by a sequential order of its operations: each operation returns what
//! it returned in that order, the final state is the one after that order, and no operation comes
//! before one that had finished when it began. The operation of a thread that died has either
//! happened or not. This is linearisability (M. Herlihy and J. Wing, "Linearizability: A
//! Correctness Condition for Concurrent Objects", TOPLAS 12(3), 1990). The orders are run on the
//! same code, in one thread.
//!
//! What this does not cover: loads and stores take effect in program order, which x86-64 guarantees
//! except that a store may become visible after a later load; and a copy of many bytes happens at
//! once. Sleepers only wake when they are woken, not after a timeout, so a lost wake-up is found;
//! but after a death, all of them look again.
//!
//! `FSPRISM_INTERLEAVINGS` sets how many plans are drawn at random for each scene. If it is set,
//! all plans with two turns are tried as well.

mod files;
mod names;
mod stage;
mod words;
mod working;

use std::boxed::Box;
use std::collections::BTreeMap;
use std::string::String;
use std::sync::{Arc, Mutex};
use std::vec::Vec;
use std::{format, vec};

use crate::errno::Errno;
use crate::format::{FormatRequest, make};
use crate::member::Member;
use crate::memory::Memory;
use crate::modes::Mode;
use crate::random::Random;
use stage::{Actor, Death, Moment, Plan, Stage, Turn};

pub(crate) use stage::touch;

/// The slot used to prepare a scene and to look at its final state.
const OWN: u32 = 0;
/// The first actor's slot.
const FIRST: usize = 1;

/// An actor on the stage.
type Player<'a> = Member<'a, Actor>;
/// An operation; it returns what it observed.
type Act = fn(&Player<'_>) -> Result<String, Errno>;

/// Threads, each with a sequence of operations.
#[derive(Clone, Copy)]
struct Scene<'s> {
    what: &'s str,
    prepare: fn(&Player<'_>) -> Result<(), Errno>,
    scripts: &'s [&'s [Act]],
    /// Describes the final state.
    look: fn(&Player<'_>) -> String,
    /// The number of turns up to which all plans are tried.
    turns: usize,
    /// Whether an operation cut short by a death may be done in part, as a write may.
    is_torn: bool,
    /// Whether the threads are in one process, and share its open files.
    is_one_process: bool,
}

impl Scene<'_> {
    /// A thread's slot, and the record of its process.
    fn slot_and_record(&self, actor: usize) -> (u32, u32) {
        let slot = u32::try_from(actor + FIRST).expect("there are few");
        (slot, if self.is_one_process { 1 } else { slot })
    }
}

/// An operation of a run: its actor, when it began and ended, and what it returned; nothing if the
/// actor died.
#[derive(Clone, Debug)]
struct Call {
    actor: usize,
    began: usize,
    over: Option<(usize, String)>,
}

/// The outcome of a run.
struct Outcome {
    done: Vec<Call>,
    looks: String,
    moments: Vec<Moment>,
    stores: Vec<usize>,
}

/// For an order of actors, what their operations return, and the final state.
type Explained = BTreeMap<Vec<usize>, (Vec<String>, String)>;

/// A scene being played.
struct Play<'s> {
    scene: &'s Scene<'s>,
    before: Memory,
    memory: Memory,
    explained: Explained,
    runs: usize,
}

impl<'s> Play<'s> {
    fn new(scene: &'s Scene<'s>) -> Self {
        let mut before = Memory::of_pages(80);
        let stage = Stage::new(scene.scripts.len(), FIRST, Plan::default());
        let root = Mode { uid: 0, gid: 0, mode: 0o755 };
        let request = FormatRequest { secret: 0x5eed, ino_secret: 0x1234, root, threads: None };
        make(before.arena(), Actor::new(&stage, 0), &request).expect("there is room");
        let member = member(&mut before, &stage, OWN);
        (scene.prepare)(&member).expect("there is room");
        drop(member);
        let memory = before.copy();
        Self { scene, before, memory, explained: Explained::new(), runs: 0 }
    }

    /// Plays the scene by a plan.
    fn run(&mut self, plan: &Plan) -> Outcome {
        self.memory.become_like(&self.before);
        self.runs += 1;
        let scene = self.scene;
        let (what, scripts) = (scene.what, scene.scripts);
        let stage = Stage::new(scripts.len(), FIRST, plan.clone());
        let arena = self.memory.arena();
        let done = Mutex::new(Vec::new());
        std::thread::scope(|scope| {
            let threads = scripts.iter().enumerate().map(|(number, script)| {
                let (stage, done, (slot, record)) = (&stage, &done, scene.slot_and_record(number));
                scope.spawn(move || {
                    let actor = Actor::new(stage, number);
                    let member = Member::new(arena, actor.clone(), slot, record);
                    let member = member.expect("there are slots");
                    actor.act(|| play(&member, script, number, stage, done))
                })
            });
            let threads: Vec<_> = threads.collect();
            stage.begin();
            for thread in threads {
                let acted = thread.join().expect("what it panics with is caught");
                acted.unwrap_or_else(|why| fail(what, plan, &why));
            }
        });
        if let Some(stuck) = stage.stuck() {
            panic!("{}: {stuck:?} by {plan:?}", self.scene.what);
        }
        let looks = self.look(&stage, plan);
        let done = done.into_inner().expect("nobody panicked");
        let (moments, stores) = stage.record();
        Outcome { done, looks, moments, stores }
    }

    /// Repairs what the dead left, checks the arena, and describes its state.
    fn look(&mut self, stage: &Arc<Stage>, plan: &Plan) -> String {
        let lines = self.memory.arena().lines() as usize;
        let member = member(&mut self.memory, stage, OWN);
        for slot in stage.unrepaired() {
            member.repair(u32::try_from(slot).expect("there are few")).expect("it is a slot");
        }
        let what = self.scene.what;
        if let Err(why) = member.check(&mut vec![0; lines]) {
            panic!("{what}: {} at {} by {plan:?}", why.what, why.line);
        }
        (self.scene.look)(&member)
    }

    /// Whether some order of the operations explains a run.
    fn is_explained(&mut self, run: &Outcome) -> bool {
        let mut orders = vec![Vec::new()];
        while let Some(order) = orders.pop() {
            let left: Vec<usize> = (0..run.done.len()).filter(|one| !order.contains(one)).collect();
            let is_whole = left.iter().all(|&one| run.done[one].over.is_none());
            if is_whole && self.explains(run, &order) {
                return true;
            }
            for &next in &left {
                let began = run.done[next].began;
                let is_late = |&other: &usize| {
                    run.done[other].over.as_ref().is_some_and(|(over, _)| *over < began)
                };
                // Operations of the same actor stay in order.
                if !left.iter().any(is_late) {
                    let mut order = order.clone();
                    order.push(next);
                    orders.push(order);
                }
            }
        }
        false
    }

    fn explains(&mut self, run: &Outcome, order: &[usize]) -> bool {
        let actors: Vec<usize> = order.iter().map(|&one| run.done[one].actor).collect();
        if !self.explained.contains_key(&actors) {
            let returned = self.in_order(&actors);
            self.explained.insert(actors.clone(), returned);
        }
        let (returned, looks) = &self.explained[&actors];
        let is_returned = |(&one, returned): (&usize, &String)| {
            run.done[one].over.as_ref().is_none_or(|(_, really)| really == returned)
        };
        *looks == run.looks && order.iter().zip(returned).all(is_returned)
    }

    /// What operations return, and the final state, if actors run one operation at a time in this
    /// order.
    fn in_order(&mut self, actors: &[usize]) -> (Vec<String>, String) {
        self.memory.become_like(&self.before);
        let scripts = self.scene.scripts;
        let stage = Stage::new(scripts.len(), FIRST, Plan::default());
        let arena = self.memory.arena();
        let members: Vec<_> = (0..scripts.len())
            .map(|number| {
                let (slot, record) = self.scene.slot_and_record(number);
                Member::new(arena, Actor::new(&stage, number), slot, record).expect("it is a slot")
            })
            .collect();
        let mut next = vec![0; scripts.len()];
        let returned = actors.iter().map(|&actor| {
            let act = scripts[actor][next[actor]];
            next[actor] += 1;
            result_of(&members[actor], act)
        });
        let returned = returned.collect();
        (returned, self.look(&stage, &Plan::default()))
    }

    /// Plays a plan, whose run must be explained, and all plans that extend it with more turns.
    fn explore(&mut self, plan: &Plan, turns: usize) {
        let run = self.check(plan);
        if turns == 0 {
            return;
        }
        let from = plan.turns.last().map_or(0, |last| last.moment + 1);
        for (number, moment) in run.moments.iter().enumerate().skip(from) {
            for to in moment.others() {
                let mut plan = plan.clone();
                plan.turns.push(Turn { moment: number, to });
                self.explore(&plan, turns - 1);
            }
        }
    }

    fn check(&mut self, plan: &Plan) -> Outcome {
        let run = self.run(plan);
        let (what, done, looks) = (self.scene.what, &run.done, &run.looks);
        let may_be_torn = self.scene.is_torn && done.iter().any(|one| one.over.is_none());
        let is_right = may_be_torn || self.is_explained(&run);
        assert!(is_right, "{what}: {done:#?} {looks} by {plan:?}");
        run
    }

    /// Plays plans that are drawn at random, with at most this many turns; in most of them, a
    /// thread dies.
    fn draw(&mut self, plans: usize, turns: usize, random: &mut Random) {
        let usual = self.run(&Plan::default());
        let (moments, actors) = (usual.moments.len(), usual.stores.len());
        for number in 0..plans {
            let mut turns: Vec<_> = (0..number % (turns + 1))
                .map(|_| Turn { moment: random.index(moments), to: random.index(actors) })
                .collect();
            turns.sort_by_key(|turn| turn.moment);
            let actor = random.index(actors);
            let stores = 1 + random.index(usual.stores[actor]);
            let death = (!number.is_multiple_of(5)).then_some(Death { actor, stores });
            self.check(&Plan { turns, death });
        }
    }
}

impl Random {
    /// A random index less than `count`.
    fn index(&mut self, count: usize) -> usize {
        usize::try_from(self.below(count.max(1) as u64)).expect("it is small")
    }
}

fn member<'m>(memory: &'m mut Memory, stage: &Arc<Stage>, slot: u32) -> Player<'m> {
    Member::new(memory.arena(), Actor::new(stage, 0), slot, slot).expect("there are slots")
}

/// Fails the test with what a thread panicked with, and the plan.
fn fail(what: &str, plan: &Plan, why: &Box<dyn core::any::Any + Send>) -> ! {
    let text = why.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| why.downcast_ref::<&str>().copied()).unwrap_or("it panics");
    panic!("{what}: {text} by {plan:?}");
}

fn result_of(member: &Player<'_>, act: Act) -> String {
    act(member).unwrap_or_else(|why| format!("{why:?}"))
}

/// Runs a script, and notes what each operation returned.
fn play(member: &Player<'_>, script: &[Act], actor: usize, stage: &Stage, done: &Mutex<Vec<Call>>) {
    for &act in script {
        let place = {
            let mut done = done.lock().expect("nobody panics");
            done.push(Call { actor, began: stage.now(), over: None });
            done.len() - 1
        };
        let returned = result_of(member, act);
        done.lock().expect("nobody panics")[place].over = Some((stage.now(), returned));
    }
}

/// How many plans to draw for each scene, if the environment sets that.
fn drawn() -> Option<usize> {
    let drawn = std::env::var("FSPRISM_INTERLEAVINGS").ok();
    drawn.map(|text| text.parse().expect("it is a number"))
}

/// Plays all plans of a scene with few turns, and some random ones; returns how many.
fn explore(scene: &Scene<'_>) -> usize {
    let mut play = Play::new(scene);
    let turns = if drawn().is_some() { scene.turns.max(2) } else { scene.turns };
    play.explore(&Plan::default(), turns);
    play.draw(drawn().unwrap_or(400), 3, &mut Random(0x9e37_79b9_7f4a_7c15));
    std::println!("{}: {} runs", scene.what, play.runs);
    play.runs
}

/// Plays scenes in which each of three threads runs three operations drawn from these, with many
/// turns.
fn explore_any(scene: &Scene<'_>, acts: &[Act]) {
    const PLANS: usize = 26;
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut runs = 0;
    for _ in 0..drawn().map_or(60, |plans| plans / 20) {
        let drawn: Vec<_> = (0..9).map(|_| random.index(acts.len())).collect();
        let script: Vec<_> = drawn.iter().map(|&one| acts[one]).collect();
        let scripts: Vec<_> = script.chunks(3).collect();
        let what = format!("{} {drawn:?}", scene.what);
        let scene = Scene { what: &what, scripts: &scripts, ..*scene };
        let mut play = Play::new(&scene);
        play.draw(PLANS, 12, &mut random);
        runs += play.runs;
    }
    std::println!("{}: {runs} runs", scene.what);
}
