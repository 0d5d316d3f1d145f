//! Works around: openusd 0.8 walks classes of classes (`inherits`, `specializes`) without a note of where it has been. A
//! circle overflows the stack and ends the process; classes that share their own classes many times over take for ever.
//!
//! See the fault: open `def "A" (inherits = </B>) {}  def "B" (inherits = </A>) {}` with `openusd::usd::Stage`.
//!
//! Test: `circles_are_found_in_variants_too` below.
//!
//! Goes when: openusd reports such a circle as a composition error and bounds the number of steps.

use std::collections::HashMap;

use openusd::sdf::{self, AbstractData, FieldKey};

/// Steps that openusd may take from one prim through all its classes; real rigs need a handful.
const MAX_STEPS: u64 = 100_000;

const FIELDS: [FieldKey; 2] = [FieldKey::InheritPaths, FieldKey::Specializes];

/// Whether usda text can have such arcs at all.
pub(crate) fn mentioned(text: &[u8]) -> bool {
    let has = |word: &[u8]| text.windows(word.len()).any(|w| w == word);
    has(b"inherits") || has(b"specializes")
}

/// Refuses layers of one stack that openusd cannot compose.
///
/// # Errors
/// A prim that leads back to itself through its own and its ancestors' classes, in whichever variants, or
/// to more than [`MAX_STEPS`] of them.
pub(crate) fn check<'a>(layers: impl Iterator<Item = &'a dyn AbstractData>) -> Result<(), String> {
    let mut classes: HashMap<sdf::Path, Vec<sdf::Path>> = HashMap::new();
    for data in layers {
        for path in data.spec_paths() {
            for field in FIELDS {
                let Ok(Some(value)) = data.try_field(&path, field.as_str()) else {
                    continue;
                };
                let sdf::Value::PathListOp(targets) = value.as_ref() else {
                    continue;
                };
                let own = path.strip_all_variant_selections();
                let targets = targets.flatten();
                let absolute = targets.iter().map(|t| own.make_absolute(t));
                classes.entry(own.clone()).or_default().extend(absolute);
            }
        }
    }
    let mut steps = Steps {
        classes: &classes,
        known: HashMap::new(),
    };
    // In order, so that a file has one message.
    let mut paths: Vec<&sdf::Path> = classes.keys().collect();
    paths.sort();
    for path in paths {
        steps.count(path)?;
    }
    Ok(())
}

struct Steps<'a> {
    classes: &'a HashMap<sdf::Path, Vec<sdf::Path>>,
    /// `None` while a prim's own classes are being counted.
    known: HashMap<sdf::Path, Option<u64>>,
}

impl Steps<'_> {
    /// A stack of its own: how long chains of classes are is up to the file.
    fn count(&mut self, start: &sdf::Path) -> Result<(), String> {
        let mut stack = vec![start.clone()];
        while let Some(path) = stack.last().cloned() {
            if let Some(Some(_)) = self.known.get(&path) {
                stack.pop();
                continue;
            }
            let next = self.next(&path);
            let open: Vec<_> = (next.iter())
                .filter(|n| !matches!(self.known.get(*n), Some(Some(_))))
                .cloned()
                .collect();
            if open.is_empty() {
                let sum = next.iter().map(|n| self.known[n].unwrap_or(0)).sum::<u64>() + 1;
                if sum > MAX_STEPS {
                    return Err(format!(
                        "{path} inherits or specializes more than {MAX_STEPS} classes of classes"
                    ));
                }
                self.known.insert(path, Some(sum));
                stack.pop();
                continue;
            }
            self.known.insert(path.clone(), None);
            if let Some(circle) = open.iter().find(|n| self.known.contains_key(*n)) {
                return Err(format!(
                    "{circle} inherits or specializes itself, through {path}"
                ));
            }
            stack.extend(open);
        }
        Ok(())
    }

    /// What a prim composes of: its parent's classes are its own too.
    fn next(&self, path: &sdf::Path) -> Vec<sdf::Path> {
        let mut out = self.classes.get(path).cloned().unwrap_or_default();
        out.extend(path.parent().filter(|p| !p.is_abs_root() && !p.is_empty()));
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(prims: &str) -> Result<(), String> {
        let text = format!("#usda 1.0\n{prims}");
        assert!(mentioned(text.as_bytes()));
        let layer = sdf::Layer::from_bytes("test", text.into_bytes()).unwrap();
        check(std::iter::once(layer.data()))
    }

    #[test]
    fn rigs_that_share_classes_pass() {
        let chain: String = (0..5000)
            .map(|i| format!("class \"C{i}\" (inherits = </C{}>) {{\n}}\n", i + 1))
            .collect();
        checked(&chain).unwrap();
        checked(
            "class \"Base\" {\n}\nclass \"Rig\" (inherits = </Base>) {\n}\n\
             def \"A\" (inherits = [</Rig>, </Base>]) {\ndef \"B\" (specializes = </Rig>) {\n}\n\
             def \"C\" (inherits = <../B>) {\n}\n}\n\
             def \"D\" (inherits = </A/B>) {\n}\n",
        )
        .unwrap();
    }

    #[test]
    fn circles_are_found_in_variants_too() {
        let e = checked(
            "def \"A\" (variantSets = \"v\") {\nvariantSet \"v\" = {\n\"x\" (inherits = </B>) {\n}\n}\n}\n\
             def \"B\" (inherits = </A>) {\n}\n",
        );
        assert!(e.unwrap_err().contains("itself"));
    }
}
