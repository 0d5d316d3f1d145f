//! Which prims are drawn, where they stand, and cameras.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use openusd::{sdf, usd};

use crate::usd::read::bounds::{Inherited, read_invisible};
use crate::usd::read::values::{FromUsd, Token, read_sampled, read_uniform};
use crate::usd::read::xforms::read_stack;
use sinew::error::Warning;
use sinew::sampled::{Interpolation, Sampled};
use sinew::scene::{PlacedPrim, Placement, Purpose, StageCamera, XformStack};

/// What of a stage is drawn.
#[derive(Default)]
pub(super) struct Drawn {
    pub meshes: Vec<sdf::Path>,
    pub cameras: Vec<sdf::Path>,
    /// PointInstancers that are in no prototype of another one.
    pub instancers: Vec<sdf::Path>,
}

/// What a walk looks at each prim for, by its type.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Mesh,
    Camera,
    PointInstancer,
    /// Drawn by others: curves, points, spheres.
    OtherGprim,
    Other,
}

/// Walks active, loaded, defined prims, into native instances too, but not below PointInstancers.
pub(super) fn walk(
    stage: &usd::Stage,
    warnings: &mut Vec<Warning>,
) -> Result<Drawn, openusd::Error> {
    let mut paths = Vec::new();
    stage.traverse(usd::PrimPredicate::DEFAULT_PROXIES, |p| {
        paths.push(p.clone());
    })?;
    let mut out = Drawn::default();
    let mut kinds: HashMap<String, Kind> = HashMap::new();
    let mut purposes: HashMap<sdf::Path, Inherited> = HashMap::new();
    let mut pruned: HashSet<sdf::Path> = HashSet::new();
    let mut others: BTreeMap<String, (usize, String)> = BTreeMap::new();
    for path in paths {
        let parent = path.parent();
        if parent.as_ref().is_some_and(|p| pruned.contains(p)) {
            pruned.insert(path);
            continue;
        }
        let prim = stage.prim(&path)?;
        let above = parent.and_then(|p| purposes.get(&p)).cloned();
        let purpose = above.unwrap_or_default().below(&prim)?;
        let seen = matches!(purpose.purpose(), Some(Purpose::Default | Purpose::Render));
        purposes.insert(path.clone(), purpose);
        let type_name = prim.type_name()?;
        let type_name = type_name.map_or_else(String::new, |t| t.as_str().to_owned());
        let kind = match kinds.get(&type_name) {
            Some(known) => *known,
            None => *kinds.entry(type_name.clone()).or_insert(kind_of(&prim)?),
        };
        match kind {
            Kind::Camera => out.cameras.push(path),
            Kind::Mesh if seen => out.meshes.push(path),
            Kind::PointInstancer => {
                if seen {
                    out.instancers.push(path.clone());
                }
                pruned.insert(path);
            }
            Kind::OtherGprim if seen => {
                let first = || (0, path.as_str().to_owned());
                others.entry(type_name).or_insert_with(first).0 += 1;
            }
            _ => {}
        }
    }
    for (type_name, (count, first)) in others {
        let message = format!("a {type_name} is not drawn, as only meshes are; {count} in all");
        warnings.push(Warning::new("not-drawn", first, message));
    }
    Ok(out)
}

fn kind_of(prim: &usd::Prim) -> Result<Kind, openusd::Error> {
    Ok(if prim.is_a("Mesh")? {
        Kind::Mesh
    } else if prim.is_a("Camera")? {
        Kind::Camera
    } else if prim.is_a("PointInstancer")? {
        Kind::PointInstancer
    } else if prim.is_a("Gprim")? {
        Kind::OtherGprim
    } else {
        Kind::Other
    })
}

/// The hierarchy above what is drawn, while it is read.
pub(super) struct Places<'a> {
    stage: &'a usd::Stage,
    interpolation: Interpolation,
    prims: Vec<PlacedPrim>,
    index_of: HashMap<sdf::Path, usize>,
    /// By the prim in an instanced prototype that instances share.
    shared: HashMap<sdf::Path, usize>,
}

impl<'a> Places<'a> {
    pub fn new(stage: &'a usd::Stage, interpolation: Interpolation) -> Self {
        Self {
            stage,
            interpolation,
            prims: Vec::new(),
            index_of: HashMap::new(),
            shared: HashMap::new(),
        }
    }

    /// Adds a prim with its ancestors before it.
    pub fn add(
        &mut self,
        path: &sdf::Path,
        warnings: &mut Vec<Warning>,
    ) -> Result<(), openusd::Error> {
        let mut chain: Vec<sdf::Path> = Vec::new();
        for above in path.ancestors_below_root() {
            if self.index_of.contains_key(&above) {
                break;
            }
            chain.push(above);
        }
        for path in chain.into_iter().rev() {
            let prim = self.stage.prim(&path)?;
            let in_prototype = prim.prim_in_prototype()?.map(|p| p.path().clone());
            let known = in_prototype.as_ref().and_then(|p| self.shared.get(p));
            let (xform, invisible) = match known {
                Some(known) => {
                    let known = &self.prims[*known];
                    (known.xform.clone(), known.invisible.clone())
                }
                None => {
                    let xform = match prim.is_a("Xformable")? {
                        true => read_stack(&prim, self.interpolation, warnings)?,
                        false => XformStack::default(),
                    };
                    (xform, read_invisible(&prim, self.interpolation)?)
                }
            };
            let index = self.prims.len();
            if let Some(shared) = in_prototype {
                self.shared.entry(shared).or_insert(index);
            }
            self.prims.push(PlacedPrim {
                path: path.as_str().to_owned(),
                parent: path.parent().and_then(|p| self.index_of.get(&p).copied()),
                xform,
                invisible,
            });
            self.index_of.insert(path, index);
        }
        Ok(())
    }

    /// Adds the place of an instance, whose instancer is there already; its index.
    pub fn add_instance(&mut self, place: PlacedPrim) -> usize {
        self.prims.push(place);
        self.prims.len() - 1
    }

    /// Where a prim that is there already is among them.
    pub fn index_of(&self, path: &sdf::Path) -> Option<usize> {
        self.index_of.get(path).copied()
    }

    /// The prims, and where each path is among them.
    pub fn finish(self) -> (Arc<[PlacedPrim]>, HashMap<sdf::Path, usize>) {
        (self.prims.into(), self.index_of)
    }
}

/// Reads a camera that stands at `place`.
pub(super) fn read_camera(
    prim: &usd::Prim,
    place: Placement,
    interpolation: Interpolation,
) -> Result<StageCamera, openusd::Error> {
    fn sampled<T: FromUsd>(
        prim: &usd::Prim,
        name: &str,
        interpolation: Interpolation,
    ) -> Result<Sampled<T>, openusd::Error> {
        read_sampled(&prim.attribute(name), interpolation)
    }
    let number = |name| sampled::<f32>(prim, name, interpolation);
    let projection: Option<Token> = read_uniform(&prim.attribute("projection"))?;
    Ok(StageCamera {
        path: prim.path().as_str().to_owned(),
        place,
        perspective: projection.is_none_or(|p| p.0 != "orthographic"),
        focal_length: number("focalLength")?,
        horizontal_aperture: number("horizontalAperture")?,
        vertical_aperture: number("verticalAperture")?,
        horizontal_offset: number("horizontalApertureOffset")?,
        vertical_offset: number("verticalApertureOffset")?,
        clipping_range: sampled(prim, "clippingRange", interpolation)?,
    })
}
