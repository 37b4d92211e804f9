//! Choices held to those of fio 3.33, and distributions to their laws.

mod job;
mod laws;
mod recorded;
mod running;
mod speed;
