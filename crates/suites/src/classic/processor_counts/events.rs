//! Which processor events count what: encodings from the vendors' lists, by vendor only.
//!
//! Models of one vendor encode the same event differently, and the same encoding means something
//! else on another model. So these are candidates, tried in this order until one counts correctly.

use measure::RawEvent;
use record::ProcessorCount;

/// Events that may count this on processors of this vendor, named as in `/proc/cpuinfo`.
pub(super) fn candidates(vendor: &str, count: ProcessorCount) -> impl Iterator<Item = RawEvent> {
    let all = match vendor {
        "GenuineIntel" => intel(count),
        "AuthenticAMD" => amd(count),
        _ if cfg!(target_arch = "aarch64") => arm(count),
        _ => &[],
    };
    all.iter().map(|&(number, mask)| RawEvent { number, mask })
}

/// From <https://github.com/intel/perfmon>.
fn intel(count: ProcessorCount) -> &'static [(u16, u8)] {
    match count {
        // L2_LINES_IN.ALL on Skylake to Ice Lake, on Golden Cove and later, and on earlier models.
        ProcessorCount::L2BytesIn => &[(0xf1, 0x1f), (0x25, 0x1f), (0xf1, 0x07)],
        // L2_LINES_OUT.NON_SILENT on the same (also counts clean lines if the L3 cache takes
        // those); .DEMAND_DIRTY on Haswell and Broadwell, .DIRTY_ALL on earlier models;
        // L2_TRANS.L2_WB on both.
        ProcessorCount::L2BytesOut => {
            &[(0xf2, 0x02), (0x26, 0x02), (0xf2, 0x06), (0xf2, 0x0a), (0xf0, 0x40), (0x23, 0x40)]
        }
        // MEM_INST_RETIRED.SPLIT_LOADS and .SPLIT_STORES.
        ProcessorCount::MisalignedLoads => &[(0xd0, 0x41)],
        ProcessorCount::MisalignedStores => &[(0xd0, 0x42)],
    }
}

/// From the Processor Programming References for families 17h, 19h and 1Ah. No event there counts
/// what leaves L2, or stores that cross a line.
fn amd(count: ProcessorCount) -> &'static [(u16, u8)] {
    match count {
        // l2_fill_rsp_src.all.
        ProcessorCount::L2BytesIn => &[(0x165, 0xde)],
        // ls_misal_loads.ma64.
        ProcessorCount::MisalignedLoads => &[(0x47, 0x01)],
        ProcessorCount::L2BytesOut | ProcessorCount::MisalignedStores => &[],
    }
}

/// From the Arm Architecture Reference Manual: `L2D_CACHE_REFILL`, `L2D_CACHE_WB`,
/// `UNALIGNED_LD_SPEC` and `UNALIGNED_ST_SPEC`.
fn arm(count: ProcessorCount) -> &'static [(u16, u8)] {
    match count {
        ProcessorCount::L2BytesIn => &[(0x17, 0)],
        ProcessorCount::L2BytesOut => &[(0x18, 0)],
        ProcessorCount::MisalignedLoads => &[(0x68, 0)],
        ProcessorCount::MisalignedStores => &[(0x69, 0)],
    }
}
