//! Glob patterns for names.

/// Whether a pattern matches the whole text: `*` stands for any characters, `?` for exactly one.
pub(super) fn matches(pattern: &str, text: &str) -> bool {
    let (pattern, text) = (pattern.as_bytes(), text.as_bytes());
    let (mut p, mut t) = (0, 0);
    // The position of the latest star, and where the text continues after what it matches.
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
