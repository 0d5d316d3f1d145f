//! Small formatting shared by the commands.

use std::io::Write;

use serde::Serialize;
use sinew::{Invalid, Warning};

/// How often one kind of warning is printed in full.
const SHOWN: usize = 5;

/// `1234567` as `1,234,567`.
pub fn thousands(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (i, c) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(c);
    }
    out
}

/// `1 prim`, `3 prims`.
pub fn count(n: usize, noun: &str) -> String {
    format!(
        "{} {noun}{}",
        thousands(n as u64),
        if n == 1 { "" } else { "s" }
    )
}

/// Prints an error to stderr, with the code that `sinew check --codes` explains where it has one.
pub fn print_error(error: &sinew::Error) {
    match error {
        sinew::Error::Invalid(invalid) => print_invalid(invalid),
        other => eprintln!("error: {other}"),
    }
}

fn print_invalid(invalid: &Invalid) {
    match invalid.code {
        Some(code) => eprintln!("error: {invalid} [{code}]"),
        None => eprintln!("error: {invalid}"),
    }
}

/// Prints errors and warnings to stderr, the first few of each code.
pub fn print_findings(errors: &[Invalid], warnings: &[Warning]) {
    for e in errors {
        print_invalid(e);
    }
    let mut seen: Vec<(&str, usize)> = Vec::new();
    for w in warnings {
        let n = match seen.iter_mut().find(|(code, _)| *code == w.code) {
            Some((_, n)) => {
                *n += 1;
                *n
            }
            None => {
                seen.push((w.code, 1));
                1
            }
        };
        if n <= SHOWN {
            eprintln!("warning: {w}");
        }
    }
    for (code, n) in seen.iter().filter(|(_, n)| *n > SHOWN) {
        eprintln!(
            "warning: {} more of [{code}]; `sinew inspect` shows all",
            n - SHOWN
        );
    }
}

/// One JSON value, on lines of its own.
pub fn to_json(value: &impl Serialize) -> sinew::Result<String> {
    serde_json::to_string_pretty(value)
        .map(|text| text + "\n")
        .map_err(|e| sinew::Error::Request(format!("cannot print JSON: {e}")))
}

/// Writes results to stdout; a reader that hangs up early (`| head`) is no error.
pub fn print_result(text: &str) -> sinew::Result<()> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(e) if e.kind() != std::io::ErrorKind::BrokenPipe => Err(sinew::Error::Request(
            format!("cannot write to stdout: {e}"),
        )),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn thousands() {
        assert_eq!(super::thousands(0), "0");
        assert_eq!(super::thousands(999), "999");
        assert_eq!(super::thousands(1_234_567), "1,234,567");
    }
}
