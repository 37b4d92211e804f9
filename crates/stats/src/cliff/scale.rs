//! The scale on which sizes are laid out and intervals are halved.

/// How sizes are compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scale {
    /// By ratio: sizes, counts. A width is a share of the lower end.
    #[default]
    Logarithmic,
    /// By difference: shares, which may be 0. A width is in the unit of sizes.
    Linear,
}

impl Scale {
    /// The coordinate of a size.
    pub(super) fn coordinate(self, size: f64) -> f64 {
        match self {
            Self::Logarithmic => size.ln(),
            Self::Linear => size,
        }
    }

    /// The size at a coordinate.
    pub(super) fn size(self, coordinate: f64) -> f64 {
        match self {
            Self::Logarithmic => coordinate.exp(),
            Self::Linear => coordinate,
        }
    }

    /// A width expressed as a difference of coordinates.
    pub(super) fn extent(self, width: f64) -> f64 {
        match self {
            Self::Logarithmic => width.ln_1p(),
            Self::Linear => width,
        }
    }

    /// The difference between the coordinate `at` and that of a size larger by `grain`.
    pub(super) fn grain_extent(self, at: f64, grain: f64) -> f64 {
        match self {
            Self::Logarithmic => (grain / at.exp() * 1.001).ln_1p(),
            Self::Linear => grain * 1.001,
        }
    }

    /// Number of intervals of the grid from `low` to `high`.
    pub(super) fn grid_intervals(self, low: f64, high: f64) -> usize {
        /// On a linear scale.
        const TENTHS: usize = 10;
        match self {
            Self::Logarithmic => octaves(low, high),
            Self::Linear => TENTHS,
        }
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "two finite sizes are at most 2,098 factors of 2 apart"
)]
fn octaves(low: f64, high: f64) -> usize {
    let octaves = (high.ln() - low.ln()) / std::f64::consts::LN_2;
    octaves.round().max(1.0) as usize
}
