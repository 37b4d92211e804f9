//! The distributions that intervals and tests rest on: tails and quantiles to at least nine
//! significant digits at every number of degrees of freedom that occurs.

pub mod chi_square;
pub mod fisher;
pub mod normal;
pub mod student;
pub mod studentized_range;
