//! Words and numbers of a text file, and on which line they stand.

use sinew::error::Invalid;

/// Numbers beyond this are refused: points are f32 in the end, and no skeleton is that large.
const LARGEST: f64 = 1e9;
/// Characters of the file that an error quotes.
const QUOTED: usize = 40;

/// Reads words, or lines.
pub struct Lines<'a> {
    /// What follows the current line.
    rest: std::str::Lines<'a>,
    /// What is left of the current line.
    line: &'a str,
    /// Of the current line, from 1.
    number: usize,
}

impl<'a> Lines<'a> {
    pub fn new(text: &'a str) -> Self {
        Self {
            rest: text.trim_start_matches('\u{feff}').lines(),
            line: "",
            number: 0,
        }
    }

    /// Goes on to a line that is not blank; false at the end of the file.
    fn fill(&mut self) -> bool {
        loop {
            self.line = self.line.trim_start();
            if !self.line.is_empty() {
                return true;
            }
            let Some(line) = self.rest.next() else {
                return false;
            };
            self.line = line;
            self.number += 1;
        }
    }

    /// The next word, a brace by itself, wherever it stands; `None` at the end of the file.
    pub fn word(&mut self) -> Option<&'a str> {
        if !self.fill() {
            return None;
        }
        Some(self.word_in_line())
    }

    /// The next word, left in place.
    pub fn peek(&mut self) -> Option<&'a str> {
        if !self.fill() {
            return None;
        }
        let line = self.line;
        let word = self.word_in_line();
        self.line = line;
        Some(word)
    }

    /// The next word of the current line, which is empty at its end.
    fn word_in_line(&mut self) -> &'a str {
        let line = self.line.trim_start();
        let is_end = |c: char| c.is_whitespace() || c == '{' || c == '}';
        let end = match line.find(is_end) {
            // A brace itself.
            Some(0) => 1,
            Some(end) => end,
            None => line.len(),
        };
        let (word, rest) = line.split_at(end);
        self.line = rest;
        word
    }

    /// What is left of the current line up to a brace: a name, perhaps with spaces.
    pub fn name(&mut self) -> &'a str {
        let end = self.line.find(['{', '}']).unwrap_or(self.line.len());
        let (name, rest) = self.line.split_at(end);
        self.line = rest;
        name.trim()
    }

    /// The words of the next line that is not blank.
    pub fn words_of_line(&mut self) -> Option<std::str::SplitWhitespace<'a>> {
        if !self.fill() {
            return None;
        }
        Some(std::mem::take(&mut self.line).split_whitespace())
    }

    /// The next word, which has to be this keyword in any case.
    pub fn keyword(&mut self, keyword: &str) -> Result<(), Invalid> {
        match self.word() {
            Some(word) if word.eq_ignore_ascii_case(keyword) => Ok(()),
            found => Err(self.error(keyword, keyword, found)),
        }
    }

    /// The next number.
    pub fn number(&mut self, property: &str) -> Result<f64, Invalid> {
        let word = self.word();
        self.parse(property, word)
    }

    /// A number that stands on the current line.
    pub fn parse(&self, property: &str, word: Option<&str>) -> Result<f64, Invalid> {
        match word.and_then(|w| w.parse::<f64>().ok()) {
            // Not a number is not below anything.
            Some(value) if value.abs() <= LARGEST => Ok(value),
            Some(_) => Err(self.error(property, "a number within 1e9 of 0", word)),
            None => Err(self.error(property, "a number", word)),
        }
    }

    /// What is wrong with a word of the current line; `None` is the end of the file.
    pub fn error(
        &self,
        property: &str,
        expected: impl Into<String>,
        found: Option<&str>,
    ) -> Invalid {
        let found = found.map_or_else(|| "the end of the file".to_owned(), quoted);
        self.broken(property, expected, found)
    }

    /// What is wrong on the current line.
    pub fn broken(
        &self,
        property: &str,
        expected: impl Into<String>,
        found: impl Into<String>,
    ) -> Invalid {
        Invalid::new(
            format!("line {}", self.number.max(1)),
            property,
            expected,
            found,
        )
    }
}

fn quoted(word: &str) -> String {
    match word.char_indices().nth(QUOTED) {
        Some((end, _)) => format!("`{}...`", &word[..end]),
        None => format!("`{word}`"),
    }
}
