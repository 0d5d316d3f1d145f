use bevy::prelude::*;
use bevy_sinew::{SinewCharacter, SinewPlugin};

fn main() {
    let mut app = App::new();
    app.add_plugins((DefaultPlugins, SinewPlugin));
    app.add_systems(Startup, setup).run();
}

fn setup(mut commands: Commands) {
    let eye = Transform::from_xyz(1.9, 1.2, 2.3).looking_at(Vec3::new(0.4, 0.6, -0.3), Vec3::Y);
    commands.spawn(SinewCharacter::new("hatchling.usda").playing("Dance"));
    commands.spawn((DirectionalLight::default(), eye));
    commands.spawn((Camera3d::default(), eye));
}
