//! The viewer's page in a browser: what it opens is skinned, drawn and reported as in the window of a desktop.
//!
//! SINEW_PAGE names the folder of the page, which web/build.sh makes. Pictures are kept in target/viewer-shots.

#[path = "page/browser.rs"]
mod browser;
#[path = "window/display.rs"]
mod display;
mod judge;
#[path = "page/server.rs"]
mod server;
#[path = "window/steps.rs"]
mod steps;
mod truth;

use std::path::PathBuf;

use common::tolerance;
use glam::{DMat4, DVec3};
use image::{DynamicImage, ImageFormat, RgbaImage, imageops};
use libtest_mimic::{Arguments, Failed, Trial};
use sinew_viewer::export;
use sinew_viewer::files::Purpose;
use sinew_viewer::loader::Task;

use browser::Page;
use display::Display;
use judge::check;
use server::Server;
use steps::Steps;

const HATCHLING: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../assets/hatchling.usda");

/// Pictures are taken until two in a row are the same, at most so many.
const MOST_SHOTS: usize = 20;

/// Functions of WebGPU that are broken on purpose, and how what the page tells then begins: an exception that passes
/// through the viewer, and an error that wgpu panics at.
const BREAKS: [(&str, &str); 2] = [
    ("createCommandEncoder", "The viewer failed: "),
    ("createBuffer", "a bug of the viewer at wgpu-"),
];

/// What the page's address names or what is dropped into the page, and what the page reports then.
const OPENS: &str = include_str!("page/opens.txt");

fn main() {
    let args = Arguments::from_args();
    let page = std::env::var_os("SINEW_PAGE").map(PathBuf::from);
    let browser = browser::found();
    let missing = match (&page, browser) {
        (None, _) => Some("needs SINEW_PAGE".to_owned()),
        (_, None) => Some("needs Chromium".to_owned()),
        _ => display::missing(),
    };
    let run = move || match (page, browser) {
        (Some(page), Some(browser)) => opens(page, browser),
        _ => Err("no page or no browser".into()),
    };
    let trial = Trial::test("a_page_opens_files_and_draws", run)
        .with_ignored_flag(missing.is_some())
        .with_kind(missing.unwrap_or_default());
    libtest_mimic::run(&args, vec![trial]).exit();
}

fn opens(folder: PathBuf, browser: &str) -> Result<(), Failed> {
    let made = tempfile::tempdir()?;
    let hatchling = sinew_io::open(HATCHLING)?;
    for name in ["hatchling.usdc", "hatchling.usdz"] {
        hatchling.save_as(made.path().join(name))?;
    }
    let text = std::fs::read_to_string(HATCHLING)?;
    std::fs::write(made.path().join("broken.usda"), &text[..text.len() / 2])?;
    // 300 MB of points, none of which is in the file.
    let large = serde_json::json!({
        "asset": {"version": "2.0"},
        "accessors": [{"componentType": 5126, "count": 25_000_000, "type": "VEC3", "min": [0, 0, 0], "max": [0, 0, 0]}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}}]}],
        "nodes": [{"mesh": 0}],
        "scenes": [{"nodes": [0]}],
    });
    std::fs::write(made.path().join("large.gltf"), large.to_string())?;
    let above = "#usda 1.0\n(\n    subLayers = [@./hatchling.usda@]\n)\n";
    std::fs::write(made.path().join("above.usda"), above)?;
    let textured = "crates/sinew-cli/tests/bake/textured.usda";
    std::fs::copy(
        common::repository().join(textured),
        made.path().join("textured.usda"),
    )?;
    let texture = made.path().join("none.png");
    DynamicImage::new_rgb32f(1, 1).save_with_format(texture, ImageFormat::OpenExr)?;
    let frame = "<iframe src='/?file=repository/examples/assets/puppet.glb' width='900' height='600'></iframe>";
    std::fs::write(made.path().join("frame.html"), frame)?;
    let server = Server::start(vec![
        ("", folder),
        ("repository", common::repository().to_owned()),
        ("made", made.path().to_owned()),
    ])?;
    let display = Display::new()?;
    let mut page = Page::start(&display, browser)?;
    page.open(&server.address)?;
    draws(&mut page)?;
    drops(&mut page)?;
    saves(&mut page)?;
    // A browser reads no path with `..` in it.
    page.choose("Open", &[std::fs::canonicalize(HATCHLING)?])?;
    page.play("loads 5\nstate\n~ /file hatchling.usda\n= /match null\n= /error null")?;
    for (function, told) in BREAKS {
        goes_on(&mut page, &server.address, function, told)?;
    }
    is_narrow(&mut page)?;
    is_framed(&mut page, &server.address)?;
    for part in OPENS.split("\n## ").skip(1) {
        let (what, script) = part.split_once('\n').ok_or("a part without a script")?;
        if what.starts_with('?') {
            page.open(&format!("{}{what}", server.address))?;
        } else {
            let before = page.step("state")?["loads"].as_u64().unwrap_or_default();
            page.drop_files(&[what], "Alt")?;
            page.play(&format!("loads {}\nstate", before + 1))?;
        }
        page.play(script).map_err(|e| format!("{what}: {e}"))?;
        page.shot()?.save(shot(what))?;
    }
    Ok(())
}

fn shot(name: &str) -> PathBuf {
    let name: String = name.chars().filter(|c| c.is_alphanumeric()).collect();
    display::shots().join(format!("page-{name}.png"))
}

/// The sample plays, on the GPU as on the CPU. At a time its surfaces are where the reference's triangles are, at that time
/// and at no other.
fn draws(page: &mut Page) -> Result<(), Failed> {
    page.play("loads 1\nstate\n~ /file hatchling.usda\n= /error null\n= /playing true")?;
    page.play("time 31\nkey d\nsettle\nstate")?;
    let most = tolerance::MIRROR_POINTS * 4.0;
    page.play(&format!("< /difference {most}\n> /difference 0\nkey d"))?;
    page.play("settle\n= /time 31\nkey g")?;
    let with = picture(page, "with")?;
    page.play("key s")?;
    let without = picture(page, "without")?;
    let found = truth::differs(&with, &without);
    let matrix = &page.last()["clip_from_world"];
    let column = |i: usize| matrix[i].as_f64().unwrap_or(f64::NAN);
    let clip_from_world = DMat4::from_cols_array(&std::array::from_fn(column));
    let overlap = |time: f64| -> Result<f64, Failed> {
        let triangles = truth::triangles(HATCHLING, time)?;
        let expected = truth::silhouette(&triangles, clip_from_world, with.dimensions().into());
        Ok(truth::overlap(&expected, &found))
    };
    let [same, other] = [overlap(31.0)?, overlap(1.0)?];
    let told = same > tolerance::SILHOUETTE_OVERLAP && other < tolerance::SILHOUETTE_OVERLAP;
    Ok(check(told, || {
        format!("silhouettes overlap by {same}, those of another time by {other}")
    })?)
}

/// Files that are dropped are opened. One that names another finds it among them, and a motion plays on what is shown.
fn drops(page: &mut Page) -> Result<(), Failed> {
    page.drop_files(&["hatchling.usda", "made/above.usda"], "")?;
    page.play("loads 2\nstate\n= /file \"above.usda\"\n= /error null\n> /points 9000")?;
    page.drop_files(&["repository/examples/assets/puppet.glb"], "")?;
    page.play("loads 3\nstate\n= /file \"puppet.glb\"\n= /error null")?;
    page.drop_files(&["repository/examples/assets/walk.bvh"], "")?;
    page.play(
        "loads 4\nstate\n= /file \"puppet.glb\"\n= /match/source \"walk.bvh\"\n= /error null",
    )?;
    page.shot()?.save(shot("dropped"))?;
    Ok(())
}

/// The character is saved with the clip that was dropped on it, as the window of a desktop saves it, and its picture too.
fn saves(page: &mut Page) -> Result<(), Failed> {
    page.play("save moved.glb\nsettle\nstate\n= /error null\n~ /notice Saved moved.glb")?;
    page.play("save moved.usdc\nsettle\nsave moved.png\nstate\n= /error null")?;
    let asset = |name: &str| common::repository().join("examples/assets").join(name);
    let task = Task::retarget(asset("walk.bvh"), asset("puppet.glb"));
    let folder = tempfile::tempdir()?;
    for (name, purpose) in [("moved.glb", Purpose::Glb), ("moved.usdc", Purpose::Usdc)] {
        let expected = folder.path().join(name);
        let exported = export::exported(&task, purpose).map_err(|failed| failed.message)?;
        std::fs::write(&expected, exported.bytes)?;
        let saved = page.saved(name)?;
        let range = sinew_io::open(&saved)?
            .scene(Default::default())?
            .time_line
            .range;
        let (start, end) = range.ok_or("a character that does not move")?;
        let mut moved = 0.0_f64;
        let mut before: Option<Vec<[DVec3; 3]>> = None;
        for time in [start, (start + end) * 0.5] {
            let [saved, expected] =
                [&saved, &expected].map(|file| truth::triangles(&file.to_string_lossy(), time));
            let (saved, expected) = (saved?, expected?);
            let off = distance(&saved, &expected);
            check(off < tolerance::RETARGETED_METRES, || {
                format!("{name} at {time}: {off} from what a desktop saves")
            })?;
            moved = before.map_or(0.0, |before| distance(&before, &saved));
            before = Some(saved);
        }
        check(moved > 0.05, || format!("{name} moves by {moved}"))?;
    }
    let picture = image::open(page.saved("moved.png")?)?;
    Ok(check(picture.width() > 300, || {
        format!("{} pixels", picture.width())
    })?)
}

/// The largest distance between corners of triangles; infinite if they are not as many.
fn distance(a: &[[DVec3; 3]], b: &[[DVec3; 3]]) -> f64 {
    let corners = a.iter().flatten().zip(b.iter().flatten());
    let largest = corners.map(|(a, b)| a.distance(*b)).fold(0.0, f64::max);
    if a.len() == b.len() && !a.is_empty() {
        largest
    } else {
        f64::INFINITY
    }
}

/// A page that has failed tells so, is opened again by a link, and takes a file.
fn goes_on(page: &mut Page, address: &str, function: &str, told: &str) -> Result<(), Failed> {
    page.evaluate(&format!(
        "GPUDevice.prototype.{function} = () => {{ throw new Error('broken on purpose'); }}"
    ))?;
    page.drop_files(&["repository/examples/assets/puppet.glb"], "")?;
    let found = page.wait_for("document.getElementById('told').textContent", |found| {
        let text = found.as_str().unwrap_or_default();
        text.contains("broken on purpose") && text.ends_with("Open the page again")
    })?;
    let is_told = found.as_str().is_some_and(|text| text.starts_with(told));
    check(is_told, || format!("{function}: {found}"))?;
    page.shot()?.save(shot(function))?;
    // The link may lead to the address that the page has.
    page.evaluate("globalThis.isLeft = true; document.querySelector('#told a').click()")?;
    page.opened(&format!("{address}?"))?;
    page.play("loads 1\nstate\n~ /file hatchling.usda\n= /error null")?;
    page.drop_files(&["repository/examples/assets/puppet.glb"], "")?;
    page.play("loads 2\nstate\n~ /file puppet.glb\n= /error null")?;
    Ok(())
}

/// On a small screen every button is there.
fn is_narrow(page: &mut Page) -> Result<(), Failed> {
    page.resize(400, 800)?;
    page.play("settle\nstate\nstate\n= /window [400, 800]")?;
    for name in ["Open", "Save", "Export", "Verify", "Settings", "Joints"] {
        let place = &page.last()["places"][name];
        check(place["cut"] == false, || format!("{name}: {place}"))?;
    }
    page.shot()?.save(shot("narrow"))?;
    page.resize(1000, 700)?;
    Ok(())
}

/// A page of the site shows the viewer in a frame.
fn is_framed(page: &mut Page, address: &str) -> Result<(), Failed> {
    page.is_framed = true;
    page.navigate(&format!("{address}made/frame.html"))?;
    page.opened(&format!(
        "{address}?file=repository/examples/assets/puppet.glb"
    ))?;
    page.play("loads 1\nstate\n~ /file puppet.glb\n= /window [900, 600]\n= /error null")?;
    page.play("= /playing true\n> /points 100")?;
    page.shot()?.save(shot("framed"))?;
    page.is_framed = false;
    Ok(())
}

/// The 3D picture of the page, once what was changed is drawn and shown.
fn picture(page: &mut Page, name: &str) -> Result<RgbaImage, Failed> {
    // A frame is drawn after each step.
    page.play("settle\nstate\nstate")?;
    let mut all = page.shot()?;
    for _ in 0..MOST_SHOTS {
        let before = std::mem::replace(&mut all, page.shot()?);
        if before == all {
            break;
        }
    }
    all.save(shot(name))?;
    let edge = |i: usize| page.last()["viewport"][i].as_u64().unwrap_or(0) as u32;
    let [left, top, width, height] = [0, 1, 2, 3].map(edge);
    Ok(imageops::crop_imm(&all, left, top, width, height).to_image())
}
