//! Names of real programs, types and kernels.

mod programs;
mod speed;
mod types;
