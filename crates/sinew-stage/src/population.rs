//! All prims of a stage, composed once.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use rayon::prelude::*;
use sinew_layer::layer::field;
use sinew_layer::value::Specifier;
use sinew_layer::{ListOp, Path, SpecKind, Token, Value};

use crate::clips::definition::DefinitionKey;
use crate::clips::{ClipLayers, ClipSet, definition};
use crate::compose::{ArcKind, CLIP_SET_INVALID, Composer, Diagnostic, InstanceKey, PrimIndex};
use crate::error::{Error, Result};
use crate::schema::{self, PrimType};

/// No prim.
pub(crate) const NONE: u32 = u32::MAX;

/// What is known of a prim without a look at its layers.
pub(crate) struct PrimData {
    /// The path in the stage. Of prims in a prototype that is not the path of the index.
    pub path: Path,
    pub index: PrimIndex,
    pub parent: u32,
    pub first_child: u32,
    pub child_count: u32,
    /// The prototype of an instance.
    pub prototype: u32,
    /// Which of the population's types.
    pub kind: u32,
    /// Which of the population's lists of clip sets.
    pub clips: u32,
    pub flags: Flags,
    pub specifier: Specifier,
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Flags {
    pub active: bool,
    pub loaded: bool,
    pub defined: bool,
    pub abstract_: bool,
    pub instance: bool,
    pub prototype: bool,
    pub in_prototype: bool,
}

/// All prims: the pseudo root first, then level by level, the children of a prim side by side. The prims of prototypes
/// follow.
pub(crate) struct Population {
    pub prims: Vec<PrimData>,
    /// The prototypes, with the index of the instance that each was made from.
    pub prototypes: Vec<u32>,
    pub instances: HashMap<u32, Vec<u32>>,
    pub types: Vec<PrimType>,
    /// Lists of clip sets, the strongest first; the first list is empty.
    pub clips: Vec<Vec<Arc<ClipSet>>>,
    pub messages: Vec<Diagnostic>,
    /// How many entries [`PrimIndex::property_nodes`] of all prims may still have, so that they take at most about 64 MiB.
    pub property_room: AtomicUsize,
}

/// What one look at the opinions of a prim finds.
struct Facts {
    specifier: Specifier,
    active: bool,
    has_payload: bool,
    type_name: Token,
    apis: Vec<Token>,
    clips: Vec<definition::Definition>,
    messages: Vec<Diagnostic>,
    /// How many specs of properties there are.
    properties: usize,
}

/// A prim before its type and clips have numbers.
struct Draft {
    path: Path,
    index: PrimIndex,
    facts: Facts,
}

impl Population {
    /// Composes all prims of a stage, then the prototypes of its instances.
    pub fn compose(
        composer: &Composer,
        clip_layers: &Arc<ClipLayers>,
        fallback_types: &HashMap<Token, Token>,
    ) -> Result<Self> {
        let mut all = Builder {
            composer,
            clip_layers,
            fallback_types,
            type_numbers: HashMap::new(),
            keys: HashMap::new(),
            instance_clips: HashMap::new(),
            properties: 0,
            out: Self {
                prims: Vec::new(),
                prototypes: Vec::new(),
                instances: HashMap::new(),
                types: vec![PrimType::default()],
                clips: vec![Vec::new()],
                messages: Vec::new(),
                property_room: AtomicUsize::new(1 << 20),
            },
        };
        let root = Flags {
            active: true,
            loaded: true,
            defined: true,
            ..Flags::default()
        };
        all.out.prims.push(PrimData {
            path: Path::root(),
            index: composer.root(),
            parent: NONE,
            first_child: 0,
            child_count: 0,
            prototype: NONE,
            kind: 0,
            clips: 0,
            flags: root,
            specifier: Specifier::Def,
        });
        let mut instances = all.subtree(0)?;
        // Prototypes may hold instances again.
        while !instances.is_empty() {
            instances = all.prototypes(instances)?;
        }
        let limit = composer.limits().proxies;
        if all.out.seen_prims(limit) > limit {
            return Err(Error::TooLarge {
                prim: "/".to_owned(),
                reason: format!("more than {limit} prims are seen through instances"),
            });
        }
        Ok(all.out)
    }

    /// How many prims a look through all instances sees. Counting ends when there are more than `enough`.
    fn seen_prims(&self, enough: u64) -> u64 {
        let mut below_prototypes: HashMap<u32, u64> = HashMap::new();
        // Each pass counts instances in one level of prototypes more.
        loop {
            let mut below = vec![0u64; self.prims.len()];
            let mut changed = false;
            // Children come after their parents.
            for (id, prim) in self.prims.iter().enumerate().rev() {
                let behind = below_prototypes.get(&prim.prototype).copied();
                below[id] = below[id].saturating_add(behind.unwrap_or(0));
                let seen = below[id];
                if prim.flags.prototype {
                    changed |= below_prototypes.insert(id as u32, seen) != Some(seen);
                } else if let Some(above) = below.get_mut(prim.parent as usize) {
                    *above = above.saturating_add(seen).saturating_add(1);
                }
            }
            if !changed || below[0] > enough {
                return below[0];
            }
        }
    }
}

struct Builder<'a> {
    composer: &'a Composer,
    clip_layers: &'a Arc<ClipLayers>,
    fallback_types: &'a HashMap<Token, Token>,
    type_numbers: HashMap<(Token, Vec<Token>), u32>,
    keys: HashMap<(InstanceKey, Vec<DefinitionKey>), u32>,
    /// The clips of instances that have clips of their own.
    instance_clips: HashMap<u32, Vec<DefinitionKey>>,
    /// How many specs of properties the prims have so far.
    properties: usize,
    out: Population,
}

impl Builder<'_> {
    /// Composes what is below a prim, level by level; gives the instances among them.
    fn subtree(&mut self, top: u32) -> Result<Vec<u32>> {
        let mut instances = Vec::new();
        let mut level = vec![top];
        while !level.is_empty() {
            let (composer, prims, clip_layers) = (self.composer, &self.out.prims, self.clip_layers);
            let drafts = |id: &u32| -> Result<Vec<Draft>> {
                let parent = &prims[*id as usize];
                let names = parent.index.child_names();
                let child = |name: &Token| {
                    let index = composer.child(&parent.index, name)?;
                    Ok(Draft {
                        path: parent.path.child(name),
                        facts: Facts::of(&index, clip_layers),
                        index,
                    })
                };
                names.iter().map(child).collect()
            };
            let next: Vec<Vec<Draft>> = match level.len() {
                1 => level.iter().map(drafts).collect::<Result<_>>()?,
                _ => level.par_iter().map(drafts).collect::<Result<_>>()?,
            };
            let mut below = Vec::new();
            for (parent, children) in level.into_iter().zip(next) {
                let first = self.out.prims.len() as u32;
                let data = &mut self.out.prims[parent as usize];
                data.first_child = first;
                data.child_count = children.len() as u32;
                for child in children {
                    self.properties += child.facts.properties;
                    let limit = self.composer.limits().properties;
                    let of = "specs of properties";
                    self.composer
                        .limit(self.properties, limit, &child.path, of)?;
                    let id = self.add(parent, child);
                    let flags = self.out.prims[id as usize].flags;
                    if flags.instance {
                        instances.push(id);
                    } else if flags.active {
                        below.push(id);
                    }
                }
            }
            level = below;
        }
        Ok(instances)
    }

    fn add(&mut self, parent: u32, draft: Draft) -> u32 {
        let id = self.out.prims.len() as u32;
        let above = &self.out.prims[parent as usize];
        let facts = draft.facts;
        let defining = facts.specifier != Specifier::Over;
        let loads = self.composer.options().load_payloads;
        let flags = Flags {
            active: facts.active,
            loaded: facts.active
                && if facts.has_payload {
                    loads
                } else {
                    above.flags.loaded
                },
            defined: defining && above.flags.defined,
            abstract_: above.flags.abstract_ || facts.specifier == Specifier::Class,
            instance: facts.active && draft.index.is_instanceable(),
            prototype: false,
            in_prototype: above.flags.in_prototype,
        };
        let above_clips = above.clips;
        self.out.messages.extend(facts.messages);
        let shared: Vec<DefinitionKey> = match flags.instance {
            true => facts.clips.iter().map(|c| c.key()).collect(),
            false => Vec::new(),
        };
        let mut sets = Vec::new();
        for definition in facts.clips {
            match ClipSet::new(definition, self.clip_layers) {
                Ok(set) => sets.extend(set.map(Arc::new)),
                Err(reason) => {
                    self.out.messages.push(Diagnostic {
                        code: CLIP_SET_INVALID,
                        prim: draft.path.clone(),
                        message: format!("clips are not used: {reason}"),
                    });
                }
            }
        }
        if !shared.is_empty() {
            self.instance_clips.insert(id, shared);
        }
        let clips = if sets.is_empty() {
            above_clips
        } else {
            // Clips of the prims above are weaker.
            sets.extend(self.out.clips[above_clips as usize].iter().cloned());
            self.out.clips.push(sets);
            self.out.clips.len() as u32 - 1
        };
        let kind = self.kind(facts.type_name, facts.apis);
        self.out.prims.push(PrimData {
            path: draft.path,
            index: draft.index,
            parent,
            first_child: 0,
            child_count: 0,
            prototype: NONE,
            kind,
            clips,
            flags,
            specifier: facts.specifier,
        });
        id
    }

    fn kind(&mut self, type_name: Token, apis: Vec<Token>) -> u32 {
        if type_name.is_empty() && apis.is_empty() {
            return 0;
        }
        let (types, fallback_types) = (&mut self.out.types, self.fallback_types);
        *self
            .type_numbers
            .entry((type_name, apis))
            .or_insert_with_key(|(name, apis)| {
                types.push(PrimType::new(name.clone(), fallback_types.get(name), apis));
                types.len() as u32 - 1
            })
    }

    /// Makes the prototypes that these instances need and are not there yet; gives the instances inside them.
    fn prototypes(&mut self, mut instances: Vec<u32>) -> Result<Vec<u32>> {
        // The first instance in the order of paths lends its index to the prototype.
        instances.sort_by(|a, b| {
            self.out.prims[*a as usize]
                .path
                .cmp(&self.out.prims[*b as usize].path)
        });
        let mut made = Vec::new();
        for instance in instances {
            let data = &self.out.prims[instance as usize];
            let Some(key) = data.index.instance_key() else {
                continue;
            };
            // As in usd-core, clips of an instance do not reach into its prototype, but tell it from others.
            let clips = self.instance_clips.remove(&instance);
            let key = (key, clips.unwrap_or_default());
            let prototype = match self.keys.get(&key) {
                Some(prototype) => *prototype,
                None => {
                    let index = data.index.clone();
                    let id = self.out.prims.len() as u32;
                    let name = format!("__Prototype_{}", self.out.prototypes.len() + 1);
                    self.out.prims.push(PrimData {
                        path: Path::root().child(&name),
                        index,
                        parent: 0,
                        first_child: 0,
                        child_count: 0,
                        prototype: NONE,
                        kind: 0,
                        clips: 0,
                        flags: Flags {
                            active: true,
                            loaded: true,
                            defined: true,
                            prototype: true,
                            in_prototype: true,
                            ..Flags::default()
                        },
                        specifier: Specifier::Def,
                    });
                    self.out.prototypes.push(id);
                    self.keys.insert(key, id);
                    made.push(id);
                    id
                }
            };
            self.out.prims[instance as usize].prototype = prototype;
            self.out
                .instances
                .entry(prototype)
                .or_default()
                .push(instance);
        }
        let mut inside = Vec::new();
        for prototype in made {
            inside.extend(self.subtree(prototype)?);
        }
        Ok(inside)
    }
}

impl Facts {
    /// One look at all opinions of a prim.
    fn of(index: &PrimIndex, clip_layers: &ClipLayers) -> Self {
        let mut specifier = Specifier::Over;
        let mut specifier_known = false;
        let mut active = None;
        let mut type_name: Option<Token> = None;
        let mut edits: Vec<Arc<ListOp<Token>>> = Vec::new();
        let mut apis_known = false;
        let (mut has_clips, mut has_payload) = (false, false);
        for opinion in index.opinions() {
            if !matches!(opinion.spec.kind, SpecKind::Prim | SpecKind::Variant) {
                continue;
            }
            for (name, value) in opinion.spec.fields.iter() {
                match name.as_str() {
                    field::SPECIFIER if !specifier_known => match loaded(value) {
                        Some(Value::Specifier(Specifier::Def)) => {
                            (specifier, specifier_known) = (Specifier::Def, true);
                        }
                        Some(Value::Specifier(Specifier::Class)) => {
                            specifier = Specifier::Class;
                            specifier_known = !inherits_directly(index, opinion.node);
                        }
                        _ => {}
                    },
                    field::ACTIVE if active.is_none() => {
                        if let Some(Value::Bool(value)) = loaded(value) {
                            active = Some(value);
                        }
                    }
                    field::TYPE_NAME if type_name.is_none() => {
                        if let Some(Value::Token(name)) = loaded(value) {
                            // `__AnyType__` names no type.
                            type_name = Some(name).filter(|n| !n.is_empty() && n != "__AnyType__");
                        }
                    }
                    field::API_SCHEMAS if !apis_known => {
                        if let Some(Value::TokenListOp(edit)) = loaded(value) {
                            apis_known = edit.explicit;
                            edits.push(edit);
                        }
                    }
                    field::CLIPS => has_clips = true,
                    field::PAYLOAD => has_payload = true,
                    _ => {}
                }
            }
        }
        let mut apis = Vec::new();
        for edit in edits.iter().rev() {
            edit.apply(&mut apis);
        }
        let properties = index.opinions().map(|o| o.spec.properties().len()).sum();
        let mut messages = Vec::new();
        let clips = match has_clips {
            true => definition::of_prim(index, clip_layers, &mut messages),
            false => Vec::new(),
        };
        Self {
            specifier,
            active: active.unwrap_or(true),
            has_payload,
            type_name: type_name.unwrap_or_default(),
            apis,
            clips,
            messages,
            properties,
        }
    }
}

/// A field that decides about the prim: one that is broken in its file is as good as none.
fn loaded(value: &Value) -> Option<Value> {
    value.load().ok()
}

/// Whether a node is there because the prim itself inherits a class, and not one above it: that makes it no class.
fn inherits_directly(index: &PrimIndex, node: usize) -> bool {
    let nodes = index.nodes();
    let mut at = Some(node);
    while let Some((i, node)) = at.and_then(|i| Some((i, nodes.get(i)?))) {
        if node.kind == ArcKind::Inherit && is_direct(index, i) {
            return true;
        }
        // Parents come before their children; whatever does not is no tree.
        at = node.parent.filter(|p| *p != i && nodes.len() > *p);
        if at.is_some_and(|p| p >= i) {
            return false;
        }
    }
    false
}

/// Whether the prim's own specs name the class of a node, or of the node that this one is implied by.
fn is_direct(index: &PrimIndex, node: usize) -> bool {
    let nodes = index.nodes();
    let mut at = node;
    for _ in 0..nodes.len() {
        match nodes[at].origin {
            Some(origin) if origin != at && nodes[at].parent != Some(origin) => at = origin,
            _ => break,
        }
    }
    let class = &nodes[at];
    let Some(parent) = class.parent.and_then(|p| nodes.get(p)) else {
        return false;
    };
    let class_path = class.path.strip_variants();
    parent.stack.layers.iter().any(|layer| {
        let spec = layer.layer.spec(&parent.path);
        match spec.and_then(|s| loaded(s.get(field::INHERITS)?)) {
            Some(Value::PathListOp(edit)) => {
                let mut lists = edit.lists().into_iter().flat_map(|(_, list)| list);
                lists.any(|p| p.absolute(&parent.path.strip_variants()) == class_path)
            }
            _ => false,
        }
    })
}

/// The table that maps types that no schema knows to types that one does: `fallbackPrimTypes` of the root layer.
pub(crate) fn fallback_types(value: Option<Value>) -> HashMap<Token, Token> {
    let mut out = HashMap::new();
    let Some(Value::Dictionary(table)) = value else {
        return out;
    };
    for (name, candidates) in table.iter() {
        let candidates: Vec<Token> = match candidates.load() {
            Ok(Value::TokenArray(names)) => names.to_vec(),
            Ok(Value::TokenVector(names)) => names.to_vec(),
            _ => continue,
        };
        if schema::is_concrete(name) {
            continue;
        }
        if let Some(known) = candidates.into_iter().find(|c| schema::is_concrete(c)) {
            out.insert(name.clone(), known);
        }
    }
    out
}
