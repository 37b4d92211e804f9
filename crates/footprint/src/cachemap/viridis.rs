//! The colour table of cachemaps, which the HTML page uses too.
//!
//! Stefan van der Walt and Nathaniel Smith, "A Better Default Colormap for Matplotlib", 2015; data
//! in the public domain (CC0).

/// Entries of the table.
const ENTRIES: usize = 256;

const TABLE: [&str; 18] = [
    "44015444025645045745055946075a46085c460a5d460b5e470d60470e61471063471164471365481467481668",
    "48176948186a481a6c481b6d481c6e481d6f481f70482071482173482374482475482576482677482878482979",
    "472a7a472c7a472d7b472e7c472f7d46307e46327e46337f463480453581453781453882443983443a83443b84",
    "433d84433e85423f854240864241864142874144874045884046883f47883f48893e49893e4a893e4c8a3d4d8a",
    "3d4e8a3c4f8a3c508b3b518b3b528b3a538b3a548c39558c39568c38588c38598c375a8c375b8d365c8d365d8d",
    "355e8d355f8d34608d34618d33628d33638d32648e32658e31668e31678e31688e30698e306a8e2f6b8e2f6c8e",
    "2e6d8e2e6e8e2e6f8e2d708e2d718e2c718e2c728e2c738e2b748e2b758e2a768e2a778e2a788e29798e297a8e",
    "297b8e287c8e287d8e277e8e277f8e27808e26818e26828e26828e25838e25848e25858e24868e24878e23888e",
    "23898e238a8d228b8d228c8d228d8d218e8d218f8d21908d21918c20928c20928c20938c1f948c1f958b1f968b",
    "1f978b1f988b1f998a1f9a8a1e9b8a1e9c891e9d891f9e891f9f881fa0881fa1881fa1871fa28720a38620a486",
    "21a58521a68522a78522a88423a98324aa8325ab8225ac8226ad8127ad8128ae8029af7f2ab07f2cb17e2db27d",
    "2eb37c2fb47c31b57b32b67a34b67935b77937b87838b9773aba763bbb753dbc743fbc7340bd7242be7144bf70",
    "46c06f48c16e4ac16d4cc26c4ec36b50c46a52c56954c56856c66758c7655ac8645cc8635ec96260ca6063cb5f",
    "65cb5e67cc5c69cd5b6ccd5a6ece5870cf5773d05675d05477d1537ad1517cd2507fd34e81d34d84d44b86d549",
    "89d5488bd6468ed64590d74393d74195d84098d83e9bd93c9dd93ba0da39a2da37a5db36a8db34aadc32addc30",
    "b0dd2fb2dd2db5de2bb8de29bade28bddf26c0df25c2df23c5e021c8e020cae11fcde11dd0e11cd2e21bd5e21a",
    "d8e219dae319dde318dfe318e2e418e5e419e7e419eae51aece51befe51cf1e51df4e61ef6e620f8e621fbe723",
    "fde725",
];

/// The colour (red, green, blue) at a position on the scale from 0 to 1.
pub(super) fn colour(share: f64) -> [u8; 3] {
    let last = (ENTRIES - 1) as f64;
    let at = (share.clamp(0.0, 1.0) * last).round();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 255")]
    let at = at as usize;
    let digits = &TABLE[at / 15][at % 15 * 6..][..6];
    [0, 2, 4].map(|from| u8::from_str_radix(&digits[from..from + 2], 16).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_that_of_the_page() {
        let page = include_str!("../../../../web/src/charts/palettes.ts");
        assert!(TABLE.iter().all(|row| page.contains(&format!("\"{row}\""))));
        assert_eq!(TABLE.concat().len(), ENTRIES * 6);
        assert_eq!((colour(0.0), colour(1.0)), ([0x44, 1, 0x54], [0xfd, 0xe7, 0x25]));
        assert_eq!(colour(15.0 / 255.0), [0x48, 0x17, 0x69], "the second row");
    }
}
