# needs: cargo
export CARGO_HOME=$PWD/home CARGO_TARGET_DIR=$PWD/target
export CARGO_NET_OFFLINE=true CARGO_TERM_QUIET=true
export RUSTUP_HOME=${RUSTUP_HOME:-$HOME/.rustup} CARGO_INCREMENTAL=1 CARGO_BUILD_JOBS=2
mkdir home && cargo new --vcs none --lib part && cargo new --vcs none whole && cd whole
cargo add --path ../part 2>/dev/null
echo 'fn main() { println!("{}", part::add(2, 3)); }' >src/main.rs
cargo build && cargo run && echo built
sed -i s/left/first/g ../part/src/lib.rs && cargo check && cargo run
cargo test --manifest-path ../part/Cargo.toml 2>/dev/null | grep -c '^test result: ok'
cargo metadata --format-version 1 --no-deps | tr , '\n' | grep -c '"name":"whole"'
cargo clean && ls ../target 2>/dev/null; rm -rf ../target ../home
