//! Names of any kind to identifiers that USD takes, no two alike.

use std::collections::{HashMap, HashSet};

use unicode_ident::{is_xid_continue, is_xid_start};

/// Characters of a name that are kept; paths repeat the names of all above.
const LONGEST: usize = 200;

/// A valid prim name or path element. What no identifier may hold becomes `_`; letters of every script
/// stay, which USD takes since 24.03. Names that start with a digit get a `_` in front; of nothing comes nothing.
pub(super) fn identifier(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for c in name.chars().take(LONGEST) {
        let fits = if c.is_ascii() {
            c == '_' || c.is_ascii_alphanumeric()
        } else {
            is_xid_continue(c)
        };
        let c = if fits { c } else { '_' };
        if out.is_empty() && c != '_' && !is_xid_start(c) {
            out.push('_');
        }
        out.push(c);
    }
    out
}

/// Names taken in one place.
#[derive(Debug, Default)]
pub(super) struct Names {
    taken: HashSet<String>,
    /// The number that the next prim of a name is tried with.
    next: HashMap<String, usize>,
}

impl Names {
    /// The identifier of the first of the wanted names that is not empty, with a number behind it where it is taken.
    pub fn unique(&mut self, wanted: &[&str]) -> String {
        let base = wanted.iter().map(|w| identifier(w)).find(|w| !w.is_empty());
        let base = base.unwrap_or_else(|| "_".to_owned());
        if self.taken.insert(base.clone()) {
            return base;
        }
        let next = self.next.entry(base.clone()).or_insert(1);
        loop {
            let name = format!("{base}_{next}");
            *next += 1;
            if self.taken.insert(name.clone()) {
                return name;
            }
        }
    }

    pub fn is_taken(&self, name: &str) -> bool {
        self.taken.contains(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_keep_what_they_can() {
        for (name, want) in [
            ("Hips", "Hips"),
            ("mixamorig:Hips", "mixamorig_Hips"),
            ("spine.001", "spine_001"),
            ("1st", "_1st"),
            ("前髪", "前髪"),
            ("a b\u{1f600}", "a_b_"),
            ("\u{301}a", "_\u{301}a"),
            ("٣", "_٣"),
            ("²", "_"),
            ("", ""),
        ] {
            assert_eq!(identifier(name), want, "{name}");
        }
    }

    #[test]
    fn names_never_meet() {
        let mut names = Names::default();
        let wanted = ["a.b", "a_b", "a_b_1", "a:b", "", "a b"];
        let got: HashSet<String> = wanted.iter().map(|w| names.unique(&[w, "x"])).collect();
        assert_eq!(got.len(), wanted.len(), "{got:?}");
        assert!(got.contains("a_b") && got.contains("a_b_1") && got.contains("x"));
    }
}
