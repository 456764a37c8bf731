//! Exact sums of decimal numbers of any length, digit by digit.

use std::cmp::Ordering;

/// Decimal digits in a word of a server's number.
const WORD: usize = 9;

/// A DECIMAL has at most so many digits.
const LONGEST: usize = 65;

/// A sum so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Sum {
    negative: bool,
    /// Decimal digits, the lowest first.
    digits: Vec<u8>,
    /// How many of them stand behind the point.
    scale: usize,
}

impl Sum {
    /// Adds a number as MySQL writes a DECIMAL. False: it is none.
    pub fn add(&mut self, text: &str) -> bool {
        let (negative, unsigned) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
        let all = [whole, fraction].concat();
        if all.is_empty() || !all.bytes().all(|byte| byte.is_ascii_digit()) {
            return false;
        }
        let mut other =
            Sum { negative, digits: all.bytes().rev().map(|byte| byte - b'0').collect(), scale: fraction.len() };
        self.rescale(other.scale);
        other.rescale(self.scale);
        if self.negative == other.negative {
            add(&mut self.digits, &other.digits);
        } else if compare(&self.digits, &other.digits) == Ordering::Less {
            subtract(&mut other.digits, &self.digits);
            *self = other;
        } else {
            subtract(&mut self.digits, &other.digits);
        }
        true
    }

    fn rescale(&mut self, scale: usize) {
        if scale > self.scale {
            self.digits.splice(0..0, std::iter::repeat_n(0, scale - self.scale));
            self.scale = scale;
        }
    }

    /// This divided by a count as AVG does it, with so many digits behind the point: servers compute a
    /// quotient in words of nine digits, cut it behind the last one, and round that. `None`: more
    /// digits than servers have.
    pub fn average(&self, count: u64, decimals: usize) -> Option<String> {
        let words = self.scale.div_ceil(WORD) * WORD;
        let wanted = decimals.saturating_sub(self.scale).saturating_sub(words - self.scale);
        let scale = (words + wanted).div_ceil(WORD) * WORD;
        let mut quotient = Sum { negative: self.negative, digits: Vec::new(), scale };
        let mut rest: u128 = 0;
        let zeros = std::iter::repeat_n(0, scale.checked_sub(self.scale)?);
        for digit in self.digits.iter().rev().copied().chain(zeros) {
            rest = rest * 10 + u128::from(digit);
            quotient.digits.push(u8::try_from(rest / u128::from(count)).ok()?);
            rest %= u128::from(count);
        }
        quotient.digits.reverse();
        quotient.round(decimals);
        let used = quotient.digits.iter().rposition(|digit| *digit != 0).map_or(0, |last| last + 1);
        (used <= LONGEST).then(|| quotient.text())
    }

    /// Half away from zero.
    fn round(&mut self, scale: usize) {
        if scale >= self.scale {
            return self.rescale(scale);
        }
        let cut = self.scale - scale;
        self.digits.resize(self.digits.len().max(cut + 1), 0);
        let up = self.digits[cut - 1] >= 5;
        self.digits.drain(..cut);
        self.scale = scale;
        if up {
            add(&mut self.digits, &[1]);
        }
    }

    /// The bytes that it holds.
    pub fn size(&self) -> usize {
        self.digits.capacity()
    }

    pub fn text(&self) -> String {
        let used = self.digits.iter().rposition(|digit| *digit != 0).map_or(0, |last| last + 1);
        let len = used.max(self.scale + 1);
        let mut text = String::new();
        if self.negative && used > 0 {
            text.push('-');
        }
        for at in (0..len).rev() {
            text.push(char::from(b'0' + self.digits.get(at).copied().unwrap_or(0)));
            if at == self.scale && at > 0 {
                text.push('.');
            }
        }
        text
    }
}

fn add(digits: &mut Vec<u8>, other: &[u8]) {
    let mut carry = 0;
    for at in 0..digits.len().max(other.len()) {
        if at == digits.len() {
            digits.push(0);
        }
        let sum = digits[at] + other.get(at).copied().unwrap_or(0) + carry;
        (digits[at], carry) = (sum % 10, sum / 10);
    }
    if carry > 0 {
        digits.push(carry);
    }
}

/// `other` is not above `digits`.
fn subtract(digits: &mut [u8], other: &[u8]) {
    let mut borrow = 0;
    for (at, digit) in digits.iter_mut().enumerate() {
        let less = other.get(at).copied().unwrap_or(0) + borrow;
        borrow = u8::from(*digit < less);
        *digit = *digit + 10 * borrow - less;
    }
}

fn compare(a: &[u8], b: &[u8]) -> Ordering {
    let digit = |digits: &[u8], at: usize| digits.get(at).copied().unwrap_or(0);
    let unequal = (0..a.len().max(b.len())).rev().find(|at| digit(a, *at) != digit(b, *at));
    unequal.map_or(Ordering::Equal, |at| digit(a, at).cmp(&digit(b, at)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum(texts: &[&str]) -> String {
        let mut sum = Sum::default();
        for text in texts {
            assert!(sum.add(text), "{text}");
        }
        sum.text()
    }

    #[test]
    fn sums_are_exact() {
        assert_eq!(sum(&["0"]), "0");
        assert_eq!(sum(&["1.50", "-2.75"]), "-1.25");
        assert_eq!(sum(&["0.01", "-0.01"]), "0.00");
        assert_eq!(sum(&["-1", "1", "-0"]), "0");
        assert_eq!(
            sum(&["99999999999999999999999999999999999999.999", "0.001"]),
            "100000000000000000000000000000000000000.000"
        );
        assert_eq!(sum(&["-5", "10.5", "-100"]), "-94.5");
        let mut sum = Sum::default();
        assert!(!sum.add("") && !sum.add("1e5") && !sum.add("x"));
    }

    #[test]
    fn averages_have_the_digits_that_servers_give_them() {
        let average = |sum: &str, count, decimals| {
            let mut own = Sum::default();
            assert!(own.add(sum));
            own.average(count, decimals).expect("an average")
        };
        assert_eq!(average("5", 3, 4), "1.6667");
        assert_eq!(average("-5", 3, 4), "-1.6667");
        assert_eq!(average("0.00", 7, 6), "0.000000");
        assert_eq!(average("10", 2, 4), "5.0000");
        assert_eq!(average("1.50", 4, 6), "0.375000");
        // Nine digits are all that there are: what would be behind is cut, not rounded.
        assert_eq!(average("2.00000", 3, 9), "0.666666666");
        assert_eq!(average("2.000000", 3, 10), "0.6666666667");
    }

    #[test]
    fn sums_of_small_numbers_are_those_of_integers() {
        for a in -25_i32..25 {
            for b in -25_i32..25 {
                for c in [-101, -10, 0, 9, 99] {
                    assert_eq!(sum(&[&a.to_string(), &b.to_string(), &c.to_string()]), (a + b + c).to_string());
                }
            }
        }
    }
}
