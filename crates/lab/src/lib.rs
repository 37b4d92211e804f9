//! Guest machines: kernels, image, boot, and what a guest hands back.
//!
//! [`kernel`] gets a kernel, from a package or built from source. [`image`] packs what runs in the
//! guest. [`boot`] runs QEMU without root and without KVM, so that two boots of the same job
//! execute the same instructions. [`rig`] runs several guests at the same time, with private links
//! between them. [`densefs`] builds DenseFS as a module for a kernel. [`inside`] is the guest's
//! side: the image's `/init` is fsprism itself. [`handover`] is the stream from guest to host.

pub mod boot;
pub mod command;
mod decompress;
pub mod densefs;
mod edge;
mod elf;
mod error;
pub mod guest;
pub mod handover;
pub mod image;
pub mod inside;
pub mod kernel;
mod package;
mod place;
mod qemu;
pub mod rig;
pub mod status;
mod tool;

pub use boot::{Boot, BootOutput, Plugin};
pub use edge::die_with_parent;
pub use error::{BootError, LabError};
pub use image::{GuestProgram, Image, ImageParts};
pub use kernel::Kernel;
pub use place::Lab;
