//! What sinew's scene shows of a mesh.

use std::path::Path;

use glam::{DMat3, DMat4, DVec3};
use libtest_mimic::Failed;
use sinew::sampled::Time;
use sinew::scene::{BoundSkin, DrawnMesh, Geometry, OutSpace, Scene, SkinPart};
use sinew::skel::reference;
use sinew_io::{ClipChoice, OpenOptions, open_with};

use crate::shown::Shown;

/// The meshes of a file as it is opened.
pub struct Stage {
    pub scene: Scene,
    pub geometry: Geometry,
}

/// A mesh at one time, in the world in stage units.
struct Placed {
    points: Vec<DVec3>,
    normals: Vec<DVec3>,
    /// Which way its faces turn.
    world: DMat4,
}

impl Stage {
    /// A file with a clip bound, or as it is.
    pub fn open(file: &Path, clip: Option<&str>) -> Result<Self, Failed> {
        let options = OpenOptions {
            clips: match clip {
                Some(name) => ClipChoice::Named(name.to_owned()),
                None => ClipChoice::First,
            },
            ..OpenOptions::default()
        };
        let file = open_with(file, &options)?;
        let scene = file.scene(Default::default())?;
        let geometry = file.geometry(&scene)?;
        Ok(Self { scene, geometry })
    }

    pub fn mesh(&self, path: &str) -> Result<&DrawnMesh, Failed> {
        let mut meshes = self.geometry.meshes.iter();
        let mesh = meshes.find(|m| m.path == path);
        mesh.ok_or_else(|| format!("no mesh {path}").into())
    }

    /// A mesh at time codes, corner by corner, in metres with y up.
    pub fn shown(&self, mesh: &DrawnMesh, codes: &[f64]) -> Result<Shown, Failed> {
        let placed = codes.iter().map(|code| self.placed(mesh, *code));
        Ok(self.by_corner(mesh, placed.collect::<Result<_, _>>()?))
    }

    /// The same where points and normals move in straight lines of `space` (world_from_space at a time code) from one of `samples`
    /// to the next. These are ascending.
    pub fn straight(
        &self,
        mesh: &DrawnMesh,
        codes: &[f64],
        samples: &[f64],
        space: impl Fn(f64) -> DMat4,
    ) -> Result<Shown, Failed> {
        if samples.is_empty() {
            return self.shown(mesh, codes);
        }
        let at_samples = samples.iter().map(|code| {
            let placed = self.placed(mesh, *code)?;
            Ok(placed.moved(space(*code).inverse()))
        });
        let at_samples = at_samples.collect::<Result<Vec<Placed>, Failed>>()?;
        let placed = codes.iter().map(|code| {
            let next = samples.partition_point(|s| s <= code);
            let (a, b) = (next.saturating_sub(1), next.min(samples.len() - 1));
            let alpha = match samples[b] > samples[a] {
                true => (code - samples[a]) / (samples[b] - samples[a]),
                false => 0.0,
            };
            let mix = |a: &[DVec3], b: &[DVec3]| -> Vec<DVec3> {
                a.iter().zip(b).map(|(a, b)| a.lerp(*b, alpha)).collect()
            };
            let (from, to) = (&at_samples[a], &at_samples[b]);
            let mixed = Placed {
                points: mix(&from.points, &to.points),
                normals: mix(&from.normals, &to.normals),
                world: from.world,
            };
            mixed.moved(space(*code))
        });
        let placed = placed.collect();
        Ok(self.by_corner(mesh, placed))
    }

    /// What deforms a mesh, or moves the prim above it as a whole.
    pub fn bound(&self, mesh: &DrawnMesh) -> Option<BoundSkin<'_>> {
        let mut all = self.scene.bound_skins();
        match mesh.binding {
            Some(binding) => Some(self.scene.bound(binding)),
            None => all.find(|b| {
                let below = mesh.path.strip_prefix(&b.binding().path);
                b.binding().is_rigid() && below.is_some_and(|rest| rest.starts_with('/'))
            }),
        }
    }

    /// The times at which something that deforms a prim has a sample.
    pub fn deform_times(&self, bound: BoundSkin<'_>) -> Vec<f64> {
        let mut times = bound.binding().rest_times(false);
        times.extend(bound.binding().influence_times());
        if let Some(animation) = bound.skeleton().instance.animation() {
            times.extend(animation.joint_times());
            times.extend(animation.blend_shape_weights.times());
        }
        times
    }

    /// The times at which something has a sample that moves prims of the same Skeleton against it: those of a bake.
    pub fn skeleton_times(&self, bound: BoundSkin<'_>) -> Vec<f64> {
        let (skeleton, prims) = (bound.skeleton(), &self.scene.prims);
        let animation = skeleton.instance.animation();
        let mut times = prims[skeleton.prim].xform.times();
        times.extend(animation.iter().flat_map(|a| a.joint_times()));
        let instance = bound.binding().instance;
        let all = self.scene.bound_skins().map(|b| b.binding());
        for binding in all.filter(|b| b.instance == instance) {
            let (is_rigid, blends) = (binding.is_rigid(), !binding.shapes.is_empty());
            times.extend(binding.influence_times());
            if blends {
                times.extend(animation.iter().flat_map(|a| a.blend_shape_weights.times()));
            }
            if blends || !is_rigid {
                times.extend(binding.rest_times(is_rigid));
            }
            // The transform of a rigid prim becomes one that its parent's leads to.
            let placed = match is_rigid {
                true => prims[binding.prim].parent,
                false => Some(binding.prim),
            };
            times.extend(
                placed
                    .into_iter()
                    .flat_map(|prim| prims[prim].xform.times()),
            );
        }
        times
    }

    /// Times, and the stage's frames between the first and the last of them, ascending.
    pub fn with_frames(&self, mut times: Vec<f64>) -> Vec<f64> {
        let line = &self.scene.time_line;
        let step = line.time_codes_per_second / line.frames_per_second;
        let start = line.range.map_or(0.0, |range| range.0);
        times.sort_by(f64::total_cmp);
        if let (Some(first), Some(last)) = (times.first(), times.last()) {
            let [first, last] = [first, last].map(|code| (code - start) / step);
            let frames = first.ceil() as i64..=last.floor() as i64;
            times.extend(frames.map(|frame| start + frame as f64 * step));
            times.sort_by(f64::total_cmp);
        }
        times.dedup();
        times
    }

    fn placed(&self, mesh: &DrawnMesh, code: f64) -> Result<Placed, Failed> {
        let (scene, time) = (&self.scene, Time::At(code));
        let at_rest = || -> Vec<DVec3> {
            let normals = mesh.normals.as_ref().and_then(|n| n.at(time));
            normals.map_or(Vec::new(), |n| n.iter().map(|n| n.as_dvec3()).collect())
        };
        let Some(bound) = mesh.binding.map(|b| scene.bound(b)) else {
            let points = mesh.points.at(time).ok_or("points")?;
            let placed = Placed {
                points: points.iter().map(|p| p.as_dvec3()).collect(),
                normals: at_rest(),
                world: DMat4::IDENTITY,
            };
            return Ok(placed.moved(mesh.world_from_prim(time)));
        };
        let prim = bound.binding().prim;
        let is_rigid = bound.binding().is_rigid();
        let part = SkinPart {
            // A bake moves a rigid prim in place of its points.
            blend_only: is_rigid,
            // Beyond the last one there are none.
            normals: mesh.skin_normals.unwrap_or(usize::MAX),
        };
        let pose = match is_rigid {
            true => scene.at(time, OutSpace::Prim).blend_pose(bound),
            false => bound.pose(time)?,
        };
        let skin = bound.skin_part(time, part)?;
        let deformed = reference::deform(&skin, &pose)?;
        let placed = Placed {
            points: deformed.points,
            normals: deformed.normals.unwrap_or_else(at_rest),
            world: DMat4::IDENTITY,
        };
        Ok(placed.moved(match is_rigid {
            true => scene.at(time, OutSpace::World).rigid_out_from_prim(bound)?,
            false => scene.world_from_prim(prim, time),
        }))
    }

    fn by_corner(&self, mesh: &DrawnMesh, placed: Vec<Placed>) -> Shown {
        let unit = self.scene.meters_per_unit;
        let turned = |v: DVec3| match self.scene.up_axis {
            'Z' => DVec3::new(v.x, v.z, -v.y),
            _ => v,
        };
        let topology = &mesh.topology;
        let mirrors = placed.first().is_some_and(|p| p.world.determinant() < 0.0);
        let mut out = Shown {
            name: mesh.path.rsplit('/').next().unwrap_or_default().to_owned(),
            corners: topology
                .corner_points()
                .iter()
                .map(|p| *p as usize)
                .collect(),
            left_handed: topology.is_left_handed() != mirrors,
            ..Shown::default()
        };
        for placed in placed {
            let points = placed.points.into_iter();
            out.points.push(points.map(|p| turned(p) * unit).collect());
            let normals = placed.normals.into_iter();
            let normals = normals.map(|n| turned(n).normalize_or_zero());
            out.normals.push(normals.collect());
        }
        crate::shown::by_corner(vec![out]).remove(0)
    }
}

impl Placed {
    fn moved(self, by: DMat4) -> Self {
        let normal = DMat3::from_mat4(by).inverse().transpose();
        let normals = self.normals.iter();
        Self {
            points: self
                .points
                .iter()
                .map(|p| by.transform_point3(*p))
                .collect(),
            normals: normals.map(|n| (normal * *n).normalize_or_zero()).collect(),
            world: by * self.world,
        }
    }
}
