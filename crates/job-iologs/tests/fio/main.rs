//! Logs held to those of fio 3.33, recorded and running.

mod jobs;
mod recorded;
mod replays;
mod rewriting;
mod running;
