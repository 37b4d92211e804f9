//! Calibration on made-up references, and once on the real clocks.

use super::*;
use crate::manual::ManualClock;

/// Nine references of a counter at `frequency_hz`, each read within 20 ns.
fn references_at(frequency_hz: f64) -> Vec<Reference> {
    let clock = TscClock::converting_at(frequency_hz).unwrap();
    let reference = |number: u64| Reference {
        ticks: 77_000_000_000 + clock.ticks_of(number * SPACING_NS),
        raw_ns: 5_000_000_000 + number * SPACING_NS,
        uncertainty_ns: 10,
    };
    (0..REFERENCES).map(reference).collect()
}

#[test]
fn an_undisturbed_fit_finds_the_frequency_and_claims_the_enclosure() {
    for frequency_hz in [1.0e9, 2.596_13e9, 4.7e9] {
        let (found_hz, error_ppm) = fit(&references_at(frequency_hz));
        assert!((found_hz / frequency_hz - 1.0).abs() < 0.2e-6, "{found_hz} Hz");
        // Two references uncertain by 10 ns, 16 ms apart.
        assert!((error_ppm - 1.25).abs() < 1e-9, "{error_ppm} ppm");
    }
}

#[test]
fn one_wild_reference_moves_neither_frequency_nor_error() {
    for wild in 0..references_at(1e9).len() {
        for ticks_off in [-3_000_000, 3_000_000] {
            let mut references = references_at(2.5e9);
            references[wild].ticks = references[wild].ticks.saturating_add_signed(ticks_off);
            references[wild].uncertainty_ns = 2_000_000;
            let (found_hz, error_ppm) = fit(&references);
            assert!((found_hz / 2.5e9 - 1.0).abs() < 0.2e-6, "{wild}: {found_hz} Hz");
            assert!(error_ppm < 2.0, "{wild}: {error_ppm} ppm");
        }
    }
}

#[test]
fn a_rate_that_changes_is_seen_as_error() {
    let mut references = references_at(2.5e9);
    for (number, reference) in (0_u64..).zip(&mut references) {
        reference.ticks += 1000 * number * number;
    }
    assert!(fit(&references).1 > ERROR_PPM_MAX);
}

#[test]
fn too_few_references_give_no_frequency() {
    let references = references_at(1e9);
    for few in [&references[..0], &references[..1], &[references[0]; 9][..]] {
        assert_eq!(fit(few), (0.0, f64::INFINITY));
    }
}

#[test]
fn drift_is_signed_and_relative() {
    let clock = ManualClock::new();
    let since = Reference { ticks: 1000, raw_ns: 500, uncertainty_ns: 0 };
    let later = |ticks: u64, raw_ns: u64| {
        let now = Reference { ticks, raw_ns, uncertainty_ns: 0 };
        drift_between_ppm(&clock, &since, &now)
    };
    assert!((later(1000 + 1_000_030, 500 + 1_000_000) - 30.0).abs() < 1e-9);
    assert!((later(1000 + 999_970, 500 + 1_000_000) + 30.0).abs() < 1e-9);
    assert!(later(2000, 500).abs() < f64::EPSILON, "no time has gone by");
}

#[test]
fn the_kernel_decides_which_counter_is_trusted() {
    let trusted = |current, available| kernel_trust(current, available).is_ok();
    assert!(trusted("tsc\n", "tsc kvm-clock \n"));
    assert!(trusted("kvm-clock\n", "kvm-clock tsc acpi_pm\n"));
    assert!(trusted("hyperv_clocksource_tsc_page\n", "hyperv_clocksource_tsc_page tsc\n"));
    assert!(!trusted("kvm-clock\n", "kvm-clock acpi_pm\n"), "the kernel took tsc off the list");
    assert!(!trusted("kvm-clock\n", "kvm-clock tsc-early\n"), "a name that only begins so");
    assert!(!trusted("hpet\n", "hpet tsc\n"), "another clock was preferred to a usable tsc");
    assert!(!trusted("", ""));
    let refused = kernel_trust("acpi_pm\n", "acpi_pm\n").unwrap_err();
    assert_eq!(refused, WhyNotTsc::KernelDistrusts { current: "acpi_pm".to_owned() });
}

#[test]
fn cost_and_precision_come_from_readings() {
    assert!((precision_ns(&ManualClock::with_step(7)) - 7.0).abs() < 1e-9);
    assert!(precision_ns(&ManualClock::new()).abs() < 1e-9, "a clock that stands still");
    assert!(cost_ns(&MonotonicClock) > 0.0);
}

#[test]
fn this_machine_gets_a_clock_and_a_truthful_report() {
    let (clock, report) = SystemClock::calibrate();
    eprintln!("{}: {report:?}", report.source);
    match clock {
        SystemClock::Tsc(tsc) => {
            assert_eq!(report.source, ClockSource::Tsc);
            assert!((tsc.frequency_hz() / report.frequency_hz - 1.0).abs() < 1e-9);
            assert!(report.calibration_error_ppm <= ERROR_PPM_MAX);
        }
        SystemClock::Monotonic(_) => assert_ne!(report.source, ClockSource::Tsc),
    }
    assert!(report.cost_ns > 0.0 && report.precision_ns > 0.0);
    let since = clock.reference();
    let begin_ns = kernel_nanos(ClockId::MonotonicRaw);
    while kernel_nanos(ClockId::MonotonicRaw) < begin_ns + SPACING_NS {}
    let now = clock.reference();
    let drift_ppm = clock.drift_ppm(&since);
    // The uncertainty of the two references and of the calibration; doubled below.
    let uncertainty_ns = since.uncertainty_ns + now.uncertainty_ns;
    let open_ppm = uncertainty_ns as f64 / SPACING_NS as f64 * 1e6 + report.calibration_error_ppm;
    assert!(drift_ppm.abs() <= 2.0 * open_ppm + 100.0, "{drift_ppm} ppm of {open_ppm}");
}

#[test]
fn a_monotonic_clock_says_why() {
    let (clock, report) = monotonic(WhyNotTsc::NotInvariant);
    assert_eq!(clock, SystemClock::Monotonic(MonotonicClock));
    assert_eq!(report.source, ClockSource::Monotonic { why_not_tsc: WhyNotTsc::NotInvariant });
    assert!((report.frequency_hz - 1e9).abs() < f64::EPSILON);
    assert!(report.precision_ns >= 1.0 && report.cost_ns > 0.0);
}

#[test]
fn every_reason_is_a_phrase() {
    let reasons = [
        (WhyNotTsc::Architecture, "this architecture has no TSC"),
        (WhyNotTsc::NotInvariant, "the processor's TSC is not invariant"),
        (WhyNotTsc::NoRdtscp, "the processor has no rdtscp instruction"),
        (
            WhyNotTsc::KernelSilent,
            "the kernel's clock source cannot be read from /sys/devices/system",
        ),
        (
            WhyNotTsc::KernelDistrusts { current: "hpet".to_owned() },
            "the kernel's clock source is hpet, not tsc",
        ),
        (
            WhyNotTsc::Slow { tsc_ns: 1200.4, monotonic_ns: 80.0 },
            "reading the TSC costs 1200 ns, the kernel's clock 80 ns",
        ),
        (WhyNotTsc::Unsteady { error_ppm: 512.3 }, "the TSC's frequency is known only to 512 ppm"),
    ];
    for (why_not_tsc, phrase) in reasons {
        assert_eq!(why_not_tsc.to_string(), phrase);
        let source = ClockSource::Monotonic { why_not_tsc };
        assert_eq!(source.to_string(), format!("CLOCK_MONOTONIC ({phrase})"));
    }
    assert_eq!(ClockSource::Tsc.to_string(), "invariant TSC");
}
