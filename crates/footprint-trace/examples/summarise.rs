//! Prints what a trace contains: `summarise FILE [events]`. For developers of the plugin.

use std::error::Error;
use std::fs::File;
use std::io::BufReader;
use std::time::Instant;

use footprint_trace::event::{AccessKind, Event};
use footprint_trace::reader::TraceReader;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().ok_or("usage: summarise FILE [events]")?;
    let prints_events = arguments.next().is_some();
    let start = Instant::now();
    let mut reader = TraceReader::new(BufReader::with_capacity(1 << 20, File::open(&path)?))?;
    println!("{:?}", reader.header());
    let (mut events, mut executions, mut instructions) = (0_u64, 0_u64, 0_usize);
    let (mut loads, mut stores, mut marks) = (0_u64, 0_u64, 0_u64);
    while let Some(event) = reader.next_event()? {
        events += 1;
        match event {
            Event::Execute(id) => {
                let block = reader.block(id).ok_or("an execution of an unknown block")?;
                executions += 1;
                instructions += block.lengths.len();
                if prints_events {
                    println!("{} {:#x} {:x?}", reader.vcpu(), block.address, block.code);
                }
            }
            Event::Access(access) if access.kind == AccessKind::Load => loads += 1,
            Event::Access(_) => stores += 1,
            Event::Mark { .. } => marks += 1,
        }
        if prints_events && !matches!(event, Event::Execute(_)) {
            println!("{} {event:x?}", reader.vcpu());
        }
    }
    let rate = events as f64 / start.elapsed().as_secs_f64() / 1e6;
    println!(
        "executions {executions} instructions {instructions} loads {loads} stores {stores} \
         marks {marks} {:?}; {rate:.0} M events/s read",
        reader.ending()
    );
    Ok(())
}
