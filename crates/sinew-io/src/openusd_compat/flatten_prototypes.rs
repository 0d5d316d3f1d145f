//! Works around: openusd 0.8's flatten expands every native instance, so a crowd becomes as large as its members. Here
//! each group of equal instances is expanded once and shared, as usd-core's `UsdStage.Flatten` shares prototypes.
//!
//! See the fault: flatten a stage with 400 instances of one character by `openusd::usd::Stage::flatten`: the layer holds 400
//! copies.
//!
//! Test: `a_crowd_of_instances_stays_small` and `instances_that_come_out_the_same_are_written_once` in
//! `crates/sinew-cli/tests/commands/stages.rs`.
//!
//! Goes when: openusd's flatten keeps instances. [`write_classes`], which shares instances in a layer of overs, stays.

use std::collections::HashSet;

use openusd::{sdf, usd};

use super::inherits_keyword::inherits_field;
use crate::usd::resolver::SESSION;
use crate::usd::write::instances::Instances;

type Authoring<T = ()> = Result<T, sdf::AuthoringError>;

/// Flattens the stage, each group of equal instances expanded once. [`write_prototypes`] is to follow, when
/// nothing is asked of the stage by the layer's paths any more.
pub(crate) fn flatten_once(
    stage: &usd::Stage,
    instances: &Instances,
) -> Result<sdf::Layer, openusd::Error> {
    let others = instances.followers();
    if others.is_empty() {
        return stage.flatten();
    }
    // An inactive prim is written without what is below.
    let before = active_prims(stage)?;
    set_inactive(stage, &others, true)?;
    let left: HashSet<_> = others.iter().collect();
    let mut expected = before.into_iter().filter(|p| !left.contains(p));
    let after = active_prims(stage)?;
    // It reaches other prims where something refers to the instance itself; then all is expanded first.
    let alone =
        after.iter().all(|p| expected.next().as_ref() == Some(p)) && expected.next().is_none();
    if !alone {
        set_inactive(stage, &others, false)?;
        return stage.flatten();
    }
    let flat = stage.flatten();
    set_inactive(stage, &others, false)?;
    flat
}

/// Active prims, without those inside instances.
fn active_prims(stage: &usd::Stage) -> Result<Vec<sdf::Path>, openusd::Error> {
    let mut all = Vec::new();
    let predicate = usd::PrimPredicate::ALL.with_instance_proxies(false);
    stage.traverse(predicate, |p| all.push(p.clone()))?;
    let mut active = Vec::with_capacity(all.len());
    for path in all {
        if stage.prim(&path)?.is_active()? {
            active.push(path);
        }
    }
    Ok(active)
}

fn set_inactive(
    stage: &usd::Stage,
    paths: &[sdf::Path],
    inactive: bool,
) -> Result<(), openusd::Error> {
    let Some(mut session) = stage.layer_mut(SESSION) else {
        return Ok(());
    };
    session.edit(|edit| {
        for path in paths {
            let mut over = sdf::PrimSpec::over(edit.data_mut(), path.clone())?;
            match inactive {
                true => over.set_active(false),
                false => over.erase(sdf::FieldKey::Active.as_str()),
            }
        }
        Ok::<(), sdf::AuthoringError>(())
    })?;
    Ok(())
}

/// Moves what each group shares into a prim of its own, as UsdStage::Flatten does, and has the
/// instances refer to it.
pub(crate) fn write_prototypes(
    instances: &Instances,
    data: &mut dyn sdf::AbstractData,
) -> Authoring {
    // Inner ones first, so that the outer ones are moved with their references.
    for groups in instances.shared_by_depth().into_values().rev() {
        let mut emptied: HashSet<sdf::Path> = HashSet::new();
        for group in groups {
            let members = instances.members(group);
            let home = instances.home(group)?;
            sdf::copy_spec_within(data, members[0], &home)?;
            keep_children_alone(data, &home);
            emptied.extend(members.into_iter().filter(|m| data.has_spec(m)).cloned());
        }
        erase_below(data, &emptied);
        for path in &emptied {
            for field in [sdf::FieldKey::Active.as_str(), PRIM_CHILDREN] {
                data.erase_field(path, field);
            }
            let home = instances.home_of(path)?;
            let reference = sdf::Reference {
                asset_path: String::new(),
                prim_path: home,
                layer_offset: sdf::LayerOffset::default(),
                custom_data: Default::default(),
            };
            let references = sdf::ReferenceListOp::explicit([reference]);
            data.set_field(path, sdf::FieldKey::References.as_str(), references.into());
            data.set_field(path, sdf::FieldKey::Instanceable.as_str(), true.into());
        }
    }
    Ok(())
}

const PRIM_CHILDREN: &str = "primChildren";

/// Leaves a prototype's root without a type, a value or a name for itself: these are its instances' own.
fn keep_children_alone(data: &mut dyn sdf::AbstractData, home: &sdf::Path) {
    for field in data.list_fields(home).unwrap_or_default() {
        if field == "propertyChildren" {
            let value = data.try_field(home, &field).ok().flatten();
            let names = match value.as_deref() {
                Some(sdf::Value::TokenVec(names)) => names.clone(),
                _ => Vec::new(),
            };
            for name in names {
                if let Ok(path) = home.append_property(name) {
                    data.erase_spec(&path);
                }
            }
        }
        if field != PRIM_CHILDREN && field != sdf::FieldKey::PrimOrder.as_str() {
            data.erase_field(home, &field);
        }
    }
    let over = sdf::Value::Specifier(sdf::Specifier::Over);
    data.set_field(home, sdf::FieldKey::Specifier.as_str(), over);
}

/// Erases every prim below the given ones.
fn erase_below(data: &mut dyn sdf::AbstractData, roots: &HashSet<sdf::Path>) {
    for path in data.spec_paths() {
        let mut at = path.prim_path().parent();
        while let Some(ancestor) = at {
            if roots.contains(&ancestor) {
                data.erase_spec(&path);
                break;
            }
            at = ancestor.parent();
        }
    }
}

/// Declares the classes that hold the overs of shared instances, has these inherit them, and expands
/// the instances that hold baked prims of their own. `as_text` says that the layer becomes .usda.
pub(crate) fn write_classes(
    instances: &Instances,
    data: &mut dyn sdf::AbstractData,
    as_text: bool,
) -> Authoring {
    let inherits_field = inherits_field(as_text);
    for group in instances.shared_by_depth().into_values().flatten() {
        let home = instances.home(group)?;
        sdf::PrimSpec::new(data, home.clone(), sdf::Specifier::Class, "")?;
        for position in instances.positions(group) {
            let inherits = sdf::PathListOp::prepended([home.clone()]);
            sdf::PrimSpec::over(data, position.clone())?
                .set(inherits_field, sdf::Value::from(inherits));
        }
    }
    for position in instances.expanded() {
        sdf::PrimSpec::over(data, position)?.set_instanceable(false);
    }
    Ok(())
}
