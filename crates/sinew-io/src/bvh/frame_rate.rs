//! What rate a rounded frame time stands for.

/// A rate further off than this share is another rate, however few digits there are.
const FURTHEST: f64 = 0.0102;
/// What f64 itself rounds, for times with all their digits.
const ROUNDING: f64 = 1e-15;

/// Frames per second of a frame time as written. Where a usual rate is what the digits may be rounded or cut off
/// from, it is that rate; `seconds` is the same text as a number.
pub fn frame_rate(text: &str, seconds: f64) -> f64 {
    let written = seconds.recip();
    let within = last_digit(text).min(FURTHEST * seconds) + ROUNDING * seconds;
    let nearest = |rates: &[f64]| {
        let meant = rates
            .iter()
            .filter(|r| **r > 0.0 && (r.recip() - seconds).abs() <= within);
        meant
            .min_by(|a, b| (*a - written).abs().total_cmp(&(*b - written).abs()))
            .copied()
    };
    // Film's rates and multiples of 5 first: 0.0083 is 120, not 121.
    let five = (written / 5.0).round() * 5.0;
    let ntsc = [24.0, 30.0, 60.0, 120.0].map(|rate| rate * 1000.0 / 1001.0);
    nearest(&[24.0, 48.0, 72.0, 96.0, 144.0, five])
        .or_else(|| nearest(&ntsc))
        .or_else(|| nearest(&[written.round()]))
        .unwrap_or(written)
}

/// What one step of a number's last written digit is worth.
fn last_digit(text: &str) -> f64 {
    let (digits, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let decimals = digits.split_once('.').map_or(0, |(_, d)| d.len());
    let exponent: f64 = exponent.parse().unwrap_or(0.0);
    10f64.powf(exponent - decimals as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounded_times_are_usual_rates() {
        for (text, rate) in [
            ("0.0333333", 30.0),
            ("0.033333", 30.0),
            ("0.0333", 30.0),
            ("0.033", 30.0),
            (".03333333333333333333", 30.0),
            ("0.008333", 120.0),
            ("0.00833333", 120.0),
            ("0.0083", 120.0),
            ("8.33333e-3", 120.0),
            ("0.0416667", 24.0),
            ("0.041667", 24.0),
            ("0.0417", 24.0),
            ("0.04", 25.0),
            ("0.01", 100.0),
            ("0.016667", 60.0),
            ("0.0166666", 60.0),
            ("0.0069444", 144.0),
            ("0.033367", 30_000.0 / 1001.0),
            ("0.0417083", 24_000.0 / 1001.0),
            ("0.0357143", 28.0),
            ("1", 1.0),
            ("0.07", 1.0 / 0.07),
            ("0.0345678", 1.0 / 0.0345678),
        ] {
            let found = frame_rate(text, text.parse().unwrap());
            assert!(
                (found - rate).abs() < 1e-12 * rate,
                "{text}: {found}, not {rate}"
            );
        }
    }
}
