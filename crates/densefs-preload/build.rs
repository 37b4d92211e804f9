//! Tells the linker how to link the library.

fn main() {
    // Programs that unload it would call what is no longer there.
    println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete,-z,now,-z,relro");
    println!("cargo::rerun-if-changed=build.rs");
}
