//! Works around: openusd 0.8's flatten lists applied API schemas in another order than the layers ask for. Their order
//! is their strength.
//!
//! See the fault: two layers that each `prepend` an API schema to one prim; flatten the stage and compare `apiSchemas`
//! with what usd-core's `UsdStage.Flatten` writes.
//!
//! Test: `applied_schemas_keep_their_order` in `crates/sinew-cli/tests/commands/cli.rs`.
//!
//! Goes when: that test passes with `restore` left out.

use openusd::{sdf, tf, usd};

const API_SCHEMAS: &str = "apiSchemas";

/// Applied schemas in the order that the layers ask for, where openusd's flatten has another
/// one: the order is their strength.
pub(crate) fn lost_orders(
    stage: &usd::Stage,
    flat: &sdf::Layer,
) -> Result<Vec<(sdf::Path, Vec<tf::Token>)>, openusd::Error> {
    let mut out = Vec::new();
    for path in flat.data().spec_paths() {
        let value = flat.data().try_field(&path, API_SCHEMAS)?;
        let Some(sdf::Value::TokenListOp(flattened)) = value.as_deref() else {
            continue;
        };
        if flattened.explicit_items.len() < 2 {
            continue;
        }
        let mut order: Vec<tf::Token> = Vec::new();
        for site in stage.prim(&path)?.prim_stack()?.into_iter().rev() {
            let Some(layer) = stage.layer(&site.layer) else {
                continue;
            };
            let value = layer.data().try_field(&site.path, API_SCHEMAS)?;
            if let Some(sdf::Value::TokenListOp(opinion)) = value.as_deref() {
                order = opinion.compose_over(&order);
            }
        }
        let same_schemas = order.len() == flattened.explicit_items.len()
            && order.iter().all(|s| flattened.explicit_items.contains(s));
        if same_schemas && order != flattened.explicit_items {
            out.push((path, order));
        }
    }
    Ok(out)
}

/// Writes these orders into the flattened layer.
pub(crate) fn restore(data: &mut dyn sdf::AbstractData, orders: Vec<(sdf::Path, Vec<tf::Token>)>) {
    for (path, order) in orders {
        let value = sdf::TokenListOp::explicit(order).into();
        data.set_field(&path, API_SCHEMAS, value);
    }
}
