//! The page: a run's report as one HTML file that needs no network.

pub mod contract;
