//! Poses find their places, and pages that are sparse or full are told.

use std::sync::Arc;

use glam::{DMat4, DVec3, Vec3};

use super::*;
use crate::gpu::plan::groups::tests::LIMITS;
use crate::gpu::store::rigs::{ResidentRig, RigTables};
use crate::gpu::store::slots::Slots;
use crate::kernel::PackedSkin;
use crate::skel::{
    BlendShape, InfluenceInterpolation, JointInfluences, Skeleton, Skin, SkinningMethod,
};

const JOINTS: usize = 3;
/// Blocks of a palette: a matrix for each joint and one for joints that are missing.
const BLOCKS: u32 = JOINTS as u32 + 1;

fn skin() -> PackedSkin {
    let influences = JointInfluences::new(
        "/Skin",
        InfluenceInterpolation::Vertex,
        1,
        &[0, 1],
        vec![1.0, 1.0],
        2,
        JOINTS,
    );
    let points = Arc::new(vec![Vec3::ZERO, Vec3::X]);
    let influences = Some(influences.expect("valid influences"));
    let skin = Skin::new("/Skin", points, None, influences, None, JOINTS, Vec::new());
    PackedSkin::pack("/Skin", &skin.expect("a valid skin")).expect("a small skin")
}

fn palette(x: f64) -> Arc<Palette> {
    let joints = [DMat4::from_translation(DVec3::X * x); JOINTS];
    let method = SkinningMethod::ClassicLinear;
    Arc::new(Palette::pack(method, &joints, DMat4::IDENTITY, false))
}

fn pose(skin: &PackedSkin, palette: &Arc<Palette>, x: f64) -> PackedPose {
    let out = DMat4::from_translation(DVec3::X * x);
    PackedPose::with_palette(skin, Some(Arc::clone(palette)), out, Vec::new()).unwrap()
}

fn changes(poses: &PosePages) -> Vec<(u64, usize)> {
    changes_of(poses, PALETTES)
}

/// First byte and number of bytes of each range of a buffer that is uploaded.
fn changes_of(poses: &PosePages, kind: usize) -> Vec<(u64, usize)> {
    let changes = poses.pages.iter().flat_map(PosePage::changes);
    let changes = changes.filter(|(of, ..)| *of == kind);
    changes.map(|(_, at, bytes)| (at, bytes.len())).collect()
}

/// Ids of instances, and of a shared palette.
fn ids(count: usize) -> (Vec<InstanceId>, PaletteId) {
    let mut instances: Slots<InstanceId, ()> = Slots::default();
    let mut palettes: Slots<PaletteId, ()> = Slots::default();
    let instances = (0..count).map(|_| instances.insert(())).collect();
    (instances, palettes.insert(()))
}

fn new<'a>(id: InstanceId, pose: &'a PackedPose, source: Source) -> NewPose<'a> {
    NewPose {
        id,
        pose,
        source,
        sub_shapes: None,
    }
}

#[test]
fn palettes_lie_where_items_look_for_them() {
    let skin = skin();
    let ((all, id), shared) = (ids(6), palette(1.0));
    let mut packer = PosePacker::new(&LIMITS, 5);
    for index in [0, 1, 3] {
        let pose = pose(&skin, &shared, f64::from(index));
        let new = new(all[index as usize], &pose, Source::Palette(id));
        packer.place(&new, None).expect("room for a small pose");
    }
    let own = pose(&skin, &palette(2.0), 4.0);
    let placed = packer.place(&new(all[4], &own, Source::Own), None);
    placed.expect("room for a small pose");
    let mut poses = packer.finish();
    let places = [0, 1, 3, 4].map(|index| poses.find(index).expect("a place"));
    // Two palettes and room for more, then four pairs of matrices and room for more.
    let (palettes, posts) = (2 * BLOCKS + SPARE, 4 + SPARE);
    assert_eq!(places.map(|p| p.palette), [0, 0, 0, BLOCKS * 3]);
    assert_eq!(
        places.map(|p| p.post),
        [0, 6, 12, 18].map(|r| palettes * 3 + r)
    );
    assert!(poses.find(2).is_none());
    let bytes = u64::from(palettes + 2 * posts) * BLOCK + weight_bytes(SPARE);
    assert_eq!(poses.pages[0].bytes()[PALETTES], bytes);
    let post_at = |number: u64| (u64::from(palettes) + 2 * number) * BLOCK;
    let used = [(0, 2 * u64::from(BLOCKS) * BLOCK), (post_at(0), 8 * BLOCK)];
    poses.join();
    assert_eq!(
        changes(&poses),
        used.map(|(at, bytes)| (at, bytes as usize))
    );
    poses.set_uploaded();

    // The shared palette is written once; `out_from_skel` matrices are written where they
    // differ.
    let other = palette(3.0);
    poses.update_palette(id, &other);
    for index in [0, 1, 3] {
        let x = if index == 1 { 9.0 } else { f64::from(index) };
        assert!(poses.update(all[index as usize], &pose(&skin, &other, x)));
    }
    poses.join();
    let palette_bytes = u64::from(BLOCKS) * BLOCK;
    let post = |number| (post_at(number), 2 * BLOCK as usize);
    assert_eq!(changes(&poses), [(0, palette_bytes as usize), post(1)]);
    poses.set_uploaded();
    assert!(poses.update(all[4], &own));
    assert_eq!(changes(&poses), []);

    // One goes, and another takes its place: it uploads its own pair of matrices alone.
    poses.remove(1);
    let added = pose(&skin, &other, 5.0);
    assert!(poses.add(&new(all[5], &added, Source::Palette(id))));
    let place = poses.find(5).expect("a place");
    assert_eq!((place.palette, place.post), (0, palettes * 3 + 6));
    assert_eq!(changes(&poses), [post(1)]);
    assert!(poses.update(all[1], &own), "it is gone");
    poses.set_uploaded();

    // What comes back to its place is there already.
    poses.remove(5);
    assert!(poses.add(&new(all[5], &added, Source::Palette(id))));
    assert_eq!(changes(&poses), []);

    // A pose without joints has another shape, so items change.
    let without = PackedPose::with_palette(&skin, None, DMat4::IDENTITY, Vec::new()).unwrap();
    assert!(!poses.update(all[4], &without));

    // The room of a palette is free once nobody shares it.
    for index in [0, 3, 5] {
        poses.remove(index);
    }
    assert!(poses.shared.is_empty());
    assert!(poses.add(&new(all[2], &own, Source::Own)));
    assert_eq!(poses.find(2).expect("a place").palette, 0);
}

#[test]
fn zeros_are_uploaded_where_nothing_was_before() {
    let mut region = Region::<f32>::default();
    for (uploaded, values) in [(8, [0.0; 2]), (0, [0.0; 2]), (8, [0.0, 1.0])] {
        let first = region.add(&[&values]).expect("room");
        let bytes = region.values.changes(0).map(|(_, bytes)| bytes.len());
        assert_eq!((first, bytes.sum::<usize>()), (0, uploaded));
        region.values.set_uploaded();
        region.ranges.give_back(first, 2);
    }
}

#[test]
fn weights_that_clips_drive_are_not_uploaded_again() {
    let (shape, points) = (vec![Vec3::X; 2], Arc::new(vec![Vec3::ZERO; 2]));
    let shape = BlendShape::new("/S", None, shape, None, Vec::new(), 2, &mut Vec::new());
    let shapes = vec![Some(Arc::new(shape)); 4];
    let skin = Skin::new("/Skin", points, None, None, None, 0, shapes).expect("a valid skin");
    let skin = PackedSkin::pack("/Skin", &skin).expect("a small skin");
    let pose = |weight| {
        let weights = vec![weight; 4];
        PackedPose::with_palette(&skin, None, DMat4::IDENTITY, weights).unwrap()
    };
    let (names, bind) = (vec!["root".to_owned()], vec![DMat4::IDENTITY]);
    let skeleton = Skeleton::from_parents("/Skel", names, &[None], bind, None).unwrap();
    let rig = ResidentRig {
        packed: Arc::new(PackedRig::pack(&skeleton, DMat4::IDENTITY, false).unwrap()),
        tables: RigTables::default(),
        joints: Vec::new(),
        is_posed: false,
        keeps_palette: false,
    };
    let (all, _) = ids(3);
    let id = Slots::<RigId, ()>::default().insert(());
    // With players, the weights between those that the host sets may be those of a clip.
    let both = vec![(0, 16), (32, 16)];
    for (player, uploaded) in [(Some(Player::idle()), both), (None, vec![(0, 48)])] {
        let rig = PlacedRig {
            id,
            rig: &rig,
            player,
        };
        let mut packer = PosePacker::new(&LIMITS, 3);
        for instance in &all {
            let pose = pose(0.0);
            let new = NewPose {
                sub_shapes: Some(4),
                ..new(*instance, &pose, Source::Rig(id))
            };
            packer.place(&new, Some(rig)).expect("room for weights");
        }
        let mut poses = packer.finish();
        poses.set_uploaded();
        for index in [0, 2] {
            assert!(poses.update(all[index], &pose(0.5)));
        }
        poses.join();
        assert_eq!(changes_of(&poses, CHANNELS), uploaded);
    }
}

#[test]
fn poses_that_left_are_packed_once_they_are_the_most() {
    let (skin, shared) = (skin(), palette(1.0));
    for (count, packed) in [(60, None), (200, Some(101))] {
        let (all, id) = ids(count);
        let mut packer = PosePacker::new(&LIMITS, count);
        for instance in &all {
            let pose = pose(&skin, &shared, 0.0);
            let placed = packer.place(&new(*instance, &pose, Source::Palette(id)), None);
            placed.expect("room for a small pose");
        }
        let mut poses = packer.finish();
        let mut left = 0..count as u32;
        let sparse = left.position(|index| {
            poses.remove(index);
            poses.is_sparse()
        });
        assert_eq!(sparse.map(|number| number + 1), packed);
    }
}

#[test]
fn a_full_page_is_followed_by_another() {
    let skin = skin();
    let ((all, id), shared) = (ids(8), palette(1.0));
    let limits = WorkLimits {
        // One palette and three pairs of matrices.
        binding_bytes: (u64::from(BLOCKS) + 3 * 2) * BLOCK,
        ..LIMITS
    };
    let mut packer = PosePacker::new(&limits, 5);
    for (index, instance) in all.iter().take(5).enumerate() {
        let pose = pose(&skin, &shared, index as f64);
        let new = new(*instance, &pose, Source::Palette(id));
        packer.place(&new, None).expect("room for a small pose");
    }
    let mut poses = packer.finish();
    let page = |poses: &PosePages, index| poses.find(index).expect("a place").page;
    let pages: Vec<usize> = (0..5).map(|index| page(&poses, index)).collect();
    assert_eq!(pages, [0, 0, 0, 1, 1]);
    poses.set_uploaded();
    poses.update_palette(id, &palette(2.0));
    assert_eq!(changes(&poses).len(), 2, "the palette is in both pages");
    // The second page has room for one more, and the next one needs another plan.
    let more = pose(&skin, &shared, 5.0);
    assert!(poses.add(&new(all[5], &more, Source::Palette(id))));
    assert_eq!(page(&poses, 5), 1);
    assert!(!poses.add(&new(all[6], &more, Source::Palette(id))));
    let tiny = WorkLimits {
        binding_bytes: 64,
        ..LIMITS
    };
    let pose = pose(&skin, &shared, 0.0);
    let refused = PosePacker::new(&tiny, 1).place(&new(all[0], &pose, Source::Palette(id)), None);
    assert!(matches!(refused, Err(GpuError::Limit { .. })));
}

/// A shared palette whose joints begin to scale needs matrices of its own for normals: its instances
/// move to another place, and nothing is written over its neighbour.
#[test]
fn a_shared_palette_of_another_size_gets_another_place() {
    let (skin, (all, id)) = (skin(), ids(3));
    let palette = |scale: f64| {
        let joints = [DMat4::from_scale(DVec3::splat(scale)); JOINTS];
        let method = SkinningMethod::ClassicLinear;
        Arc::new(Palette::pack(method, &joints, DMat4::IDENTITY, true))
    };
    let (small, large) = (palette(1.0), palette(2.0));
    assert_eq!((small.blocks(), large.blocks()), (4, 8));
    let shown = |palette| pose(&skin, palette, 0.0);
    let mut packer = PosePacker::new(&LIMITS, 3);
    for (number, instance) in all.iter().enumerate() {
        let source = match number {
            2 => Source::Own,
            _ => Source::Palette(id),
        };
        let placed = packer.place(&new(*instance, &shown(&small), source), None);
        placed.expect("room for a small pose");
    }
    let mut poses = packer.finish();
    poses.set_uploaded();
    poses.update_palette(id, &large);
    assert_eq!(changes(&poses), []);
    assert!(!poses.update(all[0], &shown(&large)));
    (0..2).for_each(|index| poses.remove(index));
    for instance in &all[..2] {
        assert!(poses.add(&new(*instance, &shown(&large), Source::Palette(id))));
    }
    let places = [0, 1, 2].map(|index| poses.find(index).expect("a place").palette);
    assert_eq!(places, [24, 24, BLOCKS * 3]);
}
