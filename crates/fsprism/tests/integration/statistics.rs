//! `fsprism stats`, `reproduce` and `compare`: what they print, and what they refuse.

use std::fs;

use serde_json::Value;

use crate::place::Place;

/// The rates of three file systems under five workloads (Rondinelli, section 3.1).
const RATES: &str = "\
file_system,action,kb_per_s
ext2,output per char,2876
FAT16,output per char,2607
FAT32,output per char,2325
ext2,output per block,8002
FAT16,output per block,6208
FAT32,output per block,3781
ext2,rewrite,3321
FAT16,rewrite,2812
FAT32,rewrite,1779
ext2,input per char,2629
FAT16,input per char,2529
FAT32,input per char,2404
ext2,input per block,7601
FAT16,input per block,7172
FAT32,input per block,5030
";

const ANOVA: &str = "stats anova rates.csv --response kb_per_s --factors file_system,action";

fn place_with(name: &str, text: &str) -> Place {
    let place = Place::new();
    fs::write(place.path(name), text).expect("the place is ours");
    place
}

fn document(place: &Place, arguments: &str) -> Value {
    let outcome = place.finish(place.fsprism(&format!("{arguments} --format json")));
    outcome.assert_code(0).document()
}

#[track_caller]
fn assert_near(value: &Value, wanted: f64, tolerance: f64) {
    let number = value.as_f64().unwrap_or_else(|| panic!("{value} is no number"));
    assert!((number - wanted).abs() <= tolerance, "{number} is not {wanted}");
}

#[test]
fn columns_that_are_not_named_are_listed() {
    let place = place_with("rates.csv", RATES);
    for arguments in ["", "--response kb_per_s", "--factors file_system,action"] {
        let outcome = place.finish(place.fsprism(&format!("stats anova rates.csv {arguments}")));
        let said = [
            "rates.csv has the columns file_system, action and kb_per_s",
            "--response kb_per_s --factors file_system,action",
        ];
        outcome.assert_refused(&said);
    }
}

#[test]
fn groups_have_intervals_of_their_own() {
    let place = place_with("rates.csv", RATES);
    let of = "stats interval rates.csv --column kb_per_s";
    let found = document(&place, &format!("{of} --by file_system"));
    assert_eq!(found["by"], "file_system");
    let groups = found["groups"].as_array().expect("a list");
    let named: Vec<&Value> = groups.iter().map(|group| &group["level"]).collect();
    assert_eq!(named, ["ext2", "FAT16", "FAT32"]);
    assert_eq!((&groups[0]["n"], &groups[0]["median"]), (&5.into(), &3321.0.into()));
    let outcome = place.finish(place.fsprism(&format!("{of} --by file_system")));
    assert!(outcome.assert_code(0).stdout.contains("file_system FAT16: "), "{}", outcome.stdout);
    place.finish(place.fsprism(&format!("{of} --by host"))).assert_refused(&["host", "action"]);
}

#[test]
fn tables_say_that_they_have_no_room() {
    let place = place_with("rates.csv", RATES);
    let at = |columns: &str| {
        let mut command = place.fsprism(ANOVA);
        command.env("COLUMNS", columns);
        place.finish(command).assert_code(0).stdout.clone()
    };
    let said = "some columns are left out";
    assert!(!at("120").contains(said), "{}", at("120"));
    assert!(at("50").contains(said), "{}", at("50"));
}

#[test]
fn squares_that_vanish_are_refused_as_those_that_overflow() {
    for size in ["e-170", "e170"] {
        let values: String = (10..30).map(|number| format!("{number}{size}\n")).collect();
        let place = place_with("values.csv", &format!("v\n{values}"));
        for analysis in ["interval", "changepoint"] {
            let outcome = place.finish(place.fsprism(&format!("stats {analysis} values.csv")));
            outcome.assert_refused(&["values.csv", "out of range: use another unit"]);
        }
    }
}

#[test]
fn an_analysis_of_variance_is_that_of_the_book() {
    let place = place_with("rates.csv", RATES);
    let found = document(&place, ANOVA);
    assert_eq!(found["design"], "two-factor full factorial without replications");
    assert_near(&found["grand_mean"]["estimate"], 4071.73, 0.005);
    assert_near(&found["anova"][0]["f"], 6.129, 0.0005);
    assert_near(&found["anova"][0]["p"], 0.0243, 0.00005);
    assert_near(&found["anova"][1]["p"], 0.00047, 0.000_005);
    let contrast = found["contrasts"]
        .as_array()
        .expect("a list")
        .iter()
        .find(|one| one["first"] == "ext2" && one["second"] == "FAT32");
    let contrast = contrast.expect("all pairs are compared");
    assert_near(&contrast["difference"], 1822.0, 1e-6);
    assert_near(&contrast["std_error"], 529.15, 0.005);
    assert_near(&contrast["p"], 0.0088, 0.00005);
    assert_near(&contrast["intervals"][1]["low"], 602.0, 0.5);
    let effects = found["effects"].as_array().expect("a list");
    assert_eq!(effects.len(), 8);
    assert_eq!(
        (&effects[0]["factor"], &effects[0]["level"]),
        (&"file_system".into(), &"ext2".into())
    );
    assert_near(&effects[0]["estimate"], 814.07, 0.005);

    let text = place.finish(place.fsprism(ANOVA));
    for words in ["mean square", "17.92", "ext2 - FAT32", "file_system matters"] {
        assert!(text.assert_code(0).stdout.contains(words), "no {words} in {}", text.stdout);
    }
    assert!(text.stdout.lines().all(|line| line.chars().count() <= 120), "{}", text.stdout);
}

#[test]
fn wide_tables_say_the_same_as_long_ones() {
    let place = place_with("rates.csv", RATES);
    let wide = "action,ext2,FAT16,FAT32\nrewrite,3321,2812,1779\ninput per char,2629,2529,2404\n";
    fs::write(place.path("wide.csv"), wide).expect("the place is ours");
    let found = document(&place, "stats anova wide.csv --wide --factors action,file_system");
    assert_eq!(found["anova"][1]["source"], "file_system");
    assert_near(&found["grand_mean"]["estimate"], 2579.0, 1e-9);
}

#[test]
fn wrong_tables_are_refused_with_their_place() {
    let place = place_with("rates.csv", RATES);
    let changed = |from: &str, to: &str| {
        fs::write(place.path("changed.csv"), RATES.replacen(from, to, 1)).expect("it is ours");
        place.finish(place.fsprism(&ANOVA.replace("rates.csv", "changed.csv")))
    };
    changed("3321", "fast").assert_refused(&["changed.csv, line 8", "kb_per_s", "fast"]);
    changed("3321", "NaN").assert_refused(&["line 8", "kb_per_s", "NaN"]);
    let missing = changed("ext2,rewrite,3321\n", "").assert_code(0).stdout.clone();
    assert!(missing.contains("14 of 15 combinations observed"), "{missing}");
    changed("3321", "-3321").assert_code(0);
    let multiplicative = format!("{ANOVA} --model multiplicative").replace("rates", "changed");
    place.finish(place.fsprism(&multiplicative)).assert_refused(&["-3321", "above 0"]);
    let missing = ANOVA.replace("kb_per_s", "speed");
    place
        .finish(place.fsprism(&missing))
        .assert_refused(&["no column speed", "file_system, action, kb_per_s"]);
    let one_level = ANOVA.replace("file_system,action", "kind").replace("rates", "one");
    fs::write(place.path("one.csv"), "kind,kb_per_s\na,1\na,2\na,3\n").expect("it is ours");
    place.finish(place.fsprism(&one_level)).assert_refused(&["kind", "two levels"]);
    fs::write(place.path("one.csv"), "kind,kb_per_s\na,5\na,5\nb,5\nb,5\n").expect("it is ours");
    place.finish(place.fsprism(&one_level)).assert_refused(&["nothing to explain"]);
    place.finish(place.fsprism("stats interval none")).assert_refused(&["cannot read none"]);
}

#[test]
fn a_series_has_intervals_where_it_is_long_enough() {
    let numbers: Vec<String> = (1..=40).map(|value| format!("{}", value * 7 % 41)).collect();
    let place = place_with("numbers", &(numbers.join("\n") + "\n"));
    let found = document(&place, "stats interval numbers --quantiles 0.5,0.99");
    assert_eq!(found["n"], 40);
    assert_near(&found["mean"], 20.5, 1e-9);
    assert_near(&found["median"], 20.5, 1e-9);
    assert!(found["quantiles"][0]["interval"]["low"].is_number());
    assert!(found["quantiles"][1]["interval"].is_null());
    let why = found["quantiles"][1]["refused"].as_str().expect("a reason");
    assert!(why.contains("299"), "{why}");
    let text = place.finish(place.fsprism("stats interval numbers"));
    assert!(text.assert_code(0).stdout.contains("median"), "{}", text.stdout);
}

#[test]
fn changes_and_steadiness_of_a_series_are_found() {
    let noise = [0.1, -0.2, 0.15, 0.0, -0.1, 0.2, -0.05];
    let level = |index: usize| if index < 30 { 20.0 } else { 10.0 };
    let value = |index: usize| format!("{}", level(index) + noise[index % noise.len()]);
    let numbers: Vec<String> = (0..120).map(value).collect();
    let place = place_with("numbers", &numbers.join("\n"));
    let found = document(&place, "stats changepoint numbers");
    assert_eq!(found["changepoints"], serde_json::json!([30]));
    assert_eq!(found["changes"][0]["interval"], serde_json::json!([30, 30]));
    assert_eq!(found["changes"][0]["p"], 0.005);
    assert_eq!(found["class"], "settles");
    assert_eq!(document(&place, "stats changepoint numbers --better lower")["class"], "warm-up");
    assert_eq!(
        (&found["segments"][1]["start"], &found["segments"][1]["end"]),
        (&30.into(), &120.into())
    );
    assert_eq!(document(&place, "stats changepoint numbers --better higher")["class"], "slow-down");
    let steady = document(&place, "stats steady-state numbers");
    assert_eq!((&steady["steady"], &steady["from"]), (&true.into(), &0.into()));
    for command in ["changepoint", "steady-state"] {
        let text = place.finish(place.fsprism(&format!("stats {command} numbers")));
        assert!(text.assert_code(0).stdout.contains("steady"), "{}", text.stdout);
    }
    fs::write(place.path("few"), "1\n2\n").expect("the place is ours");
    place.finish(place.fsprism("stats steady-state few")).assert_refused(&["few", "5", "2"]);
}

#[test]
fn scalability_is_fitted_and_its_peak_told() {
    let (gamma, alpha, beta) = (100.0, 0.05, 0.002);
    let throughput = |n: f64| gamma * n / (1.0 + alpha * (n - 1.0) + beta * n * (n - 1.0));
    let rows = [1.0, 2.0, 4.0, 8.0, 12.0, 16.0, 24.0, 32.0, 48.0];
    let sway = [1.001, 0.999, 1.002, 0.998, 1.0];
    let row = |(index, n): (usize, &f64)| format!("{n},{}\n", throughput(*n) * sway[index % 5]);
    let table: String = rows.iter().enumerate().map(row).collect();
    let place = place_with("table.csv", &format!("n,x\n{table}"));
    let found = document(&place, "stats scalability table.csv");
    assert_eq!(found["model"], "usl");
    assert_near(&found["gamma"], gamma, 1.0);
    assert_near(&found["alpha"], alpha, 0.005);
    assert_near(&found["beta"], beta, 0.0002);
    assert_near(&found["peak_n"], (0.95f64 / 0.002).sqrt(), 1.5);
    assert!(found["std_errors"]["beta"].is_number() && found["residual_std_error"].is_number());
    let text = place.finish(place.fsprism("stats scalability table.csv"));
    assert!(text.assert_code(0).stdout.contains("peaks at"), "{}", text.stdout);
    assert_eq!(found["fit"], "proportional");
    assert!(found["other_fit"].is_null(), "both say the same: {found}");
    // SPEC SDM91 as in Gunther's book and in R's package usl, which assume errors of equal size.
    let table = "n,x\n1,64.9\n18,995.9\n36,1652.4\n72,1853.2\n108,1828.9\n144,1775\n216,1702.2\n";
    fs::write(place.path("sdm91.csv"), table).expect("the place is ours");
    let found = document(&place, "stats scalability sdm91.csv --fit absolute");
    assert_eq!(found["fit"], "absolute");
    assert_near(&found["alpha"], 0.0277, 0.0001);
    assert_near(&found["peak_n"], 96.5, 0.1);
    let text = place.finish(place.fsprism("stats scalability sdm91.csv"));
    let words = text.assert_code(0).stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        words.contains("if they are equally large at every n (--fit absolute), gamma is"),
        "{words}"
    );
    // Throughput that falls from the start has no peak.
    let table = "n,x\n1,100\n2,60\n4,33\n8,17\n16,8.5\n32,4.2\n";
    fs::write(place.path("falling.csv"), table).expect("the place is ours");
    let found = document(&place, "stats scalability falling.csv");
    assert!(found["peak_n"].is_null(), "{found}");
    fs::write(place.path("few.csv"), "n,x\n1,10\n1,11\n").expect("the place is ours");
    place.finish(place.fsprism("stats scalability few.csv")).assert_refused(&["few.csv"]);
}

#[test]
fn the_paper_comes_out_but_for_its_slip() {
    let place = Place::new();
    let found = document(&place, "reproduce bonnie-anova/section-3");
    let tables = found["tables"].as_array().expect("a list");
    assert_eq!(tables.len(), 6);
    let different = |table: &Value| {
        let items = table["items"].as_array().expect("a list").iter();
        items.filter(|item| item["agreement"] == "different").count()
    };
    let counts: Vec<usize> = tables.iter().map(different).collect();
    // A misprint; the standard deviations of three differences, and both ends of nine intervals.
    assert_eq!(counts, [1, 0, 0, 0, 0, 3 + 18]);
    let text = place.finish(place.fsprism("reproduce bonnie-anova/section-3"));
    for words in ["sqrt(5/2)", "529.15", "2407", "ext2 - FAT32 = 1822 (602, 3042)", "published"] {
        assert!(text.assert_code(0).stdout.contains(words), "no {words} in {}", text.stdout);
    }
    let none = place.finish(place.fsprism("reproduce paper"));
    none.assert_refused(&["no paper paper", "bonnie-anova"]);
    let measured = place.finish(place.fsprism("reproduce bonnie-anova/section-3 --blocks 3"));
    measured.assert_refused(&["leave out --blocks", "name bonnie-anova to measure"]);
    let misspelt = place.finish(place.fsprism("reproduce bonie-anova"));
    misspelt.assert_refused(&["did you mean `bonnie-anova`?", "choose from bonnie-anova"]);
}

#[test]
fn targets_and_runs_are_compared() {
    let Some(place) = Place::as_root("targets_and_runs_are_compared") else { return };
    for (name, seed) in [("before", 1), ("after", 2)] {
        let outcome = place.run(&format!(
            "run survey/in-memory a=tmpfs:size=64m b=tmpfs:size=64m --size 1m --blocks 7 \
             --budget 1s --seed {seed} --out {name}"
        ));
        outcome.assert_code(0);
    }
    let within = document(&place, "compare before");
    let comparisons = within["comparisons"].as_array().expect("a list");
    assert!(!comparisons.is_empty());
    assert!(comparisons.iter().all(|one| one["paired"] == true && one["first_values"] == 7));
    // On a busy machine, blocks can depend on each other so much that 7 are too few.
    let is_judged = |one: &&Value| one["verdict"] != "not-enough-data";
    assert!(comparisons.iter().all(|one| one["verdict"].is_string()));
    assert!(comparisons.iter().filter(is_judged).all(|one| one["ratio"].is_number()));
    assert_eq!(within["analysis"]["anova"][0]["source"], "target");
    let between = document(&place, "compare before after --factors run,benchmark --margin 5%");
    let comparisons = between["comparisons"].as_array().expect("a list");
    assert!(comparisons.iter().all(|one| one["paired"] == false && one["first_run"] == "before"));
    assert_eq!(between["analysis"]["anova"][0]["source"], "run");
    for arguments in ["compare before", "compare before after"] {
        let text = place.finish(place.fsprism(arguments));
        assert!(text.assert_code(0).stdout.contains("confidence"), "{}", text.stdout);
    }
    place
        .finish(place.fsprism("compare before --factors colour"))
        .assert_refused(&["unknown factor colour", "run, target, benchmark, dimension"]);
    place.finish(place.fsprism("compare nothing")).assert_refused(&["not a run directory"]);
}
