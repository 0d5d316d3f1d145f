//! Names of files and of objects in files.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

/// A file name with a placeholder for the frame number: `####` or `%04d`.
#[derive(Clone, Debug, PartialEq)]
pub struct FramePattern {
    folder: PathBuf,
    before: String,
    width: usize,
    after: String,
}

impl FramePattern {
    /// Finds the placeholder in the last part of a path; `None` if there is none.
    ///
    /// # Errors
    /// The name has two placeholders, or is not UTF-8.
    pub fn new(path: &Path) -> Result<Option<Self>, String> {
        let name = path.file_name().and_then(|n| n.to_str());
        let name = name.ok_or("expected a file name in UTF-8")?;
        let mut found: Option<(usize, usize, usize)> = None;
        let mut at = 0;
        while at < name.len() {
            let rest = &name[at..];
            let place = hashes(rest).or_else(|| percent(rest));
            if let Some((length, width)) = place {
                if found.is_some() {
                    return Err(
                        "expected one place for the frame number, as in hero.####.obj, found several".into(),
                    );
                }
                found = Some((at, at + length, width));
            }
            let next = rest.chars().next().map_or(1, char::len_utf8);
            at += place.map_or(next, |(length, _)| length);
        }
        Ok(found.map(|(start, end, width)| Self {
            folder: path.parent().map_or_else(PathBuf::new, Path::to_owned),
            before: name[..start].to_owned(),
            width,
            after: name[end..].to_owned(),
        }))
    }

    /// The file of a frame. The width does not include a minus sign.
    #[must_use]
    pub fn file(&self, number: i64) -> PathBuf {
        let (sign, digits) = match number < 0 {
            true => ("-", number.unsigned_abs()),
            false => ("", number.unsigned_abs()),
        };
        let width = self.width;
        let name = format!("{}{sign}{digits:0width$}{}", self.before, self.after);
        self.folder.join(name)
    }
}

/// Length and number of digits of the run of `#` at the start of a text.
fn hashes(text: &str) -> Option<(usize, usize)> {
    let count = text.bytes().take_while(|b| *b == b'#').count();
    (count > 0).then_some((count, count))
}

/// Length and number of digits of the `%d` or `%04d` at the start of a text.
fn percent(text: &str) -> Option<(usize, usize)> {
    let digits = text.strip_prefix('%')?;
    let count = digits.bytes().take_while(u8::is_ascii_digit).count();
    let width = match &digits[..count] {
        "" => 1,
        // No frame number has more digits.
        some => some.parse().ok().filter(|w| *w <= 32)?,
    };
    digits[count..]
        .starts_with('d')
        .then_some((count + 2, width))
}

/// A unique name for each prim path, also on disks that do not distinguish `A` from `a`. It is the
/// last part of the path if that is unique, otherwise the full path with `_` for `/`.
pub(super) fn unique(paths: &[&str]) -> Vec<String> {
    let last = |path: &str| path.rsplit('/').next().unwrap_or(path).to_owned();
    let mut uses: HashMap<String, usize> = HashMap::new();
    for path in paths {
        *uses.entry(last(path).to_lowercase()).or_default() += 1;
    }
    let mut taken: HashSet<String> = HashSet::new();
    let mut out = Vec::with_capacity(paths.len());
    for path in paths {
        let short = last(path);
        let base = match uses[&short.to_lowercase()] {
            1 => short,
            _ => path.trim_start_matches('/').replace('/', "_"),
        };
        let mut name = base.clone();
        let mut n = 2;
        while !taken.insert(name.to_lowercase()) {
            name = format!("{base}_{n}");
            n += 1;
        }
        out.push(name);
    }
    out
}

/// The same path with text between the name and its extension: `hero.exr`, `_normal` ->
/// `hero_normal.exr`.
pub(super) fn beside(path: &Path, suffix: &str, extension: Option<&str>) -> PathBuf {
    let stem = path.file_stem().unwrap_or_default();
    let mut name = stem.to_owned();
    name.push(suffix);
    if let Some(extension) = extension.map(std::ffi::OsStr::new).or(path.extension()) {
        name.push(".");
        name.push(extension);
    }
    path.with_file_name(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(pattern: &str, number: i64) -> String {
        let pattern = FramePattern::new(Path::new(pattern)).unwrap().unwrap();
        pattern.file(number).to_str().unwrap().to_owned()
    }

    #[test]
    fn frame_numbers_take_their_place() {
        assert_eq!(file("out/hero.####.obj", 7), "out/hero.0007.obj");
        assert_eq!(file("####.obj", 12345), "12345.obj");
        assert_eq!(file("a_%04d.obj", -3), "a_-0003.obj");
        assert_eq!(file("a%d.obj", 3), "a3.obj");
        assert_eq!(file("ä%3dö.obj", 3), "ä003ö.obj");
        let pattern = |s: &str| FramePattern::new(Path::new(s));
        assert_eq!(pattern("a.obj"), Ok(None));
        assert_eq!(pattern("f####/a.obj"), Ok(None));
        assert_eq!(pattern("100%.obj"), Ok(None));
        assert_eq!(pattern("%99999999999999999999d.obj"), Ok(None));
        for two in ["#_#.obj", "####%04d.obj"] {
            assert!(pattern(two).is_err(), "{two}");
        }
    }

    #[test]
    fn prims_have_names_of_their_own() {
        assert_eq!(unique(&["/A/Body", "/A/Hat"]), ["Body", "Hat"]);
        assert_eq!(
            unique(&["/A/Body", "/B/body", "/B/Hat"]),
            ["A_Body", "B_body", "Hat"]
        );
        let clash = unique(&["/A/B_C/D", "/A_B/C/D", "/A_B_C_D"]);
        assert_eq!(clash, ["A_B_C_D", "A_B_C_D_2", "A_B_C_D_3"]);
    }

    #[test]
    fn files_beside() {
        let path = Path::new("out/hero.v2.exr");
        assert_eq!(
            beside(path, "_normal", None),
            Path::new("out/hero.v2_normal.exr")
        );
        assert_eq!(
            beside(path, "", Some("json")),
            Path::new("out/hero.v2.json")
        );
    }
}
