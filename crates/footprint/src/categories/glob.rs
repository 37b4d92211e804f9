//! Patterns of names.

/// Whether all of a text matches: `*` stands for any characters, `?` for one.
pub(super) fn matches(pattern: &str, text: &str) -> bool {
    let (pattern, text) = (pattern.as_bytes(), text.as_bytes());
    let (mut p, mut t) = (0, 0);
    // Where the latest star stands, and where the text goes on behind what it stands for.
    let mut star: Option<(usize, usize)> = None;
    while t < text.len() {
        if pattern.get(p) == Some(&b'*') {
            star = Some((p, t));
            p += 1;
        } else if pattern.get(p).is_some_and(|&byte| byte == b'?' || byte == text[t]) {
            p += 1;
            t += 1;
        } else if let Some((at, behind)) = star {
            star = Some((at, behind + 1));
            p = at + 1;
            t = behind + 1;
        } else {
            return false;
        }
    }
    pattern[p..].iter().all(|&byte| byte == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_stand_for_anything() {
        for (pattern, text) in
            [("", ""), ("*", ""), ("fs/*.c", "fs/ext4/a.c"), ("a*b*c", "aXbYbc"), ("?b", "ab")]
        {
            assert!(matches(pattern, text), "{pattern} {text}");
        }
        for (pattern, text) in [("", "a"), ("?", ""), ("fs/*", "mm/fs/a.c"), ("a*b", "abc")] {
            assert!(!matches(pattern, text), "{pattern} {text}");
        }
    }
}
