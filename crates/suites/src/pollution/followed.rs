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
    followed(shape).map_or(Ok(()), |touched| compare(shape, &touched))
}

/// Whether just those lines were touched that the shape has.
fn compare(shape: &CodeShape, touched: &Touched) -> Result<(), String> {
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

    fn shape(code_lines: u32, data_lines: u32) -> CodeShape {
        let (order, loads) = (Order::Random, Loads::Dependent);
        CodeShape { code_lines, data_lines, order, loads }
    }

    #[test]
    fn code_that_touches_anything_else_is_refused() {
        let right = Touched { code_lines: 7, data_lines: 9, ..Touched::default() };
        assert_eq!(compare(&shape(7, 9), &right), Ok(()));
        for wrong in [
            Touched { code_lines: 8, ..right },
            Touched { data_lines: 8, ..right },
            Touched { loads_elsewhere: 1, ..right },
        ] {
            let said = compare(&shape(7, 9), &wrong).expect_err("it is wrong");
            assert!(said.contains("instead of 7 and 9"), "{said}");
        }
    }

    #[test]
    fn what_is_too_long_is_not_followed() {
        assert_eq!(followed(&shape(1 << 16, 1)), None);
        assert_eq!(check(&shape(1 << 16, 1)), Ok(()));
        assert_eq!(check(&shape(7, 9)), Ok(()));
    }
}
