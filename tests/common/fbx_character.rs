//! A small FBX character with all that is odd about FBX, and where its points are at a time: f64, from the definitions
//! in Autodesk's documentation, nothing from src.

use glam::{DMat3, DMat4, DVec3};

use super::fbx_maker::{
    Fbx, Id, Keys, ROOT, Run, array, integer, matrix, number, properties, property, vectors,
};

/// A joint with everything that goes into an FBX transform. Angles are degrees.
#[derive(Clone)]
pub struct Joint {
    pub name: &'static str,
    pub parent: Option<usize>,
    pub translation: DVec3,
    pub rotation: DVec3,
    pub scale: DVec3,
    /// FBX's number: which axis turns first, second and third.
    pub order: usize,
    pub pre: DVec3,
    pub post: DVec3,
    pub rotation_offset: DVec3,
    pub rotation_pivot: DVec3,
    pub scaling_offset: DVec3,
    pub scaling_pivot: DVec3,
    /// Rrs: does not inherit its parent's own scale.
    pub ignores_parent_scale: bool,
}

/// Axes in FBX's order of rotation orders.
const ORDERS: [[usize; 3]; 6] = [
    [0, 1, 2],
    [0, 2, 1],
    [1, 2, 0],
    [1, 0, 2],
    [2, 0, 1],
    [2, 1, 0],
];

/// Properties of joint, mesh and channels that a clip moves.
#[derive(Clone)]
pub struct Motion {
    pub joint: usize,
    /// `Lcl Translation`, `Lcl Rotation` or `Lcl Scaling`.
    pub property: &'static str,
    /// By axis.
    pub keys: Vec<(usize, Keys)>,
}

#[derive(Clone)]
pub struct Clip {
    pub name: &'static str,
    pub seconds: f64,
    pub motions: Vec<Motion>,
    /// Percent, by channel.
    pub channels: Vec<(usize, Keys)>,
}

/// Offsets of the points listed.
#[derive(Clone)]
pub struct Shape {
    pub name: &'static str,
    pub points: Vec<usize>,
    pub offsets: Vec<DVec3>,
    /// Percent.
    pub full_weight: f64,
}

#[derive(Clone)]
pub struct Channel {
    pub name: &'static str,
    /// Percent at rest.
    pub percent: f64,
    /// By rising weights.
    pub shapes: Vec<Shape>,
}

/// The file's axes: FBX's numbers.
#[derive(Clone, Copy)]
pub struct Axes {
    pub up: (i64, i64),
    pub front: (i64, i64),
    pub coord: (i64, i64),
    /// World as the asset has it (right-handed, +Y up) from the file's.
    pub asset_from_file: DMat3,
}

#[derive(Clone)]
pub struct Character {
    pub axes: Axes,
    /// Centimetres to the unit.
    pub unit: f64,
    pub joints: Vec<Joint>,
    pub points: Vec<DVec3>,
    /// Faces of any number of corners, and their material.
    pub faces: Vec<(Vec<usize>, usize)>,
    /// Of the mesh's node, for the points alone.
    pub geometric_translation: DVec3,
    pub geometric_rotation: DVec3,
    /// The mesh's node.
    pub place: DVec3,
    /// Joint and weight, by point; they need not sum to 1, and may be none.
    pub weights: Vec<Vec<(usize, f64)>>,
    pub channels: Vec<Channel>,
    pub clips: Vec<Clip>,
    /// `Linear`, `DualQuaternion`.
    pub skinning: &'static str,
}

/// Right-handed, +Y up: as the asset has it.
pub const Y_UP: Axes = Axes {
    up: (1, 1),
    front: (2, 1),
    coord: (0, 1),
    asset_from_file: DMat3::IDENTITY,
};

/// Blender's and 3ds Max's.
pub const Z_UP: Axes = Axes {
    up: (2, 1),
    front: (1, -1),
    coord: (0, 1),
    asset_from_file: DMat3::from_cols(DVec3::X, DVec3::NEG_Z, DVec3::Y),
};

/// Left-handed.
pub const LEFT_HANDED: Axes = Axes {
    up: (1, 1),
    front: (2, -1),
    coord: (0, 1),
    asset_from_file: DMat3::from_cols(DVec3::X, DVec3::Y, DVec3::NEG_Z),
};

const SIDES: usize = 5;
const RINGS: usize = 6;

fn linear(keys: &[(f64, f64)]) -> Keys {
    Keys(keys.iter().map(|(t, v)| (*t, *v, Run::Linear)).collect())
}

impl Character {
    /// A tube of five sides on three joints with all that an FBX transform has, a loose triangle without weights, a
    /// channel with an in-between, and two clips of linear, stepped and smooth curves.
    pub fn tube() -> Self {
        let joints = vec![
            Joint {
                rotation: DVec3::new(10.0, -20.0, 30.0),
                rotation_pivot: DVec3::new(0.1, 0.2, 0.3),
                ..Joint::plain("Hips", None, DVec3::new(0.5, 1.0, -0.5))
            },
            Joint {
                rotation: DVec3::new(-15.0, 5.0, 25.0),
                order: 4,
                pre: DVec3::new(20.0, 10.0, -30.0),
                post: DVec3::new(5.0, -15.0, 10.0),
                rotation_offset: DVec3::new(0.0, 0.1, 0.0),
                scaling_offset: DVec3::new(0.05, 0.0, 0.1),
                scaling_pivot: DVec3::new(-0.1, 0.2, 0.0),
                scale: DVec3::new(1.1, 0.9, 1.2),
                ..Joint::plain("mixamorig:Spine", Some(0), DVec3::new(0.0, 3.5, 0.2))
            },
            Joint {
                rotation: DVec3::new(0.0, 40.0, 0.0),
                order: 3,
                ..Joint::plain("Neck.001", Some(1), DVec3::new(0.1, 3.0, 0.0))
            },
        ];
        let mut points = Vec::new();
        for ring in 0..RINGS {
            for side in 0..SIDES {
                let angle = std::f64::consts::TAU * side as f64 / SIDES as f64;
                points.push(DVec3::new(
                    1.5 * angle.cos(),
                    2.0 * ring as f64,
                    1.5 * angle.sin(),
                ));
            }
        }
        let loose = points.len();
        points.extend([
            DVec3::Z * 3.0,
            DVec3::new(1.0, 0.0, 3.0),
            DVec3::new(0.0, 1.0, 3.0),
        ]);
        Self {
            axes: Y_UP,
            unit: 1.0,
            joints,
            faces: faces(loose),
            weights: weights(loose),
            points,
            geometric_translation: DVec3::new(0.0, -0.5, 0.25),
            geometric_rotation: DVec3::new(0.0, 30.0, 10.0),
            place: DVec3::new(0.2, 0.4, 0.6),
            channels: tube_channels(),
            clips: tube_clips(),
            skinning: "Linear",
        }
    }
}

fn faces(loose: usize) -> Vec<(Vec<usize>, usize)> {
    let mut faces = Vec::new();
    for ring in 0..RINGS - 1 {
        for side in 0..SIDES {
            let (a, b) = (ring * SIDES + side, ring * SIDES + (side + 1) % SIDES);
            let (c, d) = (b + SIDES, a + SIDES);
            if ring == 2 && side == 3 {
                faces.extend([(vec![a, c, b], 0), (vec![a, d, c], 0)]);
            } else {
                faces.push((vec![a, d, c, b], 0));
            }
        }
    }
    faces.push(((0..SIDES).collect(), 1));
    faces.push(((0..SIDES).map(|s| RINGS * SIDES - 1 - s).collect(), 1));
    faces.push(((loose..loose + 3).collect(), 0));
    faces
}

fn weights(loose: usize) -> Vec<Vec<(usize, f64)>> {
    let of_point = |point: usize| {
        let height = (point / SIDES) as f64 / (RINGS - 1) as f64;
        // They sum to other numbers than 1, and some have one joint, some two, some three.
        let row = [
            1.0 - 1.5 * height,
            0.7 - (height - 0.5).abs(),
            1.5 * height - 0.5,
        ];
        let row = row.into_iter().enumerate();
        row.filter(|(_, w)| *w > 0.05).collect()
    };
    let mut weights: Vec<Vec<(usize, f64)>> = (0..loose).map(of_point).collect();
    weights.extend([vec![], vec![], vec![]]);
    weights
}

fn tube_channels() -> Vec<Channel> {
    let shape = |name, points: &[usize], size: f64, full_weight| Shape {
        name,
        points: points.to_vec(),
        offsets: points
            .iter()
            .map(|p| DVec3::new((*p as f64).sin(), 0.3, (*p as f64).cos()) * size)
            .collect(),
        full_weight,
    };
    vec![
        Channel {
            name: "Face.Smile",
            percent: 0.0,
            shapes: vec![
                shape("SmileHalf", &[20, 21, 26, 31], 0.9, 40.0),
                shape("Smile", &[21, 25, 26, 27], -0.6, 100.0),
            ],
        },
        Channel {
            name: "Wide",
            percent: 25.0,
            // Full at half the slider's way.
            shapes: vec![shape("WideShape", &[0, 1, 2, 3, 4, 5], 0.5, 50.0)],
        },
    ]
}

fn tube_clips() -> Vec<Clip> {
    let motion = |joint, property, keys| Motion {
        joint,
        property,
        keys,
    };
    let cubic = Keys(vec![
        (0.0, 0.5, Run::Cubic(2.0, -1.0)),
        (0.5, 1.5, Run::Cubic(-1.0, 0.0)),
        (1.0, 0.5, Run::Linear),
    ]);
    let steps = Keys(vec![
        (0.0, 0.0, Run::Step),
        (0.25, 35.0, Run::Step),
        (0.75, -20.0, Run::Linear),
        (1.0, 0.0, Run::Linear),
    ]);
    vec![
        Clip {
            name: "Wave",
            seconds: 1.0,
            motions: vec![
                motion(
                    0,
                    "Lcl Translation",
                    vec![(0, cubic), (2, linear(&[(0.0, -0.5), (1.0, 2.0)]))],
                ),
                motion(
                    1,
                    "Lcl Rotation",
                    vec![
                        (0, linear(&[(0.0, -15.0), (0.5, 60.0), (1.0, -15.0)])),
                        (1, linear(&[(0.0, 5.0), (1.0, 170.0)])),
                        (2, linear(&[(0.0, 25.0), (1.0, -90.0)])),
                    ],
                ),
                motion(2, "Lcl Rotation", vec![(1, steps)]),
                motion(
                    2,
                    "Lcl Scaling",
                    vec![(1, linear(&[(0.0, 1.0), (1.0, 2.0)]))],
                ),
            ],
            channels: vec![
                (0, linear(&[(0.0, 0.0), (0.5, 100.0), (1.0, 120.0)])),
                (1, linear(&[(0.0, 0.0), (1.0, 50.0)])),
            ],
        },
        Clip {
            name: "Still",
            seconds: 0.5,
            motions: vec![motion(
                1,
                "Lcl Rotation",
                vec![(0, linear(&[(0.0, 50.0), (0.5, 50.0)]))],
            )],
            channels: vec![],
        },
    ]
}

fn axis_turn(axis: usize, degrees: f64) -> DMat3 {
    let (s, c) = degrees.to_radians().sin_cos();
    let (j, k) = ((axis + 1) % 3, (axis + 2) % 3);
    let mut m = DMat3::IDENTITY;
    m.col_mut(j)[j] = c;
    m.col_mut(j)[k] = s;
    m.col_mut(k)[j] = -s;
    m.col_mut(k)[k] = c;
    m
}

/// The first axis of the order turns first, so that it stands last in the product.
fn euler(order: usize, degrees: DVec3) -> DMat4 {
    let turns = ORDERS[order].map(|axis| axis_turn(axis, degrees[axis]));
    DMat4::from_mat3(turns[2] * turns[1] * turns[0])
}

fn moved(v: DVec3) -> DMat4 {
    DMat4::from_translation(v)
}

impl Joint {
    /// Where it stands, and nothing odd about it.
    pub fn plain(name: &'static str, parent: Option<usize>, translation: DVec3) -> Self {
        Self {
            name,
            parent,
            translation,
            rotation: DVec3::ZERO,
            scale: DVec3::ONE,
            order: 0,
            pre: DVec3::ZERO,
            post: DVec3::ZERO,
            rotation_offset: DVec3::ZERO,
            rotation_pivot: DVec3::ZERO,
            scaling_offset: DVec3::ZERO,
            scaling_pivot: DVec3::ZERO,
            ignores_parent_scale: false,
        }
    }

    fn property(&mut self, name: &str) -> &mut DVec3 {
        match name {
            "Lcl Translation" => &mut self.translation,
            "Lcl Rotation" => &mut self.rotation,
            "Lcl Scaling" => &mut self.scale,
            other => panic!("{other}"),
        }
    }

    /// T Roff Rp Rpre R Rpost^-1 Rp^-1 Soff Sp S Sp^-1, for column vectors.
    fn local(&self) -> DMat4 {
        moved(self.translation)
            * moved(self.rotation_offset)
            * moved(self.rotation_pivot)
            * euler(0, self.pre)
            * euler(self.order, self.rotation)
            * euler(0, self.post).inverse()
            * moved(-self.rotation_pivot)
            * moved(self.scaling_offset)
            * moved(self.scaling_pivot)
            * DMat4::from_scale(self.scale)
            * moved(-self.scaling_pivot)
    }
}

impl Clip {
    fn pose(&self, joints: &[Joint], time: f64) -> Vec<Joint> {
        let mut posed = joints.to_vec();
        for motion in &self.motions {
            let joint = &mut posed[motion.joint];
            let vector = joint.property(motion.property);
            for (axis, keys) in &motion.keys {
                vector[*axis] = keys.at(time);
            }
        }
        posed
    }
}

/// World transforms, in the file's own space.
fn worlds(joints: &[Joint]) -> Vec<DMat4> {
    let mut worlds: Vec<DMat4> = Vec::new();
    for joint in joints {
        let local = joint.local();
        worlds.push(match joint.parent {
            None => local,
            Some(p) if joint.ignores_parent_scale => {
                // In its place as any child, turned and scaled as if the parent were not scaled itself.
                let place = worlds[p].transform_point3(local.w_axis.truncate());
                let unscaled =
                    DMat3::from_mat4(worlds[p]) * DMat3::from_diagonal(joints[p].scale).inverse();
                let turn = unscaled * DMat3::from_mat4(local);
                DMat4::from_mat3_translation(turn, place)
            }
            Some(p) => worlds[p] * local,
        });
    }
    worlds
}

impl Character {
    /// World of every joint as the asset should have it; at rest without a clip.
    pub fn joint_worlds(&self, clip: Option<&Clip>, time: f64) -> Vec<DMat4> {
        let turn = DMat4::from_mat3(self.axes.asset_from_file);
        // A mirrored world mirrors what stands in it.
        let mirror = if turn.determinant() < 0.0 {
            DMat4::from_scale(DVec3::new(-1.0, 1.0, 1.0))
        } else {
            DMat4::IDENTITY
        };
        let file = self.file_worlds(clip, time);
        file.into_iter().map(|w| turn * w * mirror).collect()
    }

    fn file_worlds(&self, clip: Option<&Clip>, time: f64) -> Vec<DMat4> {
        match clip {
            Some(clip) => worlds(&clip.pose(&self.joints, time)),
            None => worlds(&self.joints),
        }
    }

    /// Points of the mesh in the asset's world.
    pub fn vertices(&self, clip: Option<&Clip>, time: f64) -> Vec<DVec3> {
        let worlds = self.file_worlds(clip, time);
        let links = self.links();
        let rest = self.shaped(clip, time);
        let geometric = self.geometric();
        let skinned = rest.iter().zip(&self.weights).map(|(point, weights)| {
            let sum: f64 = weights.iter().map(|(_, w)| w).sum();
            let point = geometric.transform_point3(*point);
            if weights.is_empty() {
                return point + self.place;
            }
            let terms = weights.iter().map(|(joint, weight)| {
                let moved = worlds[*joint] * links[*joint].inverse() * moved(self.place);
                moved.transform_point3(point) * (weight / sum)
            });
            terms.sum()
        });
        skinned.map(|p| self.axes.asset_from_file * p).collect()
    }

    /// Which of the points each one of the asset is: primitives, one per material, have the points of their faces, as these
    /// come.
    pub fn point_order(&self) -> Vec<usize> {
        let mut order = Vec::new();
        for material in 0..2 {
            let start = order.len();
            for (face, _) in self.faces.iter().filter(|f| f.1 == material) {
                // A mirrored world turns faces round, about their first corner.
                let mut face = face.clone();
                if self.axes.asset_from_file.determinant() < 0.0 {
                    face[1..].reverse();
                }
                for point in &face {
                    if !order[start..].contains(point) {
                        order.push(*point);
                    }
                }
            }
        }
        order
    }

    fn geometric(&self) -> DMat4 {
        moved(self.geometric_translation) * euler(0, self.geometric_rotation)
    }

    /// Points with their shapes: straight from one full weight to the next, and on beyond the last one.
    fn shaped(&self, clip: Option<&Clip>, time: f64) -> Vec<DVec3> {
        let mut points = self.points.clone();
        for (i, channel) in self.channels.iter().enumerate() {
            let keys = clip.and_then(|c| c.channels.iter().find(|(c, _)| *c == i));
            let percent = keys.map_or(channel.percent, |(_, k)| k.at(time));
            let last = channel.shapes.len() - 1;
            let above = channel
                .shapes
                .iter()
                .position(|s| s.full_weight > percent)
                .unwrap_or(last);
            let from = above.checked_sub(1).map(|i| &channel.shapes[i]);
            let to = &channel.shapes[above];
            let start = from.map_or(0.0, |s| s.full_weight);
            let u = (percent - start) / (to.full_weight - start);
            for (shape, amount) in from.map(|s| (s, 1.0 - u)).into_iter().chain([(to, u)]) {
                for (point, offset) in shape.points.iter().zip(&shape.offsets) {
                    points[*point] += *offset * amount;
                }
            }
        }
        points
    }

    /// World of the joints when the mesh was bound: another pose than the rest one.
    fn links(&self) -> Vec<DMat4> {
        let mut joints = self.joints.clone();
        for joint in &mut joints {
            joint.rotation *= 0.5;
            joint.scale = DVec3::ONE;
        }
        worlds(&joints)
    }

    /// The file.
    pub fn text(&self) -> String {
        let mut fbx = Fbx::new(self.settings());
        let joints = self.write_joints(&mut fbx);
        let (node, geometry) = self.write_mesh(&mut fbx);
        self.write_skin(&mut fbx, geometry, &joints);
        let channels = self.write_channels(&mut fbx, geometry);
        for (i, color) in [DVec3::new(0.8, 0.4, 0.2), DVec3::new(0.1, 0.2, 0.3)]
            .into_iter()
            .enumerate()
        {
            let body = properties(&property("DiffuseColor", "Color", color));
            let name = ["Side", "Cap"][i];
            let body = format!("ShadingModel: \"lambert\"\n{body}");
            let material = fbx.object("Material", "Material", name, "", &body);
            fbx.connect(material, node);
        }
        for clip in &self.clips {
            self.write_clip(&mut fbx, clip, &joints, &channels);
        }
        fbx.text()
    }

    fn settings(&self) -> String {
        let Axes {
            up, front, coord, ..
        } = self.axes;
        [
            integer("UpAxis", up.0),
            integer("UpAxisSign", up.1),
            integer("FrontAxis", front.0),
            integer("FrontAxisSign", front.1),
            integer("CoordAxis", coord.0),
            integer("CoordAxisSign", coord.1),
            number("UnitScaleFactor", "double", self.unit),
            // 24 frames per second.
            integer("TimeMode", 11),
        ]
        .concat()
    }

    fn write_joints(&self, fbx: &mut Fbx) -> Vec<Id> {
        let mut ids = Vec::new();
        for joint in &self.joints {
            let lines = [
                integer("RotationActive", 1),
                integer("RotationOrder", joint.order as i64),
                integer(
                    "InheritType",
                    if joint.ignores_parent_scale { 2 } else { 1 },
                ),
                property("Lcl Translation", "Lcl Translation", joint.translation),
                property("Lcl Rotation", "Lcl Rotation", joint.rotation),
                property("Lcl Scaling", "Lcl Scaling", joint.scale),
                property("PreRotation", "Vector3D", joint.pre),
                property("PostRotation", "Vector3D", joint.post),
                property("RotationOffset", "Vector3D", joint.rotation_offset),
                property("RotationPivot", "Vector3D", joint.rotation_pivot),
                property("ScalingOffset", "Vector3D", joint.scaling_offset),
                property("ScalingPivot", "Vector3D", joint.scaling_pivot),
            ];
            let body = properties(&lines.concat());
            let id = fbx.object("Model", "Model", joint.name, "LimbNode", &body);
            let limb = "TypeFlags: \"Skeleton\"\n";
            let attribute = fbx.object("NodeAttribute", "NodeAttribute", "", "LimbNode", limb);
            fbx.connect(attribute, id);
            fbx.connect(id, joint.parent.map_or(ROOT, |p| ids[p]));
            ids.push(id);
        }
        ids
    }

    fn write_mesh(&self, fbx: &mut Fbx) -> (Id, Id) {
        let lines = [
            property("Lcl Translation", "Lcl Translation", self.place),
            property(
                "GeometricTranslation",
                "Vector3D",
                self.geometric_translation,
            ),
            property("GeometricRotation", "Vector3D", self.geometric_rotation),
        ];
        let node = fbx.object(
            "Model",
            "Model",
            "Body",
            "Mesh",
            &properties(&lines.concat()),
        );
        fbx.connect(node, ROOT);
        // A face's last corner is written as its complement.
        let corners = self.faces.iter().flat_map(|(face, _)| {
            let last = face.len() - 1;
            let index = move |(i, p): (usize, &usize)| {
                let p = *p as i64;
                if i == last { -p - 1 } else { p }
            };
            face.iter().enumerate().map(index)
        });
        let corners: Vec<i64> = corners.collect();
        let each_face = self.faces.iter();
        let normals: Vec<DVec3> = each_face
            .clone()
            .flat_map(|(face, _)| vec![self.face_normal(face); face.len()])
            .collect();
        let uvs: Vec<f64> = (0..corners.len())
            .flat_map(|i| [i as f64 / 64.0, 0.25])
            .collect();
        let materials: Vec<usize> = each_face.map(|(_, material)| *material).collect();
        let body = [
            vectors("Vertices", &self.points),
            array("PolygonVertexIndex", &corners),
            "GeometryVersion: 124\n".to_owned(),
            "LayerElementNormal: 0 {\nMappingInformationType: \"ByPolygonVertex\"\n\
             ReferenceInformationType: \"Direct\"\n"
                .to_owned(),
            vectors("Normals", &normals),
            "}\nLayerElementUV: 0 {\nName: \"map1\"\nMappingInformationType: \"ByPolygonVertex\"\n\
             ReferenceInformationType: \"Direct\"\n"
                .to_owned(),
            array("UV", &uvs),
            "}\nLayerElementMaterial: 0 {\nMappingInformationType: \"ByPolygon\"\n\
             ReferenceInformationType: \"IndexToDirect\"\n"
                .to_owned(),
            array("Materials", &materials),
            "}\nLayer: 0 {\nLayerElement: {\nType: \"LayerElementNormal\"\nTypedIndex: 0\n}\n\
             LayerElement: {\nType: \"LayerElementUV\"\nTypedIndex: 0\n}\n\
             LayerElement: {\nType: \"LayerElementMaterial\"\nTypedIndex: 0\n}\n}\n"
                .to_owned(),
        ];
        let geometry = fbx.object("Geometry", "Geometry", "", "Mesh", &body.concat());
        fbx.connect(geometry, node);
        (node, geometry)
    }

    pub fn face_normal(&self, face: &[usize]) -> DVec3 {
        let [a, b, c] = [face[0], face[1], face[2]].map(|p| self.points[p]);
        (b - a).cross(c - a).normalize()
    }

    fn write_skin(&self, fbx: &mut Fbx, geometry: Id, joints: &[Id]) {
        let body = format!("SkinningType: \"{}\"\n", self.skinning);
        let skin = fbx.object("Deformer", "Deformer", "BodySkin", "Skin", &body);
        fbx.connect(skin, geometry);
        for (joint, (link, id)) in self.links().iter().zip(joints).enumerate() {
            let of_point = |(i, row): (usize, &Vec<(usize, f64)>)| {
                let weight = row.iter().find(|(j, _)| *j == joint);
                weight.map(|(_, w)| (i, *w))
            };
            let (points, weights): (Vec<usize>, Vec<f64>) =
                self.weights.iter().enumerate().filter_map(of_point).unzip();
            let body = [
                array("Indexes", &points),
                array("Weights", &weights),
                matrix("Transform", &(link.inverse() * moved(self.place))),
                matrix("TransformLink", link),
            ];
            let cluster = fbx.object("Deformer", "SubDeformer", "", "Cluster", &body.concat());
            fbx.connect(cluster, skin);
            fbx.connect(*id, cluster);
        }
    }

    fn write_channels(&self, fbx: &mut Fbx, geometry: Id) -> Vec<Id> {
        if self.channels.is_empty() {
            return Vec::new();
        }
        let deformer = fbx.object("Deformer", "Deformer", "Face", "BlendShape", "");
        fbx.connect(deformer, geometry);
        let mut ids = Vec::new();
        for channel in &self.channels {
            let full: Vec<f64> = channel.shapes.iter().map(|s| s.full_weight).collect();
            let body = format!(
                "DeformPercent: {:?}\n{}{}",
                channel.percent,
                array("FullWeights", &full),
                properties(&number("DeformPercent", "Number", channel.percent))
            );
            let id = fbx.object(
                "Deformer",
                "SubDeformer",
                channel.name,
                "BlendShapeChannel",
                &body,
            );
            fbx.connect(id, deformer);
            for shape in &channel.shapes {
                let body = [
                    array("Indexes", &shape.points),
                    vectors("Vertices", &shape.offsets),
                ];
                let shape = fbx.object("Geometry", "Geometry", shape.name, "Shape", &body.concat());
                fbx.connect(shape, id);
            }
            ids.push(id);
        }
        ids
    }

    fn write_clip(&self, fbx: &mut Fbx, clip: &Clip, joints: &[Id], channels: &[Id]) {
        let layer = fbx.stack(clip.name, clip.seconds);
        for motion in &clip.motions {
            let rest = *self.joints[motion.joint].clone().property(motion.property);
            let part = |axis: usize, name| {
                let keys = motion.keys.iter().find(|(a, _)| *a == axis);
                (name, rest[axis], keys.map(|(_, keys)| keys))
            };
            let parts = [part(0, "d|X"), part(1, "d|Y"), part(2, "d|Z")];
            fbx.animate(layer, joints[motion.joint], motion.property, &parts);
        }
        for (channel, keys) in &clip.channels {
            let rest = self.channels[*channel].percent;
            let part = ("d|DeformPercent", rest, Some(keys));
            fbx.animate(layer, channels[*channel], "DeformPercent", &[part]);
        }
    }
}
