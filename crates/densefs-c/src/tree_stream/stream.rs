//! Streams: the walk itself.

use std::ffi::{c_int, c_ushort, c_void};
use std::path::Path;

use densefs_process::{Base, Errno, Follow, Stat, flags};

use super::entry::{ABOVE, AGAIN, FOLLOW, NO_INSTRUCTION, Node, ROOT, SKIP, free_all, kind};
use crate::attached::{attached, device};

/// Options, which `fts_open` takes.
const FOLLOW_ARGUMENTS: c_int = 0x1;
const LOGICAL: c_int = 0x2;
const NO_STAT: c_int = 0x8;
const PHYSICAL: c_int = 0x10;
const SEE_DOT: c_int = 0x20;
pub(super) const ALL_OPTIONS: c_int = 0xff;
/// What `fts_children` takes.
pub(super) const NAMES_ONLY: c_int = 0x100;

pub(super) type Compare = unsafe extern "C" fn(*const c_void, *const c_void) -> c_int;

/// `FTS`.
pub struct Stream {
    /// What the last call returned.
    current: Option<Node>,
    /// What is in the current directory, if somebody has asked.
    children: Option<Node>,
    /// Whether only their names were asked for.
    are_names: bool,
    /// After an error that leaves the rest unknown.
    is_stopped: bool,
    path: Vec<u8>,
    options: c_int,
    compare: Option<Compare>,
}

impl Drop for Stream {
    fn drop(&mut self) {
        free_all(self.children);
        // What comes after the current entry, then its parent and what comes after that.
        let mut rest = self.current;
        while let Some(node) = rest {
            rest = node.next.or(node.parent);
            node.free();
        }
    }
}

/// Who asks what is in a directory.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Asks {
    Read,
    Children,
    Names,
}

impl Stream {
    pub(super) fn new(
        arguments: &[&[u8]],
        options: c_int,
        compare: Option<Compare>,
    ) -> Result<Self, Errno> {
        let path = vec![0; usize::from(c_ushort::MAX) + 1];
        let (current, children) = (None, None);
        let (are_names, is_stopped) = (false, false);
        let mut stream = Self { current, children, are_names, is_stopped, path, options, compare };
        let mut above = stream.node(b"")?;
        above.level = ABOVE;
        stream.current = Some(above);
        let mut start = stream.node(b"")?;
        (start.kind, start.parent) = (kind::START, stream.current);
        stream.current = Some(start);
        let mut last = start;
        let mut nodes = Vec::with_capacity(arguments.len());
        for &argument in arguments {
            match argument.len() {
                0 => return Err(Errno::NOENT),
                length if length >= c_ushort::MAX.into() => return Err(Errno::NAMETOOLONG),
                _ => {}
            }
            let mut node = stream.node(argument)?;
            // In the list from now on, so that it is freed with the stream.
            (node.parent, last.next, last) = (start.parent, Some(node), node);
            node.access_path = node.name_bytes().cast();
            node.kind = match stream.look(&mut node, options & FOLLOW_ARGUMENTS != 0) {
                // As an argument, it is a directory like others.
                kind::DOT => kind::DIRECTORY,
                kind => kind,
            };
            nodes.push(node);
        }
        start.next = stream.in_order(nodes);
        Ok(stream)
    }

    /// What is in the current directory, or the arguments before anything was read.
    pub(super) fn children(&mut self, asks: Asks) -> Result<Option<Node>, Errno> {
        let Some(current) = self.current.filter(|_| !self.is_stopped) else { return Ok(None) };
        if current.kind == kind::START {
            return Ok(current.next);
        }
        if current.kind != kind::DIRECTORY {
            return Ok(None);
        }
        free_all(self.children.take());
        self.are_names |= asks == Asks::Names;
        self.children = self.list(asks)?;
        Ok(self.children)
    }

    fn is(&self, option: c_int) -> bool {
        self.options & option != 0
    }

    fn node(&mut self, name: &[u8]) -> Result<Node, Errno> {
        let mut node = Node::new(name).ok_or(Errno(libc::ENOMEM))?;
        node.path = self.path.as_mut_ptr().cast();
        if !self.is(NO_STAT) {
            node.stat = node.room_for_stat();
        }
        Ok(node)
    }

    /// Where a name goes that follows an entry's path, and its slash.
    fn end_of_path(&self, node: Node) -> usize {
        let length = usize::from(node.path_length);
        if self.path[length - 1] == b'/' { length - 1 } else { length }
    }

    fn set_path(&mut self, at: usize, parts: [&[u8]; 2]) {
        let all = parts.concat();
        self.path[at..][..all.len()].copy_from_slice(&all);
        self.path[at + all.len()] = 0;
    }

    /// Makes this argument the one that is walked.
    fn load(&mut self, mut node: Node) {
        let name = node.name().to_vec();
        self.set_path(0, [&name, b""]);
        node.path_length = node.name_length;
        if let Some(slash) = name.iter().rposition(|&byte| byte == b'/')
            && name != b"/"
        {
            node.shorten_name(&name[slash + 1..]);
        }
        node.access_path = self.path.as_mut_ptr().cast();
    }

    /// Looks what an entry is.
    fn look(&self, node: &mut Node, is_followed: bool) -> c_ushort {
        let look = |follow| attached()?.stat_from(Base::Working, node.access_path(), follow);
        let is_followed = is_followed || self.is(LOGICAL);
        let found = match look(if is_followed { Follow::Yes } else { Follow::No }) {
            Err(why) if is_followed => match look(Follow::No) {
                Ok(link) => Ok((link, true)),
                Err(_) => Err(why),
            },
            found => found.map(|stat| (stat, false)),
        };
        let (stat, is_dangling) = match found {
            Ok(found) => found,
            Err(why) => {
                node.errno = why.0;
                node.write_stat(None);
                return kind::WITHOUT_STAT;
            }
        };
        node.write_stat(Some(&stat));
        match stat.mode.mode & libc::S_IFMT {
            _ if is_dangling => kind::DANGLING_LINK,
            libc::S_IFDIR => directory(node, &stat),
            libc::S_IFLNK => kind::LINK,
            libc::S_IFREG => kind::FILE,
            _ => kind::OTHER,
        }
    }

    /// The entries of the current directory, in order.
    fn list(&mut self, asks: Asks) -> Result<Option<Node>, Errno> {
        let Some(mut directory) = self.current else { return Ok(None) };
        let all = match names_in(directory.access_path(), self.is(SEE_DOT)) {
            Ok(all) => all,
            Err(why) => {
                if asks == Asks::Read {
                    directory.kind = kind::UNREADABLE;
                    directory.errno = why.0;
                }
                return Err(why);
            }
        };
        let end = self.end_of_path(directory);
        // With `FTS_NOSTAT`, it is enough to look at the directories.
        let spares = self.is(NO_STAT) && self.is(PHYSICAL);
        let mut nodes = Vec::with_capacity(all.len());
        for (name, type_bits) in all {
            let length = end + 1 + name.len();
            let made = if length < c_ushort::MAX.into() { self.node(&name) } else { TOO_LONG };
            let mut node = match made {
                Ok(node) => node,
                Err(why) => {
                    nodes.into_iter().for_each(Node::free);
                    (directory.kind, self.is_stopped) = (kind::ERROR, true);
                    return Err(why);
                }
            };
            node.level = directory.level.wrapping_add(1);
            node.parent = self.current;
            node.path_length = c_ushort::try_from(length).unwrap_or(0);
            node.access_path = node.path;
            let is_directory = type_bits & libc::S_IFMT == libc::S_IFDIR;
            node.kind = if asks == Asks::Names || (spares && !is_directory) {
                kind::UNASKED
            } else {
                self.set_path(end, [b"/", &name]);
                self.look(&mut node, false)
            };
            nodes.push(node);
        }
        self.path[usize::from(directory.path_length)] = 0;
        if nodes.is_empty() && asks == Asks::Read {
            directory.kind = kind::DIRECTORY_AFTER;
        }
        Ok(self.in_order(nodes))
    }

    /// Makes a list of entries, in the order that the program wants.
    fn in_order(&self, mut nodes: Vec<Node>) -> Option<Node> {
        if let Some(compare) = self.compare
            && nodes.len() > 1
        {
            // Not Rust's, which may panic if the program's order is none.
            // SAFETY: these are pointers, which is what the program's function compares.
            unsafe {
                let first = nodes.as_mut_ptr().cast();
                libc::qsort(first, nodes.len(), size_of::<Node>(), Some(compare));
            }
        }
        let mut next = None;
        for mut node in nodes.into_iter().rev() {
            node.next = next;
            next = Some(node);
        }
        next
    }

    /// The next entry; none at the end, or if there is no memory.
    pub(super) fn read(&mut self) -> Result<Option<Node>, Errno> {
        let Some(mut node) = self.current.filter(|_| !self.is_stopped) else { return Ok(None) };
        let instruction = std::mem::replace(&mut node.instruction, NO_INSTRUCTION);
        if instruction == AGAIN {
            node.kind = self.look(&mut node, false);
            return Ok(Some(node));
        }
        if instruction == FOLLOW && matches!(node.kind, kind::LINK | kind::DANGLING_LINK) {
            node.kind = self.look(&mut node, true);
            return Ok(Some(node));
        }
        if node.kind == kind::DIRECTORY {
            if instruction == SKIP {
                free_all(self.children.take());
                node.kind = kind::DIRECTORY_AFTER;
                return Ok(Some(node));
            }
            if self.are_names {
                self.are_names = false;
                free_all(self.children.take());
            }
            let first = match self.children.take() {
                None => self.list(Asks::Read),
                first => Ok(first),
            };
            return match first {
                Ok(Some(first)) => Ok(Some(self.enter(first))),
                Err(why) if node.kind != kind::UNREADABLE => Err(why),
                Ok(None) | Err(_) => Ok(Some(node)),
            };
        }
        self.go_on(node)
    }

    /// The entry after this one, or the directory that both are in.
    fn go_on(&mut self, mut node: Node) -> Result<Option<Node>, Errno> {
        while let Some(mut next) = node.next {
            node.free();
            self.current = Some(next);
            if next.level == ROOT {
                self.load(next);
                return Ok(Some(next));
            }
            if next.instruction == SKIP {
                node = next;
                continue;
            }
            self.enter(next);
            if next.instruction == FOLLOW {
                next.kind = self.look(&mut next, true);
                next.instruction = NO_INSTRUCTION;
            }
            return Ok(Some(next));
        }
        let above = node.parent;
        node.free();
        self.current = above;
        let Some(mut above) = above else { return Ok(None) };
        if above.level == ABOVE {
            above.free();
            self.current = None;
            return Ok(None);
        }
        self.path[usize::from(above.path_length)] = 0;
        above.kind = if above.errno == 0 { kind::DIRECTORY_AFTER } else { kind::ERROR };
        Ok(Some(above))
    }

    /// Makes this the current entry, with its path.
    fn enter(&mut self, node: Node) -> Node {
        if let Some(parent) = node.parent {
            let end = self.end_of_path(parent);
            let name = node.name().to_vec();
            self.set_path(end, [b"/", &name]);
        }
        self.current = Some(node);
        node
    }
}

const TOO_LONG: Result<Node, Errno> = Err(Errno::NAMETOOLONG);

/// Notes which directory an entry is, and whether the way to it leads through the same one.
fn directory(node: &mut Node, stat: &Stat) -> c_ushort {
    (node.device, node.ino, node.links) = (device(), stat.ino, stat.links.into());
    if node.is_dot() {
        return kind::DOT;
    }
    let mut above = node.parent;
    while let Some(one) = above.filter(|one| one.level >= ROOT) {
        if one.ino == node.ino {
            node.cycle = Some(one);
            return kind::CYCLE;
        }
        above = one.parent;
    }
    kind::DIRECTORY
}

/// The names in a directory, and the types of what they refer to.
fn names_in(path: &Path, has_dots: bool) -> Result<Vec<(Vec<u8>, u32)>, Errno> {
    let files = attached()?;
    let descriptor = files.open_descriptor(Base::Working, path, flags::DIRECTORY, 0)?;
    let all = files.list(descriptor, usize::MAX);
    files.close(descriptor)?;
    let dots: &[&[u8]] = if has_dots { &[b".", b".."] } else { &[] };
    let dots = dots.iter().map(|name| (name.to_vec(), libc::S_IFDIR));
    Ok(dots.chain(all?.into_iter().map(|one| (one.name, one.type_bits))).collect())
}
