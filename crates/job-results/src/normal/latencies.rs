//! Latencies for people: one line of statistics, a table of percentiles.

use std::io::{self, Write};

use crate::job::Latencies;
use crate::numbers::{Quantity, decimal, scaled};
use crate::percentiles::PercentileList;
use crate::presentation::Kilobyte;
use crate::statistics::Moments;

/// What latencies are shown in.
#[derive(Clone, Copy)]
enum Scale {
    Nanoseconds,
    Microseconds,
    Milliseconds,
}

impl Scale {
    /// The largest that every latency is at least some of. `is_spread` says, for a number of
    /// nanoseconds, whether the latencies differ by as much.
    fn of(min_ns: u64, max_ns: u64, is_spread: impl Fn(f64) -> bool) -> Self {
        if min_ns > 2_000_000 && max_ns > 99_999_999 && is_spread(1e6) {
            Self::Milliseconds
        } else if min_ns > 2_000 && max_ns > 99_999 && is_spread(1e3) {
            Self::Microseconds
        } else {
            Self::Nanoseconds
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Nanoseconds => "nsec",
            Self::Microseconds => "usec",
            Self::Milliseconds => "msec",
        }
    }

    /// By how many thousands latencies are divided.
    fn thousands(self) -> u32 {
        match self {
            Self::Nanoseconds => 0,
            Self::Microseconds => 1,
            Self::Milliseconds => 2,
        }
    }

    fn ns(self) -> u64 {
        1000_u64.pow(self.thousands())
    }

    /// What latencies are multiplied by, where fractions remain: as fio is compiled, it does not
    /// divide them.
    fn factor(self) -> f64 {
        match self {
            Self::Nanoseconds => 1.0,
            Self::Microseconds => 1e-3,
            Self::Milliseconds => 1e-6,
        }
    }
}

/// Writes a line of statistics, if there are any.
pub(super) fn write_statistics(
    name: &str,
    moments: &Moments,
    out: &mut dyn Write,
) -> io::Result<()> {
    let Some(Moments { min, max, mean, .. }) = moments.known() else { return Ok(()) };
    let deviation = moments.deviation();
    let scale = Scale::of(*min, *max, |least_ns| deviation > least_ns);
    let count =
        |latency_ns: &u64| scaled(Quantity::Count(latency_ns / scale.ns()), 6, Kilobyte::Decimal);
    let number = |number_ns: f64| format!("{:>5}", decimal(number_ns * scale.factor(), 2));
    writeln!(
        out,
        "    {name} ({}): min={}, max={}, avg={}, stdev={}",
        scale.name(),
        count(min),
        count(max),
        number(*mean),
        number(deviation)
    )
}

/// Writes a table of percentiles.
pub(super) fn write_percentiles(
    name: &str,
    latencies: &Latencies,
    list: &PercentileList,
    out: &mut dyn Write,
) -> io::Result<()> {
    const LINE: usize = 80 - 7;
    let samples = latencies.statistics.moments.samples;
    let latencies_ns = latencies.histogram.percentiles(samples, list);
    let (Some(min), Some(max)) = (latencies_ns.iter().min(), latencies_ns.iter().max()) else {
        return Ok(());
    };
    let scale = Scale::of(*min, *max, |_| true);
    let latency_width = (max / scale.ns()).to_string().len().max(5);
    let decimals = list.decimals();
    let per_line = (LINE / (decimals + 10 + latency_width)).max(1);
    writeln!(out, "    {name} percentiles ({}):", scale.name())?;
    let cells: Vec<String> = list
        .percents()
        .iter()
        .zip(&latencies_ns)
        .map(|(percent, latency_ns)| {
            let latency =
                (0..scale.thousands()).fold(*latency_ns, |latency, _| latency.div_ceil(1000));
            let percent = format!("{:>1$}", decimal(*percent, decimals), decimals + 3);
            format!(" {percent}th=[{latency:>latency_width$}]")
        })
        .collect();
    let lines: Vec<String> = cells.chunks(per_line).map(|cells| cells.join(",")).collect();
    writeln!(out, "     |{}", lines.join(",\n     |"))
}
