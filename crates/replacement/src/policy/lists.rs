//! Doubly linked lists of pages, with each page on at most one: the data structure of most
//! replacement policies. Every operation takes constant time.

/// The end of a list.
const NONE: u32 = u32::MAX;

/// Not on any list.
const NOWHERE: u8 = u8::MAX;

#[derive(Clone, Copy)]
struct Node {
    newer: u32,
    older: u32,
    list: u8,
}

#[derive(Clone, Copy)]
struct ListEnds {
    newest: u32,
    oldest: u32,
    length: u32,
}

/// `N` lists, numbered from 0, of pages whose numbers are below a fixed bound.
pub(super) struct PageLists<const N: usize> {
    nodes: Vec<Node>,
    ends: [ListEnds; N],
}

impl<const N: usize> PageLists<N> {
    pub(super) fn new(pages: u32) -> Self {
        let node = Node { newer: NONE, older: NONE, list: NOWHERE };
        let ends = ListEnds { newest: NONE, oldest: NONE, length: 0 };
        Self { nodes: vec![node; pages as usize], ends: [ends; N] }
    }

    /// The list that `page` is on.
    pub(super) fn list_of(&self, page: u32) -> Option<u8> {
        let list = self.nodes[page as usize].list;
        (list != NOWHERE).then_some(list)
    }

    pub(super) fn is_on(&self, list: u8, page: u32) -> bool {
        self.nodes[page as usize].list == list
    }

    pub(super) fn length(&self, list: u8) -> u32 {
        self.ends[usize::from(list)].length
    }

    /// The page that has been on `list` longest.
    pub(super) fn oldest(&self, list: u8) -> Option<u32> {
        let oldest = self.ends[usize::from(list)].oldest;
        (oldest != NONE).then_some(oldest)
    }

    /// Puts `page` at the front of `list`, removing it from where it was.
    pub(super) fn put_newest(&mut self, list: u8, page: u32) {
        self.take(page);
        let ends = &mut self.ends[usize::from(list)];
        let older = ends.newest;
        ends.newest = page;
        ends.length += 1;
        if older == NONE {
            ends.oldest = page;
        } else {
            self.nodes[older as usize].newer = page;
        }
        self.nodes[page as usize] = Node { newer: NONE, older, list };
    }

    /// Puts `page` at the back of `list`, where it is next in line, removing it from where it was.
    pub(super) fn put_oldest(&mut self, list: u8, page: u32) {
        self.take(page);
        let ends = &mut self.ends[usize::from(list)];
        let newer = ends.oldest;
        ends.oldest = page;
        ends.length += 1;
        if newer == NONE {
            ends.newest = page;
        } else {
            self.nodes[newer as usize].older = page;
        }
        self.nodes[page as usize] = Node { newer, older: NONE, list };
    }

    /// Removes `page` from its list, if it is on one.
    pub(super) fn take(&mut self, page: u32) {
        let Node { newer, older, list } = self.nodes[page as usize];
        if list == NOWHERE {
            return;
        }
        let ends = &mut self.ends[usize::from(list)];
        ends.length -= 1;
        if newer == NONE {
            ends.newest = older;
        } else {
            self.nodes[newer as usize].older = older;
        }
        if older == NONE {
            self.ends[usize::from(list)].oldest = newer;
        } else {
            self.nodes[older as usize].newer = newer;
        }
        self.nodes[page as usize].list = NOWHERE;
    }

    /// Removes the oldest page from `list`.
    pub(super) fn take_oldest(&mut self, list: u8) -> Option<u32> {
        let page = self.oldest(list)?;
        self.take(page);
        Some(page)
    }

    /// Removes the newest page from `list`.
    pub(super) fn take_newest(&mut self, list: u8) -> Option<u32> {
        let page = self.ends[usize::from(list)].newest;
        if page == NONE {
            return None;
        }
        self.take(page);
        Some(page)
    }
}
