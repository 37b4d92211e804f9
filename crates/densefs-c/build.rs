//! Sets the soname, by which the programs of tests are linked to the library.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libdensefs.so");
}
