//! The plot of hand-made runs.

use record::{Dimension, Document};

use super::super::text::Page;
use super::render;
use crate::layout::Options;
use crate::sample::{Sample, around, noisy, swaying};

fn rendered(document: &Document, width: usize) -> String {
    let mut page = Page::new(&Options { width, colour: false });
    render(&mut page, document);
    page.finish()
}

/// The drawing, without the text that explains it.
fn plot(document: &Document, width: usize) -> String {
    let text = rendered(document, width);
    text.split_once("\n\n").map(|(_, plot)| plot.to_owned()).unwrap_or_default()
}

/// Three targets, one of which (tmpfs) has no device to read from.
fn three() -> Sample {
    let mut sample = Sample::new(&["tmpfs", "ext4", "xfs"])
        .benchmark("create", &[&around(100.0, 12), &swaying(400.0, 12), &swaying(200.0, 12)])
        .not_on(&["tmpfs"])
        .benchmark("read", &[&[], &noisy(105.0, 0.4, 3, 12), &noisy(100.0, 0.4, 9, 12)]);
    sample.change("read", |cell| cell.dimension = Dimension::Io);
    sample
}

#[test]
fn a_line_per_target_relative_to_the_cheapest_of_each_dimension() {
    let expected = "            1x                     2x                      4x
  I/O (1 benchmark; without tmpfs)
    xfs     o
    ext4   |----?-----|                                       1.1x [1.0, 1.3]
  Metadata (1 benchmark)
    tmpfs   o
    xfs     :                      o                          2.00x [1.97, 2.02]
    ext4    :                                              o  3.99x [3.95, 4.04]
";
    assert_eq!(plot(&three().document(), 80), expected);
}

#[test]
fn what_is_drawn_is_explained_and_nothing_is_added_up() {
    let document = three().document();
    let text = rendered(&document, 400).replace("\n      ", " ");
    assert!(text.contains("and ? an o that cannot be told apart from 1x"), "{text}");
    assert!(text.contains("Dimensions are not added up"), "{text}");
    // Each target has a line in each dimension in which it has costs, and no others.
    let lines =
        |label: &str| text.lines().filter(|line| line.trim_start().starts_with(label)).count();
    assert_eq!((lines("xfs"), lines("tmpfs")), (2, 1));
}

#[test]
fn a_dimension_without_costs_is_named() {
    let mut sample = Sample::new(&["a", "b"])
        .benchmark("one", &[&around(100.0, 8), &around(300.0, 8)])
        .benchmark("two", &[&around(50.0, 8), &around(200.0, 8)])
        .baseline("two", "one");
    sample.change("two", |cell| cell.dimension = Dimension::Scaling);
    let text = rendered(&sample.document(), 80);
    assert!(text.contains("Scaling has no costs to compare"), "{text}");
    assert!(!text.contains("added up") && !text.contains('?'), "one dimension, one truth: {text}");
}

#[test]
fn few_blocks_or_one_target_have_no_plot() {
    let values = around(100.0, 12);
    let few = Sample::new(&["a", "b"]).benchmark("create", &[&values[..5], &values[..5]]);
    assert_eq!(rendered(&few.document(), 80), "");
    let alone = Sample::new(&["a"]).benchmark("create", &[&values]);
    assert_eq!(rendered(&alone.document(), 80), "");
}

#[test]
fn a_pair_with_fewer_benchmarks_or_blocks_in_common_says_so() {
    let values = around(100.0, 12);
    let sample = Sample::new(&["a", "b", "c"])
        .benchmark("create", &[&values, &around(200.0, 12), &around(300.0, 5)])
        .not_on(&["b", "c"])
        .benchmark("read", &[&values])
        .not_on(&["c"])
        .benchmark("write", &[&around(100.0, 12), &around(200.0, 12)]);
    let text = plot(&sample.document(), 80);
    assert!(text.contains("Metadata (2 benchmarks)"), "{text}");
    assert!(text.contains("  c  5 common blocks are too few to compare\n"), "{text}");
    let sample = Sample::new(&["a", "b", "c"])
        .benchmark("create", &[&values, &around(200.0, 12), &around(300.0, 12)])
        .not_on(&["c"])
        .benchmark("write", &[&values, &around(200.0, 12)]);
    let text = plot(&sample.document(), 80);
    assert!(text.contains(" 3.00x [3.00, 3.00] (1 of 2)\n"), "{text}");
    let explained = "(1 of 2) if they";
    assert!(rendered(&sample.document(), 120).contains(explained), "{text}");
    assert!(!rendered(&three().document(), 120).contains(" of 2"));
}

#[test]
fn each_of_three_may_be_cheaper_than_the_next() {
    // a is cheaper than b by 2, b than c by 2, c than a by 3, each on a separate benchmark.
    let (one, two, three) = (around(100.0, 8), around(200.0, 8), around(300.0, 8));
    let sample = Sample::new(&["a", "b", "c"])
        .not_on(&["c"])
        .benchmark("ab", &[&one, &two])
        .not_on(&["a"])
        .benchmark("bc", &[&[], &one, &two])
        .not_on(&["b"])
        .benchmark("ca", &[&three, &[], &one]);
    let text = plot(&sample.document(), 80);
    let rows: Vec<&str> = text.lines().skip(2).collect();
    assert!(rows[0].starts_with("    c  ") && !rows[0].contains('['), "{text}");
    assert!(
        rows[1].starts_with("    b  o") && rows[1].ends_with("0.500x [0.500, 0.500]"),
        "{text}"
    );
    assert!(rows[2].starts_with("    a  ") && rows[2].ends_with("3.00x [3.00, 3.00]"), "{text}");
}

#[test]
fn narrow_pages_keep_the_axis_and_shorten_the_figures() {
    let document = three().document();
    assert!(plot(&document, 60).contains('['));
    assert!(!plot(&document, 48).contains('[') && plot(&document, 48).contains("3.99x\n"));
    assert!(!plot(&document, 40).contains("3.99x"));
}
