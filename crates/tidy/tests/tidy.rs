//! Checks every file of this repository against the rules of the `tidy` crate.

use std::path::Path;

#[test]
fn the_repository_is_tidy() {
    // Read at run time: builds of several clones may share a directory, and a test that was built
    // in another clone would check that one.
    let manifest = std::env::var_os("CARGO_MANIFEST_DIR").expect("cargo runs this test");
    let root = &Path::new(&manifest).join("../..");
    let files = tidy::read_repository(root).expect("the repository can be read");
    assert!(files.len() > 10, "only {} files were found below {}", files.len(), root.display());
    let findings = tidy::check_all(&files);
    let listing: Vec<String> = findings.iter().map(ToString::to_string).collect();
    assert!(findings.is_empty(), "{} findings:\n{}", findings.len(), listing.join("\n"));
}
