//! Text layers against usd-core, and texts that are broken in thousands of ways.

use std::path::Path as FilePath;
use std::process::{Command, ExitCode};
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use libtest_mimic::{Arguments, Trial};
use sinew_layer::usda;

type Outcome = Result<(), String>;

/// How long this thread has had a processor, which the tests beside it do not add to. Where the system does not say (Linux
/// does), how long the tests run.
fn processor_time() -> Duration {
    static BEGAN: LazyLock<Instant> = LazyLock::new(Instant::now);
    let began = *BEGAN;
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = told.and_then(|t| t.split_whitespace().next()?.parse().ok());
    nanoseconds.map_or_else(|| began.elapsed(), Duration::from_nanos)
}

/// Without a Python with usd-core in `SINEW_PYTHON`, the comparison is listed as ignored.
fn main() -> ExitCode {
    let python = std::env::var("SINEW_PYTHON").ok();
    let kind = if python.is_some() {
        ""
    } else {
        "needs SINEW_PYTHON"
    };
    let test = |name, run: fn() -> Outcome| Trial::test(name, move || Ok(run()?));
    let trials = vec![
        test(
            "mutated_texts_are_errors_or_layers",
            mutated_texts_are_errors_or_layers,
        ),
        test(
            "deep_and_long_texts_take_linear_time",
            deep_and_long_texts_take_linear_time,
        ),
        Trial::test("usd_core_reads_back_what_it_wrote", move || {
            let python = python.ok_or("SINEW_PYTHON is not set")?;
            Ok(usd_core_reads_back_what_it_wrote(&python)?)
        })
        .with_kind(kind)
        .with_ignored_flag(!kind.is_empty()),
    ];
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

/// A layer with all of the grammar.
const EVERYTHING: &str = include_str!("../src/usda/everything.usda");

fn mutated_texts_are_errors_or_layers() -> Outcome {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut random = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % below.max(1) as u64) as usize
    };
    usda::parse("everything", EVERYTHING.as_bytes()).map_err(|e| e.to_string())?;
    let pieces = [
        "[",
        "]",
        "(",
        ")",
        "{",
        "}",
        "\"",
        "'''",
        "@",
        "@@@",
        "<",
        ">",
        "=",
        ";",
        ",",
        "\n",
        "/*",
        "#",
        "\\",
        "-",
        "1e999",
        "None",
        "edit [",
        ".timeSamples",
        "def ",
        "\u{0}",
        "é",
        "::",
        ":",
        "%",
        "inf",
        "99999999999999999999",
    ];
    let start = processor_time();
    let mut layers = 0;
    for _ in 0..6000 {
        let mut text = EVERYTHING.as_bytes().to_vec();
        for _ in 0..1 + random(3) {
            let at = random(text.len());
            match random(5) {
                0 => {
                    text.remove(at);
                }
                1 => text[at] = random(256) as u8,
                2 => {
                    let piece = pieces[random(pieces.len())].bytes();
                    text.splice(at..at, piece);
                }
                3 => text.truncate(at.max(1)),
                _ => {
                    let end = (at + random(60)).min(text.len());
                    let copy: Vec<u8> = text[at..end].to_vec();
                    let to = random(text.len());
                    text.splice(to..to, copy);
                }
            }
        }
        if let Ok(layer) = usda::parse("mutated", &text) {
            layers += 1;
            let mut out = Vec::new();
            if usda::write(&layer, &mut out).is_ok() {
                let again = usda::parse("written", &out).map_err(|e| {
                    format!(
                        "{e}\n{}\n{}",
                        String::from_utf8_lossy(&text),
                        String::from_utf8_lossy(&out)
                    )
                })?;
                let mut twice = Vec::new();
                usda::write(&again, &mut twice).map_err(|e| e.to_string())?;
                if out != twice {
                    return Err(format!("not stable: {}", String::from_utf8_lossy(&out)));
                }
            }
        }
    }
    let spent = processor_time() - start;
    match spent < Duration::from_secs(120) && layers > 100 {
        true => Ok(()),
        false => Err(format!("{layers} layers in {spent:?}")),
    }
}

fn deep_and_long_texts_take_linear_time() -> Outcome {
    let n = 200_000;
    let repeat = |text: &str| text.repeat(n);
    let long_name = "x".repeat(50_000);
    let texts = [
        ("prims", format!("#usda 1.0\n{}", repeat("def \"A\" {\n"))),
        (
            "long names",
            format!("#usda 1.0\ndef \"{long_name}\" {{\n{}", repeat("int a;")),
        ),
        (
            "dictionaries",
            format!(
                "#usda 1.0\n(customLayerData = {{{}",
                repeat("dictionary a = {")
            ),
        ),
        (
            "lists",
            format!("#usda 1.0\ndef \"A\" {{\nint[] a = {}", repeat("[")),
        ),
        ("unknown lists", format!("#usda 1.0\n(a = {}", repeat("["))),
        (
            "variants",
            format!(
                "#usda 1.0\ndef \"A\" {{\n{}",
                repeat("variantSet \"a\" = { \"b\" {\n")
            ),
        ),
        ("comments", format!("#usda 1.0\n{}", repeat("/* */ # \n"))),
        ("open comments", format!("#usda 1.0\n{}", repeat("/* "))),
        ("assets", format!("#usda 1.0\n(a = [{}])", repeat("@a@, "))),
        (
            "triple assets",
            format!("#usda 1.0\n(a = @@@{}@@@)", repeat("\\@@@")),
        ),
        ("quotes", format!("#usda 1.0\n({})", repeat("\"a\";"))),
        (
            "digits",
            format!("#usda 1.0\n(a = {})", repeat("1234567890")),
        ),
        (
            "paths",
            format!("#usda 1.0\ndef \"A\" {{\nrel a = </{}>\n}}", repeat("a/")),
        ),
        ("spaces", format!("#usda 1.0\n{}", repeat("      "))),
        (
            "edits",
            format!(
                "#usda 1.0\ndef \"A\" {{\nint[] a = edit [{}",
                repeat("append 1;")
            ),
        ),
        (
            "knots",
            format!(
                "#usda 1.0\ndef \"A\" {{\ndouble a.spline = {{{}",
                repeat("1: 2, ")
            ),
        ),
        (
            "samples",
            format!(
                "#usda 1.0\ndef \"A\" {{\ndouble a.timeSamples = {{{}",
                repeat("1: 2, ")
            ),
        ),
        (
            "expressions",
            format!(
                "#usda 1.0\ndef \"A\" {{\npathExpression a = \"{}\"\n}}",
                repeat("../a{ ")
            ),
        ),
    ];
    for (name, text) in texts {
        let start = processor_time();
        let _ = usda::parse(name, text.as_bytes());
        let spent = processor_time() - start;
        if spent > Duration::from_secs(10) {
            return Err(format!("{name}: {spent:?}"));
        }
    }
    Ok(())
}

fn usd_core_reads_back_what_it_wrote(python: &str) -> Outcome {
    let folder = tempfile::tempdir().map_err(|e| e.to_string())?;
    let scripts = FilePath::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let run = |script: &str, arguments: &[String]| {
        let output = Command::new(python)
            .arg(scripts.join(script))
            .args(arguments)
            .output();
        let output = output.map_err(|e| format!("{python}: {e}"))?;
        match output.status.success() {
            true => Ok(()),
            false => Err(format!(
                "{script}: {}{}",
                String::from_utf8_lossy(&output.stdout),
                String::from_utf8_lossy(&output.stderr)
            )),
        }
    };
    let made = folder.path().to_string_lossy().into_owned();
    run("usda_make.py", std::slice::from_ref(&made))?;
    let mut pairs = Vec::new();
    let files = std::fs::read_dir(folder.path()).map_err(|e| e.to_string())?;
    for file in files {
        let file = file.map_err(|e| e.to_string())?.path();
        let text = std::fs::read(&file).map_err(|e| e.to_string())?;
        let layer = usda::parse(&file.to_string_lossy(), &text).map_err(|e| e.to_string())?;
        let out = format!("{}.out.usda", file.display());
        let mut written = std::fs::File::create(&out).map_err(|e| e.to_string())?;
        usda::write(&layer, &mut written).map_err(|e| e.to_string())?;
        pairs.extend([file.to_string_lossy().into_owned(), out]);
    }
    match pairs.len() > 40 {
        true => run("usda_compare.py", &pairs),
        false => Err(format!("usd-core made {} layers only", pairs.len() / 2)),
    }
}
