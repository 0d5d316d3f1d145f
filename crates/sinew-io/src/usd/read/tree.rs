//! The stage as a light [`PrimTree`]: kinds, relationships, which properties are authored.

use std::collections::{HashMap, HashSet};

use openusd::{sdf, usd};

use sinew::skel::binding::{AuthoredBinding, PrimKind, PrimTree, Target, TreePrim};

/// The tree, and the openusd path of each of its prims.
pub(crate) struct StageTree {
    pub tree: PrimTree,
    pub paths: Vec<sdf::Path>,
    /// UsdGeomXformable, whose xformOpOrder counts.
    pub xformable: Vec<bool>,
    pub type_names: Vec<String>,
    /// The first prim with the same place in an instanced prototype, by prim; itself where there is none.
    pub definitions: Vec<usize>,
}

struct TypeFacts {
    kind: PrimKind,
    /// UsdGeomPointInstancer.
    instancer: bool,
    xformable: bool,
}

/// Prims that Hydra draws as prototypes of a PointInstancer: undefined ones (`over`) too, but no class.
pub(crate) fn prototypes() -> usd::PrimPredicate {
    let required = usd::PrimStatus::ACTIVE.union(usd::PrimStatus::LOADED);
    usd::PrimPredicate::new(required, usd::PrimStatus::ABSTRACT).with_instance_proxies(true)
}

/// Walks active, loaded, defined prims, into native instances too, and PointInstancers' prototypes. Keeps
/// those that can matter: everything at or below a SkelRoot, every Skeleton and SkelAnimation, and
/// all their ancestors.
pub(crate) fn read_tree(stage: &usd::Stage) -> Result<StageTree, openusd::Error> {
    let mut facts_of: HashMap<String, TypeFacts> = HashMap::new();
    let mut all = traverse(stage, usd::PrimPredicate::DEFAULT_PROXIES)?;
    let mut type_names = types(stage, &all, &mut facts_of)?;
    let wanted = undefined_prototypes(stage, &all, &type_names, &facts_of)?;
    if !wanted.is_empty() {
        let known: HashSet<sdf::Path> = all.iter().cloned().collect();
        all = traverse(stage, prototypes())?;
        all.retain(|p| {
            let leads_there = |w: &sdf::Path| p.has_prefix(w) || w.has_prefix(p);
            known.contains(p) || wanted.iter().any(leads_there)
        });
        type_names = types(stage, &all, &mut facts_of)?;
    }
    let keep = prims_that_matter(&all, &type_names, &facts_of);

    let mut out = StageTree {
        tree: Vec::new(),
        paths: Vec::new(),
        xformable: Vec::new(),
        type_names: Vec::new(),
        definitions: Vec::new(),
    };
    let mut first_in_prototype: HashMap<sdf::Path, usize> = HashMap::new();
    let mut index_of: HashMap<sdf::Path, usize> = HashMap::new();
    for ((path, type_name), _) in all
        .into_iter()
        .zip(type_names)
        .zip(keep)
        .filter(|(_, keep)| *keep)
    {
        let facts = &facts_of[&type_name];
        let parent = path.parent().and_then(|p| index_of.get(&p).copied());
        let index = out.tree.len();
        index_of.insert(path.clone(), index);
        out.definitions
            .push(match stage.prim(&path)?.prim_in_prototype()? {
                Some(shared) => *first_in_prototype
                    .entry(shared.path().clone())
                    .or_insert(index),
                None => index,
            });
        out.tree.push(TreePrim {
            path: path.as_str().to_owned(),
            parent,
            kind: facts.kind,
            has_api: false,
            skeleton: None,
            animation_source: None,
            authored: AuthoredBinding::default(),
        });
        out.xformable.push(facts.xformable);
        out.type_names.push(type_name);
        out.paths.push(path);
    }
    for i in 0..out.tree.len() {
        read_binding(stage, &out.paths[i], &index_of, &mut out.tree[i])?;
    }
    add_abstract_targets(stage, &mut out, &mut index_of)?;
    Ok(out)
}

/// Skeletons and animations that prims are bound to and that no traversal meets, in a class or below an
/// `over`: Pixar's code takes them as they are. Their ancestors are here for their transforms and bindings
/// alone, so none of them is a SkelRoot or skinned.
fn add_abstract_targets(
    stage: &usd::Stage,
    out: &mut StageTree,
    index_of: &mut HashMap<sdf::Path, usize>,
) -> Result<(), openusd::Error> {
    let mut read = 0;
    // What is found is bound to others in turn.
    while read < out.tree.len() {
        let prim = &out.tree[read];
        let missing = [&prim.skeleton, &prim.animation_source].map(|target| match target {
            Some(Target::Missing(path)) => sdf::Path::new(path).ok(),
            _ => None,
        });
        for path in missing.into_iter().flatten() {
            add_abstract_target(stage, &path, out, index_of)?;
        }
        if missing_is_there(&out.tree[read], index_of) {
            read_binding(stage, &out.paths[read], index_of, &mut out.tree[read])?;
        }
        read += 1;
    }
    Ok(())
}

fn missing_is_there(prim: &TreePrim, index_of: &HashMap<sdf::Path, usize>) -> bool {
    let targets = [&prim.skeleton, &prim.animation_source]
        .into_iter()
        .flatten();
    let known = |path: &str| sdf::Path::new(path).is_ok_and(|p| index_of.contains_key(&p));
    targets
        .into_iter()
        .any(|t| matches!(t, Target::Missing(path) if known(path)))
}

fn add_abstract_target(
    stage: &usd::Stage,
    target: &sdf::Path,
    out: &mut StageTree,
    index_of: &mut HashMap<sdf::Path, usize>,
) -> Result<(), openusd::Error> {
    if target.is_property_path() || target.is_abs_root() {
        return Ok(());
    }
    let mut chain: Vec<_> = target.ancestors_below_root().collect();
    chain.reverse();
    for path in &chain {
        let prim = stage.prim(path)?;
        if !prim.is_valid()? || !prim.is_active()? {
            return Ok(());
        }
    }
    let kind = prim_kind(&stage.prim(target)?)?;
    if !matches!(kind, PrimKind::Skeleton | PrimKind::SkelAnimation) {
        return Ok(());
    }
    for path in chain {
        if index_of.contains_key(&path) {
            continue;
        }
        let prim = stage.prim(&path)?;
        let index = out.tree.len();
        let type_name = prim.type_name()?;
        out.type_names
            .push(type_name.map_or_else(String::new, |t| t.as_str().to_owned()));
        out.xformable.push(prim.is_a("Xformable")?);
        out.definitions.push(index);
        out.tree.push(TreePrim {
            path: path.as_str().to_owned(),
            parent: path.parent().and_then(|p| index_of.get(&p).copied()),
            kind: match path == *target {
                true => kind,
                false => PrimKind::Imageable,
            },
            has_api: false,
            skeleton: None,
            animation_source: None,
            authored: AuthoredBinding::default(),
        });
        index_of.insert(path.clone(), index);
        read_binding(stage, &path, index_of, &mut out.tree[index])?;
        out.paths.push(path);
    }
    Ok(())
}

fn traverse(
    stage: &usd::Stage,
    predicate: usd::PrimPredicate,
) -> Result<Vec<sdf::Path>, openusd::Error> {
    let mut out = Vec::new();
    stage.traverse(predicate, |p| out.push(p.clone()))?;
    Ok(out)
}

/// Type of each prim; facts about new ones are added.
fn types(
    stage: &usd::Stage,
    paths: &[sdf::Path],
    facts_of: &mut HashMap<String, TypeFacts>,
) -> Result<Vec<String>, openusd::Error> {
    let mut out = Vec::with_capacity(paths.len());
    for path in paths {
        let prim = stage.prim(path)?;
        let name = prim
            .type_name()?
            .map(|t| t.as_str().to_owned())
            .unwrap_or_default();
        if !facts_of.contains_key(&name) {
            facts_of.insert(name.clone(), type_facts(&prim)?);
        }
        out.push(name);
    }
    Ok(out)
}

/// Prototypes of PointInstancers that the walk over defined prims did not meet.
fn undefined_prototypes(
    stage: &usd::Stage,
    paths: &[sdf::Path],
    types: &[String],
    facts_of: &HashMap<String, TypeFacts>,
) -> Result<Vec<sdf::Path>, openusd::Error> {
    let known: HashSet<&sdf::Path> = paths.iter().collect();
    let mut out = Vec::new();
    for (path, _) in paths
        .iter()
        .zip(types)
        .filter(|(_, t)| facts_of[*t].instancer)
    {
        let prototypes = stage.prim(path)?.relationship("prototypes");
        for target in prototypes.forwarded_targets()? {
            if !known.contains(&target) {
                out.push(target);
            }
        }
    }
    Ok(out)
}

fn type_facts(prim: &usd::Prim) -> Result<TypeFacts, openusd::Error> {
    Ok(TypeFacts {
        instancer: prim.is_a("PointInstancer")?,
        kind: prim_kind(prim)?,
        xformable: prim.is_a("Xformable")?,
    })
}

/// What a prim's type is to skinning.
pub(crate) fn prim_kind(prim: &usd::Prim) -> Result<PrimKind, openusd::Error> {
    Ok(if prim.is_a("SkelRoot")? {
        PrimKind::SkelRoot
    } else if prim.is_a("Skeleton")? {
        PrimKind::Skeleton
    } else if prim.is_a("SkelAnimation")? {
        PrimKind::SkelAnimation
    } else if prim.is_a("Boundable")? {
        PrimKind::Skinnable {
            has_points: prim.is_a("PointBased")?,
        }
    } else if prim.is_a("Imageable")? {
        PrimKind::Imageable
    } else {
        PrimKind::Other
    })
}

fn prims_that_matter(
    paths: &[sdf::Path],
    types: &[String],
    facts: &HashMap<String, TypeFacts>,
) -> Vec<bool> {
    let mut keep = vec![false; paths.len()];
    let index_of: HashMap<&sdf::Path, usize> =
        paths.iter().enumerate().map(|(i, p)| (p, i)).collect();
    let parent = |i: usize| paths[i].parent().and_then(|p| index_of.get(&p).copied());
    let mut below_root = vec![false; paths.len()];
    for i in 0..paths.len() {
        let kind = facts[&types[i]].kind;
        below_root[i] = kind == PrimKind::SkelRoot || parent(i).is_some_and(|p| below_root[p]);
        let wanted = below_root[i] || matches!(kind, PrimKind::Skeleton | PrimKind::SkelAnimation);
        let mut at = wanted.then_some(i);
        while let Some(i) = at.filter(|i| !keep[*i]) {
            keep[i] = true;
            at = parent(i);
        }
    }
    keep
}

fn read_binding(
    stage: &usd::Stage,
    path: &sdf::Path,
    index_of: &HashMap<sdf::Path, usize>,
    out: &mut TreePrim,
) -> Result<(), openusd::Error> {
    let prim = stage.prim(path)?;
    let names: Vec<String> = prim
        .authored_property_names()?
        .iter()
        .map(|n| n.as_str().to_owned())
        .filter(|n| n.starts_with("skel:") || n.starts_with("primvars:skel:"))
        .collect();
    // The schema's own test (HasAPI) decides, whether or not a property is authored here.
    out.has_api = prim.has_api_schema("SkelBindingAPI")?;
    for name in names {
        let attribute = || prim.attribute(name.as_str()).has_authored_value();
        match name.as_str() {
            "skel:skeleton" => out.skeleton = first_target(&prim, &name, index_of)?,
            "skel:animationSource" => out.animation_source = first_target(&prim, &name, index_of)?,
            "primvars:skel:jointIndices" => out.authored.joint_indices = attribute()?,
            "primvars:skel:jointWeights" => out.authored.joint_weights = attribute()?,
            "primvars:skel:geomBindTransform" => out.authored.geom_bind_transform = attribute()?,
            "primvars:skel:skinningMethod" | "skel:skinningMethod" => {
                out.authored.skinning_method |= attribute()?;
            }
            "skel:joints" => out.authored.joints = attribute()?,
            "skel:blendShapes" => out.authored.blend_shapes = attribute()?,
            "skel:blendShapeTargets" => {
                out.authored.blend_shape_targets =
                    prim.relationship(name.as_str()).has_authored_targets()?;
            }
            _ => {}
        }
    }
    Ok(())
}

fn first_target(
    prim: &usd::Prim,
    name: &str,
    index_of: &HashMap<sdf::Path, usize>,
) -> Result<Option<Target>, openusd::Error> {
    let relationship = prim.relationship(name);
    if let Some(first) = relationship.forwarded_targets()?.into_iter().next() {
        return Ok(Some(match index_of.get(&first) {
            Some(i) => Target::Prim(*i),
            None => Target::Missing(first.as_str().to_owned()),
        }));
    }
    Ok(relationship
        .has_authored_targets()?
        .then_some(Target::Empty))
}
