//! Bonnie's phases and their order. Bonnie rewrites what `putc` wrote before it writes the file by
//! block, although its table prints these two the other way round. Bonnie++ follows the order of
//! the table, and so rewrites what was written by block. Its option `-f` leaves out the phases per
//! character.

use record::{BonnieOptions, BonniePhaseOrder, Dimension, MetricDefinition, StandardMetric};
use serde_json::{Value, json};

/// A phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    CharOutput,
    Rewrite,
    BlockOutput,
    CharInput,
    BlockInput,
    RandomSeeks,
}

impl Phase {
    /// The phases to execute, in order.
    pub(super) fn in_order(order: BonniePhaseOrder) -> &'static [Self] {
        use Phase::{BlockInput, BlockOutput, CharInput, CharOutput, RandomSeeks, Rewrite};
        match order {
            BonniePhaseOrder::Bonnie => {
                &[CharOutput, Rewrite, BlockOutput, CharInput, BlockInput, RandomSeeks]
            }
            BonniePhaseOrder::BonniePlusPlus => {
                &[CharOutput, BlockOutput, Rewrite, CharInput, BlockInput, RandomSeeks]
            }
            BonniePhaseOrder::BonniePlusPlusByBlock => {
                &[BlockOutput, Rewrite, BlockInput, RandomSeeks]
            }
        }
    }

    /// How many passes over the whole file it makes.
    pub(super) fn passes(self) -> u32 {
        match self {
            Self::CharOutput | Self::BlockOutput | Self::CharInput | Self::BlockInput => 1,
            Self::Rewrite => 2,
            Self::RandomSeeks => 0,
        }
    }

    /// Its name, and a title in words.
    pub(super) fn names(self) -> (&'static str, &'static str) {
        match self {
            Self::CharOutput => ("char-output", "sequential output per character"),
            Self::BlockOutput => ("block-output", "sequential output by block"),
            Self::Rewrite => ("rewrite", "each block read, changed and written back"),
            Self::CharInput => ("char-input", "sequential input per character"),
            Self::BlockInput => ("block-input", "sequential input by block"),
            Self::RandomSeeks => ("random-seeks", "random seeks, one in ten with a write"),
        }
    }

    /// The dimension that it isolates, and those that it exercises.
    pub(super) fn dimensions(self) -> (Dimension, Vec<Dimension>) {
        match self {
            Self::CharOutput | Self::BlockOutput | Self::Rewrite => {
                (Dimension::Io, vec![Dimension::OnDiskLayout, Dimension::InMemory])
            }
            Self::CharInput | Self::BlockInput => {
                (Dimension::Io, vec![Dimension::Caching, Dimension::InMemory])
            }
            Self::RandomSeeks => (Dimension::Io, vec![Dimension::Caching, Dimension::Scaling]),
        }
    }

    /// Its metrics: what Bonnie prints first, then `%CPU`.
    pub(super) fn metrics(self) -> Vec<MetricDefinition> {
        let rate = match self {
            Self::CharOutput
            | Self::BlockOutput
            | Self::Rewrite
            | Self::CharInput
            | Self::BlockInput => StandardMetric::BANDWIDTH,
            Self::RandomSeeks => StandardMetric::THROUGHPUT,
        };
        [rate, StandardMetric::PROCESSOR_SHARE].map(StandardMetric::definition).to_vec()
    }

    /// Its own parameters.
    pub(super) fn parameters(self, options: &BonnieOptions) -> Vec<(&'static str, Value)> {
        let (operation, request_bytes) = match self {
            Self::CharOutput => ("putc", 1),
            Self::BlockOutput => ("write", options.chunk_bytes),
            Self::Rewrite => ("read and write", options.chunk_bytes),
            Self::CharInput => ("getc", 1),
            Self::BlockInput => ("read", options.chunk_bytes),
            Self::RandomSeeks => ("seek and read", options.chunk_bytes),
        };
        let (access, threads) = match self {
            Self::CharOutput
            | Self::BlockOutput
            | Self::Rewrite
            | Self::CharInput
            | Self::BlockInput => ("sequential", 1),
            Self::RandomSeeks => ("random", options.seekers),
        };
        vec![
            ("operation", json!(operation)),
            ("access", json!(access)),
            ("request_bytes", json!(request_bytes)),
            ("threads", json!(threads)),
        ]
    }
}
