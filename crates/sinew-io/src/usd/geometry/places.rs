//! Which prims are drawn, where they stand, and cameras.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use sinew_layer::Path;
use sinew_stage::{Predicate, Prim, Stage};

use crate::usd::file::Purposes;
use crate::usd::read::bounds::{Inherited, read_invisible};
use crate::usd::read::shapes::is_shape;
use crate::usd::read::values::{FromUsd, Token, read_sampled, read_uniform};
use crate::usd::read::xforms::read_stack;
use sinew::error::Warning;
use sinew::sampled::{Interpolation, Sampled};
use sinew::scene::{Carrier, PlacedPrim, Placement, Scene, StageCamera, XformStack};

/// What of a stage is drawn.
#[derive(Default)]
pub(super) struct Drawn<'a> {
    /// Meshes, and shapes that are drawn as such.
    pub meshes: Vec<Prim<'a>>,
    pub curves: Vec<Prim<'a>>,
    pub cameras: Vec<Prim<'a>>,
    /// PointInstancers that are in no prototype of another one.
    pub instancers: Vec<Prim<'a>>,
}

/// What a walk looks at each prim for, by its type.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Mesh,
    /// A Sphere or another shape that is drawn as a mesh.
    Shape,
    Curves,
    Camera,
    PointInstancer,
    /// Drawn by others: points, volumes, NURBS.
    OtherGprim,
    Other,
}

/// Largest number of shapes that are drawn. Each becomes a mesh of hundreds of points.
const MOST_SHAPES: usize = 10_000;

/// The prims that are not drawn, by type: their number, and the path of the first.
#[derive(Default)]
pub(super) struct NotDrawn<'a>(BTreeMap<&'a str, (usize, Path)>);

impl<'a> NotDrawn<'a> {
    pub fn add(&mut self, prim: Prim<'a>) {
        let first = || (0, prim.path());
        self.0.entry(prim.type_name()).or_insert_with(first).0 += 1;
    }

    /// One warning for each type.
    pub fn warn(self, drawn: &str, warnings: &mut Vec<Warning>) {
        for (type_name, (count, first)) in self.0 {
            let message = match type_name {
                "Sphere" | "Cube" | "Cylinder" | "Cone" | "Capsule" | "Plane" => {
                    format!(
                        "more than {MOST_SHAPES} shapes: {count} of the type {type_name} are not drawn"
                    )
                }
                _ => format!(
                    "a {type_name} is not drawn, because only {drawn} are drawn; {count} in all"
                ),
            };
            warnings.push(Warning::new("not-drawn", first.as_str(), message));
        }
    }
}

/// Walks active, loaded, defined prims, into native instances too, but not below PointInstancers.
pub(super) fn walk<'a>(
    stage: &'a Stage,
    drawn: Purposes,
    warnings: &mut Vec<Warning>,
) -> Result<Drawn<'a>, sinew_stage::Error> {
    let mut out = Drawn::default();
    let mut kinds: HashMap<&str, Kind> = HashMap::new();
    let mut purposes: HashMap<Path, Inherited> = HashMap::new();
    let mut others = NotDrawn::default();
    let mut shapes = 0;
    let mut prims = stage.traverse(Predicate::DEFAULT_PROXIES);
    while let Some(prim) = prims.next() {
        let path = prim.path();
        let above = path.parent().and_then(|p| purposes.get(&p)).cloned();
        let purpose = above.unwrap_or_default().below(&prim)?;
        let seen = drawn.have(purpose.purpose());
        let type_name = prim.type_name();
        match *kinds.entry(type_name).or_insert_with(|| kind_of(prim)) {
            Kind::Camera => out.cameras.push(prim),
            Kind::Mesh if seen => out.meshes.push(prim),
            Kind::Shape if seen && shapes < MOST_SHAPES => {
                shapes += 1;
                out.meshes.push(prim);
            }
            Kind::Curves if seen => out.curves.push(prim),
            Kind::PointInstancer => {
                if seen {
                    out.instancers.push(prim);
                }
                prims.skip_children();
            }
            Kind::Shape | Kind::OtherGprim if seen => others.add(prim),
            _ => {}
        }
        purposes.insert(path, purpose);
    }
    others.warn("meshes, shapes and BasisCurves", warnings);
    Ok(out)
}

pub(super) fn kind_of(prim: Prim<'_>) -> Kind {
    if prim.is_a("Mesh") {
        Kind::Mesh
    } else if is_shape(&prim) {
        Kind::Shape
    } else if prim.is_a("BasisCurves") {
        Kind::Curves
    } else if prim.is_a("Camera") {
        Kind::Camera
    } else if prim.is_a("PointInstancer") {
        Kind::PointInstancer
    } else if prim.is_a("Gprim") {
        Kind::OtherGprim
    } else {
        Kind::Other
    }
}

/// A prim and those above it, without the root.
pub(super) fn with_ancestors(prim: Prim<'_>) -> impl Iterator<Item = Prim<'_>> {
    let all = std::iter::successors(Some(prim), |prim| prim.parent());
    all.take_while(|prim| prim.parent().is_some())
}

/// The hierarchy above what is drawn, while it is read.
pub(super) struct Places {
    interpolation: Interpolation,
    prims: Vec<PlacedPrim>,
    index_of: HashMap<Path, usize>,
    carriers: BTreeMap<String, Carrier>,
    /// By the prim in an instanced prototype that instances share.
    shared: HashMap<Path, usize>,
}

impl Places {
    pub fn new(scene: &Scene, interpolation: Interpolation) -> Self {
        Self {
            carriers: scene.carriers(),
            interpolation,
            prims: Vec::new(),
            index_of: HashMap::new(),
            shared: HashMap::new(),
        }
    }

    /// Adds a prim with its ancestors before it.
    pub fn add(
        &mut self,
        prim: Prim<'_>,
        warnings: &mut Vec<Warning>,
    ) -> Result<(), sinew_stage::Error> {
        let chain: Vec<(Path, Prim<'_>)> = with_ancestors(prim)
            .map(|prim| (prim.path(), prim))
            .take_while(|(path, _)| !self.index_of.contains_key(path))
            .collect();
        for (path, prim) in chain.into_iter().rev() {
            let in_prototype = prim.prim_in_prototype().map(|p| p.path());
            let known = in_prototype.as_ref().and_then(|p| self.shared.get(p));
            let (xform, invisible) = match known {
                Some(known) => {
                    let known = &self.prims[*known];
                    (known.xform.clone(), known.invisible.clone())
                }
                None => {
                    let xform = match prim.is_a("Xformable") {
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
                carrier: self.carriers.get(path.as_str()).cloned(),
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
    pub fn index_of(&self, path: &Path) -> Option<usize> {
        self.index_of.get(path).copied()
    }

    /// The prims, and where each path is among them.
    pub fn finish(self) -> (Arc<[PlacedPrim]>, HashMap<Path, usize>) {
        (self.prims.into(), self.index_of)
    }
}

/// Reads a camera that stands at `place`.
pub(super) fn read_camera(
    prim: Prim<'_>,
    place: Placement,
    interpolation: Interpolation,
) -> Result<StageCamera, sinew_stage::Error> {
    fn sampled<T: FromUsd>(
        prim: Prim<'_>,
        name: &str,
        interpolation: Interpolation,
    ) -> Result<Sampled<T>, sinew_stage::Error> {
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
