//! The paper's statements as hypotheses.

use crate::hypothesis::{Hypothesis, Unit};
use crate::margin::Margin;

const THROUGHPUT: &str = "section 3.1, Figure 1";
const WARM_UP: &str = "section 3.1, Figure 2";

pub(super) const DROP_PLACE: Hypothesis = Hypothesis {
    source: THROUGHPUT,
    claim: "throughput drops where the page cache is full",
    published: "between 384 and 448 of 512 MB: 81 % of memory",
    means: Margin::between(
        75.0,
        112.5,
        "from the paper's step to one step beyond the memory: how much of it is left for the page \
         cache differs",
    ),
    unit: Unit::Percent,
};

pub(super) const SUDDEN: Hypothesis = Hypothesis {
    source: THROUGHPUT,
    claim: "the drop is sudden: it happens within one step of 64 MB",
    published: "sudden",
    means: Margin::above(
        50.0,
        "one of 15 steps has more than half of all the fall, on the logarithmic scale",
    ),
    unit: Unit::Percent,
};

pub(super) const NARROWER: Hypothesis = Hypothesis {
    source: "section 3.1",
    claim: "the region of the drop is even narrower than a step",
    published: "less than 6 of 64 MB",
    means: Margin::below(
        100.0,
        "narrower than a step; the drop is from half of memory's throughput to a tenth of it",
    ),
    unit: Unit::Percent,
};

pub(super) const NARROW: Hypothesis = Hypothesis {
    source: "section 3.1",
    claim: "it is less than 6 MB wide, of 512 MB",
    published: "less than 1.2 % of memory",
    means: Margin::below(2.75, "1.2 %, and the step of 1.6 % by which it is measured here"),
    unit: Unit::Percent,
};

pub(super) const STEPS: Hypothesis = Hypothesis {
    source: "section 3.1",
    claim: "with several levels of cache, the curve has several distinct steps",
    published: "predicted, not measured",
    means: Margin::above(
        1.5,
        "two or more: a step is a fall by half as much again or more from one size to the next, \
         with less than half of that (on a logarithmic scale) between it and the next step",
    ),
    unit: Unit::Count,
};

pub(super) const DEVICE_VARIES: Hypothesis = Hypothesis {
    source: THROUGHPUT,
    claim: "runs vary more when the device limits them than when memory does",
    published: "up to 5 times the standard deviation",
    means: Margin::above(1.1, "a tenth more is the least that counts"),
    unit: Unit::Times,
};

pub(super) const TRANSITION_VARIES: Hypothesis = Hypothesis {
    source: "section 3.1",
    claim: "in the transition, runs vary very much more",
    published: "a relative standard deviation of up to 35 %",
    means: Margin::above(2.0, "twice the standard deviation is the least that counts"),
    unit: Unit::Times,
};

const IDENTICAL: Margin = Margin::between(0.9, 1.1, "a tenth: closer cannot be read from curves");

pub(super) const ALIKE_AT_FIRST: Hypothesis = Hypothesis {
    source: WARM_UP,
    claim: "from a cold start, all file systems are at first as fast as the device",
    published: "identical",
    means: IDENTICAL,
    unit: Unit::Times,
};

pub(super) const APART: Hypothesis = Hypothesis {
    source: WARM_UP,
    claim: "while they warm up, their throughput differs significantly: they become fast at \
            different times",
    published: "between minutes 4 and 13 of 20",
    means: Margin::outside(
        0.9,
        1.1,
        "a tenth of the time until half of the final speed: while one file system is there and \
         the other is not, they are several times apart",
    ),
    unit: Unit::Times,
};

pub(super) const FAR_APART: Hypothesis = Hypothesis {
    source: WARM_UP,
    claim: "depending on when one looks, they are nearly an order of magnitude apart",
    published: "a few percent to nearly 10 times",
    means: Margin::above(5.0, "half of an order of magnitude, at one of 40 moments"),
    unit: Unit::Times,
};

pub(super) const ALIKE_AT_LAST: Hypothesis = Hypothesis {
    source: WARM_UP,
    claim: "at the end, all file systems run at the speed of memory",
    published: "identical",
    means: IDENTICAL,
    unit: Unit::Times,
};

/// How a count of peaks is judged, which is a whole number.
const PEAKS: &str = "peaks have 2 % of the reads or more, with a valley of half their height \
                     between them";

pub(super) const ONE_PEAK: Hypothesis = Hypothesis {
    source: "section 3.2, Figure 3(a)",
    claim: "a file that fits into memory has one latency peak",
    published: "one, near 4 us",
    means: Margin::between(0.5, 1.5, PEAKS),
    unit: Unit::Count,
};

pub(super) const TWO_PEAKS: Hypothesis = Hypothesis {
    source: "section 3.2, Figure 3(b)",
    claim: "a file of twice the memory has two latency peaks",
    published: "two",
    means: Margin::between(1.5, 2.5, PEAKS),
    unit: Unit::Count,
};

pub(super) const EQUAL_PEAKS: Hypothesis = Hypothesis {
    source: "section 3.2, Figure 3(b)",
    claim: "they are almost equally high, since half of the reads hit the cache",
    published: "half of the reads",
    means: Margin::between(40.0, 60.0, "the lower one has at least two thirds of the higher one"),
    unit: Unit::Percent,
};

pub(super) const INVISIBLE_PEAK: Hypothesis = Hypothesis {
    source: "section 3.2, Figure 3(c)",
    claim: "for a file that is much larger than memory, the peak of memory is invisibly small",
    published: "invisible, at 49 times the memory",
    means: Margin::below(5.0, "at 24 times the memory here, a full cache serves 4.2 %"),
    unit: Unit::Percent,
};

pub(super) const THOUSANDS: Hypothesis = Hypothesis {
    source: "section 3.1",
    claim: "a single read that induces I/O lasts longer than thousands of reads from memory",
    published: "thousands",
    means: Margin::above(
        1000.0,
        "the median read of (c), nearly all of which go to the device, over the mean of (a)",
    ),
    unit: Unit::Times,
};

pub(super) const THREE_ORDERS: Hypothesis = Hypothesis {
    source: "section 3.2",
    claim: "with the size of the working set, latency spans over 3 orders of magnitude",
    published: "over 1000 times",
    means: Margin::above(1000.0, "3 orders; the median read of (c) over that of (a)"),
    unit: Unit::Times,
};

pub(super) const FADES: Hypothesis = Hypothesis {
    source: "section 3.2, Figure 4",
    claim: "as the file warms up, the device's peak fades away gradually",
    published: "from near 2^23 ns to around 2^11 ns",
    means: Margin::between(20.0, 80.0, "half-way, neither peak has a quarter of the other or less"),
    unit: Unit::Percent,
};

pub(super) const TWO_MODES: Hypothesis = Hypothesis {
    source: "section 3.2, Figure 4",
    claim: "during most of the benchmark, latencies are bi-modal",
    published: "most of the run",
    means: Margin::above(
        50.0,
        "until the file is read: how long it is read after that is the experimenter's choice; both \
         modes have 1 % of the reads or more",
    ),
    unit: Unit::Percent,
};
