//! Lines, blocks and their indentation.

use std::fmt::{Display, Write};

#[derive(Default)]
pub struct Writer {
    text: String,
    depth: usize,
}

impl Writer {
    pub fn line(&mut self, text: impl Display) {
        let indent = 4 * self.depth;
        writeln!(self.text, "{:indent$}{text}", "").expect("a String takes all");
    }

    pub fn blank(&mut self) {
        self.text.push('\n');
    }

    pub fn property(&mut self, declaration: &str, value: impl Display) {
        self.line(format_args!("{declaration} = {value}"));
    }

    /// A property with metadata, one per line.
    pub fn property_with(&mut self, declaration: &str, value: impl Display, metadata: &[&str]) {
        self.line_with(format_args!("{declaration} = {value}"), metadata);
    }

    /// A `def` line, or the like, with metadata if any, and what is in its braces.
    pub fn block(&mut self, header: &str, metadata: &[&str], body: impl FnOnce(&mut Self)) {
        self.line_with(header, metadata);
        self.line("{");
        self.indented(body);
        self.line("}");
    }

    /// In parentheses, one to a line.
    pub fn metadata(&mut self, metadata: &[&str]) {
        self.line("(");
        self.entries(metadata);
    }

    /// One value per time.
    pub fn time_samples(
        &mut self,
        declaration: &str,
        samples: impl Iterator<Item = (u16, String)>,
    ) {
        self.line(format_args!("{declaration}.timeSamples = {{"));
        self.indented(|out| samples.for_each(|(t, x)| out.line(format_args!("{t}: {x},"))));
        self.line("}");
    }

    pub fn finish(self) -> String {
        self.text
    }

    /// The line, with what its metadata open behind it.
    fn line_with(&mut self, text: impl Display, metadata: &[&str]) {
        if metadata.is_empty() {
            return self.line(text);
        }
        self.line(format_args!("{text} ("));
        self.entries(metadata);
    }

    fn entries(&mut self, metadata: &[&str]) {
        self.indented(|out| metadata.iter().for_each(|m| out.line(m)));
        self.line(")");
    }

    fn indented(&mut self, body: impl FnOnce(&mut Self)) {
        self.depth += 1;
        body(self);
        self.depth -= 1;
    }
}
