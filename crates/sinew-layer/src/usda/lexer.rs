//! The smallest parts of the text: white space, names, numbers, strings, asset paths and paths.

use smol_str::SmolStr;

use crate::path::Path;

/// What is wrong, and at which byte.
pub(super) struct Fail {
    pub at: usize,
    pub reason: String,
    /// Whether the text is right and this crate cannot hold it.
    pub unsupported: bool,
}

/// The error is boxed to keep results small.
pub(super) type Parsed<T> = Result<T, Box<Fail>>;

/// A number as it is written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Number {
    /// Digits without a sign.
    UInt(u64),
    /// Digits with a minus sign.
    Int(i64),
    /// Anything else: with a dot, an exponent, too many digits, `-0`, `inf` or `nan`.
    Double(f64),
}

impl Number {
    pub fn to_f64(self) -> f64 {
        match self {
            Self::UInt(v) => v as f64,
            Self::Int(v) => v as f64,
            Self::Double(v) => v,
        }
    }

    /// Rounded once for whole numbers, and like usd-core over f64 for others.
    pub fn to_f32(self) -> f32 {
        match self {
            Self::UInt(v) => v as f32,
            Self::Int(v) => v as f32,
            Self::Double(v) => v as f32,
        }
    }

    /// The integral part; none if it is out of range or not finite.
    pub fn to_int<T: TryFrom<i128>>(self) -> Option<T> {
        let whole = match self {
            Self::UInt(v) => i128::from(v),
            Self::Int(v) => i128::from(v),
            Self::Double(v) if v.is_finite() => v as i128,
            Self::Double(_) => return None,
        };
        T::try_from(whole).ok()
    }
}

/// Powers of ten that a double holds exactly.
const EXACT_POWERS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
];

/// A place in a text.
pub(super) struct Lexer<'a> {
    text: &'a str,
    bytes: &'a [u8],
    pub pos: usize,
}

impl<'a> Lexer<'a> {
    pub fn new(text: &'a str) -> Self {
        Self {
            text,
            bytes: text.as_bytes(),
            pos: 0,
        }
    }

    /// The next byte; 0 at the end.
    #[inline]
    pub fn peek(&self) -> u8 {
        self.bytes.get(self.pos).copied().unwrap_or(0)
    }

    pub fn at_end(&self) -> bool {
        self.pos >= self.bytes.len()
    }

    #[inline]
    pub fn rest(&self) -> &'a [u8] {
        &self.bytes[self.pos..]
    }

    /// The text from `start` to here.
    pub fn since(&self, start: usize) -> &'a str {
        &self.text[start..self.pos]
    }

    #[inline]
    pub fn eat(&mut self, byte: u8) -> bool {
        let found = self.peek() == byte && !self.at_end();
        self.pos += usize::from(found);
        found
    }

    pub fn expect(&mut self, byte: u8) -> Parsed<()> {
        match self.eat(byte) {
            true => Ok(()),
            false => self.expected(&format!("'{}'", char::from(byte))),
        }
    }

    /// An error at this place.
    pub fn fail<T>(&self, reason: impl Into<String>) -> Parsed<T> {
        fail_at(self.pos, reason)
    }

    /// An error that names what was found here.
    #[cold]
    pub fn expected<T>(&self, what: &str) -> Parsed<T> {
        let found = match self.text[self.pos..].chars().next() {
            None => "the end of the file".to_owned(),
            Some('\n' | '\r') => "the end of the line".to_owned(),
            Some(_) => {
                let line = self.text[self.pos..].split(['\n', '\r']).next();
                let word: String = line.unwrap_or("").chars().take(24).collect();
                format!("'{word}'")
            }
        };
        self.fail(format!("expected {what}, found {found}"))
    }

    /// The length of a comment here: `/* */` only, or all kinds. 0 if there is none.
    fn comment(&self, all: bool) -> usize {
        let rest = self.rest();
        if rest.starts_with(b"/*") {
            let end = self.text[self.pos + 2..].find("*/");
            return end.map_or(0, |end| end + 4);
        }
        if all && (rest.starts_with(b"#") || rest.starts_with(b"//")) {
            let line = rest.iter().position(|b| matches!(b, b'\n' | b'\r'));
            return line.unwrap_or(rest.len());
        }
        0
    }

    /// Skips blanks and `/* */`.
    #[inline]
    pub fn inline(&mut self) {
        loop {
            match self.peek() {
                b' ' | b'\t' => self.pos += 1,
                b'/' => match self.comment(false) {
                    0 => return,
                    len => self.pos += len,
                },
                _ => return,
            }
        }
    }

    /// Skips blanks and comments up to the end of the line.
    pub fn line(&mut self) {
        loop {
            match self.peek() {
                b' ' | b'\t' => self.pos += 1,
                b'/' | b'#' => match self.comment(true) {
                    0 => return,
                    len => self.pos += len,
                },
                _ => return,
            }
        }
    }

    /// Skips blanks, ends of lines and comments.
    #[inline]
    pub fn space(&mut self) {
        loop {
            match self.peek() {
                b' ' | b'\t' | b'\n' | b'\r' => self.pos += 1,
                b'/' | b'#' => match self.comment(true) {
                    0 => return,
                    len => self.pos += len,
                },
                _ => return,
            }
        }
    }

    /// Blanks that have to stand between two words.
    pub fn gap(&mut self) -> Parsed<()> {
        let start = self.pos;
        self.inline();
        match self.since(start).contains([' ', '\t']) {
            true => Ok(()),
            false => self.expected("a space"),
        }
    }

    /// `=` with blanks around it.
    pub fn assignment(&mut self) -> Parsed<()> {
        self.inline();
        self.expect(b'=')?;
        self.inline();
        Ok(())
    }

    /// What ends a statement: the end of the line or of the file, or a semicolon if that is
    /// allowed.
    pub fn end_of_statement(&mut self, semicolon: bool) -> Parsed<()> {
        self.line();
        match self.peek() {
            b'\n' | b'\r' => Ok(()),
            b';' if semicolon => {
                self.pos += 1;
                Ok(())
            }
            _ if self.at_end() => Ok(()),
            _ if semicolon => self.expected("the end of the line or ';'"),
            _ => self.expected("the end of the line"),
        }
    }

    /// An identifier of any script, keywords too.
    pub fn identifier(&mut self) -> Option<&'a str> {
        let start = self.pos;
        let rest = self.rest();
        let mut len = 0;
        while rest
            .get(len)
            .is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_')
        {
            len += 1;
        }
        if rest.get(len).is_some_and(|b| !b.is_ascii()) {
            let text = &self.text[start..];
            len = text
                .find(|c| !unicode_ident::is_xid_continue(c))
                .unwrap_or(text.len());
        }
        let name = &self.text[start..start + len];
        let first = name.chars().next()?;
        if first != '_' && !unicode_ident::is_xid_start(first) {
            return None;
        }
        self.pos += len;
        Some(name)
    }

    /// A word without moving on.
    pub fn peek_word(&mut self) -> &'a str {
        let start = self.pos;
        let word = self.identifier().unwrap_or("");
        self.pos = start;
        word
    }

    /// Takes this word if it is the next one.
    pub fn keyword(&mut self, word: &str) -> bool {
        let found = self.rest().starts_with(word.as_bytes()) && self.peek_word() == word;
        self.pos += if found { word.len() } else { 0 };
        found
    }

    /// Identifiers with `::` between them: a type's name or a key of metadata.
    pub fn type_name(&mut self) -> Option<&'a str> {
        let start = self.pos;
        self.identifier()?;
        while self.rest().starts_with(b"::") {
            let before = self.pos;
            self.pos += 2;
            if self.identifier().is_none() {
                self.pos = before;
                break;
            }
        }
        Some(self.since(start))
    }

    /// Identifiers with `:` between them.
    pub fn property_name(&mut self) -> Parsed<&'a str> {
        let start = self.pos;
        loop {
            if self.identifier().is_none() {
                return self.expected("the name of a property");
            }
            if !self.eat(b':') {
                return Ok(self.since(start));
            }
        }
    }

    /// A number, if one begins here.
    pub fn number(&mut self) -> Parsed<Option<Number>> {
        let bytes = self.bytes;
        let start = self.pos;
        let digit = |i: usize| {
            bytes
                .get(i)
                .map(|b| b.wrapping_sub(b'0'))
                .filter(|d| *d < 10)
        };
        let negative = self.peek() == b'-';
        let first = start + usize::from(negative);
        let mut i = first;
        let mut mantissa = 0u64;
        while let Some(d) = digit(i) {
            mantissa = mantissa.wrapping_mul(10).wrapping_add(u64::from(d));
            i += 1;
        }
        let mut digits = i - first;
        let mut real = false;
        let mut scale = 0i32;
        if bytes.get(i) == Some(&b'.') && (digits > 0 || digit(i + 1).is_some()) {
            i += 1;
            let from = i;
            while let Some(d) = digit(i) {
                mantissa = mantissa.wrapping_mul(10).wrapping_add(u64::from(d));
                i += 1;
            }
            digits += i - from;
            scale = -i32::try_from(i - from).unwrap_or(i32::MAX);
            real = true;
        }
        if digits == 0 {
            return Ok(self.special(negative));
        }
        if let Some(b'e' | b'E') = bytes.get(i) {
            i += 1;
            let down = bytes.get(i) == Some(&b'-');
            i += usize::from(matches!(bytes.get(i), Some(b'-' | b'+')));
            let from = i;
            let mut exponent = 0i32;
            while let Some(d) = digit(i) {
                exponent = exponent.saturating_mul(10).saturating_add(i32::from(d));
                i += 1;
            }
            if i == from {
                self.pos = i;
                return self.expected("the digits of an exponent");
            }
            scale = scale.saturating_add(if down { -exponent } else { exponent });
            real = true;
        }
        self.pos = i;
        let text = &self.text[start..i];
        if !real {
            let whole = match (negative, digits <= 18) {
                (true, true) if mantissa == 0 => Some(Number::Double(-0.0)),
                (true, true) => Some(Number::Int(-(mantissa as i64))),
                (false, true) => Some(Number::UInt(mantissa)),
                (true, false) => text.parse().ok().map(Number::Int),
                (false, false) => text.parse().ok().map(Number::UInt),
            };
            if let Some(whole) = whole {
                return Ok(Some(whole));
            }
        }
        // A double holds the digits and the power exactly, so one operation rounds correctly.
        if digits <= 18 && mantissa <= 1 << 53 && (-22..=22).contains(&scale) {
            let power = EXACT_POWERS[scale.unsigned_abs() as usize];
            let value = match scale < 0 {
                true => mantissa as f64 / power,
                false => mantissa as f64 * power,
            };
            return Ok(Some(Number::Double(if negative { -value } else { value })));
        }
        match text.parse() {
            Ok(value) => Ok(Some(Number::Double(value))),
            Err(_) => fail_at(start, "this is no number"),
        }
    }

    /// `inf`, `-inf` and `nan`.
    fn special(&mut self, negative: bool) -> Option<Number> {
        let start = self.pos;
        self.pos += usize::from(negative);
        let value = match self.identifier() {
            Some("inf") if negative => f64::NEG_INFINITY,
            Some("inf") => f64::INFINITY,
            Some("nan") if !negative => f64::NAN,
            _ => {
                self.pos = start;
                return None;
            }
        };
        Some(Number::Double(value))
    }

    /// A string in one of the four kinds of quotes, if one begins here.
    pub fn string(&mut self) -> Parsed<Option<SmolStr>> {
        let quote = self.peek();
        if quote != b'"' && quote != b'\'' {
            return Ok(None);
        }
        let start = self.pos;
        let triple = self.rest().starts_with(&[quote; 3]);
        let open = start + if triple { 3 } else { 1 };
        let mut escapes = false;
        let mut i = open;
        let end = loop {
            match self.bytes.get(i) {
                Some(b'\\') => {
                    escapes = true;
                    let pair = self.bytes.get(i + 1);
                    i += match pair {
                        Some(b'\\') => 2,
                        Some(b) if *b == quote => 2,
                        _ => 1,
                    };
                }
                Some(b) if *b == quote => {
                    if !triple || self.bytes[i..].starts_with(&[quote; 3]) {
                        break i;
                    }
                    i += 1;
                }
                Some(b'\n' | b'\r') if !triple => {
                    return fail_at(start, "a string without its closing quote in the line");
                }
                Some(_) => i += 1,
                None => return fail_at(start, "a string without its closing quote"),
            }
        };
        let inner = &self.text[open..end];
        self.pos = end + (open - start);
        if !escapes {
            return Ok(Some(SmolStr::new(inner)));
        }
        match String::from_utf8(unescape(inner.as_bytes())) {
            Ok(text) => Ok(Some(SmolStr::from(text))),
            Err(_) => fail_at(start, "the escapes of this string do not make UTF-8"),
        }
    }

    pub fn expect_string(&mut self) -> Parsed<SmolStr> {
        match self.string()? {
            Some(text) => Ok(text),
            None => self.expected("a string"),
        }
    }

    /// An asset path between `@` or `@@@`, if one begins here.
    pub fn asset(&mut self) -> Parsed<Option<SmolStr>> {
        if self.peek() != b'@' {
            return Ok(None);
        }
        let start = self.pos;
        let triple = self.rest().starts_with(b"@@@");
        let open = start + if triple { 3 } else { 1 };
        let mut end = open;
        let path = loop {
            match self.bytes.get(end) {
                Some(b'@') if !triple => {
                    self.pos = end + 1;
                    break SmolStr::new(&self.text[open..end]);
                }
                Some(b'\\') if triple && self.bytes[end + 1..].starts_with(b"@@@") => end += 4,
                Some(b'@') if self.bytes[end..].starts_with(b"@@@") => {
                    // Of more than three the first ones, up to two, are a part of the path.
                    let more = self.bytes[end + 3..].iter().take(2);
                    end += more.take_while(|b| **b == b'@').count();
                    self.pos = end + 3;
                    break SmolStr::new(self.text[open..end].replace("\\@@@", "@@@"));
                }
                None | Some(b'\n' | b'\r') => {
                    return self.fail("an asset path without its closing '@' in the line");
                }
                Some(_) => end += 1,
            }
        };
        if path.chars().any(char::is_control) {
            return fail_at(start, "an asset path with control characters");
        }
        Ok(Some(path))
    }

    pub fn expect_asset(&mut self) -> Parsed<SmolStr> {
        match self.asset()? {
            Some(path) => Ok(path),
            None => self.expected("an asset path between '@'"),
        }
    }

    /// A path between `<` and `>`, if one begins here. It may be relative or empty.
    pub fn path(&mut self) -> Parsed<Option<Path>> {
        if self.peek() != b'<' {
            return Ok(None);
        }
        let start = self.pos;
        let end = self
            .rest()
            .iter()
            .position(|b| matches!(b, b'>' | b'\n' | b'\r'));
        let Some(end) = end.filter(|end| self.rest()[*end] == b'>') else {
            return self.fail("a path without its closing '>' in the line");
        };
        match Path::parse(&self.text[start + 1..start + end]) {
            Ok(path) => {
                self.pos = start + end + 1;
                Ok(Some(path))
            }
            Err(error) => self.fail(error.to_string()),
        }
    }

    pub fn expect_path(&mut self) -> Parsed<Path> {
        match self.path()? {
            Some(path) => Ok(path),
            None => self.expected("a path between '<' and '>'"),
        }
    }

    /// Items between brackets, with commas between them and maybe one after the last. `item` reads
    /// one.
    pub fn bracketed(
        &mut self,
        open: u8,
        close: u8,
        mut item: impl FnMut(&mut Self) -> Parsed<()>,
    ) -> Parsed<()> {
        self.expect(open)?;
        self.space();
        while !self.eat(close) {
            item(self)?;
            self.space();
            if !self.eat(b',') {
                return self.expect(close);
            }
            self.space();
        }
        Ok(())
    }
}

pub(super) fn fail_at<T>(at: usize, reason: impl Into<String>) -> Parsed<T> {
    Err(Box::new(Fail {
        at,
        reason: reason.into(),
        unsupported: false,
    }))
}

/// An error for what usd-core reads and this crate cannot hold.
pub(super) fn unsupported<T>(at: usize, reason: impl Into<String>) -> Parsed<T> {
    Err(Box::new(Fail {
        at,
        reason: reason.into(),
        unsupported: true,
    }))
}

/// Resolves the escapes of a string as usd-core does: an unknown one is the character itself.
fn unescape(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut i = 0;
    while let Some(byte) = text.get(i) {
        i += 1;
        if *byte != b'\\' {
            out.push(*byte);
            continue;
        }
        let Some(kind) = text.get(i) else {
            break;
        };
        i += 1;
        let (radix, most) = match kind {
            b'x' => (16, 2),
            b'0'..=b'7' => (8, 3),
            _ => (0, 0),
        };
        if radix > 0 {
            i -= usize::from(radix == 8);
            let digits = text[i..].iter().take(most);
            let mut value = 0u8;
            for digit in digits.map_while(|b| char::from(*b).to_digit(radix)) {
                value = value.wrapping_mul(radix as u8).wrapping_add(digit as u8);
                i += 1;
            }
            out.push(value);
            continue;
        }
        out.push(match kind {
            b'a' => 7,
            b'b' => 8,
            b'f' => 12,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'v' => 11,
            other => *other,
        });
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(text: &str) -> Option<Number> {
        let mut lexer = Lexer::new(text);
        let value = lexer.number().ok()??;
        lexer.at_end().then_some(value)
    }

    #[test]
    fn numbers_are_read_as_usd_core_reads_them() {
        for (text, value) in [
            ("0", Number::UInt(0)),
            ("-0", Number::Double(-0.0)),
            ("-7", Number::Int(-7)),
            ("18446744073709551615", Number::UInt(u64::MAX)),
            (
                "18446744073709551616",
                Number::Double(18446744073709551616.0),
            ),
            ("-9223372036854775808", Number::Int(i64::MIN)),
            (
                "-9223372036854775809",
                Number::Double(-9223372036854775809.0),
            ),
            (".5", Number::Double(0.5)),
            ("1.", Number::Double(1.0)),
            ("-1.25e-3", Number::Double(-1.25e-3)),
            ("1E+400", Number::Double(f64::INFINITY)),
            ("inf", Number::Double(f64::INFINITY)),
            ("-inf", Number::Double(f64::NEG_INFINITY)),
            (
                "0.1234567890123456789",
                Number::Double(0.123_456_789_012_345_68),
            ),
        ] {
            assert_eq!(number(text), Some(value), "{text}");
        }
        assert!(matches!(number("nan"), Some(Number::Double(v)) if v.is_nan()));
        let zero = number("-0.0").unwrap().to_f64();
        assert!(zero == 0.0 && zero.is_sign_negative());
        for bad in [
            "", "-", ".", "+1", "-nan", "infinity", "1e", "x", "-.", "1e+",
        ] {
            assert_eq!(number(bad), None, "{bad}");
        }
        assert_eq!(Number::Double(1.7).to_int::<i32>(), Some(1));
        assert_eq!(Number::UInt(256).to_int::<u8>(), None);
        assert_eq!(Number::Double(f64::NAN).to_int::<u8>(), None);
    }
}
