//! The numbers in the paper, exactly as printed: Rondinelli, "File Systems Performance Analysis",
//! section 3. Rates are in kB/s, measured with Bonnie on a file of 320 MB.

use serde::Serialize;

use crate::item::Printed;

/// The levels of the factor "file system".
pub(super) const FILE_SYSTEMS: [&str; 3] = ["ext2", "FAT16", "FAT32"];
/// The levels of the factor "action".
pub(super) const ACTIONS: [&str; 5] =
    ["output per char", "output per block", "rewrite", "input per char", "input per block"];
/// The observations, with a row for each action and a column for each file system.
pub(super) const RATES: [[f64; 3]; 5] = [
    [2876.0, 2607.0, 2325.0],
    [8002.0, 6208.0, 3781.0],
    [3321.0, 2812.0, 1779.0],
    [2629.0, 2529.0, 2404.0],
    [7601.0, 7172.0, 5030.0],
];

/// One execution of Bonnie: on a file system, on a file of one size.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct RawRow {
    /// The file system.
    pub file_system: &'static str,
    /// Size of the file in MB.
    pub file_mb: u32,
    /// For each action, kB per second and percent of the processor.
    pub actions: [[f64; 2]; 5],
    /// Seeks per second, and percent of the processor.
    pub seeks: [f64; 2],
}

/// Section 2.2: what Bonnie printed, two sizes for each file system.
pub(super) const RAW: [RawRow; 6] = [
    row(
        "ext2",
        256,
        [[2843.0, 98.3], [8162.0, 89.3], [3352.0, 58.2], [2615.0, 98.1], [7584.0, 96.4]],
        [75.5, 12.3],
    ),
    row(
        "ext2",
        320,
        [[2876.0, 98.8], [8002.0, 88.8], [3321.0, 57.1], [2629.0, 97.6], [7601.0, 96.2]],
        [72.9, 11.4],
    ),
    row(
        "FAT16",
        256,
        [[2616.0, 90.6], [6199.0, 77.1], [2810.0, 75.2], [2527.0, 97.6], [7150.0, 99.2]],
        [77.8, 13.6],
    ),
    row(
        "FAT16",
        320,
        [[2607.0, 90.6], [6208.0, 78.1], [2812.0, 73.6], [2529.0, 97.5], [7172.0, 98.0]],
        [72.2, 15.5],
    ),
    row(
        "FAT32",
        256,
        [[2317.0, 75.4], [3938.0, 40.7], [1890.0, 76.2], [2399.0, 88.7], [5659.0, 71.3]],
        [70.8, 76.1],
    ),
    row(
        "FAT32",
        320,
        [[2325.0, 73.9], [3781.0, 36.9], [1779.0, 79.6], [2407.0, 88.6], [5030.0, 62.4]],
        [60.0, 81.5],
    ),
];

const fn row(
    file_system: &'static str,
    file_mb: u32,
    actions: [[f64; 2]; 5],
    seeks: [f64; 2],
) -> RawRow {
    RawRow { file_system, file_mb, actions, seeks }
}

/// Table "Computation of effects": for each action, its sum, mean and effect.
pub(super) const ROWS: [[Printed; 3]; 5] = [
    [whole(7808.0), cents(2602.67), cents(-1469.07)],
    [whole(17991.0), cents(5997.00), cents(1925.27)],
    [whole(7912.0), cents(2637.33), cents(-1434.40)],
    [whole(7562.0), cents(2520.67), cents(-1551.07)],
    [whole(19803.0), cents(6601.00), cents(2529.27)],
];
/// For each file system, its sum, mean and effect.
pub(super) const COLUMNS: [[Printed; 3]; 3] = [
    [whole(24429.0), cents(4885.80), cents(814.07)],
    [whole(21328.0), cents(4265.60), cents(193.87)],
    [whole(15319.0), cents(3063.80), cents(-1007.93)],
];
/// The grand total and the grand mean.
pub(super) const ALL: [Printed; 2] = [whole(61076.0), cents(4071.73)];

/// Table "Anova": sums of squares of the observations, of the mean, and around the mean.
pub(super) const TOTALS: [Printed; 3] =
    [whole(313_042_288.0), whole(248_685_185.0), whole(64_357_103.0)];
/// For each source, its sum of squares, percentage, degrees of freedom, and mean square.
pub(super) const SOURCES: [[Printed; 4]; 3] = [
    [whole(8_581_092.0), cents(13.33), whole(2.0), whole(4_290_546.0)],
    [whole(50_175_929.0), cents(77.96), whole(4.0), whole(12_543_982.0)],
    [whole(5_600_082.0), cents(8.70), whole(8.0), whole(700_010.0)],
];
/// Computed F of file system and action, and the quantiles at 90, 95 and 99 %.
pub(super) const F: [[Printed; 4]; 2] = [
    [tenths(6.1), tenths(3.1), tenths(4.4), tenths(8.7)],
    [tenths(17.9), tenths(2.8), tenths(3.8), tenths(7.0)],
];

/// Section 3.2: the standard deviations of the errors, of the mean, of a file system's effect and
/// of an action's.
pub(super) const DEVIATIONS: [Printed; 4] =
    [cents(836.67), cents(216.03), cents(305.51), cents(432.05)];
/// The quantiles of t for 90 and 95 %.
pub(super) const T_OF_EFFECTS: [Printed; 2] = [cents(1.86), Printed { value: 2.306, decimals: 3 }];
/// The intervals at 90 and 95 % of the mean, of the file systems' effects and of the actions'.
pub(super) const INTERVALS: [[Printed; 4]; 9] = [
    wholes([3670.0, 4474.0, 3574.0, 4570.0]),
    wholes([246.0, 1382.0, 110.0, 1519.0]),
    wholes([-374.0, 762.0, -511.0, 898.0]),
    wholes([-1576.0, -440.0, -1712.0, -303.0]),
    wholes([-2273.0, -665.0, -2465.0, -473.0]),
    wholes([1122.0, 2729.0, 929.0, 2922.0]),
    wholes([-2238.0, -631.0, -2431.0, -438.0]),
    wholes([-2355.0, -747.0, -2547.0, -555.0]),
    wholes([1726.0, 3333.0, 1533.0, 3526.0]),
];

/// Section 3.3: the confidence levels of the intervals of differences.
pub(super) const LEVELS_OF_DIFFERENCES: [f64; 3] = [0.6, 0.7, 0.8];
/// The quantiles of t for these levels.
pub(super) const T_OF_DIFFERENCES: [Printed; 3] = [
    Printed { value: 0.889, decimals: 3 },
    Printed { value: 1.108, decimals: 3 },
    Printed { value: 1.397, decimals: 3 },
];
/// The pairs of file systems, by index.
pub(super) const PAIRS: [(usize, usize); 3] = [(0, 1), (0, 2), (1, 2)];
/// The difference of each pair, and its standard deviation.
pub(super) const DIFFERENCES: [[Printed; 2]; 3] = [
    [cents(620.20), cents(1322.89)],
    [cents(1822.00), cents(1322.89)],
    [cents(1201.80), cents(1322.89)],
];
/// The intervals of the differences at 60, 70 and 80 %.
pub(super) const INTERVALS_OF_DIFFERENCES: [[Printed; 6]; 3] = [
    wholes([-556.0, 1796.0, -846.0, 2086.0, -1228.0, 2468.0]),
    wholes([646.0, 2998.0, 356.0, 3288.0, -26.0, 3670.0]),
    wholes([26.0, 2378.0, -264.0, 2668.0, -646.0, 3050.0]),
];

const fn whole(value: f64) -> Printed {
    Printed { value, decimals: 0 }
}

const fn tenths(value: f64) -> Printed {
    Printed { value, decimals: 1 }
}

const fn cents(value: f64) -> Printed {
    Printed { value, decimals: 2 }
}

const fn wholes<const N: usize>(values: [f64; N]) -> [Printed; N] {
    let mut printed = [whole(0.0); N];
    let mut index = 0;
    while index < N {
        printed[index] = whole(values[index]);
        index += 1;
    }
    printed
}
