//! Types of arguments of `sinew render`.

use std::str::FromStr;

use sinew_render::Background;

/// Two whole numbers above 0, written as `WxH`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair(pub [u32; 2]);

impl FromStr for Pair {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |s: &str| s.parse::<u32>().ok().filter(|n| *n > 0);
        let parts = text.split_once(['x', 'X']);
        let pair = parts.and_then(|(a, b)| Some([number(a)?, number(b)?]));
        pair.map(Self).ok_or_else(|| {
            format!("expected two whole numbers above 0, such as 4x3, found '{text}'")
        })
    }
}

/// A background, written as `grey`, `none`, `white`, `black` or `#RRGGBB`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BackgroundArg(pub Background);

impl FromStr for BackgroundArg {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let color = |hex: &str| {
            let digits = hex.len() == 6 && hex.bytes().all(|b| b.is_ascii_hexdigit());
            let value = u32::from_str_radix(hex, 16).ok().filter(|_| digits)?;
            let [_, r, g, b] = value.to_be_bytes();
            Some(Background::Color([r, g, b].map(|c| f32::from(c) / 255.0)))
        };
        let background = match text {
            "grey" | "gray" => Some(Background::GREY),
            "none" | "transparent" => Some(Background::Transparent),
            "white" => Some(Background::Color([1.0; 3])),
            "black" => Some(Background::Color([0.0; 3])),
            _ => text.strip_prefix('#').and_then(color),
        };
        background
            .map(Self)
            .ok_or_else(|| format!("expected grey, white, black, none or #RRGGBB, found '{text}'"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_two_numbers_above_zero() {
        assert_eq!("12x3".parse(), Ok(Pair([12, 3])));
        for bad in ["", "12", "x", "0x3", "3x", "-1x2", "1.5x2", "1x2x3"] {
            assert!(bad.parse::<Pair>().is_err(), "{bad}");
        }
    }

    #[test]
    fn backgrounds_have_names_or_are_hexadecimal() {
        let red = BackgroundArg(Background::Color([1.0, 0.0, 0.0]));
        assert_eq!("#ff0000".parse(), Ok(red));
        let none = BackgroundArg(Background::Transparent);
        assert_eq!("none".parse(), Ok(none));
        for bad in ["", "ff0000", "#ff00", "#gg0000", "#+f0000", "plaid"] {
            assert!(bad.parse::<BackgroundArg>().is_err(), "{bad}");
        }
    }
}
