//! The example asset has what the README promises of it.

use sinew::io::usd::UsdFile;
use sinew::sampled::Time;
use sinew::skel::InfluenceInterpolation;

const ASSET: &str = "examples/assets/hatchling.usda";

#[test]
fn has_what_a_demonstration_needs() {
    let file = UsdFile::open(ASSET).unwrap();
    let scene = file.scene(Default::default()).unwrap();
    assert!(
        scene.errors.is_empty() && scene.warnings.is_empty(),
        "{:?}",
        scene.warnings
    );
    let skeleton = scene.instances[0].instance.skeleton();
    let animation = scene.instances[0]
        .instance
        .animation()
        .expect("an animation");
    assert!(skeleton.joints().len() >= 20);
    assert!(
        animation.joints.len() < skeleton.joints().len(),
        "a sparse animation"
    );
    let (mut most, mut rigid, mut between, mut sparse) = (0, 0, 0, 0);
    for bound in scene.bound_skins() {
        let skin = bound.skin(Time::At(1.0)).unwrap();
        let influences = skin.influences().expect("influences");
        for p in 0..skin.points().len() {
            let used = influences.of_point(p).filter(|(_, w)| *w != 0.0);
            let sum: f32 = influences.of_point(p).map(|(_, w)| w).sum();
            assert!((sum - 1.0).abs() < 1e-4, "weights sum to {sum}");
            most = most.max(used.count());
        }
        rigid += usize::from(influences.interpolation() == InfluenceInterpolation::Constant);
        for shape in skin.shapes().iter().flatten() {
            between += usize::from(shape.sub_shapes().len() > 1);
            sparse += usize::from(shape.point_indices().is_some());
        }
    }
    assert!(
        most > 4 && rigid > 0 && between > 0 && sparse > 0,
        "{most} {rigid} {between} {sparse}"
    );
}
