//! Examples from Jain's book, and the Bonnie study that followed it.

use super::*;

const ACTIONS: [&str; 5] =
    ["output per char", "output per block", "rewrite", "input per char", "input per block"];

/// Rondinelli, "File Systems Performance Analysis", section 3.1: K/s of Bonnie at 320 MB.
fn bonnie() -> Table {
    let columns: [(&str, [f64; 5]); 3] = [
        ("ext2", [2876.0, 8002.0, 3321.0, 2629.0, 7601.0]),
        ("FAT16", [2607.0, 6208.0, 2812.0, 2529.0, 7172.0]),
        ("FAT32", [2325.0, 3781.0, 1779.0, 2404.0, 5030.0]),
    ];
    let mut builder = TableBuilder::new(["filesystem", "action"]);
    for (file_system, values) in columns {
        for (action, value) in ACTIONS.iter().zip(values) {
            builder.row(&[file_system, action], value).unwrap();
        }
    }
    builder.build().unwrap()
}

// The paper's section 3.1. Its 4.4 for the F quantile of 2 and 8 degrees at 95 % is 4.459.
#[test]
fn the_bonnie_study_is_reproduced() {
    let got = analyse(&bonnie(), &options(ModelChoice::Auto)).unwrap();
    assert_eq!(got.design.to_string(), "two-factor full factorial without replications");
    assert_eq!((got.model, got.error_df), (Model::Additive, 8));
    assert_eq!(
        got.why.to_string(),
        "the largest value is 4.4980 times the smallest, less than 100: additive"
    );
    assert_printed(got.totals.observations, 313_042_288.0, 0.5);
    assert_printed(got.totals.mean, 248_685_185.0, 0.5);
    assert_printed(got.totals.about_mean, 64_357_103.0, 0.5);
    let wanted = [
        ("filesystem", 8_581_092.0, 13.33, 2, 4_290_546.0),
        ("action", 50_175_929.0, 77.96, 4, 12_543_982.0),
        ("errors", 5_600_082.0, 8.70, 8, 700_010.0),
    ];
    for (source, (name, sum_sq, percent, df, mean_sq)) in got.anova.iter().zip(wanted) {
        assert_eq!((source.name.as_str(), source.df), (name, df));
        assert_printed(source.sum_sq, sum_sq, 0.5);
        assert_printed(source.percent_of_variation, percent, 0.005);
        assert_printed(source.mean_sq, mean_sq, 0.5);
    }
    let judged: Vec<(f64, f64)> =
        got.anova[..2].iter().map(|s| (s.f.unwrap(), s.p.unwrap())).collect();
    assert_printed(judged[0].0, 6.129, 0.0005);
    assert_printed(judged[0].1, 0.0243, 0.00005);
    assert_printed(judged[1].0, 17.92, 0.005);
    assert_printed(judged[1].1, 0.00047, 0.000_005);
    assert_printed(got.anova[0].f_quantiles[0].f, 3.1, 0.05);
    assert_printed(got.anova[1].f_quantiles[1].f, 3.8, 0.05);
}

#[test]
fn the_bonnie_study_has_these_effects() {
    let got = analyse(&bonnie(), &options(ModelChoice::Auto)).unwrap();
    assert_printed(got.error_deviation.unwrap(), 836.67, 0.005);
    assert_printed(got.grand_mean.estimate, 4071.73, 0.005);
    assert_printed(got.grand_mean.std_error.unwrap(), 216.03, 0.005);
    // Level, effect, standard deviation, interval at 90 % and at 95 %; t was rounded in the paper.
    let wanted = [
        ("ext2", 814.07, 305.51, (246.0, 1382.0), (110.0, 1519.0)),
        ("FAT16", 193.87, 305.51, (-374.0, 762.0), (-511.0, 898.0)),
        ("FAT32", -1007.93, 305.51, (-1576.0, -440.0), (-1712.0, -303.0)),
        ("output per char", -1469.07, 432.05, (-2273.0, -665.0), (-2465.0, -473.0)),
        ("output per block", 1925.27, 432.05, (1122.0, 2729.0), (929.0, 2922.0)),
        ("rewrite", -1434.40, 432.05, (-2238.0, -631.0), (-2431.0, -438.0)),
        ("input per char", -1551.07, 432.05, (-2355.0, -747.0), (-2547.0, -555.0)),
        ("input per block", 2529.27, 432.05, (1726.0, 3333.0), (1533.0, 3526.0)),
    ];
    assert_eq!(got.effects.len(), wanted.len());
    for (effect, (level, estimate, std_error, at_90, at_95)) in got.effects.iter().zip(wanted) {
        assert_eq!(effect.level, level);
        assert_printed(effect.estimate.estimate, estimate, 0.005);
        assert_printed(effect.estimate.std_error.unwrap(), std_error, 0.005);
        for (interval, (low, high)) in effect.estimate.intervals.iter().zip([at_90, at_95]) {
            assert_printed(interval.low, low, 1.0);
            assert_printed(interval.high, high, 1.0);
        }
        assert_printed(effect.mean, 4071.73 + estimate, 0.011);
    }
}

// The paper's section 3.3 prints 1322.89, which is s_e sqrt(5/2), as a standard deviation that by
// its own formula, s_e sqrt(2/5), is 529.15. The intervals there follow from this slip.
#[test]
fn the_bonnie_study_compared_file_systems_with_the_wrong_deviation() {
    let got = analyse(&bonnie(), &options(ModelChoice::Auto)).unwrap();
    let pairs = contrasts(&got, "filesystem", Adjustment::Holm).unwrap();
    let wanted = [
        ("ext2", "FAT16", 620.2, 0.275, 0.275),
        ("ext2", "FAT32", 1822.0, 0.0088, 0.0264),
        ("FAT16", "FAT32", 1201.8, 0.053, 0.106),
    ];
    for (pair, (first, second, difference, p, holm)) in pairs.iter().zip(wanted) {
        assert_eq!((pair.first.as_str(), pair.second.as_str()), (first, second));
        assert_printed(pair.difference, difference, 1e-9);
        assert_printed(pair.std_error, 529.15, 0.005);
        assert_printed(pair.p, p, 0.0005);
        assert_printed(pair.p_adjusted, holm, 0.0008);
    }
    assert_printed(pairs[1].p, 0.0088, 0.00005);
    assert_printed(pairs[1].intervals[1].low, 602.0, 0.5);
    assert_printed(pairs[1].intervals[1].high, 3042.0, 0.5);
}

// Jain, chapter 20: code sizes on three processors.
#[test]
fn jain_one_factor() {
    let table = one_way(&[
        &[144.0, 120.0, 176.0, 288.0, 144.0],
        &[101.0, 144.0, 211.0, 288.0, 72.0],
        &[130.0, 180.0, 141.0, 374.0, 302.0],
    ]);
    let got = analyse(&table, &options(ModelChoice::Additive)).unwrap();
    assert_eq!(got.design.to_string(), "one-factor full factorial with 5 replications");
    assert_printed(got.grand_mean.estimate, 187.7, 0.05);
    let effects: Vec<f64> = got.effects.iter().map(|e| e.estimate.estimate).collect();
    assert_printed(effects[0], -13.3, 0.05);
    assert_printed(effects[1], -24.5, 0.05);
    assert_printed(effects[2], 37.7, 0.05);
    assert_printed(got.anova[0].sum_sq, 10_992.13, 0.005);
    assert_printed(got.anova[1].sum_sq, 94_365.2, 0.05);
    assert_printed(got.error_deviation.unwrap(), 88.7, 0.05);
    assert_printed(got.grand_mean.std_error.unwrap(), 22.9, 0.05);
    assert_printed(got.effects[0].estimate.std_error.unwrap(), 32.4, 0.05);
    assert_printed(got.anova[0].f.unwrap(), 0.7, 0.05);
}

// Jain, sections 21.2 to 21.5: five workloads on three caches.
#[test]
fn jain_two_factors() {
    let table = two_way(&[
        &[&[54.0], &[55.0], &[106.0]],
        &[&[60.0], &[60.0], &[123.0]],
        &[&[43.0], &[43.0], &[120.0]],
        &[&[49.0], &[52.0], &[111.0]],
        &[&[49.0], &[50.0], &[108.0]],
    ]);
    let got = analyse(&table, &options(ModelChoice::Additive)).unwrap();
    assert_printed(got.grand_mean.estimate, 72.2, 0.05);
    let effects: Vec<f64> = got.effects.iter().map(|e| e.estimate.estimate).collect();
    let printed = [-0.5, 8.8, -3.5, -1.5, -3.2, -21.2, -20.2, 41.4];
    effects.iter().zip(printed).for_each(|(got, printed)| assert_printed(*got, printed, 0.05));
    assert_printed(got.anova[1].percent_of_variation, 95.9, 0.05);
    assert_printed(got.anova[0].percent_of_variation, 2.3, 0.05);
    assert_printed(got.anova[2].percent_of_variation, 1.8, 0.05);
    assert_printed(got.error_deviation.unwrap(), 5.4, 0.05);
}
