//! Properties of a number by its digits. A double cannot show them: `1.00000000000000000001` is rounded to 1.

/// The parts of a JSON number.
struct Decimal<'t> {
    is_negative: bool,
    whole: &'t str,
    fraction: &'t str,
    exponent: i64,
}

impl<'t> Decimal<'t> {
    /// The parts of a JSON number. None for another text, and for an exponent that no double has.
    fn parse(token: &'t str) -> Option<Self> {
        let (is_negative, text) = token.strip_prefix('-').map_or((false, token), |rest| (true, rest));
        let (mantissa, exponent) = match text.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, exponent.parse().ok()?),
            None => (text, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let is_number = !whole.is_empty() && whole.bytes().chain(fraction.bytes()).all(|b| b.is_ascii_digit());
        is_number.then_some(Self { is_negative, whole, fraction, exponent })
    }

    /// The digits other than 0, each with its power of ten.
    fn digits(&self) -> impl Iterator<Item = (u8, i64)> {
        let highest = (self.whole.len() as i64 - 1).saturating_add(self.exponent);
        let digits = self.whole.bytes().chain(self.fraction.bytes());
        digits.enumerate().map(move |(i, b)| (b, highest.saturating_sub(i as i64))).filter(|(b, _)| *b != b'0')
    }
}

/// True for a whole number. `2.0` is whole, as in JSON Schema.
pub fn is_whole(token: &str) -> bool {
    Decimal::parse(token).is_some_and(|number| number.digits().all(|(_, power)| power >= 0))
}

/// True for a number from 0 to 1.
pub fn is_in_unit_interval(token: &str) -> bool {
    let Some(number) = Decimal::parse(token) else { return false };
    let mut digits = number.digits();
    let is_at_most_one = match digits.next() {
        None => return true,
        Some((b'1', 0)) => digits.next().is_none(),
        Some((_, power)) => power < 0,
    };
    is_at_most_one && !number.is_negative
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_beyond_a_double_count() {
        for inside in ["0", "-0", "-0.0e9", "1", "1.000", "0.99999999999999999999", "1e-400", "10e-1", "0.1E+1", "1e0"]
        {
            assert!(is_in_unit_interval(inside), "{inside}");
        }
        for outside in ["1.00000000000000000001", "-1e-400", "-0.5", "1.5", "2", "1e1", "10", "0.2e1", "1e999", "x", ""]
        {
            assert!(!is_in_unit_interval(outside), "{outside}");
        }
        for whole in ["2", "2.0", "-3", "1.5e1", "0.0", "0e-9", "120e-1", "1e300", "9007199254740993"] {
            assert!(is_whole(whole), "{whole}");
        }
        for broken in ["2.00000000000000000001", "1e-1", "9007199254740993.5", "-0.5", "12e-1", ".5", "1e", "x"] {
            assert!(!is_whole(broken), "{broken}");
        }
    }
}
