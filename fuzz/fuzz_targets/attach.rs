//! A fuzzer chooses what somebody writes into the file of an arena before it is attached, used and
//! checked: first which arena, then changes.
#![no_main]

#[path = "../../crates/densefs-process/tests/spoilt/image.rs"]
mod image;

use std::sync::OnceLock;

use image::Images;
use libfuzzer_sys::fuzz_target;

static IMAGES: OnceLock<Images> = OnceLock::new();

fuzz_target!(|input: &[u8]| {
    let images = IMAGES.get_or_init(Images::new);
    let (which, changes) = input.split_first().unwrap_or((&0, &[]));
    images.try_out(&images.spoilt((*which).into(), changes));
});
