//! Variable expressions: asset paths and variants that are computed, such as `` `"shot_${SHOT}.usda"` ``.

use sinew_layer::value::{Dictionary, Value};

/// Functions and variables in one another; real expressions have two or three levels.
const MAX_DEPTH: usize = 32;
/// Values that one expression may look at, its variables included.
const MAX_STEPS: usize = 10_000;
/// Bytes of a text that an expression makes.
const MAX_TEXT: usize = 1 << 16;

/// Whether a text is an expression: it stands between backquotes.
pub(super) fn is_expression(text: &str) -> bool {
    text.len() > 2 && text.starts_with('`') && text.ends_with('`')
}

/// The text that an expression gives. No value is the empty text.
///
/// # Errors
/// What is wrong, if the expression cannot be read, or gives something that is no text.
pub(super) fn text(expression: &str, variables: &Dictionary) -> Result<String, String> {
    let mut scope = Scope {
        variables,
        open: Vec::new(),
        steps: 0,
    };
    match scope.expression(expression) {
        Ok(Term::Text(text)) => Ok(text),
        Ok(Term::None) => Ok(String::new()),
        Ok(other) => Err(format!(
            "{expression}: expected a string, found {}",
            other.kind()
        )),
        Err(reason) => Err(format!("{expression}: {reason}")),
    }
}

/// A value in an expression.
#[derive(Clone, Debug, PartialEq, PartialOrd)]
enum Term {
    None,
    Text(String),
    Bool(bool),
    Int(i64),
    List(Vec<Term>),
}

impl Term {
    fn kind(&self) -> &'static str {
        match self {
            Self::None => "None",
            Self::Text(_) => "a string",
            Self::Bool(_) => "a bool",
            Self::Int(_) => "an int",
            Self::List(_) => "a list",
        }
    }

    fn is_like(&self, other: &Self) -> bool {
        std::mem::discriminant(self) == std::mem::discriminant(other)
    }
}

/// What expressions of one evaluation share.
struct Scope<'a> {
    variables: &'a Dictionary,
    /// Variables whose expressions are being evaluated.
    open: Vec<String>,
    steps: usize,
}

impl Scope<'_> {
    fn expression(&mut self, text: &str) -> Result<Term, String> {
        let inner = text.strip_prefix('`').and_then(|t| t.strip_suffix('`'));
        let mut reader = Reader {
            rest: inner.ok_or("expected backquotes around the expression")?,
            depth: self.open.len(),
        };
        let term = reader.body(self)?;
        match reader.rest {
            "" => Ok(term),
            rest => Err(format!("expected the end, found '{rest}'")),
        }
    }

    /// A variable's value; none if there is no such variable.
    fn variable(&mut self, name: &str) -> Result<Option<Term>, String> {
        if self.open.iter().any(|o| o == name) {
            return Err(format!("variable '{name}' is defined by itself"));
        }
        let Some(value) = self.variables.get(name) else {
            return Ok(None);
        };
        let unsupported = || format!("variable '{name}' has a type that expressions do not know");
        let value = value.load().map_err(|e| e.to_string())?;
        let Some(term) = term(&value) else {
            return Err(unsupported());
        };
        match term {
            Term::Text(text) if is_expression(&text) => {
                if self.open.len() >= MAX_DEPTH {
                    return Err(format!("expressions nest deeper than {MAX_DEPTH}"));
                }
                self.open.push(name.to_owned());
                let result = self.expression(&text);
                self.open.pop();
                result.map(Some)
            }
            term => Ok(Some(term)),
        }
    }
}

/// A variable's value as an expression sees it.
fn term(value: &Value) -> Option<Term> {
    fn list<T>(items: &[T], make: impl Fn(&T) -> Term) -> Option<Term> {
        Some(Term::List(items.iter().map(make).collect()))
    }
    match value {
        Value::String(text) => Some(Term::Text(text.to_string())),
        Value::Bool(b) => Some(Term::Bool(*b)),
        Value::Int(n) => Some(Term::Int((*n).into())),
        Value::Int64(n) => Some(Term::Int(*n)),
        Value::StringArray(items) => list(items, |t| Term::Text(t.to_string())),
        Value::BoolArray(items) => list(items, |b| Term::Bool(*b)),
        Value::IntArray(items) => list(items, |n| Term::Int((*n).into())),
        Value::Int64Array(items) => list(items, |n| Term::Int(*n)),
        Value::Block => Some(Term::None),
        _ => None,
    }
}

/// Reads and evaluates at once.
struct Reader<'a> {
    rest: &'a str,
    depth: usize,
}

impl<'a> Reader<'a> {
    fn eat(&mut self, text: &str) -> bool {
        match self.rest.strip_prefix(text) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn expect(&mut self, text: &str) -> Result<(), String> {
        match self.eat(text) {
            true => Ok(()),
            false => Err(format!("expected '{text}', found '{}'", self.rest)),
        }
    }

    fn spaces(&mut self) {
        self.rest = self.rest.trim_start_matches(' ');
    }

    fn word(&mut self) -> &'a str {
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let end = self.rest.find(|c| !is_part(c)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        match word.starts_with(|c: char| c.is_ascii_digit()) {
            true => "",
            false => {
                self.rest = rest;
                word
            }
        }
    }

    /// A scalar or a list.
    fn body(&mut self, scope: &mut Scope<'_>) -> Result<Term, String> {
        if !self.eat("[") {
            return self.scalar(scope);
        }
        let items = self.items(scope, "]", Self::scalar)?;
        for item in &items {
            if matches!(item, Term::List(_) | Term::None) || !item.is_like(&items[0]) {
                return Err(format!(
                    "expected items of one type in a list, found {}",
                    item.kind()
                ));
            }
        }
        Ok(Term::List(items))
    }

    /// What stands between commas up to `end`.
    fn items(
        &mut self,
        scope: &mut Scope<'_>,
        end: &str,
        item: fn(&mut Self, &mut Scope<'_>) -> Result<Term, String>,
    ) -> Result<Vec<Term>, String> {
        let mut items = Vec::new();
        self.spaces();
        if self.eat(end) {
            return Ok(items);
        }
        loop {
            self.spaces();
            items.push(item(self, scope)?);
            self.spaces();
            if !self.eat(",") {
                self.expect(end)?;
                return Ok(items);
            }
        }
    }

    fn scalar(&mut self, scope: &mut Scope<'_>) -> Result<Term, String> {
        scope.steps += 1;
        if scope.steps > MAX_STEPS || self.depth > MAX_DEPTH {
            return Err("it is too large".to_owned());
        }
        if self.eat("${") {
            let name = self.word();
            self.expect("}")?;
            let value = scope.variable(name)?;
            return value.ok_or_else(|| format!("variable '{name}' has no value"));
        }
        for quote in ["\"", "'"] {
            if self.eat(quote) {
                return self.quoted(scope, quote).map(Term::Text);
            }
        }
        let digits = self.rest.strip_prefix('-').unwrap_or(self.rest);
        let len = digits.bytes().take_while(u8::is_ascii_digit).count();
        if len > 0 {
            let (number, rest) = self.rest.split_at(self.rest.len() - digits.len() + len);
            self.rest = rest;
            return number
                .parse()
                .map(Term::Int)
                .map_err(|_| format!("integer {number} is out of range"));
        }
        match self.word() {
            "True" | "true" => Ok(Term::Bool(true)),
            "False" | "false" => Ok(Term::Bool(false)),
            "None" | "none" => Ok(Term::None),
            "" => Err(format!("expected a value, found '{}'", self.rest)),
            name => {
                self.expect("(")?;
                self.depth += 1;
                let term = match name {
                    "defined" => self.defined(scope),
                    _ => self
                        .items(scope, ")", Self::body)
                        .and_then(|args| call(name, &args)),
                };
                self.depth -= 1;
                term
            }
        }
    }

    /// Whether there are variables of all these names.
    fn defined(&mut self, scope: &mut Scope<'_>) -> Result<Term, String> {
        let names = self.items(scope, ")", Self::body)?;
        let mut all = !names.is_empty();
        for name in &names {
            let Term::Text(name) = name else {
                return Err(format!("defined: expected a string, found {}", name.kind()));
            };
            all &= scope.variables.contains_key(name.as_str());
        }
        match names.is_empty() {
            true => Err("defined: expected the names of variables".to_owned()),
            false => Ok(Term::Bool(all)),
        }
    }

    /// The text up to a quote, with the values of its variables.
    fn quoted(&mut self, scope: &mut Scope<'_>, quote: &str) -> Result<String, String> {
        let mut out = String::new();
        loop {
            if self.eat(quote) {
                return Ok(out);
            }
            if self.eat("${") {
                let name = self.word();
                self.expect("}")?;
                scope.steps += 1;
                match scope.variable(name)? {
                    Some(Term::Text(text)) => out.push_str(&text),
                    Some(Term::None) => {}
                    // It stays for who knows the variable.
                    None => out.push_str(&format!("${{{name}}}")),
                    Some(other) => {
                        return Err(format!(
                            "expected a string in variable '{name}', found {}",
                            other.kind()
                        ));
                    }
                }
            } else {
                let mut chars = self.rest.chars();
                let mut next = chars.next();
                if next == Some('\\') {
                    next = chars.next().map(|c| match c {
                        'n' => '\n',
                        't' => '\t',
                        'r' => '\r',
                        other => other,
                    });
                }
                out.push(next.ok_or("expected a closing quote")?);
                self.rest = chars.as_str();
            }
            if out.len() > MAX_TEXT {
                return Err(format!("the text is longer than {MAX_TEXT} bytes"));
            }
        }
    }
}

/// The result of a function.
fn call(name: &str, args: &[Term]) -> Result<Term, String> {
    let wrong = |what: &str| Err(format!("{name}: {what}"));
    match (name, args) {
        ("if", [Term::Bool(condition), yes, no @ ..]) if no.len() <= 1 => {
            let no = no.first();
            if let Some(no) = no
                && !yes.is_like(no)
                && *yes != Term::None
                && *no != Term::None
            {
                return wrong("expected two values of the same type");
            }
            Ok(match condition {
                true => yes.clone(),
                false => no.cloned().unwrap_or(Term::None),
            })
        }
        ("if", [_, _] | [_, _, _]) => wrong("expected a bool as the condition"),
        ("eq" | "neq" | "lt" | "leq" | "gt" | "geq", [a, b]) => {
            if !a.is_like(b) || matches!(a, Term::List(_)) {
                return wrong(&format!("cannot compare {} and {}", a.kind(), b.kind()));
            }
            Ok(Term::Bool(match name {
                "eq" => a == b,
                "neq" => a != b,
                _ if *a == Term::None => return wrong("cannot compare None"),
                "lt" => a < b,
                "leq" => a <= b,
                "gt" => a > b,
                _ => a >= b,
            }))
        }
        ("and" | "or", args) if args.len() >= 2 => {
            let mut all = Vec::with_capacity(args.len());
            for arg in args {
                match arg {
                    Term::Bool(b) => all.push(*b),
                    other => return wrong(&format!("expected a bool, found {}", other.kind())),
                }
            }
            Ok(Term::Bool(match name {
                "and" => all.iter().all(|b| *b),
                _ => all.iter().any(|b| *b),
            }))
        }
        ("not", [Term::Bool(b)]) => Ok(Term::Bool(!b)),
        ("contains", [Term::Text(text), Term::Text(part)]) => {
            Ok(Term::Bool(text.contains(part.as_str())))
        }
        ("contains", [Term::List(items), item])
            if items.first().is_none_or(|i| i.is_like(item)) =>
        {
            Ok(Term::Bool(items.contains(item)))
        }
        ("at", [Term::List(items), Term::Int(at)]) => match index(*at, items.len()) {
            Some(i) => Ok(items[i].clone()),
            None => wrong("the index is out of range"),
        },
        ("at", [Term::Text(text), Term::Int(at)]) => {
            // Bytes, as in usd-core; half a character is none.
            match index(*at, text.len()).and_then(|i| text.get(i..=i)) {
                Some(c) => Ok(Term::Text(c.to_owned())),
                None => wrong("the index is out of range"),
            }
        }
        ("len", [Term::List(items)]) => Ok(Term::Int(items.len() as i64)),
        ("len", [Term::Text(text)]) => Ok(Term::Int(text.len() as i64)),
        _ => wrong("there is no such function for these arguments"),
    }
}

/// An index that may count from the end.
fn index(at: i64, len: usize) -> Option<usize> {
    let at = match at < 0 {
        true => at.checked_add(i64::try_from(len).ok()?)?,
        false => at,
    };
    usize::try_from(at).ok().filter(|i| *i < len)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_give_what_usd_core_gives() {
        let mut variables = Dictionary::new();
        variables.insert("SHOT".into(), Value::string("s1"));
        variables.insert("N".into(), Value::Int(3));
        variables.insert("SUB".into(), Value::string("`\"${SHOT}_x\"`"));
        variables.insert("LOOP".into(), Value::string("`${LOOP}`"));
        let good = [
            ("`\"a_${SHOT}.usda\"`", "a_s1.usda"),
            ("`${SUB}`", "s1_x"),
            ("`\"${NONE}\"`", "${NONE}"),
            ("`if(eq(${N}, 3), 'yes', 'no')`", "yes"),
            ("`if(defined('N', 'Q'), 'yes')`", ""),
            ("`at(['a', 'b'], -1)`", "b"),
            (
                "`if(and(contains('abc', 'b'), not(lt(2, 1))), 'x', 'y')`",
                "x",
            ),
            ("`if(or(gt(len('abc'), 4), false), 'x', 'y')`", "y"),
            ("`None`", ""),
            ("`'a\\'b'`", "a'b"),
        ];
        for (expression, expected) in good {
            assert_eq!(
                text(expression, &variables).as_deref(),
                Ok(expected),
                "{expression}"
            );
        }
        let nested = format!("`{}1{}`", "not(".repeat(100), ")".repeat(100));
        for bad in [
            "`${NONE}`",
            "`3`",
            "`\"${N}\"`",
            "`${LOOP}`",
            "`if(1, 2)`",
            "`'a`",
            "` 'a'`",
            "`f()`",
            "`[1, 'a']`",
            "`if(true, 'a', 1)`",
            "`defined(N)`",
            &nested,
        ] {
            assert!(text(bad, &variables).is_err(), "{bad}");
        }
        assert!(is_expression("`1`") && !is_expression("`") && !is_expression("a`b`"));
    }
}
