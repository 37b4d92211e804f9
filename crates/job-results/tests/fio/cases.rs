//! The jobs that are compared.

use job_results::{BandwidthUnit, Kilobyte, PercentileList, Presentation, TerseVersion, Unified};

/// Options of fio, and what of them the outputs do not show.
pub(crate) struct Case {
    /// The case's name, and its fixture's.
    pub(crate) name: &'static str,
    /// The arguments, without files and formats.
    pub(crate) arguments: &'static str,
    /// How its results are shown.
    pub(crate) present: fn(&mut Presentation),
    /// Which terse version it is printed in.
    pub(crate) terse: TerseVersion,
    /// Where its outputs are from.
    pub(crate) source: Source,
}

/// Where outputs are from.
#[derive(PartialEq, Eq)]
pub(crate) enum Source {
    /// The installed fio.
    Live,
    /// A fixture, and the installed fio.
    Both,
    /// A fixture: what is executed takes a port of this machine.
    Fixture,
}

impl Case {
    const fn recorded(self) -> Self {
        Self { source: Source::Both, ..self }
    }

    const fn terse(self, version: TerseVersion) -> Self {
        Self { terse: version, ..self }
    }

    /// Whether it has a fixture.
    pub(crate) fn is_recorded(&self) -> bool {
        self.source != Source::Live
    }
}

const fn case(name: &'static str, arguments: &'static str, present: fn(&mut Presentation)) -> Case {
    Case { name, arguments, present, terse: TerseVersion::V3, source: Source::Live }
}

fn plain(_: &mut Presentation) {}

fn unified(presentation: &mut Presentation) {
    presentation.unified = Unified::Mixed;
}

fn both(presentation: &mut Presentation) {
    presentation.unified = Unified::Both;
}

fn all_percentiles(presentation: &mut Presentation) {
    let choice = &mut presentation.percentiles;
    (choice.submission, choice.completion, choice.total) = (true, true, true);
    choice.list = PercentileList::new(&[99.9, 50.0, 0.125, 100.0], 3);
}

fn no_percentiles(presentation: &mut Presentation) {
    presentation.percentiles.completion = false;
}

fn total_percentiles(presentation: &mut Presentation) {
    presentation.percentiles.total = true;
}

fn bits(presentation: &mut Presentation) {
    presentation.numbers.bandwidth = BandwidthUnit::Bits;
}

fn decimal(presentation: &mut Presentation) {
    presentation.numbers.kilobyte = Kilobyte::Decimal;
}

fn decimal_bits(presentation: &mut Presentation) {
    let numbers = &mut presentation.numbers;
    numbers.kilobyte = Kilobyte::Decimal;
    numbers.bandwidth = BandwidthUnit::Bits;
    numbers.significant_figures = 6;
}

pub(crate) static CASES: [Case; 27] = [
    case("read", "--name=read --rw=read --bs=16k --size=4m", plain).recorded(),
    case(
        "mixed-sampled",
        "--name=mixed --rw=randrw --bs=4k-64k --size=16m --time_based --runtime=2 \
         --thinktime=2ms --bwavgtime=200 --iopsavgtime=200 --description=some_text",
        plain,
    )
    .recorded()
    .terse(TerseVersion::V5),
    case(
        "group",
        "--name=pair --rw=randread --size=2m --bs=4k --numjobs=2 --group_reporting",
        plain,
    )
    .recorded()
    .terse(TerseVersion::V4),
    case(
        "two-jobs",
        "--name=a --rw=read --size=1m --name=b --rw=write --size=1m --stonewall",
        plain,
    ),
    case("clones", "--name=a --rw=write --size=1m --numjobs=3 --thread", plain),
    case(
        "unified",
        "--name=one --rw=randrw --size=2m --bs=8k --unified_rw_reporting=mixed",
        unified,
    )
    .recorded(),
    case(
        "unified-both",
        "--name=both --rw=randrw --size=8m --time_based --runtime=1 --bwavgtime=100 \
         --iopsavgtime=100 --thinktime=1ms --unified_rw_reporting=both",
        both,
    )
    .recorded()
    .terse(TerseVersion::V5),
    case(
        "fsync",
        "--name=sync --rw=randwrite --size=1m --bs=16k --fsync=4 --description=of_fsync",
        plain,
    )
    .recorded()
    .terse(TerseVersion::V2),
    case(
        "queue",
        "--name=queue --rw=randread --size=4m --bs=4k --ioengine=libaio --iodepth=16 --direct=1",
        plain,
    )
    .recorded(),
    case(
        "batches",
        "--name=queue --rw=randwrite --size=4m --bs=4k --ioengine=libaio --iodepth=70 \
         --iodepth_batch=9 --iodepth_batch_complete_min=3",
        plain,
    ),
    case("no-lat", "--name=quiet --rw=write --size=1m --disable_lat=1", plain),
    case("no-clat", "--name=quiet --rw=read --size=1m --disable_clat=1", no_percentiles),
    case("reduced", "--name=quiet --rw=read --size=1m --gtod_reduce=1", no_percentiles),
    case(
        "lat-percentiles",
        "--name=total --rw=read --size=1m --lat_percentiles=1",
        total_percentiles,
    ),
    case(
        "all-percentiles",
        "--name=all --rw=randread --size=1m --lat_percentiles=1 --clat_percentiles=1 \
         --slat_percentiles=1 --ioengine=libaio --percentile_list=99.9:50:0.125:100",
        all_percentiles,
    )
    .recorded(),
    case(
        "latency-target",
        "--name=target --rw=randread --size=8m --bs=4k --ioengine=libaio --iodepth=32 \
         --time_based --runtime=1 --latency_target=5ms --latency_window=100ms \
         --latency_percentile=95",
        plain,
    ),
    case(
        "steady-state",
        "--name=steady --rw=read --size=8m --bs=4k --time_based --runtime=6 --thinktime=5ms \
         --ss=iops:80% --ss_dur=3",
        plain,
    )
    .recorded(),
    case(
        "steady-slope",
        "--name=steady --rw=read --size=8m --bs=4k --time_based --runtime=3 --thinktime=5ms \
         --ss=bw_slope:0.00001% --ss_dur=2",
        plain,
    ),
    case(
        "units",
        "--name=units --rw=write --size=3m --bs=3k --kb_base=1000 --unit_base=1 \
         --significant_figures=6",
        decimal_bits,
    )
    .recorded(),
    case(
        "errors",
        "--name=full --rw=write --size=1m --bs=4k --filename=/dev/full --continue_on_error=all",
        plain,
    )
    .recorded(),
    case("trim", "--name=trim --rw=trimwrite --size=1m --bs=4k --ioengine=null", plain),
    case("failed", "--name=late --rw=read --size=1m --max_latency=1us", plain).recorded(),
    case("nothing-done", "--name=full --rw=write --size=1m --filename=/dev/full", plain),
    case(
        "priorities",
        "--name=two --rw=randrw --size=1m --bs=4k --ioengine=libaio --direct=1 \
         --cmdprio_percentage=50 --cmdprio_class=1 --cmdprio=3 --slat_percentiles=1",
        |presentation| presentation.percentiles.submission = true,
    )
    .recorded(),
    case(
        "group-priorities",
        "--name=best --rw=read --size=1m --prioclass=2 --prio=3 --group_reporting \
         --lat_percentiles=1 --name=real --rw=read --size=1m --prioclass=1 --prio=1 \
         --group_reporting --lat_percentiles=1",
        total_percentiles,
    ),
    case(
        "fast",
        "--name=fast --ioengine=null --rw=read --bs=1m --size=1g --time_based --runtime=1 \
         --bwavgtime=100 --rate=3g --kb_base=1000",
        decimal,
    ),
    Case {
        source: Source::Fixture,
        ..case(
            "slow",
            "--name=rx --ioengine=net --port=8899 --listen=1 --rw=read --size=40k --bs=4k \
         --nodelay=1 --name=tx --ioengine=net --hostname=localhost --port=8899 --nodelay=1 \
         --rw=write --size=40k --bs=4k --thinktime=250ms --startdelay=1",
            bits,
        )
    },
];
