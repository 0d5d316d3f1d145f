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
use glam::DMat4;
use image::{RgbaImage, imageops};
use libtest_mimic::{Arguments, Failed, Trial};

use browser::Page;
use display::Display;
use judge::check;
use server::Server;
use steps::Steps;

const HATCHLING: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../assets/hatchling.usda");

/// Pictures are taken until two in a row are the same, at most so many.
const MOST_SHOTS: usize = 20;

/// What the page's address names, and what the page shows then.
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
    let above = "#usda 1.0\n(\n    subLayers = [@./hatchling.usda@]\n)\n";
    std::fs::write(made.path().join("above.usda"), above)?;
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
    for part in OPENS.split("\n## ").skip(1) {
        let (query, script) = part.split_once('\n').ok_or("a query without a script")?;
        page.open(&format!("{}{query}", server.address))?;
        page.play(script).map_err(|e| format!("{query}: {e}"))?;
        page.shot()?.save(shot(query))?;
    }
    Ok(())
}

fn shot(name: &str) -> PathBuf {
    let name: String = name.chars().filter(|c| c.is_alphanumeric()).collect();
    display::shots().join(format!("page-{name}.png"))
}

/// The sample plays. At a time its surfaces are where the reference's triangles are, at that time and at no other.
fn draws(page: &mut Page) -> Result<(), Failed> {
    page.play("loads 1\nstate\n~ /file hatchling.usda\n= /error null\n= /playing true")?;
    page.play("time 31\nsettle\n= /time 31\nkey g")?;
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
    page.drop_files(&["hatchling.usda", "made/above.usda"])?;
    page.play("loads 2\nstate\n= /file \"above.usda\"\n= /error null\n> /points 9000")?;
    page.drop_files(&["repository/examples/assets/puppet.glb"])?;
    page.play("loads 3\nstate\n= /file \"puppet.glb\"\n= /error null")?;
    page.drop_files(&["repository/examples/assets/walk.bvh"])?;
    page.play(
        "loads 4\nstate\n= /file \"puppet.glb\"\n= /match/source \"walk.bvh\"\n= /error null",
    )?;
    page.shot()?.save(shot("dropped"))?;
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
