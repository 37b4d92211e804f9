//! Arithmetic in values: `(4k * 2)`, with the operators and their precedence as in fio's grammar
//! (`exp/expression-parser.y`). From loosest to tightest: `+ -`, a unit behind a number, `* /`,
//! `^` (to the right), `%`, a sign.

/// A number, whole or not.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Number {
    Whole(i128),
    Real(f64),
}

/// What a unit is worth; `None` if there is no such unit.
pub(crate) type Units = fn(&str) -> Option<i128>;

/// The value, and whether any unit stood in it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Evaluated {
    pub(crate) number: Number,
    pub(crate) has_unit: bool,
}

const TOO_LARGE: &str = "it is too large";
const BY_ZERO: &str = "it divides by zero";
/// Operands within operands.
const DEPTH_MAX: usize = 64;

// How tightly operators bind.
const SUM: u8 = 1;
const UNIT: u8 = 2;
const PRODUCT: u8 = 3;
const POWER: u8 = 5;
const REMAINDER: u8 = 7;
const SIGN: u8 = 9;

/// A whole number without units.
pub(crate) fn integer(text: &str) -> Result<i128, String> {
    match evaluate(text, |_| None)?.number {
        Number::Whole(number) => Ok(number),
        Number::Real(number) => Err(format!("{number} is not a whole number")),
    }
}

/// Evaluates all of `text`.
pub(crate) fn evaluate(text: &str, units: Units) -> Result<Evaluated, String> {
    let mut parser = Parser { rest: text.trim(), units, has_unit: false, depth: 0 };
    let number = parser.expression(SUM)?;
    if parser.rest.is_empty() {
        Ok(Evaluated { number, has_unit: parser.has_unit })
    } else {
        Err(format!("`{}` is not expected there", parser.rest))
    }
}

struct Parser<'a> {
    rest: &'a str,
    units: Units,
    has_unit: bool,
    depth: usize,
}

impl Parser<'_> {
    fn accepts(&mut self, operator: char) -> bool {
        let found = self.rest.strip_prefix(operator).map(str::trim_start);
        self.rest = found.unwrap_or(self.rest);
        found.is_some()
    }

    /// As much as operators that bind at least so tightly join.
    fn expression(&mut self, least: u8) -> Result<Number, String> {
        self.deeper()?;
        let mut left = self.operand()?;
        loop {
            let operator = self.rest.chars().next();
            let tightness = match operator {
                Some('+' | '-') => SUM,
                Some('*' | '/') => PRODUCT,
                Some('^') => POWER,
                Some('%') => REMAINDER,
                Some(letter) if letter.is_ascii_alphabetic() => UNIT,
                _ => break,
            };
            if tightness < least {
                break;
            }
            left = if tightness == UNIT {
                let worth = Number::Whole(self.unit()?);
                combined(left, worth, i128::checked_mul, |one, other| one * other)?
            } else {
                let operator = operator.unwrap_or_default();
                self.accepts(operator);
                // A power's exponent may be a power.
                let right = self.expression(tightness + u8::from(tightness != POWER))?;
                applied(operator, left, right)?
            };
        }
        self.depth -= 1;
        Ok(left)
    }

    fn unit(&mut self) -> Result<i128, String> {
        let end = self.rest.find(|one: char| !one.is_ascii_alphabetic()).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        let worth = (self.units)(&word.to_ascii_lowercase());
        let worth = worth.ok_or_else(|| format!("`{word}` is no unit"))?;
        (self.rest, self.has_unit) = (rest.trim_start(), true);
        Ok(worth)
    }

    fn operand(&mut self) -> Result<Number, String> {
        if self.accepts('-') {
            return match self.expression(SIGN)? {
                Number::Whole(number) => Ok(Number::Whole(-number)),
                Number::Real(number) => Ok(Number::Real(-number)),
            };
        }
        if !self.accepts('(') {
            return self.literal();
        }
        let number = self.expression(SUM)?;
        if self.accepts(')') { Ok(number) } else { Err("a `)` is missing".to_owned()) }
    }

    fn deeper(&mut self) -> Result<(), String> {
        self.depth += 1;
        if self.depth > DEPTH_MAX { Err("it is nested too deeply".to_owned()) } else { Ok(()) }
    }

    fn literal(&mut self) -> Result<Number, String> {
        if let Some(rest) = self.rest.strip_prefix("0x") {
            let digits = self.digits(rest, |one| one.is_ascii_hexdigit());
            return i128::from_str_radix(digits, 16)
                .map(Number::Whole)
                .map_err(|_| self.no_number());
        }
        let text = self.rest;
        let digits = self.digits(text, |one| one.is_ascii_digit() || one == '.');
        if digits.contains('.') {
            return digits.parse().map(Number::Real).map_err(|_| self.no_number());
        }
        digits.parse().map(Number::Whole).map_err(|_| self.no_number())
    }

    /// Takes the characters at the start of `text` that are digits.
    fn digits<'b>(&mut self, text: &'b str, is_digit: fn(char) -> bool) -> &'b str
    where
        Self: 'b,
    {
        let end = text.find(|one| !is_digit(one)).unwrap_or(text.len());
        let (digits, _) = text.split_at(end);
        let taken = self.rest.len() - text.len() + end;
        self.rest = self.rest[taken..].trim_start();
        digits
    }

    fn no_number(&self) -> String {
        match self.rest {
            "" => "a number is missing".to_owned(),
            rest => format!("a number is missing before `{rest}`"),
        }
    }
}

impl Number {
    #[expect(clippy::cast_precision_loss, reason = "as in fio")]
    pub(crate) fn real(self) -> f64 {
        match self {
            Self::Whole(number) => number as f64,
            Self::Real(number) => number,
        }
    }
}

fn combined(
    left: Number,
    right: Number,
    whole: fn(i128, i128) -> Option<i128>,
    real: fn(f64, f64) -> f64,
) -> Result<Number, String> {
    match (left, right) {
        (Number::Whole(left), Number::Whole(right)) => {
            whole(left, right).map(Number::Whole).ok_or_else(|| TOO_LARGE.to_owned())
        }
        (left, right) => finite(real(left.real(), right.real())),
    }
}

fn applied(operator: char, left: Number, right: Number) -> Result<Number, String> {
    let is_by_zero = matches!(operator, '/' | '%') && right.real() == 0.0;
    match (operator, left, right) {
        _ if is_by_zero => Err(BY_ZERO.to_owned()),
        ('+', ..) => combined(left, right, i128::checked_add, |one, other| one + other),
        ('-', ..) => combined(left, right, i128::checked_sub, |one, other| one - other),
        ('*', ..) => combined(left, right, i128::checked_mul, |one, other| one * other),
        ('/', ..) => combined(left, right, i128::checked_div, |one, other| one / other),
        ('%', Number::Whole(left), Number::Whole(right)) => Ok(Number::Whole(left % right)),
        ('%', ..) => Err("`%` takes whole numbers".to_owned()),
        (_, Number::Whole(base), Number::Whole(exponent)) if exponent >= 0 => {
            let power = u32::try_from(exponent).ok().and_then(|one| base.checked_pow(one));
            power.map(Number::Whole).ok_or_else(|| TOO_LARGE.to_owned())
        }
        _ => finite(left.real().powf(right.real())),
    }
}

fn finite(number: f64) -> Result<Number, String> {
    if number.is_finite() { Ok(Number::Real(number)) } else { Err(TOO_LARGE.to_owned()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn units(word: &str) -> Option<i128> {
        match word {
            "k" => Some(1024),
            _ => None,
        }
    }

    fn whole(text: &str) -> i128 {
        match evaluate(text, units).expect(text).number {
            Number::Whole(number) => number,
            Number::Real(number) => panic!("{text} is {number}"),
        }
    }

    #[test]
    fn operators_bind_as_in_fio() {
        for (text, value) in [
            ("1+2*3", 7),
            ("(1+2)*3", 9),
            ("7-2-1", 4),
            ("8/2/2", 2),
            ("7/2", 3),
            ("2^3^2", 512),
            ("2*3^2", 18),
            ("2^7%4", 8),
            ("-3+5", 2),
            ("2--3", 5),
            ("0x10+1", 17),
            ("4k", 4096),
            ("2*4k", 8192),
            ("4k*2", 8192),
            // A unit is that of all factors before it.
            ("4k/2k", 2 << 20),
            ("1+4k", 4097),
            ("( 4k + 4K ) * 2", 16384),
            ("-4k+8k", 4096),
            ("2^2k", 4096),
        ] {
            assert_eq!(whole(text), value, "{text}");
        }
        assert_eq!(evaluate("1.5k", units).map(|one| one.number), Ok(Number::Real(1536.0)));
        assert_eq!(evaluate("2^-1", units).map(|one| one.number), Ok(Number::Real(0.5)));
        assert_eq!(evaluate("4", units).map(|one| one.has_unit), Ok(false));
        assert_eq!(evaluate("1+4k", units).map(|one| one.has_unit), Ok(true));
    }

    #[test]
    fn what_has_no_value_is_refused() {
        let deep = "(".repeat(100_000);
        for (text, why) in [
            ("", "a number is missing"),
            ("1+", "a number is missing"),
            ("(1", "a `)` is missing"),
            ("1)", "`)` is not expected there"),
            ("1 2", "`2` is not expected there"),
            ("4x", "`x` is no unit"),
            ("1/0", "divides by zero"),
            ("1/0.0", "divides by zero"),
            ("1%0", "divides by zero"),
            ("1.5%2", "takes whole numbers"),
            ("9^99", "too large"),
            ("9.5^9999", "too large"),
            ("1.2.3", "a number is missing"),
            (&deep, "nested too deeply"),
        ] {
            let error = evaluate(text, units).expect_err("it has no value");
            assert!(error.contains(why), "{error}");
        }
        assert_eq!(integer("3/2.0").expect_err("not whole"), "1.5 is not a whole number");
    }
}
