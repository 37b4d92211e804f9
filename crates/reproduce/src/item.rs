//! One number in a paper, beside the same number recomputed.

use serde::Serialize;

/// By how many units of the last printed digit a recomputed value may differ because the paper
/// continued with rounded numbers.
const ROUNDED_UNITS: f64 = 2.0;

/// A number as printed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Printed {
    /// Its value.
    pub value: f64,
    /// Digits after the decimal point.
    pub decimals: u32,
}

impl Printed {
    /// One unit of the last digit.
    fn unit(self) -> f64 {
        10f64.powi(-i32::try_from(self.decimals).unwrap_or(i32::MAX))
    }
}

/// How a recomputed number compares with the printed one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Agreement {
    /// It is the same when rounded to the printed digits.
    Same,
    /// It differs by at most two units of the last printed digit: the paper rounded in between.
    Rounding,
    /// It is a different number.
    Different,
}

/// One number of a table.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Item {
    /// The row's name.
    pub row: String,
    /// The column's name.
    pub column: String,
    /// The number in the paper.
    pub published: f64,
    /// The number computed here.
    pub recomputed: f64,
    /// Recomputed minus published.
    pub difference: f64,
    /// Whether that matters.
    pub agreement: Agreement,
    /// Digits after the decimal point in the paper.
    #[serde(skip)]
    pub decimals: u32,
}

impl Item {
    pub(crate) fn new(
        row: impl Into<String>,
        column: impl Into<String>,
        published: Printed,
        recomputed: f64,
    ) -> Self {
        let difference = recomputed - published.value;
        let units = difference.abs() / published.unit();
        // A little more than a half, because the value was computed in binary.
        let agreement = if units <= 0.5 + 1e-6 {
            Agreement::Same
        } else if units <= ROUNDED_UNITS + 1e-6 {
            Agreement::Rounding
        } else {
            Agreement::Different
        };
        let (row, column, published_value) = (row.into(), column.into(), published.value);
        Self {
            row,
            column,
            published: published_value,
            recomputed,
            difference,
            agreement,
            decimals: published.decimals,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding_is_told_from_difference() {
        let printed = Printed { value: 2.5, decimals: 1 };
        let agreement = |recomputed| Item::new("", "", printed, recomputed).agreement;
        assert_eq!(agreement(2.549), Agreement::Same);
        assert_eq!(agreement(2.55), Agreement::Same);
        assert_eq!(agreement(2.6), Agreement::Rounding);
        assert_eq!(agreement(2.3), Agreement::Rounding);
        assert_eq!(agreement(2.75), Agreement::Different);
    }
}
