//! What a rig is made of.

use super::disk::Disk;
use super::error::RigError;
use super::shape::Shape;

/// A rig: its roles and the links between them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Description {
    /// The roles; names are unique.
    pub roles: Vec<GuestRole>,
    /// The links.
    pub links: Vec<Link>,
}

/// The role of one of a rig's guests.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GuestRole {
    /// Its name, such as `server`.
    pub name: String,
    /// Its memory in bytes.
    pub memory_bytes: u64,
    /// Its disks, `/dev/vda` and so on. They are empty at first and keep their content across
    /// boots.
    pub disks: Vec<Disk>,
    /// Names, as in the image's list of modules, of what is loaded first.
    pub load: Vec<String>,
}

/// A link between two roles, with its own addresses.
#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    /// Names of the two roles.
    pub ends: [String; 2],
    /// How each end shapes its outgoing traffic.
    pub shape: Shape,
}

/// One end of a link, as a role sees it.
pub(super) struct LinkEnd {
    /// Index of the link.
    pub(super) link: usize,
    /// Which of the link's ends this is, 0 or 1.
    pub(super) end: usize,
}

/// The maximum number of links of a rig, whose index is one byte of their addresses.
const LINKS_MAX: usize = 100;

impl Description {
    /// The address of one end of a link, 0 or 1.
    #[must_use]
    pub fn address(link: usize, end: usize) -> String {
        format!("10.77.{link}.{}", end + 1)
    }

    /// The role with this name.
    pub(super) fn role(&self, name: &str) -> Result<&GuestRole, RigError> {
        let found = self.roles.iter().find(|role| role.name == name);
        found.ok_or_else(|| RigError::NoRole(name.to_owned()))
    }

    /// A role's ends of links, in the order of the links.
    pub(super) fn ends_of(&self, name: &str) -> Vec<LinkEnd> {
        let ends = self.links.iter().enumerate().flat_map(|(link, of)| {
            let ends = of.ends.iter().enumerate().filter(|(_, role)| *role == name);
            ends.map(move |(end, _)| LinkEnd { link, end }).collect::<Vec<_>>()
        });
        ends.collect()
    }

    /// Rejects links between roles that do not exist, and too many links.
    pub(super) fn check(&self) -> Result<(), RigError> {
        for end in self.links.iter().flat_map(|link| &link.ends) {
            self.role(end)?;
        }
        if self.links.len() > LINKS_MAX {
            return Err(RigError::Links { links: self.links.len(), most: LINKS_MAX });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_role_has_its_ends_of_all_links() {
        let role = |name: &str| GuestRole { name: name.to_owned(), ..GuestRole::default() };
        let link = |one: &str, other: &str| Link {
            ends: [one.to_owned(), other.to_owned()],
            shape: Shape::default(),
        };
        let rig = Description {
            roles: vec![role("server"), role("first"), role("second")],
            links: vec![link("server", "first"), link("server", "second")],
        };
        rig.check().unwrap();
        let ends: Vec<_> = rig.ends_of("server").iter().map(|end| (end.link, end.end)).collect();
        assert_eq!(ends, [(0, 0), (1, 0)]);
        assert_eq!(rig.ends_of("second")[0].link, 1);
        assert_eq!(Description::address(1, 1), "10.77.1.2");
        let wrong = Description { links: vec![link("server", "third")], ..rig };
        assert!(wrong.check().unwrap_err().to_string().contains("third"));
    }
}
