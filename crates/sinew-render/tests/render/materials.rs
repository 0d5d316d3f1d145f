//! Materials in pictures: textures of every input, missing images, toon shading, blending, and how bright a picture
//! becomes.

use common::command::Bench;
use common::pictures::differing;
use common::trials::Trial;
use common::{gpu, tolerance};
use image::RgbaImage;
use libtest_mimic::Failed;
use sinew_render::{Background, Focus, JointId, Look};

use crate::pictures::{BEHIND, Drawing, bare, covered, inside};
use crate::scenes;

type Done = Result<(), Failed>;
type Named = (&'static str, fn() -> Done);

pub fn trials() -> Vec<Trial> {
    let ignored = gpu::ignored();
    let trials: [Named; 12] = [
        ("white_surfaces_keep_their_form", white),
        ("a_missing_image_is_a_checker", missing),
        ("toon_shading_has_two_tones", toon),
        ("normal_maps_bend_normals", normal_maps),
        ("numbers_come_from_textures", numbers),
        ("emission_comes_from_a_texture", emission),
        ("textures_at_other_uvs_are_left_out", other_uvs),
        ("opacity_comes_from_its_own_texture", opacity),
        ("blended_faces_are_sorted", sorted),
        ("curves_are_drawn", curves),
        ("broken_curves_are_told", broken_curves),
        ("focus_frames_a_part", focus),
    ];
    let trials = trials.map(|(name, run)| Trial::test(name, run).with_ignored_flag(ignored));
    trials.into()
}

/// A square before the camera, drawn with a surface.
fn square_of(
    surface: &scenes::Surface<'_>,
    pictures: &[(&str, [u8; 4])],
) -> Result<Drawing, Failed> {
    let bench = Bench::new();
    for (name, color) in pictures {
        RgbaImage::from_pixel(4, 4, image::Rgba(*color)).save(bench.path(name))?;
    }
    Drawing::open(bench.write("square.usda", surface.text()))
}

/// The mean colour of the pixels that a drawing covers.
fn color_of(drawing: &mut Drawing, yaw: f64) -> Result<[f64; 3], Failed> {
    let camera = drawing.camera(yaw);
    let picture = drawing.draw(&camera, &bare())?;
    let pixels = inside(&picture);
    assert!(pixels.len() > 1000, "{}", pixels.len());
    let mut sum = [0.0; 3];
    for &(x, y) in &pixels {
        for (sum, value) in sum.iter_mut().zip(picture.get_pixel(x, y).0) {
            *sum += f64::from(value);
        }
    }
    Ok(sum.map(|s| s / pixels.len() as f64))
}

fn near(a: [f64; 3], b: [f64; 3], what: &str) -> Done {
    let off = a
        .iter()
        .zip(b)
        .map(|(a, b)| (a - b).abs())
        .fold(0.0, f64::max);
    match off <= f64::from(tolerance::SAME_COLOR) {
        true => Ok(()),
        false => Err(format!("{what}: {a:?}, not {b:?}").into()),
    }
}

/// An albedo of 0.8 stays below 85 % white from every side, and is not dark either. Highlights may be brighter, but few
/// pixels are.
fn white() -> Done {
    let plain = scenes::steps('Y', 1.0, glam::DVec3::ZERO).replace(
        "def Mesh \"Steps\"\n{",
        "def Mesh \"Steps\"\n{\n    color3f[] primvars:displayColor = [(0.8, 0.8, 0.8)]\n",
    );
    let surface = scenes::Surface {
        inputs: "color3f inputs:diffuseColor = (0.8, 0.8, 0.8)
        float inputs:roughness = 1
        float inputs:ior = 1",
        ..scenes::Surface::default()
    };
    let material = surface.text();
    let material = material.split("def Material").nth(1).ok_or("a material")?;
    let matte = plain.replace("displayColor", "other").replace(
        "uniform token subdiv",
        "rel material:binding = </M>\n    uniform token subdiv",
    );
    let matte = format!("{matte}\ndef Material{material}");
    for (text, most) in [(matte, 0.0), (plain, 0.02)] {
        let mut drawing = Drawing::of_text(&text)?;
        let (mut all, mut bright, mut brightest) = (0, 0, 0);
        for step in 0..12 {
            let mut camera = drawing.camera(f64::from(step) * 0.53);
            if step % 2 == 1 {
                camera.orbit(0.0, 0.6, &sinew_render::Bounds::EMPTY);
            }
            let picture = drawing.draw(&camera, &bare())?;
            for (x, y) in inside(&picture) {
                let pixel = picture.get_pixel(x, y).0;
                // Edges before the background have some of its colour.
                if pixel[0].abs_diff(pixel[1]) > 30 {
                    continue;
                }
                let value = pixel[..3].iter().copied().max().unwrap_or(0);
                all += 1;
                // 85 % of 255 are 216.75.
                bright += usize::from(value > 216);
                brightest = brightest.max(value);
            }
        }
        let share = f64::from(bright as u32) / f64::from(all.max(1));
        if share > most || !(180..=248).contains(&brightest) {
            return Err(format!("{share} of the pixels are too bright, up to {brightest}").into());
        }
    }
    Ok(())
}

fn missing() -> Done {
    let textured = scenes::Surface {
        inputs: "color3f inputs:diffuseColor.connect = </M/T.outputs:rgb>",
        textures: "@./none.png@",
        ..scenes::Surface::default()
    };
    for case in ["not there", "no image", "no name"] {
        let bench = Bench::new();
        let text = match case {
            "no name" => textured
                .text()
                .replace("asset inputs:file = @./none.png@", ""),
            _ => textured.text(),
        };
        if case == "no image" {
            bench.write("none.png", "these are letters");
        }
        let mut drawing = Drawing::open(bench.write("square.usda", text))?;
        let messages = drawing.stage.messages().join("\n");
        let told = drawing.stage.geometry().warnings.iter();
        let told = told.filter(|w| w.code == "texture-left-out").count();
        assert_eq!(told, 1, "{case}: {messages}");
        assert_eq!(drawing.stage.messages().len(), 1, "{case}: {messages}");
        let camera = drawing.camera(0.0);
        let picture = drawing.draw(&camera, &bare())?;
        let pixels = inside(&picture);
        let grey = |wanted: &dyn Fn(u8) -> bool| {
            let found = pixels.iter().filter(|(x, y)| {
                let [r, g, b, _] = picture.get_pixel(*x, *y).0;
                r.abs_diff(g) < 24 && g.abs_diff(b) < 24 && wanted(g)
            });
            found.count() as f64 / pixels.len() as f64
        };
        let (dark, light) = (grey(&|g| g < 120), grey(&|g| g > 130));
        assert!(dark > 0.3 && light > 0.3, "{case}: {dark} {light}");
    }
    Ok(())
}

fn toon() -> Done {
    let surface = scenes::Surface {
        inputs: "color3f inputs:diffuseColor = (0.8, 0.05, 0.05)",
        material: "uniform color3f sinew:toon:shadeColor = (0.05, 0.05, 0.8)
    uniform float sinew:toon:toony = 0.95",
        ..scenes::Surface::default()
    };
    let text = surface.text();
    let square = scenes::SQUARE_FACES;
    assert!(text.contains(square));
    let mut drawing = Drawing::of_text(&text.replace(square, &scenes::ball_faces()))?;
    let camera = drawing.camera(0.0);
    let picture = drawing.draw(&camera, &bare())?;
    let pixels = inside(&picture);
    let count = |wanted: &dyn Fn([u8; 4]) -> bool| {
        let found = pixels
            .iter()
            .filter(|(x, y)| wanted(picture.get_pixel(*x, *y).0));
        found.count() as f64 / pixels.len() as f64
    };
    let red = count(&|p| p[0] > 180 && p[2] < 90);
    let blue = count(&|p| p[2] > 180 && p[0] < 90);
    match red > 0.5 && blue > 0.04 && red + blue > 0.9 {
        true => Ok(()),
        false => Err(format!("{red} in the light, {blue} in the shade").into()),
    }
}

/// A map of one texel draws as a square with that normal. Green points up.
fn normal_maps() -> Done {
    let flat = [0.0, 0.0, 1.0];
    for normal in [
        flat,
        [0.6, 0.0, 0.8],
        [0.0, 0.6, 0.8],
        [-0.6, 0.0, 0.8],
        [0.0, -0.6, 0.8],
    ] {
        let texel = normal.map(|n: f64| ((n * 0.5 + 0.5) * 255.0).round() as u8);
        let color = [texel[0], texel[1], texel[2], 255];
        for scaled in [true, false] {
            let mapped = scenes::Surface {
                inputs: "normal3f inputs:normal.connect = </M/T.outputs:rgb>",
                textures: "@./n.png@",
                sampling: match scaled {
                    true => {
                        "token inputs:sourceColorSpace = \"raw\"
            float4 inputs:scale = (2, 2, 2, 1)
            float4 inputs:bias = (-1, -1, -1, 0)"
                    }
                    false => "token inputs:sourceColorSpace = \"raw\"",
                },
                ..scenes::Surface::default()
            };
            let authored = scenes::Surface {
                normal,
                ..scenes::Surface::default()
            };
            let mapped = color_of(&mut square_of(&mapped, &[("n.png", color)])?, 0.4)?;
            let authored = color_of(&mut square_of(&authored, &[])?, 0.4)?;
            near(mapped, authored, &format!("normal {normal:?}"))?;
            let plain = color_of(&mut square_of(&scenes::Surface::default(), &[])?, 0.4)?;
            if normal != flat && near(mapped, plain, "").is_ok() {
                return Err(format!("normal {normal:?} changes nothing").into());
            }
        }
    }
    Ok(())
}

fn numbers() -> Done {
    for (input, channel, texel) in [
        ("roughness", "g", [9, 51, 250, 255]),
        ("metallic", "b", [9, 250, 204, 255]),
        ("occlusion", "r", [77, 250, 9, 255]),
    ] {
        let value = match channel {
            "r" => f64::from(texel[0]),
            "g" => f64::from(texel[1]),
            _ => f64::from(texel[2]),
        } / 255.0;
        let connected = format!("float inputs:{input}.connect = </M/T.outputs:{channel}>");
        let textured = scenes::Surface {
            inputs: &connected,
            textures: "@./x.png@",
            sampling: "token inputs:sourceColorSpace = \"raw\"",
            ..scenes::Surface::default()
        };
        let of_texture = color_of(&mut square_of(&textured, &[("x.png", texel)])?, 0.4)?;
        let authored = format!("float inputs:{input} = {value}");
        let plain = scenes::Surface {
            inputs: &authored,
            ..scenes::Surface::default()
        };
        near(
            of_texture,
            color_of(&mut square_of(&plain, &[])?, 0.4)?,
            input,
        )?;
        let default = color_of(&mut square_of(&scenes::Surface::default(), &[])?, 0.4)?;
        assert_ne!(of_texture, default, "{input} changes nothing");
    }
    Ok(())
}

fn emission() -> Done {
    let glowing = scenes::Surface {
        inputs: "color3f inputs:emissiveColor.connect = </M/T.outputs:rgb>",
        textures: "@./e.png@",
        ..scenes::Surface::default()
    };
    let [r, g, b] = color_of(
        &mut square_of(&glowing, &[("e.png", [0, 255, 0, 255])])?,
        0.0,
    )?;
    let [_, before, _] = color_of(&mut square_of(&scenes::Surface::default(), &[])?, 0.0)?;
    match g > before + 20.0 && g > r + 30.0 && g > b + 30.0 {
        true => Ok(()),
        false => Err(format!("{r} {g} {b}, without it {before}").into()),
    }
}

/// A texture at the mesh's other uvs must not be drawn at the first ones.
fn other_uvs() -> Done {
    let mut colors = Vec::new();
    for varname in ["", "st", "other"] {
        let occlusion = match varname {
            "" => "",
            _ => "\n        float inputs:occlusion.connect = </M/U.outputs:r>",
        };
        let inputs = format!("color3f inputs:diffuseColor.connect = </M/T.outputs:rgb>{occlusion}");
        let shaders = format!(
            r#"def Shader "U"
    {{
        uniform token info:id = "UsdUVTexture"
        asset inputs:file = @./o.png@
        token inputs:sourceColorSpace = "raw"
        float2 inputs:st.connect = </M/D.outputs:result>
        float outputs:r
    }}

    def Shader "D"
    {{
        uniform token info:id = "UsdPrimvarReader_float2"
        string inputs:varname = "{varname}"
        float2 outputs:result
    }}"#
        );
        let surface = scenes::Surface {
            inputs: &inputs,
            textures: "@./c.png@",
            material: &shaders,
            ..scenes::Surface::default()
        };
        let images = [
            ("c.png", [200, 200, 200, 255]),
            ("o.png", [60, 60, 60, 255]),
        ];
        let mut drawing = square_of(&surface, &images)?;
        let warnings = drawing.stage.geometry().warnings.iter();
        let told = warnings.filter(|w| w.code == "uv-sets").count();
        assert_eq!(told, usize::from(varname == "other"), "{varname}");
        colors.push(color_of(&mut drawing, 0.0)?);
    }
    near(colors[2], colors[0], "occlusion at other uvs")?;
    assert_ne!(colors[1], colors[0], "occlusion changes nothing");
    Ok(())
}

/// The colour's own alpha means nothing if opacity comes from elsewhere.
fn opacity() -> Done {
    let see_through = scenes::Surface {
        inputs: "float inputs:opacity.connect = </M/T.outputs:r>",
        textures: "@./o.png@",
        sampling: "token inputs:sourceColorSpace = \"raw\"",
        ..scenes::Surface::default()
    };
    let mut drawing = square_of(&see_through, &[("o.png", [128, 255, 255, 255])])?;
    let camera = drawing.camera(0.0);
    let look = Look {
        background: Background::Transparent,
        ..bare()
    };
    let picture = drawing.draw(&camera, &look)?;
    let half = picture
        .pixels()
        .filter(|p| p.0[3].abs_diff(128) < 4)
        .count();
    assert!(half > 5000, "{half}");
    Ok(())
}

/// Two panes look the same whichever the file has first, also as faces of one mesh.
fn sorted() -> Done {
    let mut pictures = Vec::new();
    for (first, second) in [
        ((0.5, "Near"), (-0.5, "Far")),
        ((-0.5, "Far"), (0.5, "Near")),
    ] {
        let pane = |(z, name): (f64, &str)| {
            let color = if name == "Near" {
                "(1, 0, 0)"
            } else {
                "(0, 0, 1)"
            };
            scenes::pane(name, z, color)
        };
        let text = format!("#usda 1.0\n{}{}", pane(first), pane(second));
        let mut drawing = Drawing::of_text(&text)?;
        let camera = drawing.camera(0.2);
        pictures.push(drawing.draw(&camera, &bare())?);
    }
    for order in ["0, 1, 2, 3, 4, 5, 6, 7", "4, 5, 6, 7, 0, 1, 2, 3"] {
        let mut drawing = Drawing::of_text(&scenes::two_panes(order))?;
        let camera = drawing.camera(0.2);
        pictures.push(drawing.draw(&camera, &bare())?);
    }
    let share = differing(&pictures[0], &pictures[1]);
    assert!(share < tolerance::SAME_PICTURE, "panes: {share}");
    let share = differing(&pictures[2], &pictures[3]);
    assert!(share < tolerance::SAME_PICTURE, "faces: {share}");
    // The near pane is over the far one: red over blue.
    let middle = pictures[0].get_pixel(160, 120).0;
    assert!(middle[0] > middle[2] && middle[2] > 60, "{middle:?}");
    Ok(())
}

fn curves() -> Done {
    let mut wide = Vec::new();
    for (basis, points, count) in [
        ("linear", "(0, 0, 0), (0, 2, 0)", 2),
        (
            "bezier",
            "(0, 0, 0), (0, 0.5, 0), (0, 1.5, 0), (0, 2, 0)",
            4,
        ),
        (
            "bspline",
            "(0, -1, 0), (0, 0, 0), (0, 1, 0), (0, 2, 0), (0, 3, 0)",
            5,
        ),
    ] {
        let mut drawing = Drawing::of_text(&scenes::curve(basis, points, count, Some(0.4)))?;
        assert_eq!(drawing.stage.messages(), [""; 0], "{basis}");
        assert_eq!(drawing.stage.meshes()[0].curves, 1);
        let picture = drawing.draw(&scenes::before(1.0, 4.0), &bare())?;
        wide.push(covered(&picture).len());
        let red = picture
            .pixels()
            .filter(|p| p.0 != BEHIND && p.0[0] > p.0[1])
            .count();
        assert!(red * 10 > wide[wide.len() - 1] * 9, "{basis}: {red}");
    }
    // A tube 0.4 wide and 2 long, from 4 away, by a camera of 28 degrees: 0.4 are 48 pixels.
    for covered in &wide {
        assert!((10_000..13_500).contains(covered), "{wide:?}");
    }
    // Without widths it is a line.
    let text = scenes::curve("linear", "(0, 0, 0), (0, 2, 0)", 2, None);
    let picture = Drawing::of_text(&text)?.draw(&scenes::before(1.0, 4.0), &bare())?;
    let thin = covered(&picture).len();
    assert!((200..1000).contains(&thin), "{thin}");
    Ok(())
}

fn broken_curves() -> Done {
    let good = scenes::curve("linear", "(0, 0, 0), (0, 2, 0)", 2, Some(0.1));
    for (from, to, code) in [
        (
            "curveVertexCounts = [2]",
            "curveVertexCounts = [3]",
            "curve-counts",
        ),
        (
            "curveVertexCounts = [2]",
            "curveVertexCounts = [-1, 3]",
            "curve-counts",
        ),
        ("(0, 2, 0)]", "(0, inf, 0)]", "points-not-finite"),
    ] {
        let text = good.replace(from, to);
        assert_ne!(text, good);
        let square =
            common::pictures::square("(-1, 0, 0), (1, 0, 0), (1, 2, 0), (-1, 2, 0)", "(0, 0, 1)");
        let both = format!("{square}{}", text.trim_start_matches("#usda 1.0\n"));
        let drawing = Drawing::of_text(&both)?;
        let codes: Vec<_> = drawing
            .stage
            .failed()
            .iter()
            .map(|f| f.error.code)
            .collect();
        assert_eq!(codes, [Some(code)], "{to}");
    }
    // More widths than points are left out, and the line stays.
    let text = good.replace("widths = [0.1]", "widths = [0.1, 0.2, 0.3]");
    assert_ne!(text, good);
    let text = text.replace("\"constant\"\n    )", "\"vertex\"\n    )");
    let drawing = Drawing::of_text(&text)?;
    let codes: Vec<_> = drawing
        .stage
        .geometry()
        .warnings
        .iter()
        .map(|w| w.code)
        .collect();
    assert_eq!(codes, ["primvar-count"]);
    Ok(())
}

fn focus() -> Done {
    let drawing = Drawing::open("../../examples/assets/hatchling.usda")?;
    let stage = &drawing.stage;
    let box_of = |focus: &Focus| -> Result<sinew_render::Bounds, Failed> {
        let points = stage.framed(&Look::default(), Some(focus))?;
        Ok(sinew_render::Bounds::of(points))
    };
    let joint = |name: &str| -> Result<Focus, Failed> {
        let joints = &stage.skeletons()[0].joints;
        let joint = joints
            .iter()
            .position(|j| j.name == name)
            .ok_or("a joint")?;
        Ok(Focus::Joint(JointId { skeleton: 0, joint }))
    };
    let all = stage.bounds();
    let head = box_of(&joint("head")?)?;
    assert!(head.diagonal() < 0.8 * all.diagonal() && head.diagonal() > 0.1 * all.diagonal());
    assert!(head.center().y > all.center().y, "{head:?} {all:?}");
    assert_eq!(
        box_of(&joint("root")?)?,
        all,
        "everything hangs on the root"
    );
    let body = box_of(&Focus::Prim("/Hatchling/Geo/Body".into()))?;
    assert!(!body.is_empty() && body.diagonal() <= all.diagonal());
    assert!(
        box_of(&Focus::Prim("/Hatchling/Geo/Bo".into()))?.is_empty(),
        "no such prim"
    );
    // Bones are framed with what they are drawn over.
    let look = Look {
        joints: true,
        ..Look::default()
    };
    let with_bones = sinew_render::Bounds::of(stage.framed(&look, None)?);
    for skeleton in stage.skeletons() {
        let bones = skeleton.bounds();
        assert_eq!(with_bones.union(bones), with_bones);
    }
    Ok(())
}
