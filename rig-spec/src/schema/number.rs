//! How do JSON numbers compare, exactly?
//!
//! `1.0`, `1` and `10e-1` are one integer. Integers of 64 bits are compared as such, never as floats.

use std::cmp::Ordering;

use super::Kinds;

/// A JSON number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// A whole number, from the least `i64` to the greatest `u64`.
    Integer(i128),
    /// Any other number; finite.
    Float(f64),
}

impl Number {
    /// Returns the number that a JSON text writes; `None` if it writes none, or one beyond all floats.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        if let Some(integer) = whole(text) {
            return Some(Self::Integer(integer));
        }
        let float: f64 = text.parse().ok()?;
        float.is_finite().then(|| Self::rounded(float))
    }

    /// Returns a number that is no integer of 64 bits and has this float. The float may be whole although the number is
    /// not, since it has no room for all digits.
    #[must_use]
    pub fn rounded(float: f64) -> Self {
        // Integers just below the least one are rounded to it.
        if float == i64::MIN as f64 {
            return Self::Float(float);
        }
        Self::from_f64(float)
    }

    /// Returns a float as a number; a whole one becomes an integer.
    #[must_use]
    pub fn from_f64(float: f64) -> Self {
        // Both bounds are powers of two, so they are exact as floats.
        let fits = float >= i64::MIN as f64 && float < u64::MAX as f64;
        if fits && float.fract() == 0.0 {
            Self::Integer(float as i128)
        } else {
            Self::Float(float)
        }
    }

    /// Returns whether it is whole.
    #[must_use]
    pub fn kind(self) -> Kinds {
        match self {
            Self::Integer(_) => Kinds::INTEGER,
            Self::Float(float) if float.fract() == 0.0 => Kinds::INTEGER,
            Self::Float(_) => Kinds::FRACTION,
        }
    }

    /// Compares two numbers by their value.
    #[must_use]
    pub fn compare(self, other: Self) -> Ordering {
        match (self, other) {
            (Self::Integer(a), Self::Integer(b)) => a.cmp(&b),
            (Self::Integer(a), Self::Float(b)) => against_float(a, b),
            (Self::Float(a), Self::Integer(b)) => against_float(b, a).reverse(),
            (Self::Float(a), Self::Float(b)) => a.partial_cmp(&b).unwrap_or(Ordering::Equal),
        }
    }

    /// Returns whether it is a multiple of another number, as their decimals say.
    #[must_use]
    pub fn is_multiple_of(self, of: Self) -> bool {
        if let (Self::Integer(a), Self::Integer(b)) = (self, of) {
            return a.checked_rem(b) == Some(0);
        }
        let (a, b) = (Decimal::of(self), Decimal::of(of));
        let shift = i64::from(a.exponent) - i64::from(b.exponent);
        if a.digits == 0 || b.digits == 0 {
            return b.digits != 0;
        }
        match u32::try_from(shift) {
            Ok(shift) => times_power_of_ten(a.digits, shift, b.digits) == 0,
            Err(_) => {
                let power = u32::try_from(-shift)
                    .ok()
                    .and_then(|shift| 10_u128.checked_pow(shift));
                let divisor = power.and_then(|power| power.checked_mul(u128::from(b.digits)));
                divisor.is_some_and(|divisor| u128::from(a.digits) % divisor == 0)
            }
        }
    }
}

/// Returns the integer of a text that writes a whole number of 64 bits, also as `1.0` or `1e2`.
fn whole(text: &str) -> Option<i128> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let sign = if digits.len() == text.len() { 1 } else { -1 };
    let (digits, exponent) = match digits.split_once(['e', 'E']) {
        Some((digits, exponent)) => (digits, exponent.parse::<i64>().ok()?),
        None => (digits, 0),
    };
    let (before, after) = digits.split_once('.').unwrap_or((digits, ""));
    let after = after.trim_end_matches('0');
    if exponent == 0 && !after.is_empty() {
        return None;
    }
    let mut exponent = exponent.checked_sub(i64::try_from(after.len()).ok()?)?;
    let mut value: i128 = 0;
    let mut zeros: i64 = 0;
    for digit in before.bytes().chain(after.bytes()) {
        let digit = i128::from(digit.checked_sub(b'0').filter(|digit| *digit <= 9)?);
        // Zeros are put aside until a digit follows: those at the end belong to the exponent.
        if digit == 0 {
            zeros += i64::from(value != 0);
            continue;
        }
        let shift = u32::try_from(zeros + 1).ok()?;
        value = value
            .checked_mul(10_i128.checked_pow(shift)?)?
            .checked_add(digit)?;
        zeros = 0;
    }
    if before.is_empty() {
        return None;
    }
    if value == 0 {
        return Some(0);
    }
    exponent = exponent.checked_add(zeros)?;
    let power = 10_i128.checked_pow(u32::try_from(exponent).ok()?)?;
    let value = value.checked_mul(power)?.checked_mul(sign)?;
    (i128::from(i64::MIN)..=i128::from(u64::MAX))
        .contains(&value)
        .then_some(value)
}

fn against_float(integer: i128, float: f64) -> Ordering {
    // Up to 2^53 every integer is a float.
    if let Ok(integer) = i64::try_from(integer)
        && integer.unsigned_abs() <= 1 << 53
    {
        let order = (integer as f64).partial_cmp(&float);
        return order.unwrap_or(Ordering::Equal);
    }
    // Beyond this no integer of ours reaches, and the cast below would saturate.
    const FAR: f64 = 1e30;
    if float >= FAR {
        return Ordering::Less;
    }
    if float <= -FAR {
        return Ordering::Greater;
    }
    let part = float.fract();
    integer
        .cmp(&(float.trunc() as i128))
        .then(0.0_f64.partial_cmp(&part).unwrap_or(Ordering::Equal))
}

/// A number without its sign, in decimal: what the shortest text of a float says.
struct Decimal {
    digits: u64,
    exponent: i32,
}

impl Decimal {
    fn of(number: Number) -> Self {
        let float = match number {
            Number::Integer(integer) => {
                let digits = u64::try_from(integer.unsigned_abs()).unwrap_or(u64::MAX);
                return Self {
                    digits,
                    exponent: 0,
                };
            }
            Number::Float(float) => float.abs(),
        };
        let text = format!("{float:e}");
        let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let (before, after) = digits.split_once('.').unwrap_or((digits, ""));
        let shift = i32::try_from(after.len()).unwrap_or(0);
        Self {
            digits: format!("{before}{after}").parse().unwrap_or(0),
            exponent: exponent.parse::<i32>().unwrap_or(0) - shift,
        }
    }
}

/// Returns `digits × 10^power` modulo `divisor`, which is not 0.
fn times_power_of_ten(digits: u64, power: u32, divisor: u64) -> u128 {
    let divisor = u128::from(divisor);
    let mut product = u128::from(digits) % divisor;
    let mut square = 10 % divisor;
    let mut left = power;
    while left > 0 {
        if left % 2 == 1 {
            product = product * square % divisor;
        }
        square = square * square % divisor;
        left /= 2;
    }
    product
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(text: &str) -> Number {
        Number::parse(text).unwrap_or_else(|| panic!("{text}"))
    }

    #[test]
    fn whole_numbers_are_integers_however_they_are_written() {
        for (text, integer) in [
            ("0", 0),
            ("-0.0", 0),
            ("1.0", 1),
            ("1e2", 100),
            ("100e-2", 1),
            ("-12.50e1", -125),
            ("0e999999999999", 0),
            ("18446744073709551615", i128::from(u64::MAX)),
            ("-9223372036854775808.000", i128::from(i64::MIN)),
            ("1234567890123456789.0", 1_234_567_890_123_456_789),
            ("199994775997575631.083", 199_994_775_997_575_616),
        ] {
            assert_eq!(number(text), Number::Integer(integer), "{text}");
        }
        for text in [
            "0.5",
            "1e-1",
            "18446744073709551616",
            "-9223372036854775809",
            "1e30",
        ] {
            assert!(matches!(number(text), Number::Float(_)), "{text}");
        }
        for text in ["", "-", ".", "e1", "1e999", "nan"] {
            assert_eq!(Number::parse(text), None, "{text}");
        }
        assert_eq!(number("1e30").kind(), Kinds::INTEGER);
        assert_eq!(Number::from_f64(-3.0), Number::Integer(-3));
        assert_eq!(
            Number::from_f64(2.0_f64.powi(64)),
            Number::Float(2.0_f64.powi(64))
        );
    }

    #[test]
    fn comparison_loses_no_digit() {
        let order = [
            "-1e300",
            "-9223372036854775808",
            "-1.5",
            "-1",
            "-0.5",
            "0",
            "1e-9",
            "9007199254740992",
            "9007199254740993",
            "9007199254740993.5",
            "18446744073709551615",
            "18446744073709551616",
            "1e300",
        ];
        for (at, a) in order.iter().enumerate() {
            for (other, b) in order.iter().enumerate() {
                // 9007199254740993.5 is not a float: it is rounded to the next even one.
                assert_eq!(number(a).compare(number(b)), at.cmp(&other), "{a} {b}");
            }
        }
    }

    #[test]
    fn multiples_are_those_of_the_decimals() {
        for (a, b, is) in [
            ("4.5", "1.5", true),
            ("0.0075", "0.0001", true),
            ("0.00751", "0.0001", false),
            ("0.3", "0.1", true),
            ("35", "1.5", false),
            ("0", "0.3", true),
            ("1e308", "0.5", true),
            ("1e308", "0.123456789", false),
            ("1e-300", "1e300", false),
            ("7", "2", false),
            ("-9", "4.5", true),
            ("1", "0", false),
        ] {
            assert_eq!(number(a).is_multiple_of(number(b)), is, "{a} {b}");
        }
    }
}
