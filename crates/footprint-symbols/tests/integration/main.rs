//! Names from real programs, types and kernels.

mod kernels;
mod programs;
mod types;
