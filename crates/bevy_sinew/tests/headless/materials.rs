//! Bevy's materials of a file.

use bevy::pbr::MeshMaterial3d;
use bevy::prelude::*;
use bevy_sinew::SinewCharacter;

use crate::{app, load};

/// A mesh that one joint moves, with texture coordinates of two sets.
fn mesh(name: &str, more: &str) -> String {
    format!(
        r#"
    def Mesh "{name}" (prepend apiSchemas = ["SkelBindingAPI", "MaterialBindingAPI"])
    {{
        rel skel:skeleton = </Root/Skel>
        uniform token subdivisionScheme = "none"
        int[] faceVertexCounts = [3]
        int[] faceVertexIndices = [0, 1, 2]
        point3f[] points = [(0, 0, 0), (1, 0, 0), (0, 1, 0)]
        texCoord2f[] primvars:st = [(0, 0), (1, 0), (0, 1)] (interpolation = "vertex")
        texCoord2f[] primvars:st1 = [(0, 0), (2, 0), (0, 2)] (interpolation = "vertex")
        int[] primvars:skel:jointIndices = [0, 0, 0] (elementSize = 1; interpolation = "vertex")
        float[] primvars:skel:jointWeights = [1, 1, 1] (elementSize = 1; interpolation = "vertex")
        {more}
    }}"#
    )
}

/// A material with a base colour at `st`, the same image as light of ten times its values, and an
/// occlusion at `st1`.
fn material(name: &str) -> String {
    let at = format!("/Root/{name}");
    let image = |image: &str, reader: &str, more: &str| {
        format!(
            r#"
        def Shader "{image}"
        {{
            uniform token info:id = "UsdUVTexture"
            asset inputs:file = @./cloth.png@
            float2 inputs:st.connect = <{at}/{reader}.outputs:result>
            {more}
            float3 outputs:rgb
            float outputs:r
        }}
        def Shader "{reader}"
        {{
            uniform token info:id = "UsdPrimvarReader_float2"
            string inputs:varname = "{}"
            float2 outputs:result
        }}"#,
            if image == "Dark" { "st1" } else { "st" }
        )
    };
    format!(
        r#"
    def Material "{name}"
    {{
        token outputs:surface.connect = <{at}/Surface.outputs:surface>
        def Shader "Surface"
        {{
            uniform token info:id = "UsdPreviewSurface"
            color3f inputs:diffuseColor.connect = <{at}/Base.outputs:rgb>
            color3f inputs:emissiveColor.connect = <{at}/Glow.outputs:rgb>
            float inputs:occlusion.connect = <{at}/Dark.outputs:r>
            token outputs:surface
        }}{}{}{}
    }}"#,
        image("Base", "BaseReader", ""),
        image(
            "Glow",
            "GlowReader",
            "float4 inputs:scale = (10, 10, 10, 1)"
        ),
        image("Dark", "DarkReader", ""),
    )
}

/// The material of each mesh, in the order of the file.
fn materials(text: &str) -> Vec<StandardMaterial> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("looks.usda");
    let skeleton = r#"
    def Skeleton "Skel"
    {
        uniform token[] joints = ["Root"]
        uniform matrix4d[] bindTransforms = [((1,0,0,0),(0,1,0,0),(0,0,1,0),(0,0,0,1))]
        uniform matrix4d[] restTransforms = [((1,0,0,0),(0,1,0,0),(0,0,1,0),(0,0,0,1))]
    }"#;
    let text = format!("#usda 1.0\ndef SkelRoot \"Root\"\n{{{skeleton}{text}\n}}\n");
    std::fs::write(&file, text).unwrap();
    let image = image::RgbaImage::from_pixel(2, 2, image::Rgba([255, 128, 0, 255]));
    image.save(folder.path().join("cloth.png")).unwrap();
    let mut app = app();
    let entity = app.world_mut().spawn(SinewCharacter::new(file)).id();
    load(&mut app, entity);
    let world = app.world();
    let all = world.resource::<Assets<StandardMaterial>>();
    let children = world.get::<Children>(entity).unwrap().iter();
    let of = |child: Entity| {
        let handle = world.get::<MeshMaterial3d<StandardMaterial>>(child);
        all.get(&handle.unwrap().0).unwrap().clone()
    };
    children.map(of).collect()
}

/// In both orders, because meshes of the same look share a material.
#[test]
fn translucent_vertices_blend_and_others_do_not() {
    let clear = mesh("Clear", "float[] primvars:displayOpacity = [0.3]");
    let solid = mesh("Solid", "");
    let modes = |text: String| -> Vec<AlphaMode> {
        materials(&text).into_iter().map(|m| m.alpha_mode).collect()
    };
    let (opaque, blend) = (AlphaMode::Opaque, AlphaMode::Blend);
    assert_eq!(modes(format!("{clear}{solid}")), [blend, opaque]);
    assert_eq!(modes(format!("{solid}{clear}")), [opaque, blend]);
}

#[test]
fn textures_are_shared_and_bright_and_of_the_first_uvs() {
    let bound = |name: &str| format!("rel material:binding = </Root/{name}>");
    let text = [
        mesh("A", &bound("First")),
        mesh("B", &bound("Second")),
        material("First"),
        material("Second"),
    ];
    let [a, b] = <[StandardMaterial; 2]>::try_from(materials(&text.concat())).unwrap();
    // The mesh has the uvs of the first texture only.
    assert!(a.base_color_texture.is_some() && a.occlusion_texture.is_none());
    assert!((a.emissive.red - 10.0).abs() < 1e-3, "{:?}", a.emissive);
    assert_eq!(a.base_color_texture, b.base_color_texture);
    assert_eq!(a.emissive_texture, b.emissive_texture);
    assert_ne!(a.base_color_texture, a.emissive_texture);
}
