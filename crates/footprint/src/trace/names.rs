//! Names for addresses.

use crate::description::Description;

/// A function: the address of its first byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FunctionId(pub u64);

/// Provides names for the addresses of a trace.
pub trait Names {
    /// The function that contains an address.
    fn function(&self, address: u64) -> Option<FunctionId>;

    /// The name of a function's symbol.
    fn name(&self, function: FunctionId) -> Option<&str>;

    /// Where a function is: `vmlinux`, a kernel module's name, a program's or library's path.
    fn object(&self, _function: FunctionId) -> Option<&str> {
        None
    }

    /// The source file that defines a function, relative to the source tree.
    fn file(&self, _function: FunctionId) -> Option<&str> {
        None
    }

    /// The inlined functions around an address, outermost first: name and file.
    fn inlined(&self, _address: u64) -> Vec<(&str, Option<&str>)> {
        Vec::new()
    }
}

/// No names: a function is whatever a call leads to.
#[derive(Clone, Copy, Debug, Default)]
pub struct Nameless;

impl Names for Nameless {
    fn function(&self, _address: u64) -> Option<FunctionId> {
        None
    }

    fn name(&self, _function: FunctionId) -> Option<&str> {
        None
    }
}

impl Names for Description {
    fn function(&self, address: u64) -> Option<FunctionId> {
        Self::function(self, address).map(|function| FunctionId(function.address))
    }

    fn name(&self, function: FunctionId) -> Option<&str> {
        Self::function(self, function.0).map(|function| function.name.as_str())
    }

    fn object(&self, function: FunctionId) -> Option<&str> {
        Self::function(self, function.0).map(|function| function.object.as_str())
    }

    fn file(&self, function: FunctionId) -> Option<&str> {
        Self::function(self, function.0).and_then(|function| function.file.as_deref())
    }

    fn inlined(&self, address: u64) -> Vec<(&str, Option<&str>)> {
        let found = Self::inlined(self, address);
        found.into_iter().map(|one| (one.name.as_str(), one.file.as_deref())).collect()
    }
}
