//! The text of numbers: the shortest that is read back as the same value of its own precision.

use half::f16;

use super::lexer::Number;

/// Appends a double.
pub(super) fn double(value: f64, out: &mut String) {
    match value.is_finite() {
        true => push(zmij::Buffer::new().format_finite(value), out),
        false => out.push_str(special(value)),
    }
}

/// Appends a float with a float's digits.
pub(super) fn float(value: f32, out: &mut String) {
    match value.is_finite() {
        true => push(zmij::Buffer::new().format_finite(value), out),
        false => out.push_str(special(f64::from(value))),
    }
}

/// Appends a half with the fewest digits that are read back as this half.
pub(super) fn half(value: f16, out: &mut String) {
    let exact = f64::from(value.to_f32());
    // Five digits tell all halves apart.
    let digits = (0..5).map(|n| format!("{exact:.n$e}")).find_map(|text| {
        let read: f64 = text.parse().ok()?;
        (f16::from_f32(read as f32) == value).then_some(read)
    });
    double(digits.unwrap_or(exact), out);
}

/// Appends an integer.
pub(super) fn integer(value: impl itoa::Integer, out: &mut String) {
    out.push_str(itoa::Buffer::new().format(value));
}

fn special(value: f64) -> &'static str {
    match value {
        f64::INFINITY => "inf",
        f64::NEG_INFINITY => "-inf",
        _ => "nan",
    }
}

/// Without the `.0` of whole numbers.
fn push(text: &str, out: &mut String) {
    out.push_str(text.strip_suffix(".0").unwrap_or(text));
}

/// Appends a number in usd-core's layout: with an exponent from 1e15 on and below 1e-6.
pub(super) fn decimal_number(number: Number, out: &mut String) {
    match number {
        Number::UInt(value) => integer(value, out),
        Number::Int(value) => integer(value, out),
        Number::Double(value) => decimal(value, out),
    }
}

fn decimal(value: f64, out: &mut String) {
    if !value.is_finite() {
        return out.push_str(special(value));
    }
    if value.is_sign_negative() {
        out.push('-');
    }
    // Digits and an exponent, such as `1.5e-7`.
    let text = format!("{:e}", value.abs());
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if !(-6..15).contains(&exponent) {
        return out.push_str(&text);
    }
    let digits: String = digits.chars().filter(char::is_ascii_digit).collect();
    let zeros = |n: i32| "0".repeat(usize::try_from(n).unwrap_or(0));
    let whole = usize::try_from(exponent + 1).unwrap_or(0);
    match digits.split_at_checked(whole) {
        _ if exponent < 0 => {
            out.push_str("0.");
            out.push_str(&zeros(-exponent - 1));
            out.push_str(&digits);
        }
        Some((digits, "")) => out.push_str(digits),
        Some((before, after)) => {
            out.push_str(before);
            out.push('.');
            out.push_str(after);
        }
        None => {
            out.push_str(&digits);
            out.push_str(&zeros(exponent + 1 - digits.len() as i32));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_as_short_as_their_precision_allows() {
        let mut out = String::new();
        for (value, text) in [
            (0.1, "0.1"),
            (-0.0, "-0"),
            (2.0, "2"),
            (1e-7, "1e-7"),
            (f64::NAN, "nan"),
        ] {
            out.clear();
            double(value, &mut out);
            assert_eq!(out, text);
        }
        out.clear();
        float(0.1, &mut out);
        assert_eq!(out, "0.1");
        for bits in 0..=u16::MAX {
            let value = f16::from_bits(bits);
            out.clear();
            half(value, &mut out);
            let read = f16::from_f32(out.parse::<f64>().unwrap() as f32);
            assert!(read.to_bits() == bits || value.is_nan(), "{out}");
            assert!(out.len() <= 12, "{out}");
        }
    }

    #[test]
    fn decimals_have_usd_cores_layout() {
        for (value, text) in [
            (1e15, "1e15"),
            (1e14, "100000000000000"),
            (1e-6, "0.000001"),
            (1e-7, "1e-7"),
            (1.5e-5, "0.000015"),
            (1.5e300, "1.5e300"),
            (12345678901234567.0, "1.2345678901234568e16"),
            (-123.456, "-123.456"),
            (0.30000000000000004, "0.30000000000000004"),
        ] {
            let mut out = String::new();
            decimal(value, &mut out);
            assert_eq!(out, text);
        }
    }
}
