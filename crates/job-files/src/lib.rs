//! Job files of fio, read as fio 3.33 reads them: its manual, section "Job file format", and its
//! `parse_jobs_ini`.
//!
//! A file becomes [`JobText`]s: the settings of each job, those of the `[global]` sections before
//! it first, with comments gone, files included, and variables and keywords replaced. A [`Job`] has
//! their values, each of its option's kind.
//!
//! What fio accepts is accepted, but for what it reads in part and drops the rest of without a
//! word: `size=1.5g` is one byte to it, `size=1gg` is 1 GiB, `direct=1x` is 1, and a section line
//! without a `]` loses the last letter of its name.

#![forbid(unsafe_code)]

mod error;
mod expression;
mod job;
pub mod options;
pub mod pattern;
mod place;
pub mod quantity;
mod sections;
mod setting;
mod substitution;
mod values;

pub use error::JobFileError;
pub use job::{Given, Job};
pub use place::Place;
pub use sections::{JobText, read, read_text};
pub use setting::Setting;
pub use substitution::Surroundings;
pub use values::Value;
