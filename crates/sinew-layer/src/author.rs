//! Making prims and properties in a layer.

use std::sync::Arc;

use smol_str::SmolStr;

use crate::layer::{Layer, Spec, SpecKind, field};
use crate::path::Path;
use crate::value::{ListOp, Specifier, Value, Variability};

impl Layer {
    /// A prim, which becomes an `over` if the layer does not have it yet.
    pub fn over(&mut self, prim: &Path) -> &mut Spec {
        let spec = self.create(prim, SpecKind::Prim);
        if spec.kind == SpecKind::Prim && spec.get(field::SPECIFIER).is_none() {
            let over = Value::Specifier(Specifier::Over);
            spec.fields.set(field::SPECIFIER, over);
        }
        spec
    }

    /// A prim that is defined, of this type. An empty type is none.
    pub fn define(&mut self, prim: &Path, type_name: &str) -> &mut Spec {
        let spec = self.create(prim, SpecKind::Prim);
        spec.fields
            .set(field::SPECIFIER, Value::Specifier(Specifier::Def));
        if !type_name.is_empty() {
            spec.fields.set(field::TYPE_NAME, Value::token(type_name));
        }
        spec
    }

    /// An attribute, which is made with this type if the layer does not have it yet.
    pub fn attribute(&mut self, path: &Path, type_name: &str) -> &mut Spec {
        self.over(&path.prim_path());
        let spec = self.create(path, SpecKind::Attribute);
        if spec.get(field::TYPE_NAME).is_none() {
            spec.fields.set(field::TYPE_NAME, Value::token(type_name));
        }
        spec
    }

    /// A uniform attribute with its value.
    pub fn uniform(&mut self, path: &Path, type_name: &str, value: Value) {
        let fields = &mut self.attribute(path, type_name).fields;
        let uniform = Value::Variability(Variability::Uniform);
        fields.set(field::VARIABILITY, uniform);
        fields.set(field::DEFAULT, value);
    }

    /// A relationship with exactly these targets.
    pub fn relationship(&mut self, path: &Path, targets: Vec<Path>) {
        self.over(&path.prim_path());
        let fields = &mut self.create(path, SpecKind::Relationship).fields;
        let uniform = Value::Variability(Variability::Uniform);
        fields.set(field::VARIABILITY, uniform);
        let targets = Value::PathListOp(Arc::new(ListOp::explicit(targets)));
        fields.set(field::TARGET_PATHS, targets);
    }

    /// Applies an API schema to a prim, as the strongest of those that this layer applies. Does nothing if the layer
    /// applies it already.
    pub fn apply_schema(&mut self, prim: &Path, schema: &str) {
        let fields = &mut self.over(prim).fields;
        let mut schemas: ListOp<SmolStr> = match fields.get(field::API_SCHEMAS) {
            Some(Value::TokenListOp(op)) => (**op).clone(),
            _ => ListOp::default(),
        };
        let lists = [
            &schemas.explicit_items,
            &schemas.added,
            &schemas.prepended,
            &schemas.appended,
        ];
        if lists.into_iter().flatten().any(|s| s == schema) {
            return;
        }
        schemas.deleted.retain(|s| s != schema);
        let list = match schemas.explicit {
            true => &mut schemas.explicit_items,
            false => &mut schemas.prepended,
        };
        list.insert(0, schema.into());
        fields.set(field::API_SCHEMAS, Value::TokenListOp(Arc::new(schemas)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prims_and_properties_are_made_once() {
        let path = |text: &str| Path::parse(text).unwrap();
        let mut layer = Layer::new("test");
        layer.uniform(&path("/A/B.c"), "int", Value::Int(3));
        layer.apply_schema(&path("/A/B"), "One");
        layer.apply_schema(&path("/A/B"), "Two");
        layer.apply_schema(&path("/A/B"), "One");
        let spec = layer.spec(&path("/A/B")).unwrap();
        let schemas = ListOp::prepended(vec!["Two".into(), "One".into()]);
        assert_eq!(
            spec.get(field::API_SCHEMAS),
            Some(&Value::TokenListOp(Arc::new(schemas)))
        );
        let over = Value::Specifier(Specifier::Over);
        assert_eq!(spec.get(field::SPECIFIER), Some(&over));
        layer.relationship(&path("/A.r"), vec![path("/A/B")]);
        layer.define(&path("/A"), "Xform");
        let spec = layer.spec(&path("/A")).unwrap();
        assert_eq!(spec.get(field::TYPE_NAME), Some(&Value::token("Xform")));
        assert_eq!(spec.properties(), ["r"]);
    }
}
