//! Whether code touches what was asked for, on this processor: a round of it is executed,
//! instruction by instruction, before anything is measured.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use user_code::{CodeShape, Touched, UserCode};

/// The most instructions that are executed so, which takes a second or two.
const INSTRUCTIONS_MOST: u64 = 300_000;

/// What rounds have touched, by shape: `None` where none was followed.
static FOLLOWED: Mutex<Option<HashMap<CodeShape, Option<Touched>>>> = Mutex::new(None);

/// What a round of code of this shape touches; `None` if it is too long to be followed, or this
/// machine lets nobody trace a child. Found out once in a process.
pub(super) fn followed(shape: &CodeShape) -> Option<Touched> {
    let mut all = FOLLOWED.lock().unwrap_or_else(PoisonError::into_inner);
    *all.get_or_insert_default().entry(*shape).or_insert_with(|| {
        let code = UserCode::new(shape, 0).ok()?;
        if code.work().instructions > INSTRUCTIONS_MOST {
            return None;
        }
        code.follow().ok()
    })
}

/// Whether a round of code of this shape touches just what was asked for, as far as it could be
/// followed.
///
/// # Errors
/// What it touches instead.
pub(super) fn check(shape: &CodeShape) -> Result<(), String> {
    let Some(touched) = followed(shape) else { return Ok(()) };
    let asked = [shape.code_lines, shape.data_lines].map(|lines| lines as usize);
    let is_exact = [touched.code_lines, touched.data_lines] == asked;
    if is_exact && touched.loads_elsewhere == 0 {
        return Ok(());
    }
    Err(format!(
        "the code that was generated executed {} lines and accessed {}, and {} times others, \
         instead of {} and {}: this is an error in fsprism, please report it",
        touched.code_lines, touched.data_lines, touched.loads_elsewhere, asked[0], asked[1]
    ))
}

#[cfg(test)]
mod tests {
    use user_code::{Loads, Order};

    use super::*;

    #[test]
    fn what_is_too_long_is_not_followed() {
        let shape = |code_lines, data_lines| CodeShape {
            code_lines,
            data_lines,
            order: Order::Random,
            loads: Loads::Dependent,
        };
        assert_eq!(followed(&shape(1 << 16, 1)), None);
        assert_eq!(check(&shape(1 << 16, 1)), Ok(()));
        assert_eq!(check(&shape(7, 9)), Ok(()));
    }
}
