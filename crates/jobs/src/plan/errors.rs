//! Errors that do not end a job.

use super::given::Values;

/// What fio goes on after, where a job does not list errors: `EIO` and `EILSEQ`.
const USUAL: [i32; 2] = [libc::EIO, libc::EILSEQ];

/// Errors that a job goes on after, by what they are of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ErrorsPlan {
    /// Of reads, of writes, of content that is not what was written: `None` if each ends the job.
    numbers: [Option<Vec<i32>>; 3],
    /// Whether those that it goes on after are printed.
    pub are_printed: bool,
}

/// What an error is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorOf {
    /// A read.
    Read,
    /// A write, a trim or a sync.
    Write,
    /// Content that is not what was written.
    Content,
}

impl ErrorsPlan {
    pub(super) fn read(given: Values<'_>) -> Result<Self, (&'static str, String)> {
        let continues = match given.choice("continue_on_error") {
            Some(("read", _)) => [true, false, false],
            Some(("write", _)) => [false, true, false],
            Some(("io", _)) => [true, true, false],
            Some(("verify", _)) => [false, false, true],
            Some(("all" | "1", _)) => [true; 3],
            _ => [false; 3],
        };
        let mut numbers = continues.map(|continues| continues.then(|| USUAL.to_vec()));
        let lists = given.text("ignore_error").unwrap_or_default();
        let lists: Vec<&str> = lists.split(',').collect();
        if lists.len() > 3 {
            let why = "there are lists for reads, writes and verification, no more".to_owned();
            return Err(("ignore_error", why));
        }
        for (own, list) in numbers.iter_mut().zip(lists) {
            let list = list.split(':').map(str::trim).filter(|name| !name.is_empty());
            let list = list.map(number).collect::<Result<Vec<_>, _>>();
            let list = list.map_err(|why| ("ignore_error", why))?;
            if !list.is_empty() {
                *own = Some(list);
            }
        }
        Ok(Self { numbers, are_printed: given.switch("error_dump", false) })
    }

    /// Whether the job goes on after this error.
    #[must_use]
    pub fn goes_on(&self, of: ErrorOf, number: i32) -> bool {
        self.numbers[of as usize].as_ref().is_some_and(|list| list.contains(&number))
    }

    /// Whether it goes on after any.
    #[must_use]
    pub fn any(&self) -> bool {
        self.numbers.iter().any(Option::is_some)
    }
}

/// The number of an error, by its name or as digits.
fn number(text: &str) -> Result<i32, String> {
    const NAMES: [(&str, i32); 22] = [
        ("EPERM", libc::EPERM),
        ("ENOENT", libc::ENOENT),
        ("EINTR", libc::EINTR),
        ("EIO", libc::EIO),
        ("ENXIO", libc::ENXIO),
        ("EBADF", libc::EBADF),
        ("EAGAIN", libc::EAGAIN),
        ("ENOMEM", libc::ENOMEM),
        ("EACCES", libc::EACCES),
        ("EFAULT", libc::EFAULT),
        ("EBUSY", libc::EBUSY),
        ("EEXIST", libc::EEXIST),
        ("ENODEV", libc::ENODEV),
        ("EINVAL", libc::EINVAL),
        ("EFBIG", libc::EFBIG),
        ("ENOSPC", libc::ENOSPC),
        ("EROFS", libc::EROFS),
        ("EDOM", libc::EDOM),
        ("ERANGE", libc::ERANGE),
        ("EILSEQ", libc::EILSEQ),
        ("ETIMEDOUT", libc::ETIMEDOUT),
        ("EDQUOT", libc::EDQUOT),
    ];
    let named = NAMES.iter().find_map(|(name, number)| (*name == text).then_some(*number));
    let number = named.or_else(|| text.parse::<i32>().ok().map(i32::abs));
    number
        .filter(|number| *number > 0)
        .ok_or_else(|| format!("`{text}` is no error; use its number"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_have_names_and_numbers() {
        assert_eq!(number("EIO"), Ok(5));
        assert_eq!(number("122"), Ok(122));
        assert_eq!(number("-28"), Ok(28));
        assert!(number("EWHAT").expect_err("no error").contains("`EWHAT`"));
        assert!(number("0").is_err());
    }
}
