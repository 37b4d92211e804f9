//! Sets the soname, by which the programs of tests are linked to the library.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    // An argument for shared libraries alone would also reach those that are made of this one.
    println!("cargo:rustc-link-arg=-Wl,-soname,libdensefs.so");
}
