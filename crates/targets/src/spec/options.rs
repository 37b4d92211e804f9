//! The `key=value,...` part of a target's text: how it is split, and which targets take which key.

use std::fmt;
use std::path::PathBuf;

use crate::spec::device_words::{has_name, names_a_device};
use crate::spec::option_key::OptionKey;
use crate::spec::times::time_text;
use crate::spec::{
    ArenaDoor, Conditions, Location, ScratchSpec, SpecError, TargetSpec, parse_size,
};
use file_system::{FileSystem, Storage};
use textual::nearest;

/// Nobody would wait for more: a round takes seconds.
const ROUNDS_MAX: u32 = 1000;

/// Values of `image=`: blocks of the host's file system are allocated when first written, or all of
/// them in advance.
const SPARSE: &str = "sparse";
const ALLOCATED: &str = "allocated";
/// Values of `door=`.
const DOORS: [(&str, ArenaDoor); 2] =
    [("library", ArenaDoor::Library), ("preload", ArenaDoor::Preload)];

/// Keys with their values, in the order given, without repetitions.
#[derive(Debug, Default)]
pub(crate) struct TargetOptions(Vec<(OptionKey, String)>);

impl TargetOptions {
    pub(crate) fn parse(text: &str, target: &str) -> Result<Self, SpecError> {
        let mut options: Vec<(OptionKey, String)> = Vec::new();
        for piece in text.split(',').filter(|_| !text.is_empty()) {
            if let Some(key) = OptionKey::at_start_of(piece) {
                if options.iter().any(|(earlier, _)| *earlier == key) {
                    let target = target.to_owned();
                    return Err(SpecError::RepeatedOption { key: key.name(), target });
                }
                options.push((key, piece[key.name().len() + 1..].to_owned()));
                continue;
            }
            match options.last_mut() {
                Some((key, value)) if key.value_may_hold_commas() => {
                    value.push(',');
                    value.push_str(piece);
                }
                _ => {
                    let given = piece.split('=').next().unwrap_or_default();
                    let suggestion = match nearest(given, OptionKey::ALL.map(OptionKey::name)) {
                        Some(name) => format!("; did you mean `{name}=`?"),
                        None if !piece.contains('=') => {
                            format!("; an option of mount is given as `mount={given}`")
                        }
                        None => String::new(),
                    };
                    return Err(SpecError::UnknownOption { given: given.to_owned(), suggestion });
                }
            }
        }
        match options.iter().find(|(_, value)| value.is_empty()) {
            Some((key, _)) => Err(SpecError::Empty { key: key.name() }),
            None => Ok(Self(options)),
        }
    }

    /// The options that express `spec`.
    pub(crate) fn from_spec(spec: &TargetSpec) -> Self {
        let Conditions {
            memory_bytes,
            read_bps,
            write_bps,
            read_iops,
            write_iops,
            read_ahead_bytes,
            delay_ns,
            delay_cache_bytes,
        } = spec.conditions;
        let mut options = Vec::new();
        let number = |value: Option<u64>| value.map(|value| value.to_string());
        let mut add = |key, value: Option<String>| options.extend(value.map(|text| (key, text)));
        if let Location::Scratch(scratch) = &spec.location {
            add(OptionKey::Size, number(scratch.size_bytes));
            add(OptionKey::Image, scratch.allocated.then(|| ALLOCATED.to_owned()));
            add(OptionKey::Device, scratch.device.as_ref().map(|path| path.display().to_string()));
            add(OptionKey::Mkfs, scratch.mkfs.clone());
            add(OptionKey::Mount, scratch.mount.clone());
            let share = |percent: Option<u32>| percent.map(|percent| format!("{percent}%"));
            add(OptionKey::FillOutcome, share(scratch.filled_percent));
            add(OptionKey::Aged, scratch.aged_rounds.map(|rounds| rounds.to_string()));
            add(OptionKey::Fill, share(scratch.fill_percent));
            let door = scratch.door.and_then(|door| DOORS.iter().find(|(_, one)| *one == door));
            add(OptionKey::Door, door.map(|(name, _)| (*name).to_owned()));
        }
        add(OptionKey::Memory, number(memory_bytes));
        add(OptionKey::ReadBps, number(read_bps));
        add(OptionKey::WriteBps, number(write_bps));
        add(OptionKey::ReadIops, number(read_iops));
        add(OptionKey::WriteIops, number(write_iops));
        add(OptionKey::ReadAhead, number(read_ahead_bytes));
        add(OptionKey::Delay, delay_ns.map(time_text));
        add(OptionKey::DelayCache, number(delay_cache_bytes));
        Self(options)
    }

    pub(crate) fn scratch(&self, file_system: FileSystem) -> Result<ScratchSpec, SpecError> {
        if file_system.is_called_as_library() {
            let reason = "a library keeps its files in shared memory, with nothing to format, \
                          mount or limit";
            let useful = [OptionKey::Size, OptionKey::Door];
            self.refuse(|key| !useful.contains(&key), file_system.name, reason)?;
        } else if file_system.lives_in_memory() {
            let reason = "it has no device and is not formatted";
            let useless = |key: OptionKey| {
                let of_devices = matches!(
                    key,
                    OptionKey::Image
                        | OptionKey::Mkfs
                        | OptionKey::Device
                        | OptionKey::ReadAhead
                        | OptionKey::Delay
                        | OptionKey::DelayCache
                );
                of_devices || key.throttles_a_device()
            };
            self.refuse(useless, file_system.name, reason)?;
            let reason = "its files have no blocks on a device that could be fragmented";
            let ages = |key: OptionKey| matches!(key, OptionKey::Aged | OptionKey::Fill);
            self.refuse(ages, file_system.name, reason)?;
            let reason = "it has no device on which the free space would lie elsewhere";
            self.refuse(|key| key == OptionKey::FillOutcome, file_system.name, reason)?;
        }
        if !file_system.is_called_as_library() {
            let reason = "it is reached by system calls";
            self.refuse(|key| key == OptionKey::Door, file_system.name, reason)?;
        }
        if file_system.storage == (Storage::Memory { size_option: None }) {
            let reason = "it takes no size limit (tmpfs does)";
            self.refuse(|key| key == OptionKey::Size, file_system.name, reason)?;
        }
        self.refuse_other_devices()?;
        let device = self.value(OptionKey::Device).map(PathBuf::from);
        if device.is_some() {
            let reason = "it takes its size from the device";
            self.refuse(|key| key == OptionKey::Size, "a target with device=", reason)?;
            let reason = "it has no image";
            self.refuse(|key| key == OptionKey::Image, "a target with device=", reason)?;
            let reason = "only the device of an image can be slowed down";
            self.refuse(OptionKey::delays_a_device, "a target with device=", reason)?;
        }
        if self.value(OptionKey::Delay).is_none() {
            let reason = "it says what the device reads in a tenth of the delay; add delay=";
            self.refuse(|key| key == OptionKey::DelayCache, "a target without delay=", reason)?;
        }
        if self.value(OptionKey::Aged).is_none_or(|rounds| rounds == "0") {
            let reason = "it says how full the target is while it is aged; add aged=, or give \
                          filled= to have it filled only";
            self.refuse(|key| key == OptionKey::Fill, "a fresh target", reason)?;
        }
        Ok(ScratchSpec {
            file_system,
            size_bytes: self.number(OptionKey::Size)?,
            allocated: self.is_allocated()?,
            mkfs: self.value(OptionKey::Mkfs).map(str::to_owned),
            mount: self.value(OptionKey::Mount).map(str::to_owned),
            device,
            aged_rounds: self.rounds()?,
            fill_percent: self.share(OptionKey::Fill)?,
            filled_percent: self.share(OptionKey::FillOutcome)?,
            door: self.door()?,
        })
    }

    pub(crate) fn conditions(&self) -> Result<Conditions, SpecError> {
        Ok(Conditions {
            memory_bytes: self.number(OptionKey::Memory)?,
            read_bps: self.number(OptionKey::ReadBps)?,
            write_bps: self.number(OptionKey::WriteBps)?,
            read_iops: self.number(OptionKey::ReadIops)?,
            write_iops: self.number(OptionKey::WriteIops)?,
            read_ahead_bytes: self.read_ahead_bytes()?,
            delay_ns: self.delay_ns()?,
            delay_cache_bytes: self.delay_cache_bytes()?,
        })
    }

    /// A directory is on a file system that already exists, so it takes conditions and nothing
    /// else.
    pub(crate) fn refuse_beside_conditions(&self) -> Result<(), SpecError> {
        let reason = "it would affect everyone who reads from that device";
        self.refuse(|key| key == OptionKey::ReadAhead, "a directory", reason)?;
        let reason = "only the device of an image that fsprism makes can be slowed down";
        self.refuse(OptionKey::delays_a_device, "a directory", reason)?;
        let reason = "fsprism does not make the file system there";
        self.refuse(|key| !key.is_condition(), "a directory", reason)
    }

    /// Refuses further devices that mkfs and mount could take, which nobody has checked.
    fn refuse_other_devices(&self) -> Result<(), SpecError> {
        let mkfs = self.value(OptionKey::Mkfs).unwrap_or_default();
        let mount = self.value(OptionKey::Mount).unwrap_or_default();
        // A word without a slash is not a path: mkfs runs in a directory without devices.
        let words = || mkfs.split_whitespace();
        let is_path = |word: &&str| word.contains('/') || names_a_device(word) || has_name(word);
        // A word that is not an option and does not follow one is a device, or a size for one.
        let stray = words().zip(std::iter::once("").chain(words()));
        let stray =
            stray.filter(|(word, before)| !word.starts_with('-') && !before.starts_with('-'));
        let mkfs = words().find(is_path).or_else(|| stray.map(|(word, _)| word).next());
        let mount = mount.split(',').find(|word| names_a_device(word));
        let key_and_word = mkfs.map(|word| (OptionKey::Mkfs, word));
        match key_and_word.or_else(|| mount.map(|word| (OptionKey::Mount, word))) {
            Some((key, word)) => {
                Err(SpecError::NamesADevice { key: key.name(), word: word.to_owned() })
            }
            None => Ok(()),
        }
    }

    fn refuse(
        &self,
        useless: impl Fn(OptionKey) -> bool,
        place: &str,
        reason: &'static str,
    ) -> Result<(), SpecError> {
        match self.0.iter().find(|(key, _)| useless(*key)) {
            Some((key, _)) => {
                let (key, place) = (key.name(), place.to_owned());
                Err(SpecError::NotForThis { key, place, reason })
            }
            None => Ok(()),
        }
    }

    pub(super) fn value(&self, wanted: OptionKey) -> Option<&str> {
        self.0.iter().find(|(key, _)| *key == wanted).map(|(_, value)| value.as_str())
    }

    fn is_allocated(&self) -> Result<bool, SpecError> {
        match self.value(OptionKey::Image) {
            None | Some(SPARSE) => Ok(false),
            Some(ALLOCATED) => Ok(true),
            Some(other) => Err(SpecError::BadImage { value: other.to_owned() }),
        }
    }

    fn door(&self) -> Result<Option<ArenaDoor>, SpecError> {
        let Some(text) = self.value(OptionKey::Door) else { return Ok(None) };
        let door = DOORS.iter().find(|(name, _)| *name == text).map(|(_, door)| *door);
        door.map(Some).ok_or_else(|| SpecError::BadDoor { value: text.to_owned() })
    }

    fn rounds(&self) -> Result<Option<u32>, SpecError> {
        let Some(text) = self.value(OptionKey::Aged) else { return Ok(None) };
        match text.parse().ok().filter(|&rounds| rounds <= ROUNDS_MAX) {
            Some(rounds) => Ok(Some(rounds)),
            None => Err(SpecError::BadRounds {
                key: OptionKey::Aged.name(),
                value: text.to_owned(),
                most: ROUNDS_MAX,
            }),
        }
    }

    fn share(&self, key: OptionKey) -> Result<Option<u32>, SpecError> {
        let Some(text) = self.value(key) else { return Ok(None) };
        let percent = text.strip_suffix('%').and_then(|digits| digits.parse().ok());
        match percent.filter(|percent| (10..=95).contains(percent)) {
            Some(percent) => Ok(Some(percent)),
            None => Err(SpecError::BadShare { key: key.name(), value: text.to_owned() }),
        }
    }

    /// Unlike limits, this may be 0, which turns read-ahead off.
    fn read_ahead_bytes(&self) -> Result<Option<u64>, SpecError> {
        let Some(text) = self.value(OptionKey::ReadAhead) else { return Ok(None) };
        let (key, value) = (OptionKey::ReadAhead.name(), text.to_owned());
        let Some(bytes) = parse_size(text) else { return Err(SpecError::BadSize { key, value }) };
        let page_bytes = rustix::param::page_size() as u64;
        if bytes.is_multiple_of(page_bytes) {
            return Ok(Some(bytes));
        }
        Err(SpecError::NotWholePages { key, value, page_bytes })
    }

    pub(super) fn number(&self, key: OptionKey) -> Result<Option<u64>, SpecError> {
        let Some(text) = self.value(key) else { return Ok(None) };
        let value = || text.to_owned();
        match parse_size(text) {
            None => Err(SpecError::BadSize { key: key.name(), value: value() }),
            Some(0) => Err(SpecError::Zero { key: key.name(), value: value() }),
            Some(number) => Ok(Some(number)),
        }
    }
}

impl fmt::Display for TargetOptions {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (key, value)) in self.0.iter().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            write!(formatter, "{comma}{}={value}", key.name())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::Ageing;

    fn scratch(text: &str) -> ScratchSpec {
        match text.parse::<TargetSpec>().expect(text).location {
            Location::Scratch(scratch) => scratch,
            Location::Directory(path) => panic!("{text} was taken for the path {}", path.display()),
        }
    }

    fn path(text: &str) -> PathBuf {
        match text.parse::<TargetSpec>().expect(text).location {
            Location::Directory(path) => path,
            Location::Scratch(_) => panic!("{text} was taken for a file system"),
        }
    }

    #[test]
    fn commas_stay_in_mkfs_and_mount_values() {
        let ext4 =
            scratch("ext4:size=4G,mkfs=-O ^has_journal,metadata_csum,mount=noatime,nobarrier");
        assert_eq!(ext4.size_bytes, Some(4 << 30));
        assert_eq!(ext4.mkfs.as_deref(), Some("-O ^has_journal,metadata_csum"));
        assert_eq!(ext4.mount.as_deref(), Some("noatime,nobarrier"));
        let journal = scratch("ext4:mount=journal_checksum,commit=30,size=64m");
        assert_eq!(journal.mount.as_deref(), Some("journal_checksum,commit=30"));
        assert_eq!(journal.size_bytes, Some(64 << 20));
    }

    #[test]
    fn labels_and_conditions_are_read() {
        let text = "old=ext4:memory=64m,read_bps=50m,write_iops=9,read_ahead=128k";
        let spec: TargetSpec = text.parse().expect("ok");
        assert_eq!(spec.conditions.read_ahead_bytes, Some(128 << 10));
        assert_eq!(spec.label, "old");
        assert_eq!(spec.conditions.memory_bytes, Some(64 << 20));
        assert_eq!(spec.conditions.read_bps, Some(50 << 20));
        assert_eq!(spec.conditions.write_iops, Some(9));
        assert_eq!("ext4:size=1g".parse::<TargetSpec>().expect("ok").label, "ext4:size=1g");
        assert_eq!(scratch("ext4:device=/dev/sdb").device, Some(PathBuf::from("/dev/sdb")));
    }

    #[test]
    fn paths_are_told_from_file_systems() {
        assert_eq!(path("/mnt/a=b"), PathBuf::from("/mnt/a=b"));
        assert_eq!(path("./ext4"), PathBuf::from("./ext4"));
        assert_eq!(path("disk=/mnt/data"), PathBuf::from("/mnt/data"));
        assert_eq!(path("/mnt/a:b:memory=1m,read_bps=2m"), PathBuf::from("/mnt/a:b"));
        // Tests run in the crate's directory, where `src` is.
        assert_eq!(path("src"), PathBuf::from("src"));
        assert_eq!(path("l=src:memory=1m"), PathBuf::from("src"));
        assert!(matches!(
            "nowhere".parse::<TargetSpec>(),
            Err(SpecError::UnknownFileSystem { .. })
        ));
    }

    #[test]
    fn what_is_written_parses_back() {
        for text in [
            "ext4",
            "old=ext4:size=1048576,mkfs=-O ^a,b,mount=c,d=e,memory=5,read_bps=1,write_iops=2",
            "xfs:device=/dev/sdb",
            "ext4:read_ahead=0",
            "ext2:size=1048576,memory=5,delay=2ms",
            "ext4:delay=1500us",
            "ext4:delay=1ms,delay_cache=67108864",
            "ext4:read_ahead=0,delay=1s",
            "ext4:aged=10,fill=90%",
            "ext4:filled=50%",
            "ext4:size=1048576,filled=95%,aged=10,fill=90%,memory=5",
            "xfs:aged=0",
            "a=/mnt/data:memory=1024",
            "tmpfs:size=4096",
            "./src",
            "densefs:size=1048576",
            "dense=densefs",
        ] {
            let spec: TargetSpec = text.parse().expect(text);
            assert_eq!(spec.to_string(), text);
            assert_eq!(spec.to_string().parse::<TargetSpec>().as_ref(), Ok(&spec));
        }
    }

    #[test]
    fn what_cannot_be_is_refused_with_the_option_to_change() {
        for (text, sentence) in [
            ("ext5", "`ext5` is neither a file system"),
            ("btfs:size=1g", "did you mean `btrfs`?"),
            ("ext4:sise=1g", "no option `sise`; did you mean `size=`?"),
            ("ext4:size=1g,mem=4m", "no option `mem`; did you mean `memory=`?"),
            ("ext4:noatime", "no option `noatime`; an option of mount is given as `mount=noatime`"),
            ("ext4:size=1g,size=2g", "`size=` appears twice"),
            ("ext4:size=0", "`size=0` leaves nothing to measure"),
            ("ext4:size=1.5g", "`size=1.5g` is not a size"),
            ("ext4:size=99999999999g", "is not a size"),
            ("ext4:read_iops=x", "`read_iops=x` is not a size"),
            ("ext4:mount=", "`mount=` has no value"),
            ("tmpfs:mkfs=-F", "`mkfs=` does not apply to tmpfs"),
            ("tmpfs:read_bps=1m", "`read_bps=` does not apply to tmpfs"),
            ("densefs:memory=64m", "`memory=` does not apply to densefs: a library keeps"),
            ("densefs:mount=noatime", "with nothing to format, mount or limit"),
            ("ramfs:size=1m", "`size=` does not apply to ramfs"),
            ("ext4:device=/dev/sdb,size=1g", "`size=` does not apply to a target with device="),
            ("/mnt:size=1g", "`size=` does not apply to a directory"),
            ("ext4:read_ahead=6k", "`read_ahead=6k` is not a whole number of pages"),
            ("ext4:read_ahead=x", "`read_ahead=x` is not a size"),
            ("ramfs:read_ahead=64k", "`read_ahead=` does not apply to ramfs"),
            ("/mnt:read_ahead=64k", "`read_ahead=` does not apply to a directory: it would"),
            ("ext4:delay=2", "`delay=2` is not a time; write a whole number with us, ms or s"),
            ("ext4:delay=1.5ms", "`delay=1.5ms` is not a time"),
            ("ext4:delay=-1ms", "`delay=-1ms` is not a time"),
            ("ext4:delay=99999999999999999999s", "is not a time"),
            ("ext4:delay=10us", "`delay=10us` is out of range: give a time of 100us to 1s"),
            ("ext4:delay=0ms", "out of range"),
            ("ext4:delay=2s", "out of range"),
            ("ext4:delay=", "`delay=` has no value"),
            ("ext4:dellay=1ms", "did you mean `delay=`?"),
            ("ext4:delay=1ms,delay_cache=x", "`delay_cache=x` is not a size"),
            ("ext4:delay=1ms,delay_cache=0", "`delay_cache=0` leaves nothing"),
            ("ext4:delay=1ms,delay_cache=17g", "`delay_cache=17g` is too large: give 16g at most"),
            ("ext4:delay_cache=64m", "`delay_cache=` does not apply to a target without delay="),
            ("tmpfs:delay_cache=64m", "`delay_cache=` does not apply to tmpfs"),
            ("/mnt:delay_cache=64m", "`delay_cache=` does not apply to a directory"),
            ("tmpfs:delay=1ms", "`delay=` does not apply to tmpfs: it has no device"),
            ("ramfs:delay=1ms", "`delay=` does not apply to ramfs"),
            ("densefs:delay=1ms", "`delay=` does not apply to densefs"),
            ("ext4:device=/dev/sdb,delay=1ms", "`delay=` does not apply to a target with device="),
            ("/mnt:delay=1ms", "`delay=` does not apply to a directory: only the device of an"),
            ("ext4:aged=x", "`aged=x` is not a valid number"),
            ("ext4:aged=1001", "a whole number up to 1000"),
            ("ext4:aged=1,fill=80", "`fill=80` is not a valid share"),
            ("ext4:aged=1,fill=99%", "write 10% to 95%"),
            ("ext4:fill=80%", "`fill=` does not apply to a fresh target"),
            ("ext4:aged=0,fill=80%", "`fill=` does not apply to a fresh target"),
            ("ext4:filled=101%", "`filled=101%` is not a valid share of the space; write 10% to"),
            ("ext4:filled=half", "`filled=half` is not a valid share"),
            ("ext4:filled=0%", "write 10% to 95%"),
            ("ext4:filled=-5%", "write 10% to 95%"),
            ("ext4:filled=", "`filled=` has no value"),
            ("ext4:fillled=50%", "did you mean `filled=`?"),
            ("tmpfs:filled=50%", "`filled=` does not apply to tmpfs: it has no device"),
            ("ramfs:filled=50%", "`filled=` does not apply to ramfs"),
            ("densefs:filled=50%", "`filled=` does not apply to densefs"),
            ("/mnt:filled=50%", "`filled=` does not apply to a directory"),
            ("ext4:door=preload", "`door=` does not apply to ext4: it is reached by system calls"),
            ("densefs:door=mount", "`door=mount` is not a known way in: write `door=library` or"),
            ("tmpfs:aged=1", "`aged=` does not apply to tmpfs"),
            ("/mnt:aged=1", "`aged=` does not apply to a directory"),
            ("a b=ext4", "`a b` cannot be a label"),
            ("=ext4", "`` cannot be a label"),
        ] {
            let error = text.parse::<TargetSpec>().expect_err(text).to_string();
            assert!(error.contains(sentence), "{text}: {error}");
        }
    }

    #[test]
    fn those_that_say_nothing_of_it_are_aged() {
        let aged = |text: &str| {
            let mut spec: TargetSpec = text.parse().expect(text);
            spec.age_unless_said(5);
            spec.ageing()
        };
        assert_eq!(aged("ext4"), Some(Ageing::new(5, 80)));
        assert_eq!(aged("ext4:aged=2,fill=60%"), Some(Ageing::new(2, 60)));
        assert_eq!((aged("ext4:aged=0"), aged("tmpfs"), aged("/tmp")), (None, None, None));
        assert_eq!("ext4".parse::<TargetSpec>().expect("ok").ageing(), None);
    }
}
