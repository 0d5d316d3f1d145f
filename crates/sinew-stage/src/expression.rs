//! Path expressions: their paths mapped to the stage, and references to weaker opinions put in.

use sinew_layer::value::PathExpression;
use sinew_layer::{Path, Token};

/// How deep parentheses may nest. Deeper expressions stay as they are.
const MAX_DEPTH: usize = 100;

/// An expression. Operands of one operator stand in one list, so that long lists do not nest.
#[derive(Clone, Debug, PartialEq)]
enum Expression {
    Nothing,
    Everything,
    /// `%/path:name`, `%:name` or `%_`, without the `%`.
    Reference(String),
    /// A path with wildcards and predicates.
    Pattern(String),
    Complement(Box<Expression>),
    Operation(Operator, Vec<Expression>),
}

/// Operators, the one that binds strongest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Operator {
    ImpliedUnion,
    Union,
    Intersection,
    Difference,
}

impl Operator {
    const WEAKEST_FIRST: [Self; 4] = [
        Self::Difference,
        Self::Intersection,
        Self::Union,
        Self::ImpliedUnion,
    ];

    fn sign(self) -> &'static str {
        match self {
            Self::ImpliedUnion => " ",
            Self::Union => " + ",
            Self::Intersection => " & ",
            Self::Difference => " - ",
        }
    }
}

/// The expression with each path mapped by `to_stage`. What it cannot map matches nothing.
pub(crate) fn map(text: &str, to_stage: &dyn Fn(&Path) -> Option<Path>) -> Token {
    let Some(expression) = parse(text) else {
        return text.into();
    };
    let mapped = expression.replace(&mut |leaf| match leaf {
        Expression::Pattern(pattern) => {
            // The part before the first wildcard, predicate or `//` is a path.
            let literal = pattern.find(['*', '?', '[', '{']).unwrap_or(pattern.len());
            let literal = pattern.find("//").unwrap_or(literal).min(literal);
            let end = match literal == pattern.len() {
                true => literal,
                false => match pattern[..literal].rfind(['/', '.']) {
                    // `/A//`: what stands before `//` is whole.
                    _ if pattern[literal..].starts_with("//") => literal,
                    _ if pattern[literal..].starts_with('{') => literal,
                    Some(at) => at,
                    None => 0,
                },
            };
            let (prefix, rest) = pattern.split_at(end);
            let path = match prefix {
                // Anywhere is anywhere in the stage too.
                "" | "/" => return Some(leaf.clone()),
                text => Path::parse(text).ok()?,
            };
            let path = to_stage(&path)?;
            Some(Expression::Pattern(format!("{path}{rest}")))
        }
        Expression::Reference(reference) => {
            let Some((path, name)) = reference.rsplit_once(':').filter(|(p, _)| !p.is_empty())
            else {
                return Some(Expression::Reference(reference.clone()));
            };
            let path = to_stage(&Path::parse(path).ok()?)?;
            Some(Expression::Reference(format!("{path}:{name}")))
        }
        other => Some(other.clone()),
    });
    mapped.text().into()
}

/// Puts the weaker expression in place of `%_` in the stronger one.
pub(crate) fn compose_over(strong: &mut PathExpression, weak: &PathExpression) {
    strong.0 = over(&strong.0, &weak.0);
}

/// Removes the references to weaker opinions that are left.
pub(crate) fn finish(expression: &mut PathExpression) {
    expression.0 = over(&expression.0, "");
}

fn over(strong: &str, weak: &str) -> Token {
    let (Some(strong_parsed), Some(weak)) = (parse(strong), parse(weak)) else {
        return strong.into();
    };
    let composed = strong_parsed.replace(&mut |leaf| match leaf {
        Expression::Reference(name) if name == "_" => Some(weak.clone()),
        other => Some(other.clone()),
    });
    composed.text().into()
}

impl Expression {
    /// Replaces references and patterns; what has no replacement becomes nothing.
    fn replace(&self, with: &mut dyn FnMut(&Self) -> Option<Self>) -> Self {
        match self {
            Self::Nothing | Self::Everything => self.clone(),
            Self::Reference(_) | Self::Pattern(_) => with(self).unwrap_or(Self::Nothing),
            Self::Complement(inner) => match inner.replace(with) {
                Self::Nothing => Self::Everything,
                Self::Everything => Self::Nothing,
                Self::Complement(inner) => *inner,
                other => Self::Complement(Box::new(other)),
            },
            Self::Operation(operator, operands) => {
                let mut out: Vec<Self> = Vec::with_capacity(operands.len());
                for (i, operand) in operands.iter().enumerate() {
                    let operand = operand.replace(with);
                    match (operator, &operand) {
                        (Operator::Intersection, Self::Nothing) => return Self::Nothing,
                        (Operator::Difference, Self::Nothing) if i == 0 => return Self::Nothing,
                        (_, Self::Nothing) => {}
                        _ => out.push(operand),
                    }
                }
                match out.len() {
                    0 => Self::Nothing,
                    1 => out.remove(0),
                    _ => Self::Operation(*operator, out),
                }
            }
        }
    }

    fn text(&self) -> String {
        let mut out = String::new();
        self.write(None, &mut out);
        out
    }

    fn write(&self, above: Option<Operator>, out: &mut String) {
        match self {
            Self::Nothing => {}
            Self::Everything => out.push_str("//"),
            Self::Reference(name) => {
                out.push('%');
                out.push_str(name);
            }
            Self::Pattern(text) => out.push_str(text),
            Self::Complement(inner) => {
                out.push('~');
                let is_operation = matches!(**inner, Self::Operation(..));
                inner.write_in_parentheses(is_operation, None, out);
            }
            Self::Operation(operator, operands) => {
                let weaker = above.is_some_and(|above| above < *operator);
                if weaker {
                    out.push('(');
                }
                for (i, operand) in operands.iter().enumerate() {
                    if i > 0 {
                        out.push_str(operator.sign());
                    }
                    operand.write(Some(*operator), out);
                }
                if weaker {
                    out.push(')');
                }
            }
        }
    }

    fn write_in_parentheses(&self, parentheses: bool, above: Option<Operator>, out: &mut String) {
        if parentheses {
            out.push('(');
        }
        self.write(above, out);
        if parentheses {
            out.push(')');
        }
    }
}

/// Parses an expression; none if it is broken or nests too deep.
fn parse(text: &str) -> Option<Expression> {
    let mut parser = Parser { rest: text.trim() };
    if parser.rest.is_empty() {
        return Some(Expression::Nothing);
    }
    let expression = parser.operation(0, 0)?;
    parser.rest.trim().is_empty().then_some(expression)
}

struct Parser<'t> {
    rest: &'t str,
}

impl Parser<'_> {
    /// Operands with operators that bind as strongly as the `level`th, or stronger.
    fn operation(&mut self, level: usize, depth: usize) -> Option<Expression> {
        let Some(operator) = Operator::WEAKEST_FIRST.get(level).copied() else {
            return self.operand(depth);
        };
        let mut operands = vec![self.operation(level + 1, depth)?];
        while self.eat(operator) {
            operands.push(self.operation(level + 1, depth)?);
        }
        Some(match operands.len() {
            1 => operands.remove(0),
            _ => Expression::Operation(operator, operands),
        })
    }

    fn eat(&mut self, operator: Operator) -> bool {
        let trimmed = self.rest.trim_start();
        let sign = match operator {
            // Two operands with only a space between them.
            Operator::ImpliedUnion => {
                let next = trimmed.chars().next();
                let follows = next.is_some_and(|c| !matches!(c, '+' | '&' | '-' | ')'));
                if follows {
                    self.rest = trimmed;
                }
                return follows;
            }
            Operator::Union => '+',
            Operator::Intersection => '&',
            Operator::Difference => '-',
        };
        match trimmed.strip_prefix(sign) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn operand(&mut self, depth: usize) -> Option<Expression> {
        self.rest = self.rest.trim_start();
        if depth > MAX_DEPTH {
            return None;
        }
        if let Some(rest) = self.rest.strip_prefix('~') {
            self.rest = rest;
            return Some(match self.operand(depth + 1)? {
                Expression::Complement(inner) => *inner,
                other => Expression::Complement(Box::new(other)),
            });
        }
        if let Some(rest) = self.rest.strip_prefix('(') {
            self.rest = rest;
            let inner = self.operation(0, depth + 1)?;
            self.rest = self.rest.trim_start().strip_prefix(')')?;
            return Some(inner);
        }
        // Braces and brackets may hold any character.
        let mut closing = Vec::new();
        let mut end = self.rest.len();
        for (i, c) in self.rest.char_indices() {
            match c {
                '{' => closing.push('}'),
                '[' => closing.push(']'),
                c if closing.last() == Some(&c) => {
                    closing.pop();
                }
                c if closing.is_empty() && (c.is_whitespace() || "()+&-~".contains(c)) => {
                    end = i;
                    break;
                }
                _ => {}
            }
        }
        let (operand, rest) = self.rest.split_at(end);
        if operand.is_empty() {
            return None;
        }
        self.rest = rest;
        Some(match operand.strip_prefix('%') {
            Some(name) => Expression::Reference(name.to_owned()),
            None => Expression::Pattern(operand.to_owned()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As usd-core 26.11 composes them.
    #[test]
    fn weaker_opinions_are_put_in() {
        assert_eq!(over("%_ /B", "/C"), "/C /B");
        assert_eq!(over("%_ /B", ""), "/B");
        assert_eq!(over("/X + %_", "/Y - /Z"), "/X + (/Y - /Z)");
        assert_eq!(over("~(%_ & /B)", "/C /D//"), "~(/C /D// & /B)");
        assert_eq!(over("~%_", ""), "//");
        assert_eq!(over("%_ & /A", ""), "");
    }

    #[test]
    fn paths_are_mapped() {
        let to_a =
            |p: &Path| p.replace_prefix(&Path::parse("/R").unwrap(), &Path::parse("/A").unwrap());
        let text = "/R/B /R// /Out /R//k %/R:coll %_ /R/B* /R{x:1}";
        assert_eq!(
            map(text, &to_a),
            "/A/B /A// /A//k %/A:coll %_ /A/B* /A{x:1}"
        );
        assert_eq!(map("/R - /Out", &to_a), "/A");
    }

    #[test]
    fn expressions_that_nest_deep_stay() {
        let deep = format!("{}/A{}", "(".repeat(100_000), ")".repeat(100_000));
        assert_eq!(over(&deep, ""), deep);
        let long = vec!["/A"; 100_000].join(" ");
        assert_eq!(over(&long, ""), long);
    }
}
