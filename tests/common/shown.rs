//! Values as JSON, by what `Debug` shows of them: tables name parts of them by JSON pointers.

use std::fmt::Debug;

use serde_json::{Map, Value, json};

/// A value as JSON. A struct is an object whose member `is` has the struct's name. Of enums, `None`
/// is null, `Some(x)` is x, a bare variant is its name, and another variant is an object such as
/// `{"Node": 3}`. Vectors of glam are arrays.
pub fn as_json(value: &impl Debug) -> Value {
    let text = format!("{value:?}");
    Reader { rest: &text }.value()
}

/// Whether a value is as expected: numbers to within `within`, objects in the members that are
/// expected.
pub fn is_near(found: &Value, expected: &Value, within: f64) -> bool {
    match (found, expected) {
        (Value::Number(_), Value::Number(_)) => {
            let apart = found.as_f64().unwrap() - expected.as_f64().unwrap();
            apart.abs() <= within
        }
        (Value::Array(found), Value::Array(expected)) => {
            let mut pairs = found.iter().zip(expected);
            found.len() == expected.len() && pairs.all(|(f, e)| is_near(f, e, within))
        }
        (Value::Object(found), Value::Object(expected)) => expected.iter().all(|(key, value)| {
            let member = found.get(key);
            member.is_some_and(|found| is_near(found, value, within))
        }),
        _ => found == expected,
    }
}

/// What is still to be read of a text.
struct Reader<'a> {
    rest: &'a str,
}

impl<'a> Reader<'a> {
    /// Whether the text goes on with this mark, which is read then.
    fn takes(&mut self, mark: &str) -> bool {
        let rest = self.rest.strip_prefix(mark);
        if let Some(rest) = rest {
            self.rest = rest.trim_start();
        }
        rest.is_some()
    }

    /// The first bytes of the text, and the spaces behind them.
    fn take(&mut self, length: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at(length);
        self.rest = rest.trim_start();
        taken
    }

    fn string(&mut self) -> Value {
        let mut escaped = false;
        let end = self.rest[1..].find(|c| {
            let is_end = c == '"' && !escaped;
            escaped = c == '\\' && !escaped;
            is_end
        });
        let text = self.take(end.expect("an end of the string") + 2);
        // Odd characters are not worth their escapes.
        serde_json::from_str(text).unwrap_or_else(|_| json!(text))
    }

    fn list(&mut self, end: &str) -> Vec<Value> {
        let mut out = Vec::new();
        while !self.takes(end) {
            out.push(self.value());
            self.takes(",");
        }
        out
    }

    fn members(&mut self) -> Map<String, Value> {
        let mut out = Map::new();
        while !self.takes("}") {
            let key = match self.value() {
                Value::String(key) => key,
                other => other.to_string(),
            };
            assert!(self.takes(":"), "a colon before {:.40}", self.rest);
            out.insert(key, self.value());
            self.takes(",");
        }
        out
    }

    fn value(&mut self) -> Value {
        if self.rest.starts_with('"') {
            return self.string();
        }
        let is_of_word = |c: char| c.is_alphanumeric() || "_+-.".contains(c);
        let end = self.rest.find(|c| !is_of_word(c));
        let word = self.take(end.unwrap_or(self.rest.len()));
        if self.takes("[") {
            return self.list("]").into();
        }
        if self.takes("{") {
            let mut members = self.members();
            if !word.is_empty() {
                members.insert("is".to_owned(), json!(word));
            }
            return members.into();
        }
        if self.takes("(") {
            let mut parts = self.list(")");
            return match word {
                "Some" | "Number" | "String" | "Bool" => parts.remove(0),
                _ if parts.len() == 1 => json!({ word: parts.remove(0) }),
                _ => parts.into(),
            };
        }
        assert!(!word.is_empty(), "a value before {:.40}", self.rest);
        match (word, word.parse::<f64>()) {
            ("None" | "Null", _) => Value::Null,
            ("true" | "false", _) => json!(word == "true"),
            (_, Ok(number)) => json!(number),
            _ => json!(word),
        }
    }
}
