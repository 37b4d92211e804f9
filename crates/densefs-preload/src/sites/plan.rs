//! What has been found out about the sites of libraries, in a form that a program can hand on to
//! those that it executes: to search the C library takes longer than all else at their start.

use super::{
    scan::SYSTEM_CALL,
    site::{JUMP, Window},
    text::Text,
};

/// Which form this is.
const MAGIC: u32 = 0x4453_5031;
/// Room for the sites of all libraries.
const WORDS: usize = 4096;
/// What comes before all libraries, before the sites of each, and is told of each site.
const HEAD: usize = 2;
const LIBRARY: usize = 10;
const SITE: usize = 4;

/// What identifies a library: its build ID.
pub(super) type Identity = [u32; 5];

/// The sites of some libraries.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    words: [u32; WORDS],
    length: usize,
}

/// A site that is to be rewritten.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Planned {
    /// Where its `syscall` is in the text.
    pub(super) call: usize,
    /// What the jump is put over.
    pub(super) window: Window,
    /// Whether vector registers may be in use there.
    pub(super) has_vectors: bool,
}

/// A library, as it was when its sites were found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Subject {
    /// Its index among those that are rewritten.
    pub(super) which: usize,
    pub(super) identity: Identity,
    /// The length of its text.
    pub(super) length: usize,
}

/// What is known about the sites of a library.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known<'p> {
    /// How many sites there are.
    pub(super) found: usize,
    /// How many of them are left as they are.
    pub(super) left: usize,
    sites: &'p [u32],
}

impl Plan {
    /// An empty one, for system calls whose numbers are `wanted`.
    pub(super) fn new(wanted: &dyn Fn(usize) -> bool) -> Self {
        let mut plan = Self { words: [0; WORDS], length: 0 };
        plan.push(&[MAGIC, digest(wanted)]);
        plan
    }

    /// One of these bytes; `None` if they are none.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (words, []) = bytes.as_chunks() else { return None };
        let mut plan = Self { words: [0; WORDS], length: words.len() };
        let into = plan.words.get_mut(..words.len())?;
        for (into, word) in into.iter_mut().zip(words) {
            *into = u32::from_ne_bytes(*word);
        }
        (plan.words[0] == MAGIC && plan.length >= HEAD).then_some(plan)
    }

    /// Its bytes.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        self.words[..self.length].iter().flat_map(|word| word.to_ne_bytes()).collect()
    }

    fn push(&mut self, words: &[u32]) {
        if let Some(into) = self.words.get_mut(self.length..self.length + words.len()) {
            into.copy_from_slice(words);
            self.length += words.len();
        }
    }

    /// Begins with a library; what follows are its sites.
    pub(super) fn begin(&mut self, subject: &Subject) -> Section {
        let at = self.length;
        let word = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        let [a, b, c, d, e] = subject.identity;
        self.push(&[word(subject.which), a, b, c, d, e, word(subject.length), 0, 0, 0]);
        Section { at, count: 0 }
    }

    /// Adds a site of the library that was begun last.
    pub(super) fn add(&mut self, section: &mut Section, site: &Planned) {
        let word = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        let Planned { call, window, has_vectors } = site;
        self.push(&[word(*call), word(window.start), word(window.end), u32::from(*has_vectors)]);
        section.count += 1;
    }

    /// Ends with a library. If there was no room for all of it, it is left out.
    pub(super) fn end(&mut self, section: &Section, found: usize, left: usize) {
        let word = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        let is_whole = self.length == section.at + LIBRARY + section.count * SITE;
        if let Some(counts) = self.words.get_mut(section.at + 7..section.at + LIBRARY)
            && is_whole
        {
            counts.copy_from_slice(&[word(found), word(left), word(section.count)]);
        } else {
            self.length = section.at;
        }
    }

    /// What is known about a library, for calls whose numbers are `wanted`.
    pub(super) fn known(
        &self,
        subject: &Subject,
        wanted: &dyn Fn(usize) -> bool,
    ) -> Option<Known<'_>> {
        let (head, mut rest) = self.words[..self.length].split_first_chunk::<HEAD>()?;
        if *head != [MAGIC, digest(wanted)] {
            return None;
        }
        while let Some((library, after)) = rest.split_first_chunk::<LIBRARY>() {
            let [which, a, b, c, d, e, length, found, left, count] = *library;
            let number = |word: u32| usize::try_from(word).ok();
            let sites = after.get(..number(count)?.checked_mul(SITE)?)?;
            let (which, length) = (number(which)?, number(length)?);
            if *subject == (Subject { which, identity: [a, b, c, d, e], length }) {
                return Some(Known { found: number(found)?, left: number(left)?, sites });
            }
            rest = &after[sites.len()..];
        }
        None
    }
}

/// A library of a plan that is being made.
pub(super) struct Section {
    at: usize,
    count: usize,
}

impl Known<'_> {
    /// The sites.
    pub(super) fn sites(&self) -> impl Iterator<Item = Planned> {
        let (sites, _) = self.sites.as_chunks::<SITE>();
        sites.iter().map(|&[call, start, end, has_vectors]| {
            let [call, start, end] = [call, start, end].map(|word| word as usize);
            Planned { call, window: start..end, has_vectors: has_vectors != 0 }
        })
    }

    /// Whether all sites can be sites of a text.
    pub(super) fn fits(&self, text: &Text) -> bool {
        self.sites().all(|site| {
            let call = site.call..site.call.saturating_add(SYSTEM_CALL.len());
            let Window { start, end } = site.window;
            text.bytes.get(call) == Some(&SYSTEM_CALL[..])
                && (start..=site.call).contains(&start)
                && end <= text.bytes.len()
                && end >= start + JUMP
                && end >= site.call
        })
    }
}

/// A number for a set of numbers.
fn digest(wanted: &dyn Fn(usize) -> bool) -> u32 {
    const NUMBERS: usize = 512;
    let begin = 0x811c_9dc5_u32;
    (0..NUMBERS).filter(|&number| wanted(number)).fold(begin, |digest, number| {
        (digest ^ u32::try_from(number).unwrap_or(0)).wrapping_mul(0x0100_0193)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn subject(which: usize) -> Subject {
        Subject { which, identity: [1, 2, 3, 4, which as u32], length: 1000 }
    }

    fn planned(call: usize) -> Planned {
        Planned { call, window: call - 5..call, has_vectors: call.is_multiple_of(2) }
    }

    #[test]
    fn what_is_handed_on_is_what_was_found() {
        let wanted = |number| number == 7;
        let mut plan = Plan::new(&wanted);
        for which in 0..2 {
            let mut section = plan.begin(&subject(which));
            for call in [10, 21, 30 + which] {
                plan.add(&mut section, &planned(call));
            }
            plan.end(&section, 9, 6);
        }
        let read = Plan::from_bytes(&plan.to_bytes()).expect("it is one");
        for which in 0..2 {
            let known = read.known(&subject(which), &wanted).expect("it is there");
            assert_eq!((known.found, known.left), (9, 6));
            let expected = [10, 21, 30 + which].map(planned);
            assert_eq!(known.sites().collect::<Vec<_>>(), expected);
        }
        assert!(read.known(&subject(2), &wanted).is_none());
        assert!(read.known(&Subject { length: 999, ..subject(1) }, &wanted).is_none());
        assert!(read.known(&subject(1), &|number| number == 8).is_none());
    }

    #[test]
    fn what_is_no_plan_is_not_taken_for_one() {
        assert!(Plan::from_bytes(b"").is_none());
        assert!(Plan::from_bytes(&[0; 12]).is_none());
        let bytes = Plan::new(&|_| true).to_bytes();
        assert!(Plan::from_bytes(&bytes).is_some());
        assert!(Plan::from_bytes(&bytes[..7]).is_none());
        assert!(Plan::from_bytes(&[&bytes[..], &[0; 4 * WORDS]].concat()).is_none());
        // A library whose sites are cut off.
        let mut plan = Plan::new(&|_| true);
        let mut section = plan.begin(&subject(0));
        plan.add(&mut section, &planned(10));
        plan.end(&section, 1, 0);
        let bytes = plan.to_bytes();
        let cut = Plan::from_bytes(&bytes[..bytes.len() - 4]).expect("it has a head");
        assert!(cut.known(&subject(0), &|_| true).is_none());
    }

    #[test]
    fn a_library_that_has_no_room_is_left_out() {
        let mut plan = Plan::new(&|_| true);
        let mut section = plan.begin(&subject(0));
        (0..WORDS).for_each(|_| plan.add(&mut section, &planned(10)));
        plan.end(&section, WORDS, 0);
        assert_eq!(plan.length, HEAD);
        assert!(plan.known(&subject(0), &|_| true).is_none());
    }
}
