//! Lines of a script that judge what the viewer tells of itself; `desk/play.rs` lists them.

use serde_json::Value;

pub fn check(is_so: bool, told: impl FnOnce() -> String) -> Result<(), String> {
    if is_so { Ok(()) } else { Err(told()) }
}

pub fn number(word: &str) -> Result<f64, String> {
    word.parse().map_err(|e| format!("{word}: {e}"))
}

/// Text as a value has it: a string without its quotes.
pub fn plain(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}

/// The value of a report at a path; spaces of names may be written as underscores.
pub fn at(report: &Value, path: &str) -> Value {
    let found = report.pointer(path);
    let found = found.or_else(|| report.pointer(&path.replace('_', " ")));
    found.cloned().unwrap_or(Value::Null)
}

pub fn is_judgement(word: &str) -> bool {
    ["=", "~", "!~", "once", "<", ">"].contains(&word)
}

/// Judges a report by a line, such as `= /time 12`.
pub fn judge(report: &Value, line: &str) -> Result<(), String> {
    let mut words = line.splitn(3, ' ');
    let [word, path, expected] = [(); 3].map(|()| words.next().unwrap_or_default());
    let found = at(report, path);
    let count = || plain(&found).matches(expected).count();
    let limit = || number(expected).unwrap_or(f64::NAN);
    let value = found.as_f64().unwrap_or(f64::NAN);
    let is_so = match word {
        "=" => {
            let expected: Value = serde_json::from_str(expected).map_err(|e| e.to_string())?;
            let numbers = found.as_f64().zip(expected.as_f64());
            numbers.map_or(found == expected, |(a, b)| a == b)
        }
        "~" => count() > 0,
        "!~" => count() == 0,
        "once" => count() == 1,
        "<" => value < limit(),
        _ => value > limit(),
    };
    check(is_so, || format!("{found} in {report}"))
}
