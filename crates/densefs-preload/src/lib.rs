//! DenseFS under programs as they are: a library that a program loads before the C library.
//!
//! What the program asks of the kernel comes here first, in one form: a [`call::SystemCall`]. Where
//! it concerns the arena, [`serve`] answers it; everything else is the kernel's as before.

#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "arguments of system calls are registers, of the one architecture that this is for"
)]

mod arena;
mod call;
mod counting;
mod decision;
mod environment;
mod exec;
mod handed_sites;
mod inside;
mod limits;
mod links;
mod mount;
mod numbers;
mod outcome;
mod own;
mod place;
mod prefix;
mod raw;
mod serve;
mod signals;
mod sites;
mod spawn;
mod start;
mod symbols;
mod ways_in;
