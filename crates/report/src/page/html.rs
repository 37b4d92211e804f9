//! The file: one HTML page that includes script, style and data, and makes no network requests.
//!
//! The data are only in it as compressed base64, so that a user's label can never be interpreted as
//! markup or script. The content-security policy names the one script and the one style sheet by
//! their hashes and forbids everything else. Whatever cannot run scripts (a mail program's preview,
//! a printer) shows the report's text, which the page also contains, escaped.

use std::io::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::ZlibEncoder;

/// The page's script, as built in `web/`.
const SCRIPT: &str = include_str!("../../assets/page.js");
/// The page's style sheet.
const STYLE: &str = include_str!("../../assets/page.css");
/// The hashes of both, in the form that a content-security policy uses.
const HASHES: &str = include_str!("../../assets/page.hashes");
/// The licences of third-party code in the script.
const LICENCES: &str = include_str!("../../assets/licences.txt");
/// The beginning of the page, by which a file is recognised as one of ours.
pub const HEAD: &str = "<!doctype html>\n<!-- fsprism report -->\n";

/// The parts of a page.
pub(super) struct Parts<'a> {
    /// The title of the page.
    pub(super) title: &'a str,
    /// The text that is shown if no script runs.
    pub(super) text: &'a str,
    /// The payload as JSON.
    pub(super) payload: &'a str,
    /// The block that it points into.
    pub(super) block: &'a [u8],
}

/// The whole file.
pub(super) fn file(parts: &Parts<'_>) -> String {
    let (script_hash, style_hash) = HASHES.trim_end().split_once('\n').unwrap_or_default();
    let policy = format!(
        "default-src 'none'; script-src '{script_hash}'; style-src '{style_hash}'; \
         img-src data: blob:; base-uri 'none'; form-action 'none'"
    );
    let (title, text, licences) = (escaped(parts.title), escaped(parts.text), escaped(LICENCES));
    let (payload, block) = (packed(parts.payload.as_bytes()), packed(parts.block));
    format!(
        "{HEAD}<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <meta name=\"referrer\" content=\"no-referrer\">\n\
         <title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n\
         <div id=\"page\"></div>\n<pre id=\"text\" tabindex=\"0\">{text}</pre>\n\
         <template id=\"licences\">{licences}</template>\n\
         <script type=\"application/octet-stream\" id=\"payload\">{payload}</script>\n\
         <script type=\"application/octet-stream\" id=\"block\">{block}</script>\n\
         <script>{SCRIPT}</script>\n</body>\n</html>\n"
    )
}

fn packed(bytes: &[u8]) -> String {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).expect("writing to memory cannot fail");
    STANDARD.encode(encoder.finish().expect("writing to memory cannot fail"))
}

/// Text that can be inserted between tags or in an attribute.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            other => escaped.push(other),
        }
    }
    escaped
}
