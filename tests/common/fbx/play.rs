//! Where joints and points are, by FBX's definitions.

use glam::{DMat3, DMat4, DVec3};

use super::{Character, Clip, Joint};

/// Axes in FBX's order of rotation orders.
const ORDERS: [[usize; 3]; 6] = [
    [0, 1, 2],
    [0, 2, 1],
    [1, 2, 0],
    [1, 0, 2],
    [2, 0, 1],
    [2, 1, 0],
];

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

pub fn moved(v: DVec3) -> DMat4 {
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

    pub fn property(&mut self, name: &str) -> &mut DVec3 {
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
    pub fn links(&self) -> Vec<DMat4> {
        let mut joints = self.joints.clone();
        for joint in &mut joints {
            joint.rotation *= 0.5;
            joint.scale = DVec3::ONE;
        }
        worlds(&joints)
    }
}
