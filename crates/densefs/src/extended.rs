//! Extended attributes: names with values that an inode has in addition to its content.
//!
//! They are stored one after another in a run: a byte with the length of the name, 4 bytes with the
//! length of the value, the name, the value. Any change rewrites them all.

use crate::annex::{Inode, lines_for};
use crate::arena::{Line, Ref};
use crate::errno::Errno;
use crate::layout::{annex, cell};
use crate::member::{Member, Node};
use crate::modes::{Caller, DIRECTORY, FILE, Mode, READ, STICKY, TYPE, WRITE};
use crate::name::NAME_MAX;
use crate::seams::Seams;

/// The largest value, as on Linux.
const VALUE_MAX: usize = 65_536;
/// Most bytes of all attributes of an inode together.
const BYTES_MAX: u32 = 131_072;
const _: () = assert!(BYTES_MAX as usize == 2 * VALUE_MAX);
/// Bytes before the name.
const HEAD: usize = 5;

/// Whether an attribute may or must exist when it is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SetAttribute {
    /// Either way.
    Any,
    /// It must not exist: `XATTR_CREATE`.
    New,
    /// It must exist: `XATTR_REPLACE`.
    Present,
    /// Both, so that it is never set.
    NewAndPresent,
}

/// The class of an attribute, by the prefix of its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    /// `user.`: for anybody who may read or write the file.
    User,
    /// `trusted.`: for root only.
    Trusted,
    /// `security.`: everybody may read them, only root may change them.
    Security,
    /// `system.`, none of which there are.
    System,
    /// Any other, which there are none of either; but permissions are checked first.
    Other,
}

/// How the names of a class begin.
const PREFIXES: [(&[u8], Class); 4] = [
    (b"user.", Class::User),
    (b"trusted.", Class::Trusted),
    (b"security.", Class::Security),
    (b"system.", Class::System),
];

impl Class {
    fn from_name(name: &[u8]) -> Result<Self, Errno> {
        if name.is_empty() || name.len() > NAME_MAX {
            return Err(Errno::RANGE);
        }
        let class = PREFIXES.iter().find(|(prefix, _)| name.starts_with(prefix));
        Ok(class.map_or(Self::Other, |&(_, class)| class))
    }

    /// Checks that there can be an attribute with this name, after permissions.
    fn check_name(self, name: &[u8]) -> Result<(), Errno> {
        match self {
            Self::System | Self::Other => Err(Errno::OPNOTSUPP),
            Self::User | Self::Trusted | Self::Security => {
                if PREFIXES.iter().any(|&(prefix, _)| prefix == name) {
                    return Err(Errno::INVAL);
                }
                Ok(())
            }
        }
    }

    fn allow_reading(self, caller: &Caller<'_>, mode: Mode) -> Result<(), Errno> {
        match self {
            Self::User if !has_users(mode) => Err(Errno::NODATA),
            Self::User | Self::Other => mode.allow(caller, READ),
            Self::Trusted if !caller.may_all() => Err(Errno::NODATA),
            Self::Trusted | Self::Security | Self::System => Ok(()),
        }
    }

    fn allow_change(self, caller: &Caller<'_>, mode: Mode) -> Result<(), Errno> {
        match self {
            Self::User => {
                let is_shared = mode.is_directory() && mode.mode & STICKY != 0;
                let owns = caller.uid == mode.uid || caller.may_all();
                if !has_users(mode) || is_shared && !owns {
                    return Err(Errno::PERM);
                }
                mode.allow(caller, WRITE)
            }
            Self::Trusted | Self::Security if !caller.may_all() => Err(Errno::PERM),
            Self::Trusted | Self::Security | Self::System => Ok(()),
            Self::Other => mode.allow(caller, WRITE),
        }
    }
}

/// Whether it can have user attributes: only if its permissions govern its content.
fn has_users(mode: Mode) -> bool {
    matches!(mode.mode & TYPE, FILE | DIRECTORY)
}

/// The run with the attributes of an inode, and their total length.
#[derive(Clone, Copy, Debug)]
struct AttributeRun {
    at: Ref,
    bytes: u32,
}

/// An attribute: its position in the run, and the lengths of its name and value.
#[derive(Clone, Copy, Debug)]
struct Attribute {
    at: usize,
    name: usize,
    value: usize,
}

impl Attribute {
    fn value_at(self) -> usize {
        self.at + HEAD + self.name
    }

    fn bytes(self) -> usize {
        HEAD + self.name + self.value
    }
}

impl<'a, S: Seams> Member<'a, S> {
    /// Copies the value of an attribute; returns its length. If `into` is empty, only returns the
    /// length.
    ///
    /// # Errors
    /// [`Errno::NODATA`] if there is no such attribute, [`Errno::RANGE`] if `into` is too short,
    /// [`Errno::OPNOTSUPP`] for a name of an unknown class.
    pub fn attribute(
        &self,
        caller: &Caller<'_>,
        node: Node,
        name: &[u8],
        into: &mut [u8],
    ) -> Result<usize, Errno> {
        let class = Class::from_name(name)?;
        self.read_node(node, |line| {
            class.allow_reading(caller, self.mode(line.load(cell::MODE))?)?;
            class.check_name(name)?;
            let run = self.attributes_of(line)?;
            let found = self.find_attribute(run, name)?.ok_or(Errno::NODATA)?;
            if into.is_empty() {
                return Ok(found.value);
            }
            let into = into.get_mut(..found.value).ok_or(Errno::RANGE)?;
            self.arena().copy_out(run.at, found.value_at(), into)?;
            Ok(found.value)
        })
    }

    /// Copies the names of all attributes that the caller may see, each followed by a zero; returns
    /// their total length. If `into` is empty, only returns the length.
    ///
    /// # Errors
    /// [`Errno::RANGE`] if `into` is too short.
    pub fn attribute_names(
        &self,
        caller: &Caller<'_>,
        node: Node,
        into: &mut [u8],
    ) -> Result<usize, Errno> {
        self.read_node(node, |line| {
            let run = self.attributes_of(line)?;
            let mut length = 0;
            self.each_attribute(run, |found, name| {
                if Class::from_name(name) == Ok(Class::Trusted) && !caller.may_all() {
                    return Ok(true);
                }
                let end = length + found.name + 1;
                if !into.is_empty() {
                    let place = into.get_mut(length..end).ok_or(Errno::RANGE)?;
                    if let Some((zero, place)) = place.split_last_mut() {
                        *zero = 0;
                        place.copy_from_slice(name);
                    }
                }
                length = end;
                Ok(true)
            })?;
            Ok(length)
        })
    }

    /// Sets an attribute of an inode.
    ///
    /// # Errors
    /// [`Errno::EXIST`] and [`Errno::NODATA`] as `how` demands; [`Errno::TOOBIG`] for a value of
    /// more than 64 KiB, [`Errno::NOSPC`] for more than 128 KiB in total; [`Errno::PERM`],
    /// [`Errno::ACCES`], [`Errno::OPNOTSUPP`].
    pub fn set_attribute(
        &self,
        caller: &Caller<'_>,
        node: Node,
        name: &[u8],
        value: &[u8],
        how: SetAttribute,
    ) -> Result<(), Errno> {
        if value.len() > VALUE_MAX {
            return Err(Errno::TOOBIG);
        }
        self.change_attribute(caller, node, name, Some(value), how)
    }

    /// Removes an attribute.
    ///
    /// # Errors
    /// [`Errno::NODATA`] if there is no such attribute; otherwise as [`Self::set_attribute`].
    pub fn remove_attribute(
        &self,
        caller: &Caller<'_>,
        node: Node,
        name: &[u8],
    ) -> Result<(), Errno> {
        self.change_attribute(caller, node, name, None, SetAttribute::Present)
    }

    #[cold]
    fn change_attribute(
        &self,
        caller: &Caller<'_>,
        node: Node,
        name: &[u8],
        value: Option<&[u8]>,
        how: SetAttribute,
    ) -> Result<(), Errno> {
        let class = Class::from_name(name)?;
        let line = self.lock_node(&node)?;
        let done = self.mode(line.load(cell::MODE)).and_then(|mode| {
            class.allow_change(caller, mode)?;
            class.check_name(name)?;
            let inode = self.inode(node.at, line)?;
            self.write_attributes(inode, name, value, how)
        });
        self.finish();
        done
    }

    /// Rewrites all attributes, with a new value for this one, or without it.
    fn write_attributes(
        &self,
        inode: Inode<'a>,
        name: &[u8],
        value: Option<&[u8]>,
        how: SetAttribute,
    ) -> Result<(), Errno> {
        let old = self.attributes_of(inode.line)?;
        let found = self.find_attribute(old, name)?;
        match how {
            SetAttribute::New | SetAttribute::NewAndPresent if found.is_some() => {
                return Err(Errno::EXIST);
            }
            SetAttribute::Present | SetAttribute::NewAndPresent if found.is_none() => {
                return Err(Errno::NODATA);
            }
            SetAttribute::Any
            | SetAttribute::New
            | SetAttribute::Present
            | SetAttribute::NewAndPresent => {}
        }
        let added = value.map_or(0, |value| HEAD + name.len() + value.len());
        let kept = old.bytes as usize - found.map_or(0, Attribute::bytes);
        let bytes = u32::try_from(kept + added).map_err(|_| Errno::NOSPC)?;
        if bytes > BYTES_MAX {
            return Err(Errno::NOSPC);
        }
        self.ready_to_give()?;
        let new = if bytes > 0 { Some(self.obtain_run(lines_for(bytes))?) } else { None };
        let inode = self.with_annex(inode, new.unwrap_or_default())?;
        if let Some(new) = new {
            let mut end = 0;
            self.each_attribute(old, |one, its_name| {
                if its_name != name {
                    self.copy_bytes(old.at, one.at, new, end, one.bytes())?;
                    end += one.bytes();
                }
                Ok(true)
            })?;
            if let Some(value) = value {
                let mut head = [0; HEAD];
                let [name_length, value_length @ ..] = &mut head;
                *name_length = u8::try_from(name.len()).map_err(|_| Errno::RANGE)?;
                let length = u32::try_from(value.len()).map_err(|_| Errno::TOOBIG)?;
                value_length.copy_from_slice(&length.to_le_bytes());
                for piece in [&head[..], name, value] {
                    self.copy_in(new, end, piece)?;
                    end += piece.len();
                }
            }
        }
        self.replace_run(&inode, annex::ATTRIBUTES, old.bytes, new)?;
        self.put(inode.body_at, annex::ATTRIBUTE_BYTES, bytes);
        self.put_changed(inode.at, inode.line, self.seams().now_ns());
        self.commit();
        Ok(())
    }

    /// Copies bytes of one run to another that nobody else can reach.
    fn copy_bytes(
        &self,
        from: Ref,
        from_byte: usize,
        into: Ref,
        into_byte: usize,
        length: usize,
    ) -> Result<(), Errno> {
        let mut buffer = [0; 256];
        let mut done = 0;
        while done < length {
            let piece = buffer.len().min(length - done);
            let bytes = &mut buffer[..piece];
            self.arena().copy_out(from, from_byte + done, bytes)?;
            self.copy_in(into, into_byte + done, bytes)?;
            done += piece;
        }
        Ok(())
    }

    /// The run with an inode's attributes.
    fn attributes_of(&self, line: Line<'a>) -> Result<AttributeRun, Errno> {
        if line.load(cell::FORM) != cell::ANNEX {
            return Ok(AttributeRun { at: Ref::NONE, bytes: 0 });
        }
        let body = self.body(line)?;
        let bytes = body.load(annex::ATTRIBUTE_BYTES);
        if bytes > BYTES_MAX {
            return Err(Errno::CORRUPT);
        }
        Ok(AttributeRun { at: Ref(body.load(annex::ATTRIBUTES)), bytes })
    }

    /// Whether the attributes of an inode are such as calls have set.
    pub(crate) fn has_sound_attributes(&self, line: Line<'a>) -> bool {
        let all = self.attributes_of(line).and_then(|run| {
            self.each_attribute(run, |one, name| {
                let may_be = Class::from_name(name).and_then(|class| class.check_name(name));
                let is_sound = may_be.is_ok() && !name.contains(&0);
                if is_sound && one.value <= VALUE_MAX { Ok(true) } else { Err(Errno::CORRUPT) }
            })
        });
        all.is_ok()
    }

    fn find_attribute(&self, run: AttributeRun, name: &[u8]) -> Result<Option<Attribute>, Errno> {
        let mut wanted = None;
        self.each_attribute(run, |found, its_name| {
            if its_name == name {
                wanted = Some(found);
            }
            Ok(wanted.is_none())
        })?;
        Ok(wanted)
    }

    /// Calls `visit` with each attribute and its name, until it returns false.
    fn each_attribute(
        &self,
        run: AttributeRun,
        mut visit: impl FnMut(Attribute, &[u8]) -> Result<bool, Errno>,
    ) -> Result<(), Errno> {
        let bytes = run.bytes as usize;
        let mut at = 0;
        while at < bytes {
            let (mut head, mut name) = ([0; HEAD], [0; NAME_MAX]);
            self.arena().copy_out(run.at, at, &mut head)?;
            let [name_length, value_length @ ..] = head;
            let value = u32::from_le_bytes(value_length) as usize;
            let found = Attribute { at, name: name_length.into(), value };
            let end = at.checked_add(found.bytes()).filter(|&end| end <= bytes);
            let name = name.get_mut(..found.name).ok_or(Errno::CORRUPT)?;
            self.arena().copy_out(run.at, at + HEAD, name)?;
            at = end.ok_or(Errno::CORRUPT)?;
            if !visit(found, name)? {
                return Ok(());
            }
        }
        Ok(())
    }
}
