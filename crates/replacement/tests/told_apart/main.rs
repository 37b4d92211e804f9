//! The fit tells simulated policies apart: the confusion matrix.
//!
//! The traces, their sizes, the capacity and the noise differ from seed to seed, and of these the
//! fit is only given the traces. The ignored test is the long version, whose tables are in
//! docs/replacement.md: `cargo test --release -p fsprism-replacement --test told_apart -- --ignored
//! --nocapture`.

mod confusion;
mod truth;

use confusion::Cases;
use replacement::Grouping;
use truth::Folios;

#[test]
fn policies_are_named_from_a_small_battery() {
    let cases = Cases {
        folios: Folios::Single,
        noise: 0.03,
        limit_pages: 128,
        seeds: 10,
        grouping: Grouping::Pages(1),
    };
    let confusion = cases.run();
    let table = confusion.table();
    assert!(confusion.right().iter().all(|&named| named >= 9), "{table}");
    assert!(confusion.misled().iter().all(|&misled| misled <= 1), "{table}");
}

#[test]
#[ignore = "takes minutes: the tables of docs/replacement.md"]
fn policies_are_named_in_95_of_100_cases() {
    let settings = [
        (Folios::Single, 0.01, 512),
        (Folios::Single, 0.05, 512),
        (Folios::Single, 0.10, 512),
        (Folios::Together(4), 0.03, 2048),
        (Folios::ReadAhead(4), 0.03, 512),
    ];
    for (folios, noise, limit_pages) in settings {
        let cases = Cases { folios, noise, limit_pages, seeds: 100, grouping: Grouping::Found };
        let confusion = cases.run();
        println!("{folios:?}, noise {noise}, limit {limit_pages} pages\n{}", confusion.table());
        let is_modelled = !matches!(folios, Folios::ReadAhead(_));
        assert!(!is_modelled || confusion.right().iter().all(|&named| named >= 95));
    }
}
