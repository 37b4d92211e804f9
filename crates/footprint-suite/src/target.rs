//! Targets that a guest can make.

use file_system::{BY_LIBRARY, Feature, FileSystem, Storage};
use footprint_guest::TracedCall;
use lab::densefs::Layout;
use targets::{Location, SpecError, TargetSpec, refuse_duplicate_labels};
use thiserror::Error;
use workload::Operation;

/// The default targets: those of "DenseFS" (section 2).
pub const DEFAULTS: [&str; 5] = ["tmpfs", "ext4", "xfs", "btrfs", "f2fs"];

/// Size of a device, unless its file system needs more: large enough for a journal of normal size,
/// and small enough for an emulated processor to format it in a moment.
const DEVICE_BYTES: u64 = 128 << 20;

/// Memory of a guest in addition to its device.
const MEMORY_BYTES: u64 = 512 << 20;

/// A target that is made in a guest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GuestTarget {
    /// The target as given on the command line.
    pub spec: TargetSpec,
    /// Its file system.
    pub file_system: FileSystem,
    /// For DenseFS, how the code of its module is laid out, if that was asked for (`layout=`);
    /// otherwise it is the module that was built last.
    pub layout: Option<Layout>,
}

/// The option of a target that is DenseFS.
const LAYOUT: &str = "layout=";

/// Why a target cannot be made in a guest.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TargetRefusal {
    /// It is not a target at all.
    #[error(transparent)]
    Spec(#[from] SpecError),
    /// It is a directory, or is on a device of this machine.
    #[error(
        "`{label}` is on this machine, but traces are taken in a guest: name a file system \
         such as ext4, optionally with size=, mkfs= and mount="
    )]
    NotInGuest {
        /// Its label.
        label: String,
    },
    /// Something is to be done with it that its own calls cannot.
    #[error("{label} is not mounted, which this needs: name a file system such as ext4")]
    NotMounted {
        /// Its label.
        label: String,
    },
    /// It has a layout that does not exist, or is not DenseFS.
    #[error("`{text}`: {why}")]
    Layout {
        /// The target.
        text: String,
        /// Why not.
        why: String,
    },
    /// It is limited, filled or aged.
    #[error(
        "`{label}` is limited, filled or aged, which changes times but not what is traced: leave \
         these options out"
    )]
    Conditions {
        /// Its label.
        label: String,
    },
    /// It is to be reached by another way than the one that there is.
    #[error(
        "`{label}`: in a guest, DenseFS is in the kernel, with no other way in: leave out door="
    )]
    Door {
        /// Its label.
        label: String,
    },
    /// It is larger than a guest's device can be.
    #[error("`{label}` is larger than {most_bytes} bytes: give a smaller size=")]
    TooLarge {
        /// Its label.
        label: String,
        /// The largest possible size.
        most_bytes: u64,
    },
}

/// The largest device of a guest.
const DEVICE_BYTES_MAX: u64 = 4 << 30;

impl GuestTarget {
    /// Parses a target.
    ///
    /// # Errors
    /// If it is not a target, or a guest cannot make it.
    pub fn parse(text: &str) -> Result<Self, TargetRefusal> {
        let (plain, layout) = without_layout(text)?;
        let mut spec: TargetSpec = plain.parse()?;
        if let Some(label) = spec.label.strip_suffix(BY_LIBRARY) {
            // Here, it is reached in the kernel.
            spec.label = label.to_owned();
        }
        if layout.is_some() && spec.label == plain {
            spec.label = text.to_owned();
        }
        let label = spec.label.clone();
        let Location::Scratch(scratch) = &spec.location else {
            return Err(TargetRefusal::NotInGuest { label });
        };
        if scratch.device.is_some() {
            return Err(TargetRefusal::NotInGuest { label });
        }
        if scratch.door.is_some() {
            return Err(TargetRefusal::Door { label });
        }
        let has_past = spec.ageing().is_some() || spec.filled_percent().is_some();
        if has_past || !spec.conditions.are_none() {
            return Err(TargetRefusal::Conditions { label });
        }
        if scratch.size_bytes.is_some_and(|bytes| bytes > DEVICE_BYTES_MAX) {
            return Err(TargetRefusal::TooLarge { label, most_bytes: DEVICE_BYTES_MAX });
        }
        let file_system = scratch.file_system;
        let target = Self { spec, file_system, layout };
        if layout.is_some() && !target.needs_module() {
            let why = "only the target densefs has a layout: leave it out".to_owned();
            return Err(TargetRefusal::Layout { text: text.to_owned(), why });
        }
        Ok(target)
    }

    /// Parses a target that programs in the guest are to use, and that must be mounted for that.
    ///
    /// # Errors
    /// As [`Self::parse`], and if it is not mounted.
    pub fn parse_mounted(text: &str) -> Result<Self, TargetRefusal> {
        let target = Self::parse(text)?;
        match target.needs_module() {
            true => Err(TargetRefusal::NotMounted { label: target.spec.label }),
            false => Ok(target),
        }
    }

    /// Parses targets that programs in the guest are to use; DenseFS by a library that they load.
    ///
    /// # Errors
    /// As [`Self::parse_all`], and if one has a layout, which only DenseFS' module has.
    pub fn parse_for_programs(texts: &[String]) -> Result<Vec<Self>, TargetRefusal> {
        let targets = Self::parse_all(texts)?;
        if let Some(target) = targets.iter().find(|target| target.layout.is_some()) {
            let why = "programs reach DenseFS by a library, which has no layouts: leave it out";
            let (text, why) = (target.specification(), why.to_owned());
            return Err(TargetRefusal::Layout { text, why });
        }
        Ok(targets)
    }

    /// Whether it is DenseFS, which a guest has by a module of the lab's.
    #[must_use]
    pub fn needs_module(&self) -> bool {
        self.file_system.storage == Storage::Arena
    }

    /// The target as specified on the command line, without its label.
    #[must_use]
    pub fn specification(&self) -> String {
        let text = self.spec.specification();
        match self.layout {
            Some(layout) if text.contains(':') => format!("{text},{LAYOUT}{layout}"),
            Some(layout) => format!("{text}:{LAYOUT}{layout}"),
            None => text,
        }
    }

    /// Parses several targets.
    ///
    /// # Errors
    /// If a guest cannot make one of them, or two have the same label.
    pub fn parse_all(texts: &[String]) -> Result<Vec<Self>, TargetRefusal> {
        let targets: Vec<Self> =
            texts.iter().map(|text| Self::parse(text)).collect::<Result<_, _>>()?;
        let specs: Vec<TargetSpec> = targets.iter().map(|target| target.spec.clone()).collect();
        refuse_duplicate_labels(&specs)?;
        Ok(targets)
    }

    /// Why an operation does not apply to it, if so.
    #[must_use]
    pub fn lacks(&self, call: TracedCall) -> Option<String> {
        let needs_links = call.operation().is_some_and(Operation::needs_links);
        let file_system = self.file_system;
        let why = file_system.lacks(Feature::Links).filter(|_| needs_links)?;
        Some(format!("{file_system} {why}"))
    }

    /// The operations that apply to it, and the others with the reason.
    #[must_use]
    pub fn divide(
        &self,
        operations: &[TracedCall],
    ) -> (Vec<TracedCall>, Vec<(TracedCall, String)>) {
        let lacking = operations.iter().filter_map(|&one| Some((one, self.lacks(one)?))).collect();
        let has = |one: &TracedCall| self.lacks(*one).is_none();
        (operations.iter().copied().filter(has).collect(), lacking)
    }

    /// Size of the device that it is made on, or of its memory, in bytes.
    #[must_use]
    pub fn size_bytes(&self) -> u64 {
        let asked = match &self.spec.location {
            Location::Scratch(scratch) => scratch.size_bytes,
            Location::Directory(_) => None,
        };
        asked.unwrap_or_else(|| {
            DEVICE_BYTES.max(self.file_system.mkfs.as_ref().map_or(0, |mkfs| mkfs.least_bytes))
        })
    }

    /// Memory of a guest that makes it, in bytes.
    #[must_use]
    pub fn memory_bytes(&self) -> u64 {
        MEMORY_BYTES + self.size_bytes()
    }

    /// The target as specified to the guest: on the guest's device, unless it is in memory.
    #[must_use]
    pub(crate) fn in_guest(&self) -> TargetSpec {
        let size_bytes = self.size_bytes();
        let mut spec = self.spec.clone();
        if let Location::Scratch(scratch) = &mut spec.location {
            match scratch.file_system.storage {
                Storage::Memory { size_option: Some(_) } | Storage::Arena => {
                    scratch.size_bytes = Some(size_bytes);
                }
                Storage::Memory { size_option: None } => {}
                Storage::Device | Storage::FileSystem | Storage::Process | Storage::Network => {
                    scratch.device = Some(footprint_guest::DEVICE.into());
                    scratch.size_bytes = None;
                }
            }
        }
        spec
    }
}

/// A target's text without its layout, and the layout.
fn without_layout(text: &str) -> Result<(String, Option<Layout>), TargetRefusal> {
    let Some((before, options)) = text.split_once(':') else { return Ok((text.to_owned(), None)) };
    let is_layout = |option: &&str| option.starts_with(LAYOUT);
    let Some(found) = options.split(',').find(is_layout) else {
        return Ok((text.to_owned(), None));
    };
    let layout = found[LAYOUT.len()..].parse();
    let layout = layout.map_err(|why| TargetRefusal::Layout { text: text.to_owned(), why })?;
    let rest: Vec<&str> = options.split(',').filter(|option| *option != found).collect();
    let rest = rest.join(",");
    let plain = if rest.is_empty() { before.to_owned() } else { format!("{before}:{rest}") };
    Ok((plain, Some(layout)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(name: &str) -> TracedCall {
        name.parse().unwrap()
    }

    fn refusal(text: &str) -> String {
        GuestTarget::parse(text).expect_err("no target of a guest").to_string()
    }

    #[test]
    fn a_file_system_is_made_on_the_guests_device() {
        let xfs = GuestTarget::parse("mine=xfs:mkfs=-m crc=0,mount=noatime").unwrap();
        assert_eq!(xfs.size_bytes(), 320 << 20);
        let text = xfs.in_guest().to_string();
        let again: TargetSpec = text.parse().unwrap();
        assert_eq!(again, xfs.in_guest());
        assert!(text.contains("device=/dev/ram0") && text.contains("crc=0"), "{text}");
        assert_eq!(GuestTarget::parse("ext4:size=200m").unwrap().size_bytes(), 200 << 20);
    }

    #[test]
    fn densefs_has_the_layout_that_it_is_asked_for() {
        for (text, label, specification, layout) in [
            ("densefs", "densefs", "densefs", None),
            ("densefs:layout=plain", "densefs:layout=plain", "densefs:layout=plain", Some("plain")),
            (
                "a=densefs:layout=hinted,size=64m",
                "a",
                "densefs:size=67108864,layout=hinted",
                Some("hinted"),
            ),
        ] {
            let target = GuestTarget::parse(text).unwrap();
            assert_eq!(target.layout.map(Layout::name), layout);
            assert_eq!(
                (target.spec.label.as_str(), target.specification().as_str()),
                (label, specification)
            );
            assert!(!target.in_guest().to_string().contains("layout"));
        }
        assert!(refusal("densefs:layout=dense").contains("choose from plain"));
        assert!(refusal("ext4:layout=plain").contains("leave it out"));
        let of_programs = |text: &str| GuestTarget::parse_for_programs(&[text.to_owned()]);
        assert!(of_programs("densefs").is_ok());
        let why = of_programs("densefs:layout=plain").expect_err("it has none").to_string();
        assert!(why.contains("has no layouts"), "{why}");
    }

    #[test]
    fn file_systems_without_links_are_not_asked_for_any() {
        let asked = [call("create"), call("link"), call("symlink")];
        for (name, links) in [("vfat", false), ("hfs", false), ("minix", true), ("ext2", true)] {
            let (has, lacking) = GuestTarget::parse(name).unwrap().divide(&asked);
            assert_eq!(has.len() + lacking.len(), 3);
            assert_eq!(has.contains(&call("link")), links, "{name}");
            assert_eq!(has.contains(&call("symlink")), links, "{name}");
            let named =
                |(_, why): &(TracedCall, String)| *why == format!("{name} does not support links");
            assert!(lacking.iter().all(named), "{lacking:?}");
        }
    }

    #[test]
    fn what_a_guest_cannot_make_is_refused() {
        assert!(refusal("/tmp").contains("name a file system"));
        assert!(refusal("ext4:device=/dev/sda").contains("is on this machine"));
        assert!(refusal("ext4:read_bps=1m").contains("leave these options out"));
        assert!(refusal("ext4:aged=2").contains("leave these options out"));
        assert!(refusal("ext4:filled=50%").contains("leave these options out"));
        assert!(refusal("ext4:size=1t").contains("smaller size="));
        assert!(refusal("ext5").contains("did you mean"));
    }
}
