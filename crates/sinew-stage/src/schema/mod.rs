//! The schemas of usd-core 26.11: types with their ancestors, API schemas, and per property type, variability and fallback.
//!
//! `schemas.usda`, which `make_tables.py` writes, has one class for each schema. It is read once, when it is first needed.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, LazyLock};

use sinew_layer::layer::field;
use sinew_layer::{Layer, Path, Spec, SpecKind, Token, Value};

/// What a name with this in it is a template for: a multiple apply schema's instance name goes there.
const INSTANCE: &str = "__INSTANCE_NAME__";

/// One schema of the tables.
struct Schema {
    path: Path,
    base: Option<Token>,
    concrete: bool,
    /// Whether it is an API schema, and one that is applied under instance names.
    api: Option<Multiple>,
    /// API schemas that it brings with it.
    apis: Vec<Token>,
    without: Vec<Token>,
}

type Multiple = bool;

struct Tables {
    layer: Layer,
    schemas: HashMap<Token, Schema>,
}

static TABLES: LazyLock<Tables> = LazyLock::new(|| {
    let layer = sinew_layer::usda::parse("schemas.usda", include_bytes!("schemas.usda"))
        .unwrap_or_else(|e| panic!("the schema tables are written by a script: {e}"));
    let mut schemas = HashMap::new();
    for name in layer.root().children() {
        let path = Path::root().child(name);
        let data = match layer.spec(&path).and_then(|s| s.get("customData")) {
            Some(Value::Dictionary(data)) => Arc::clone(data),
            _ => Arc::default(),
        };
        let text = |key: &str| match data.get(key) {
            Some(Value::String(text)) => text.as_str(),
            _ => "",
        };
        let list = |key: &str| text(key).split_whitespace().map(Token::new).collect();
        let schema = Schema {
            path,
            base: Some(Token::new(text("base"))).filter(|b| !b.is_empty()),
            concrete: text("kind") == "concrete",
            api: match text("kind") {
                "single" => Some(false),
                "multiple" => Some(true),
                _ => None,
            },
            apis: list("apis"),
            without: list("without"),
        };
        schemas.insert(name.clone(), schema);
    }
    Tables { layer, schemas }
});

/// Whether a prim can have this type.
pub(crate) fn is_concrete(name: &str) -> bool {
    TABLES.schemas.get(name).is_some_and(|s| s.concrete)
}

/// A type with the API schemas that are applied to a prim: what prims with both have in common.
#[derive(Default)]
pub(crate) struct PrimType {
    pub name: Token,
    /// The type whose schema counts: another than `name` if a fallback stands in for an unknown type.
    schema: Token,
    /// All API schemas: of the type, then the authored ones with those that they bring.
    pub apis: Vec<Token>,
    properties: HashMap<Token, &'static Spec>,
}

impl PrimType {
    /// The type with the API schemas in `authored`; those that no schema knows are left out.
    pub fn new(name: Token, fallback: Option<&Token>, authored: &[Token]) -> Self {
        let schema = fallback.unwrap_or(&name).clone();
        let mut out = Self {
            name,
            schema: schema.clone(),
            ..Self::default()
        };
        if let Some(own) = TABLES.schemas.get(&schema).filter(|s| s.concrete) {
            out.apis.extend(own.apis.iter().cloned());
            out.add_type(&schema);
        }
        let mut known: HashSet<Token> = out.apis.iter().cloned().collect();
        for api in authored {
            let (name, instance) = split(api);
            let Some(own) = TABLES.schemas.get(name) else {
                continue;
            };
            if own.api.is_none() || own.api == Some(instance.is_empty()) {
                continue;
            }
            let brought = own
                .apis
                .iter()
                .map(|a| Token::new(a.replace(INSTANCE, instance)));
            for api in [api.clone()].into_iter().chain(brought) {
                if known.insert(api.clone()) {
                    out.apis.push(api);
                }
            }
            out.add(own, instance, &[]);
        }
        out
    }

    /// Adds the properties of a type and of those that it derives from.
    fn add_type(&mut self, name: &str) {
        let mut without: Vec<&Token> = Vec::new();
        let mut schema = TABLES.schemas.get(name);
        while let Some(own) = schema {
            self.add(own, "", &without);
            without.extend(&own.without);
            schema = own.base.as_ref().and_then(|b| TABLES.schemas.get(b));
        }
    }

    /// Adds the properties of one schema, which are weaker than those that are there.
    fn add(&mut self, schema: &Schema, instance: &str, without: &[&Token]) {
        let Some(spec) = TABLES.layer.spec(&schema.path) else {
            return;
        };
        for name in spec.properties().iter().filter(|n| !without.contains(n)) {
            let property = TABLES.layer.spec(&schema.path.property(name));
            let name = match instance {
                "" => name.clone(),
                _ => Token::new(name.replace(INSTANCE, instance)),
            };
            if let Some(property) = property {
                self.properties.entry(name).or_insert(property);
            }
        }
    }

    /// The schemas' spec of a property.
    pub fn property(&self, name: &str) -> Option<&'static Spec> {
        self.properties.get(name).copied()
    }

    /// A field of a property in the schemas.
    pub fn property_field(&self, property: &str, name: &str) -> Option<&'static Value> {
        self.property(property)?.get(name)
    }

    /// The fallback of an attribute.
    pub fn fallback(&self, attribute: &str) -> Option<&'static Value> {
        self.property(attribute)
            .filter(|s| s.kind == SpecKind::Attribute)?
            .get(field::DEFAULT)
    }

    /// The names of the schemas' properties, in no order.
    pub fn property_names(&self) -> impl Iterator<Item = &Token> {
        self.properties.keys()
    }

    /// Whether the type is `ancestor` or derives from it.
    pub fn is_a(&self, ancestor: &str) -> bool {
        let mut at = Some(&self.schema).filter(|s| is_concrete(s));
        while let Some(name) = at {
            if name == ancestor {
                return true;
            }
            at = TABLES.schemas.get(name).and_then(|s| s.base.as_ref());
        }
        false
    }

    /// Whether an API schema is applied; without an instance name any of its instances counts.
    pub fn has_api(&self, api: &str) -> bool {
        self.apis.iter().any(|a| a == api || split(a).0 == api)
    }
}

/// The name and the instance name of an API schema: `CollectionAPI:lightLink`.
fn split(api: &str) -> (&str, &str) {
    api.split_once(':').unwrap_or((api, ""))
}

/// The fallbacks of a layer's metadata.
pub(crate) fn layer_fallback(name: &str) -> Option<Value> {
    Some(match name {
        "startTimeCode" | "endTimeCode" => Value::Double(0.0),
        "timeCodesPerSecond" | "framesPerSecond" => Value::Double(24.0),
        "framePrecision" => Value::Int(3),
        "metersPerUnit" => Value::Double(0.01),
        "kilogramsPerUnit" => Value::Double(1.0),
        "upAxis" => Value::token("Y"),
        "defaultPrim" | "colorManagementSystem" => Value::token(""),
        "comment" | "documentation" | "owner" | "sessionOwner" | "renderSettingsPrimPath" => {
            Value::string("")
        }
        "hasOwnedSubLayers" => Value::Bool(false),
        "customLayerData" | "expressionVariables" => Value::Dictionary(Arc::default()),
        _ => return None,
    })
}
