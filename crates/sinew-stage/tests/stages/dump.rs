//! What a stage gives, one fact a line, as `dump_stage.py` prints it for usd-core.

use std::path::Path;
use std::sync::Arc;

use sinew_layer::value::{Quat, Specifier, Variability};
use sinew_layer::{Token, Value};
use sinew_stage::resolver::FileResolver;
use sinew_stage::{Attribute, Predicate, Prim, Relationship, Source, Stage, StageOptions};

/// All facts of a stage; an error if it does not open.
pub fn stage(file: &Path) -> Result<Vec<String>, String> {
    let mut dump = Dump { out: Vec::new() };
    let options = StageOptions::new(
        Arc::new(FileResolver::new(Vec::new())),
        file.to_string_lossy(),
    );
    dump.stage(&Stage::open(options).map_err(|e| e.to_string())?);
    Ok(dump.out)
}

struct Dump {
    out: Vec<String>,
}

fn truth(is: bool) -> &'static str {
    if is { "True" } else { "False" }
}

fn number(x: f64) -> String {
    if x.is_nan() {
        return "nan".to_owned();
    }
    let bits = format!("{:016x}", x.to_bits());
    match bits.trim_end_matches('0') {
        "" => "0".to_owned(),
        rest => rest.to_owned(),
    }
}

fn text(s: &str) -> String {
    s.replace('\\', "\\\\")
        .replace('\n', "\\n")
        .replace('\t', "\\t")
        .replace('\r', "\\r")
}

fn hash(parts: &[String]) -> String {
    let mut hasher = crc32fast::Hasher::new();
    for part in parts {
        hasher.update(part.as_bytes());
        hasher.update(b",");
    }
    format!("{:08x}", hasher.finalize())
}

fn joined<T: ToString>(items: impl IntoIterator<Item = T>) -> String {
    items
        .into_iter()
        .map(|i| i.to_string())
        .collect::<Vec<_>>()
        .join(",")
}

/// The text of one element.
trait Element {
    fn print(&self) -> String;
}

macro_rules! elements {
    ($($type:ty: |$v:ident| $text:expr;)*) => {
        $(impl Element for $type {
            fn print(&self) -> String {
                let $v = self;
                $text
            }
        })*
    };
}

elements! {
    bool: |v| format!("b{}", u8::from(*v));
    u8: |v| format!("i{v}");
    i32: |v| format!("i{v}");
    u32: |v| format!("i{v}");
    i64: |v| format!("i{v}");
    u64: |v| format!("i{v}");
    half::f16: |v| format!("f{}", number(f64::from(*v)));
    f32: |v| format!("f{}", number(f64::from(*v)));
    f64: |v| format!("f{}", number(*v));
    Token: |v| format!("s{}", text(v));
    sinew_layer::value::AssetPath: |v| format!("a{}", text(&v.0));
    sinew_layer::value::TimeCode: |v| format!("t{}", number(v.0));
    sinew_layer::value::Duration: |v| format!("d{}", number(v.0));
    sinew_layer::value::PathExpression: |v| format!("x{}", text(&v.0));
}

impl<T: Element, const N: usize> Element for [T; N] {
    fn print(&self) -> String {
        format!("({})", joined(self.iter().map(Element::print)))
    }
}

impl<T: Element> Element for Quat<T> {
    fn print(&self) -> String {
        self.0.print()
    }
}

impl<T: Element> Element for Box<T> {
    fn print(&self) -> String {
        (**self).print()
    }
}

fn array<T: Element>(items: &[T]) -> String {
    let parts: Vec<String> = items.iter().map(Element::print).collect();
    format!(
        "[{}:{}:{}]",
        parts.len(),
        hash(&parts),
        joined(&parts[..parts.len().min(2)])
    )
}

fn list<T: Element>(op: &sinew_layer::ListOp<T>) -> String {
    match op.explicit {
        true => format!(
            "L[{}]",
            joined(op.explicit_items.iter().map(Element::print))
        ),
        false => "edits".to_owned(),
    }
}

fn value(v: &Value) -> String {
    use Value as V;
    macro_rules! each {
        ($(($scalar:ident, $array:ident)),* $(,)?) => {
            match v {
                $(V::$scalar(x) => x.print(), V::$array(x) => array(x),)*
                V::Dictionary(d) => {
                    let entries = d.iter().map(|(k, v)| format!("{}={}", text(k), loaded(v)));
                    format!("{{{}}}", entries.collect::<Vec<_>>().join(";"))
                }
                V::Block => "block".to_owned(),
                V::AnimationBlock => "animationblock".to_owned(),
                V::TokenListOp(op) | V::StringListOp(op) => list(op),
                V::IntListOp(op) => list(op),
                V::UIntListOp(op) => list(op),
                V::Int64ListOp(op) => list(op),
                V::UInt64ListOp(op) => list(op),
                V::TokenVector(x) | V::StringVector(x) => array(x),
                V::DoubleVector(x) => array(x),
                V::Specifier(s) => format!("e{s:?}").to_lowercase(),
                V::Permission(p) => format!("e{p:?}").to_lowercase(),
                V::Variability(p) => format!("e{p:?}").to_lowercase(),
                V::UnregisteredListOp(op) => match op.explicit {
                    true => format!("L[{}]", joined(op.explicit_items.iter().map(value))),
                    false => "edits".to_owned(),
                },
                V::Unregistered(inner) => format!("u{}", value(inner)),
                V::Spline(_) => "spline".to_owned(),
                other => format!("? {other:?}").chars().take(100).collect(),
            }
        };
    }
    each! {
        (Bool, BoolArray), (UChar, UCharArray), (Int, IntArray), (UInt, UIntArray), (Int64, Int64Array),
        (UInt64, UInt64Array), (Half, HalfArray), (Float, FloatArray), (Double, DoubleArray),
        (String, StringArray), (Token, TokenArray), (AssetPath, AssetPathArray),
        (TimeCode, TimeCodeArray), (Duration, DurationArray), (PathExpression, PathExpressionArray),
        (Matrix2d, Matrix2dArray), (Matrix3d, Matrix3dArray), (Matrix4d, Matrix4dArray),
        (Quatd, QuatdArray), (Quatf, QuatfArray), (Quath, QuathArray),
        (Vec2d, Vec2dArray), (Vec2f, Vec2fArray), (Vec2h, Vec2hArray), (Vec2i, Vec2iArray),
        (Vec3d, Vec3dArray), (Vec3f, Vec3fArray), (Vec3h, Vec3hArray), (Vec3i, Vec3iArray),
        (Vec4d, Vec4dArray), (Vec4f, Vec4fArray), (Vec4h, Vec4hArray), (Vec4i, Vec4iArray),
    }
}

fn loaded(v: &Value) -> String {
    v.load().map_or_else(|_| "broken".to_owned(), |v| value(&v))
}

fn result<E: std::fmt::Debug>(v: &Result<Option<Value>, E>) -> String {
    match v {
        Ok(Some(v)) => value(v),
        Ok(None) => "-".to_owned(),
        Err(e) => format!("error {e:?}"),
    }
}

impl Dump {
    fn line(&mut self, parts: &[&str]) {
        self.out.push(parts.join("\t"));
    }

    fn metadata<E: std::fmt::Debug>(
        &mut self,
        path: &str,
        mut names: Vec<Token>,
        get: impl Fn(&str) -> Result<Option<Value>, E>,
    ) {
        names.sort();
        self.line(&[path, "metadata", &joined(&names)]);
        for name in names {
            if !matches!(
                name.as_str(),
                "specifier" | "typeName" | "variability" | "custom"
            ) {
                self.line(&[path, &format!("metadata {name}"), &result(&get(&name))]);
            }
        }
    }

    fn attribute(&mut self, attribute: Attribute<'_, '_>) {
        let path = attribute.path().to_string();
        let variability = match attribute.variability() {
            Variability::Varying => "Varying",
            Variability::Uniform => "Uniform",
        };
        let type_name = attribute.type_name();
        self.line(&[
            &path,
            "attribute",
            &type_name,
            variability,
            truth(attribute.is_custom()),
        ]);
        self.metadata(&path, attribute.authored_metadata_names(), |n| {
            attribute.metadata(n)
        });
        let times = attribute.times().unwrap_or_default();
        self.line(&[&path, "times", &joined(times.iter().map(|t| number(*t)))]);
        let source = |time| match attribute.source(time) {
            Source::None => "None",
            Source::Fallback => "Fallback",
            Source::Default => "Default",
            Source::TimeSamples => "TimeSamples",
            Source::Spline => "Spline",
            Source::Clips => "ValueClips",
        };
        self.line(&[&path, "source", source(None), source(Some(1.0))]);
        let has = [
            attribute.has_authored_value(),
            attribute.has_value(),
            attribute.might_be_time_varying(),
        ];
        self.line(&[&path, "has", truth(has[0]), truth(has[1]), truth(has[2])]);
        let default = attribute.get(None);
        let text_of_default = result(&default);
        self.line(&[&path, "default", &text_of_default]);
        let mut at = vec![-1000.0, 0.0, 1.3, 7.75, 1000.0];
        for (i, time) in times.iter().enumerate().take(6) {
            at.push(*time);
            if let Some(next) = times.get(i + 1) {
                at.push(time + (next - time) * 0.3);
            }
        }
        let mut seen: Vec<f64> = Vec::new();
        for time in at {
            if seen.contains(&time) {
                continue;
            }
            seen.push(time);
            let found = attribute.get(Some(time));
            // The text of a large array that does not move is made once. Samples may differ by the sign of a zero.
            let is_default =
                !has[2] && found.is_ok() && found.as_ref().ok() == default.as_ref().ok();
            let text = match is_default {
                true => text_of_default.clone(),
                false => result(&found),
            };
            self.line(&[&path, &format!("at {}", number(time)), &text]);
        }
        self.line(&[&path, "connections", &joined(attribute.connections())]);
    }

    fn relationship(&mut self, relationship: Relationship<'_, '_>) {
        let path = relationship.path().to_string();
        let (custom, authored) = (
            relationship.is_custom(),
            relationship.has_authored_targets(),
        );
        self.line(&[&path, "relationship", truth(custom), truth(authored)]);
        self.metadata(&path, relationship.authored_metadata_names(), |n| {
            relationship.metadata(n)
        });
        self.line(&[&path, "targets", &joined(relationship.targets())]);
        self.line(&[
            &path,
            "forwarded",
            &joined(relationship.forwarded_targets()),
        ]);
    }

    fn prim(&mut self, prim: Prim<'_>) {
        let path = prim.path().to_string();
        let specifier = match prim.specifier() {
            Specifier::Def => "Def",
            Specifier::Over => "Over",
            Specifier::Class => "Class",
        };
        let flags = [
            prim.is_active(),
            prim.is_defined(),
            prim.is_abstract(),
            prim.is_loaded(),
            prim.is_instance(),
            prim.is_instance_proxy(),
        ];
        let flags: String = flags.iter().map(|f| if *f { '1' } else { '0' }).collect();
        self.line(&[&path, "prim", prim.type_name(), specifier, &flags]);
        self.line(&[&path, "apis", &joined(prim.applied_schemas())]);
        let is = [
            "Typed",
            "Imageable",
            "Xformable",
            "Boundable",
            "Gprim",
            "PointBased",
        ];
        self.line(&[&path, "is", &joined(is.map(|t| truth(prim.is_a(t))))]);
        self.line(&[&path, "properties", &joined(prim.property_names())]);
        self.line(&[&path, "authored", &joined(prim.authored_property_names())]);
        let sets = prim.variant_sets().into_iter().map(|set| {
            let selection = set.selection.unwrap_or_default();
            format!("{}={selection}({})", set.name, set.variants.join("|"))
        });
        self.line(&[&path, "variants", &joined(sets)]);
        self.metadata(&path, prim.authored_metadata_names(), |n| prim.metadata(n));
        for name in prim.property_names() {
            match prim.property_is_attribute(&name) {
                Some(true) => self.attribute(prim.attribute(&name)),
                Some(false) => self.relationship(prim.relationship(&name)),
                None => self.line(&[&path, "lost", &name]),
            }
        }
    }

    fn stage(&mut self, stage: &Stage) {
        self.metadata("/", stage.authored_metadata_names(), |n| {
            stage.authored_metadata(n)
        });
        let rates = [stage.time_codes_per_second(), stage.frames_per_second()].map(number);
        self.line(&["/", "rates", &rates[0], &rates[1]]);
        for name in [
            "upAxis",
            "metersPerUnit",
            "startTimeCode",
            "comment",
            "framePrecision",
        ] {
            self.line(&[
                "/",
                &format!("stage {name}"),
                &result(&stage.metadata(name)),
            ]);
        }
        self.line(&["/", "prototypes", &stage.prototypes().count().to_string()]);
        for prim in stage.traverse(Predicate::ALL_PROXIES) {
            self.prim(prim);
        }
    }
}
