//! Traces that no machine would make: whatever one contains, the walk ends and counts add up.

use footprint::description::{Description, Function};
use footprint::regions::{RegionQuery, for_each_region};
use footprint::touched::{Collector, Footprint, Selection};
use footprint::trace::{Context, Region, Walk};
use footprint_trace::header::{Coverage, Scope};
use footprint_trace::mark::Edge;
use proptest::prelude::*;

use crate::made::{IRET, NOP, RET, SYSCALL, SYSRET, TraceBuilder, jump, reader};

const KERNEL: u64 = 0xffff_ffff_8100_0000;

fn names() -> Description {
    let kernel = ["entry_SYSCALL_64", "asm_exc_page_fault", "asm_sysvec_timer", "__switch_to", "f"];
    let named = |(index, name): (u64, &str)| Function {
        address: KERNEL + index * 0x100,
        bytes: 0xc0,
        name: name.to_owned(),
        ..Function::default()
    };
    Description { functions: (0..).zip(kernel).map(named).collect(), ..Description::default() }
}

/// Does one thing, chosen by numbers. Returns how many instructions it executes.
fn act(made: &mut TraceBuilder, [what, place, slot]: [u8; 3]) -> u64 {
    let base = if place & 1 == 0 { 0x1000 } else { KERNEL };
    let address = base + u64::from(place >> 1 & 7) * 0x100 + u64::from(place >> 6) * 0x10;
    let stack = if slot & 1 == 0 { 0x7000 } else { 0xffff_c900_0000_0000 };
    let slot = stack + (u64::from(slot >> 1 & 3) << 14) + u64::from(slot >> 3) * 8;
    match what % 9 {
        0 => made.call(address, address ^ 0x100, slot),
        1 => made.call(address, address + 5, slot),
        2 => made.ret(address, slot),
        3 => made.run(address, &[SYSCALL]),
        4 => made.run(address, &[SYSRET]),
        5 => made.run(address, &[IRET]),
        6 => made.run(address, &[&jump(address, address ^ 0x200)]),
        7 => made.run(address, &[NOP, RET]),
        _ => {
            let edge = if slot & 8 == 0 { Edge::Begin } else { Edge::End };
            made.mark(edge, 1, u16::from(place & 3));
            return 0;
        }
    };
    if what % 9 == 7 { 2 } else { 1 }
}

/// The footprints of a trace's regions, sorted, all taken at the end.
fn at_once(trace: &[u8]) -> Vec<Footprint> {
    let mut reader = reader(trace);
    let mut walk = Walk::new(*reader.header(), names());
    let mut collector = Collector::new(Selection::default());
    walk.run(&mut reader, &mut collector).expect("a whole trace");
    sorted(collector.into_footprints())
}

/// The same, but taken region by region; of some regions, or of all.
fn one_by_one(trace: &[u8], regions: Option<&[Region]>) -> Vec<Footprint> {
    let mut reader = reader(trace);
    let mut walk = Walk::new(*reader.header(), names());
    let mut found = Vec::new();
    let wanted = RegionQuery { regions, caches: None };
    for_each_region(&mut walk, &mut reader, wanted, |_, footprint, _| found.push(footprint))
        .expect("a whole trace");
    sorted(found)
}

fn sorted(mut footprints: Vec<Footprint>) -> Vec<Footprint> {
    footprints.sort_by_key(|footprint| format!("{footprint:?}"));
    footprints
}

proptest! {
    #[test]
    fn a_region_is_the_same_by_itself(
        acts in prop::collection::vec((0..2_u32, any::<[u8; 3]>()), 1..200),
        is_whole in any::<bool>(),
    ) {
        let coverage = if is_whole { Coverage::Whole } else { Coverage::Marked };
        let mut made = TraceBuilder::new(Scope::Machine, coverage);
        for (vcpu, act_of) in acts {
            made.vcpu(vcpu);
            act(&mut made, act_of);
        }
        let trace = made.trace();
        let all = at_once(&trace);
        prop_assert_eq!(&one_by_one(&trace, None), &all);
        let some: Vec<Region> = all.iter().map(|one| one.region).step_by(2).collect();
        let is_of_some = |one: &&Footprint| some.contains(&one.region);
        let of_some: Vec<Footprint> = all.iter().filter(is_of_some).cloned().collect();
        prop_assert_eq!(one_by_one(&trace, Some(&some)), of_some);
    }

    #[test]
    fn every_instruction_is_counted_in_one_context(
        acts in prop::collection::vec(any::<[u8; 3]>(), 1..200),
        is_machine in any::<bool>(),
    ) {
        let scope = if is_machine { Scope::Machine } else { Scope::Program };
        let mut made = TraceBuilder::new(scope, Coverage::Whole);
        let executed: u64 = acts.iter().map(|&one| act(&mut made, one)).sum();
        let trace = made.trace();
        let mut reader = reader(&trace);
        let mut walk = Walk::new(*reader.header(), names());
        let mut collector = Collector::new(Selection::default());
        walk.run(&mut reader, &mut collector).expect("a whole trace");
        let footprints = collector.into_footprints();
        let count = |context: Context| -> u64 {
            let of = |footprint: &Footprint| {
                let only = |one| one == context;
                footprint.figures(walk.code(), walk.stacks(), only).instructions
            };
            footprints.iter().map(of).sum()
        };
        prop_assert_eq!(Context::ALL.into_iter().map(count).sum::<u64>(), executed);
        if !is_machine {
            prop_assert_eq!(count(Context::User), executed);
        }
    }
}
