//! The file of a character.

use base64::prelude::{BASE64_STANDARD, Engine};
use glam::DVec3;

use super::maker::{Fbx, Id, ROOT, array, integer, matrix, number, properties, property, vectors};
use super::play::moved;
use super::{Axes, Character, Clip, Picture};

impl Character {
    /// The file.
    pub fn text(&self) -> String {
        let mut fbx = Fbx::new(self.settings());
        let joints = self.write_joints(&mut fbx);
        let (node, geometry) = self.write_mesh(&mut fbx);
        self.write_skin(&mut fbx, geometry, &joints);
        let channels = self.write_channels(&mut fbx, geometry);
        self.write_materials(&mut fbx, node);
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

    fn write_materials(&self, fbx: &mut Fbx, node: Id) {
        let colors = [DVec3::new(0.8, 0.4, 0.2), DVec3::new(0.1, 0.2, 0.3)];
        for (i, color) in colors.into_iter().enumerate() {
            let body = properties(&property("DiffuseColor", "Color", color));
            let body = format!("ShadingModel: \"lambert\"\n{body}");
            let material = fbx.object("Material", "Material", ["Side", "Cap"][i], "", &body);
            fbx.connect(material, node);
            for picture in self.pictures.iter().filter(|p| p.material == i) {
                let texture = write_picture(fbx, picture);
                fbx.connect_property(texture, material, picture.property);
            }
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

fn write_picture(fbx: &mut Fbx, picture: &Picture) -> Id {
    let name = picture.relative.rsplit('\\').next().unwrap();
    let names = format!(
        "FileName: \"C:\\art\\{name}\"\nRelativeFilename: \"{}\"\n",
        picture.relative
    );
    let lines = [
        property("Translation", "Vector", picture.translation),
        property("Scaling", "Vector", picture.scaling),
    ];
    let body = format!("{names}{}", properties(&lines.concat()));
    let texture = fbx.object("Texture", "Texture", name, "", &body);
    let content = picture.embedded.as_ref().map_or(String::new(), |bytes| {
        format!("Content: ,\n\"{}\"\n", BASE64_STANDARD.encode(bytes))
    });
    let video = fbx.object("Video", "Video", name, "Clip", &format!("{names}{content}"));
    fbx.connect(video, texture);
    texture
}
