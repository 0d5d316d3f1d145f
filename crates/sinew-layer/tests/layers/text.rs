//! Text layers against usd-core, and texts that are broken in thousands of ways.

use std::sync::LazyLock;
use std::time::{Duration, Instant};

use sinew_layer::usda;

use super::{Done, python};

/// How long this thread has had a processor, which the tests beside it do not add to. Where the system does not say (Linux
/// does), how long the tests run.
fn processor_time() -> Duration {
    static BEGAN: LazyLock<Instant> = LazyLock::new(Instant::now);
    let began = *BEGAN;
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = told.and_then(|t| t.split_whitespace().next()?.parse().ok());
    nanoseconds.map_or_else(|| began.elapsed(), Duration::from_nanos)
}

/// A layer with all of the grammar.
const EVERYTHING: &str = include_str!("../../src/usda/everything.usda");

pub fn mutated() -> Done {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut random = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % below.max(1) as u64) as usize
    };
    usda::parse("everything", EVERYTHING.as_bytes())?;
    // Between them are spaces.
    let pieces =
        "[ ] ( ) { } \" ''' @ @@@ < > = ; , /* # \\ - 1e999 None .timeSamples \0 é :: : % inf";
    let pieces: Vec<&str> = pieces
        .split(' ')
        .chain(["\n", "edit [", "def ", "99999999999999999999"])
        .collect();
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
                usda::write(&again, &mut twice)?;
                if out != twice {
                    return Err(format!("not stable: {}", String::from_utf8_lossy(&out)).into());
                }
            }
        }
    }
    let spent = processor_time() - start;
    match spent < Duration::from_secs(120) && layers > 100 {
        true => Ok(()),
        false => Err(format!("{layers} layers in {spent:?}").into()),
    }
}

pub fn take_linear_time() -> Done {
    let long_name = format!("def \"{}\" {{\n", "x".repeat(50_000));
    let prim = "def \"A\" {\n";
    // What comes first, what is there many times, and what comes last.
    let texts = [
        ("", prim, ""),
        (&long_name, "int a;", ""),
        ("(customLayerData = {", "dictionary a = {", ""),
        (&format!("{prim}int[] a = "), "[", ""),
        ("(a = ", "[", ""),
        (prim, "variantSet \"a\" = { \"b\" {\n", ""),
        ("", "/* */ # \n", ""),
        ("", "/* ", ""),
        ("(a = [", "@a@, ", ""),
        ("(a = @@@", "\\@@@", "@@@)"),
        ("(", "\"a\";", ""),
        ("(a = ", "1234567890", ""),
        (&format!("{prim}rel a = </"), "a/", "a>\n}"),
        ("", "      ", ""),
        (&format!("{prim}int[] a = edit ["), "append 1;", ""),
        (&format!("{prim}double a.spline = {{"), "1: 2, ", ""),
        (&format!("{prim}double a.timeSamples = {{"), "1: 2, ", ""),
        (&format!("{prim}pathExpression a = \""), "../a{ ", "\"\n}"),
    ];
    for (first, many, last) in texts {
        let text = format!("#usda 1.0\n{first}{}{last}", many.repeat(200_000));
        let start = processor_time();
        let _ = usda::parse("long", text.as_bytes());
        let spent = processor_time() - start;
        if spent > Duration::from_secs(10) {
            return Err(format!("{many}: {spent:?}").into());
        }
    }
    Ok(())
}

pub fn read_back() -> Done {
    let folder = tempfile::tempdir()?;
    python("usda_make.py", &[&folder.path().to_string_lossy()])?;
    let mut pairs = Vec::new();
    for file in std::fs::read_dir(folder.path())? {
        let file = file?.path().to_string_lossy().into_owned();
        let layer = usda::parse(&file, &std::fs::read(&file)?)?;
        let out = format!("{file}.out.usda");
        usda::write(&layer, &mut std::fs::File::create(&out)?)?;
        pairs.extend([file, out]);
    }
    let pairs: Vec<&str> = pairs.iter().map(String::as_str).collect();
    match pairs.len() > 40 {
        true => python("usda_compare.py", &pairs).map(drop),
        false => Err(format!("usd-core made {} layers only", pairs.len() / 2).into()),
    }
}
