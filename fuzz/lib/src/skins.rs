//! Skins of the engine: packing, encoding for the GPU, skinning on the CPU.

use glam::{DMat4, DVec3, Vec3};
use sinew::kernel::encoded_skin::{check_decoded, encode_shapes};
use sinew::kernel::{PackedPose, PackedSkin, skin_on_cpu};
use sinew::mesh::RenderVertices;
use sinew::skel::{BlendShapeDef, InbetweenDef, MeshTopology, Pose, Skeleton, SkinBuilder};

/// Numbers from the input, zeros after its end.
struct Numbers<'a>(&'a [u8]);

impl Numbers<'_> {
    fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.0.split_first() else {
            return 0;
        };
        self.0 = rest;
        *first
    }

    /// At most `most`.
    fn count(&mut self, most: usize) -> usize {
        usize::from(u16::from_le_bytes([self.byte(), self.byte()])) % (most + 1)
    }

    /// Mostly small numbers, and sometimes any.
    fn float(&mut self) -> f32 {
        match self.byte() {
            255 => f32::from_bits(u32::from_le_bytes(std::array::from_fn(|_| self.byte()))),
            small => f32::from(small as i8) / 16.0,
        }
    }

    fn vectors(&mut self, count: usize) -> Vec<Vec3> {
        (0..count)
            .map(|_| Vec3::from_array(std::array::from_fn(|_| self.float())))
            .collect()
    }
}

/// Builds a skin of the input, encodes it in slices of several sizes, decodes them, and skins it.
pub fn skin(input: &[u8]) {
    let mut numbers = Numbers(input);
    let joint_count = 1 + numbers.count(300);
    let names = (0..joint_count).map(|i| format!("J{i}")).collect();
    let parents: Vec<Option<u32>> = (0..joint_count as u32).map(|i| i.checked_sub(1)).collect();
    let bind = vec![DMat4::from_translation(DVec3::X); joint_count];
    let Ok(skeleton) = Skeleton::from_parents("/S", names, &parents, bind.clone(), None) else {
        return;
    };
    let Some(skin) = packed(&mut numbers, &skeleton) else {
        return;
    };
    for binding_bytes in [16, 256, 4096, 1 << 27] {
        // Where a result fits no binding, there is nothing to decode.
        let _ = check_decoded("slices", &skin, binding_bytes);
        let shapes = encode_shapes(&skin, binding_bytes);
        if let Ok(Some(shapes)) = shapes {
            assert!(shapes.words.len() as u64 * 4 <= binding_bytes);
        }
    }
    let pose = Pose::from_local(&skeleton, &bind).expect("a pose of this skeleton");
    if let Ok(pose) = PackedPose::pack(&skin, &pose) {
        let mut points = vec![Vec3::ZERO; skin.output_count()];
        let mut normals = vec![Vec3::ZERO; skin.output_normal_count()];
        let normals = skin.has_output_normals().then_some(&mut normals[..]);
        skin_on_cpu(&skin, &pose, &mut points, normals).expect("sizes that fit");
    }
}

fn packed(numbers: &mut Numbers<'_>, skeleton: &Skeleton) -> Option<PackedSkin> {
    let flags = numbers.byte();
    let count = numbers.count(600);
    let mut skin = SkinBuilder::new("/P", numbers.vectors(count));
    if flags & 1 != 0 {
        skin = skin.normals(numbers.vectors(count));
    } else if flags & 2 != 0 {
        let corners: Vec<u32> = (0..numbers.count(600))
            .map(|_| numbers.count(count) as u32)
            .collect();
        skin = skin.corner_normals(numbers.vectors(corners.len()), corners);
    }
    let width = numbers.count(12);
    let mut influences = || (u32::from(numbers.byte()), numbers.float().abs());
    if flags & 4 != 0 {
        let all: Vec<(u32, f32)> = (0..width).map(|_| influences()).collect();
        skin = skin.constant_influences(&all);
    } else if flags & 8 == 0 {
        let rows: Vec<Vec<(u32, f32)>> = (0..count)
            .map(|_| {
                let mut row: Vec<(u32, f32)> = (0..width).map(|_| influences()).collect();
                let sum: f32 = row.iter().map(|(_, weight)| weight).sum();
                row.iter_mut().for_each(|(_, weight)| *weight /= sum);
                row
            })
            .collect();
        skin = skin.influences_of_points(&rows);
    }
    for number in 0..numbers.count(6) {
        let indices: Vec<u32> = (0..numbers.count(40))
            .map(|_| numbers.count(count) as u32)
            .collect();
        let offsets = numbers.vectors(indices.len());
        let between = InbetweenDef {
            name: "half".into(),
            weight: numbers.float(),
            offsets: offsets.clone(),
            normal_offsets: None,
        };
        skin = skin.shape(BlendShapeDef {
            name: format!("shape{number}"),
            point_indices: Some(indices),
            offsets: offsets.clone(),
            normal_offsets: (flags & 16 != 0).then_some(offsets),
            inbetweens: vec![between],
        });
    }
    let mut packed = PackedSkin::pack("/P", &skin.build(skeleton).ok()?).ok()?;
    if flags & 32 != 0 {
        let faces: Vec<i32> = (0..numbers.count(100) * 3)
            .map(|_| numbers.count(count) as i32)
            .collect();
        let counts = vec![3; faces.len() / 3];
        let faces = MeshTopology::new("/P", &counts, &faces, flags & 64 != 0, count).ok()?;
        packed = packed.with_smooth_normals(&faces).ok()?;
    }
    if flags & 128 != 0 {
        let shown = (0..numbers.count(900))
            .map(|_| numbers.count(count) as u32)
            .collect();
        packed = packed.with_vertices(RenderVertices::new(shown)).ok()?;
    }
    Some(packed)
}
