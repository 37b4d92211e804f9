//! The whole program as users meet it: the real binary, on real file systems.
//!
//! Each test has its own directory. Every time the program has run, the tests check that it left no
//! mount, loop device, control group or file on the machine. Tests that make file systems need
//! root, and say so if they are not run as root.

mod advice;
mod advised_values;
mod answers;
mod applications;
mod arenas;
mod busy;
mod cells;
mod classics;
mod cliffs;
mod command_line;
mod conditions;
mod copies;
mod custom;
mod damage;
mod dense_kernel;
mod densefs;
mod device_writes;
mod devices;
mod documents;
mod exec;
mod exports;
mod faults;
mod footprints;
mod guests;
mod job_files;
mod kill;
mod layers;
mod mistakes;
mod networks;
mod nodes;
mod old_runs;
mod pages;
mod place;
mod pollution;
mod poor;
mod process;
mod processors;
mod rates;
mod refusals;
mod refused_calls;
mod run_directory;
mod shells;
mod signals;
mod statistics;
mod terminal;
mod traced_applications;
mod traces;
mod turns;
mod users;
mod versions;
