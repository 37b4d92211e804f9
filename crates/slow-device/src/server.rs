//! The process that serves the file.

use std::num::NonZeroU64;
use std::os::fd::AsFd;
use std::process::ExitCode;
use std::sync::Mutex;
use std::time::Duration;
use std::{env, io, thread};

use rustix::mm::{MlockAllFlags, mlockall};
use rustix::process::{configure_io_flusher_behavior, nice, setsid};
use rustix::thread::{
    CpuSet, LinkNameSpaceType, move_into_link_name_space, sched_setaffinity,
    set_current_timer_slack, set_name,
};

use crate::answers::{Room, Shared};
use crate::image::Image;
use crate::recent::RecentBlocks;
use crate::{Delays, DeviceCache, QUEUE_DEPTH};

/// The name by which a process is told to be a server.
pub(crate) const NAME: &str = "fsprism-slow-device";
/// A thread needs little more than its frames, and all of it is locked.
const STACK_BYTES: usize = 128 << 10;

/// Whether this process was started to serve a slow file. Programs that make one ask this before
/// anything else, and then call [`serve`].
#[must_use]
pub fn is_server() -> bool {
    env::args_os().next().is_some_and(|name| name == NAME)
}

/// Serves the file until its mount is gone. Standard input is where the kernel asks, standard
/// output the image, and standard error the mount namespace to live in.
#[must_use]
pub fn serve() -> ExitCode {
    let Some(delays) = Delays::from_arguments(env::args().skip(1)) else {
        return ExitCode::from(2);
    };
    let namespace = Some(LinkNameSpaceType::Mount);
    if move_into_link_name_space(io::stderr().as_fd(), namespace).is_err() {
        return ExitCode::FAILURE;
    }
    keep_apart();
    let (kernel, image) = (io::stdin(), io::stdout());
    let shared = &Shared {
        kernel: kernel.as_fd(),
        image: Image(image.as_fd()),
        delay: delays.request,
        cached: delays.cache.map(|cache| Mutex::new(RecentBlocks::new(cache.bytes))),
    };
    let rooms: Vec<Room> = (0..QUEUE_DEPTH).map(|_| Room::new()).collect();
    let served = thread::scope(|scope| {
        rooms.into_iter().try_for_each(|room| {
            let builder = thread::Builder::new().stack_size(STACK_BYTES);
            builder.spawn_scoped(scope, move || shared.answer_all(room)).map(drop)
        })?;
        lock_memory();
        io::Result::Ok(())
    });
    ExitCode::from(u8::from(served.is_err()))
}

/// Nothing that is meant for its maker may reach the server, and it must be awake in time. What is
/// not permitted is done without: then it is less exact under load.
fn keep_apart() {
    system_calls::block_signals();
    let _only_for_its_looks = set_name(c"fsprism-slow");
    let _is_leader_already = setsid();
    let _less_exact = set_current_timer_slack(NonZeroU64::new(1));
    let _less_exact = nice(-20);
    // Its maker may be confined to one processor, where it measures.
    let mut all = CpuSet::new();
    (0..CpuSet::MAX_CPU).for_each(|processor| all.set(processor));
    let _less_exact = sched_setaffinity(None, &all);
}

/// See the crate's documentation. Without these, the server could wait for its own device when
/// memory is short.
fn lock_memory() {
    let _not_permitted = configure_io_flusher_behavior(true);
    let all = MlockAllFlags::CURRENT | MlockAllFlags::FUTURE | MlockAllFlags::ONFAULT;
    let _not_permitted = mlockall(all);
}

impl Delays {
    /// As arguments of a server.
    pub(crate) fn to_arguments(self) -> Vec<String> {
        let cache_bytes = self.cache.map(|cache| cache.bytes.to_string());
        [self.request.as_nanos().to_string()].into_iter().chain(cache_bytes).collect()
    }

    fn from_arguments(mut arguments: impl Iterator<Item = String>) -> Option<Self> {
        let request = Duration::from_nanos(arguments.next()?.parse().ok()?);
        let cache = match arguments.next() {
            Some(bytes) => Some(DeviceCache { bytes: bytes.parse().ok()? }),
            None => None,
        };
        Some(Self { request, cache })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_told_its_delays() {
        let request = Duration::from_micros(1500);
        for (cache, arguments) in
            [(None, &["1500000"][..]), (Some(DeviceCache { bytes: 4096 }), &["1500000", "4096"])]
        {
            let delays = Delays { request, cache };
            assert_eq!(delays.to_arguments(), arguments);
            assert_eq!(Delays::from_arguments(delays.to_arguments().into_iter()), Some(delays));
        }
        assert_eq!(Delays::from_arguments(["x".to_owned()].into_iter()), None);
    }
}
