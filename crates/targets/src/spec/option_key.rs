//! The keys that a target's text may contain.

/// A key that a target's text may contain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OptionKey {
    Size,
    Image,
    Mkfs,
    Mount,
    Device,
    Memory,
    ReadBps,
    WriteBps,
    ReadIops,
    WriteIops,
    ReadAhead,
    Delay,
    DelayCache,
    FillOutcome,
    Aged,
    Fill,
    Door,
}

impl OptionKey {
    pub(super) const ALL: [Self; 17] = [
        Self::Size,
        Self::Image,
        Self::Mkfs,
        Self::Mount,
        Self::Device,
        Self::Memory,
        Self::ReadBps,
        Self::WriteBps,
        Self::ReadIops,
        Self::WriteIops,
        Self::ReadAhead,
        Self::Delay,
        Self::DelayCache,
        Self::FillOutcome,
        Self::Aged,
        Self::Fill,
        Self::Door,
    ];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Size => "size",
            Self::Image => "image",
            Self::Mkfs => "mkfs",
            Self::Mount => "mount",
            Self::Device => "device",
            Self::Memory => "memory",
            Self::ReadBps => "read_bps",
            Self::WriteBps => "write_bps",
            Self::ReadIops => "read_iops",
            Self::WriteIops => "write_iops",
            Self::ReadAhead => "read_ahead",
            Self::Delay => "delay",
            Self::DelayCache => "delay_cache",
            Self::FillOutcome => "filled",
            Self::Aged => "aged",
            Self::Fill => "fill",
            Self::Door => "door",
        }
    }

    /// The key that `text` begins with, if it is followed by an equals sign.
    pub(crate) fn at_start_of(text: &str) -> Option<Self> {
        let (name, _) = text.split_once('=')?;
        Self::ALL.into_iter().find(|key| key.name() == name)
    }

    pub(super) fn value_may_hold_commas(self) -> bool {
        matches!(self, Self::Mkfs | Self::Mount)
    }

    pub(super) fn throttles_a_device(self) -> bool {
        matches!(self, Self::ReadBps | Self::WriteBps | Self::ReadIops | Self::WriteIops)
    }

    pub(super) fn delays_a_device(self) -> bool {
        matches!(self, Self::Delay | Self::DelayCache)
    }

    pub(super) fn is_condition(self) -> bool {
        self == Self::Memory || self.throttles_a_device()
    }
}
