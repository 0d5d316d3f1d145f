use bevy::prelude::*;
use bevy_sinew::{SinewCharacter, SinewPlugin};

fn main() {
    App::new().add_plugins((DefaultPlugins, SinewPlugin)).add_systems(Startup, setup).run();
}

fn setup(mut commands: Commands) {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/assets/hatchling.usda");
    commands.spawn(SinewCharacter::new(file).playing("Dance"));
    commands.spawn((DirectionalLight::default(), Transform::from_xyz(1., 2., 3.).looking_at(Vec3::ZERO, Vec3::Y)));
    let camera = Transform::from_xyz(1.5, 1.2, 2.5).looking_at(Vec3::new(0.4, 0.6, -0.3), Vec3::Y);
    commands.spawn((Camera3d::default(), camera));
}
