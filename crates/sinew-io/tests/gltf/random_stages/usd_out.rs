//! Stages as USD: flattened, and with baked points.

use libtest_mimic::Failed;
use sinew::sampled::Time;
use sinew_bake::{Backend, BakeOptions, bake};

use super::truth::Stage;
use super::{Allowed, INSIDE, Moment, Report, Subject};
use common::tolerance;

/// Time codes between samples below which nothing is looked at between them.
const CLOSE: f64 = 1e-4;

const EXACT: Allowed = Allowed {
    points: [0.0; 2],
    normals: Some([0.0; 2]),
    stated: None,
};

/// With each clip bound, a flattened stage shows to the bit what the stage shows.
pub fn flattened(subject: &Subject<'_>, report: &mut Report) -> Result<(), Failed> {
    let out = subject.file("_flat.usdc");
    sinew_io::open(subject.file(".usda"))?.write_flattened(&out, Default::default())?;
    let moments = moments(subject.told.times.clone(), true);
    let codes: Vec<f64> = moments.iter().map(|m| m.code).collect();
    let named = subject.told.clips.keys().filter(|c| *c != "Animation");
    for clip in named.map(|name| Some(&**name)).chain([None]) {
        let want = Stage::open(&subject.file(".usda"), clip)?;
        let got = Stage::open(&out, clip)?;
        for mesh in &want.geometry.meshes {
            let pair = (
                &want.shown(mesh, &codes)?,
                &got.shown(got.mesh(&mesh.path)?, &codes)?,
            );
            report.check(&subject.name, &mesh.path, pair, &moments, &EXACT);
        }
    }
    Ok(())
}

/// A baked stage shows what the stage shows at all samples of what deforms a mesh and at the frames between them, and straight lines
/// between these.
pub fn baked(subject: &Subject<'_>, report: &mut Report) -> Result<(), Failed> {
    let (input, out) = (subject.file(".usda"), subject.file("_baked.usdc"));
    let mut options = BakeOptions::default();
    options.backend = Backend::Cpu;
    bake(&input, &out, &options, &mut |_| {})?;
    let (want, got) = (Stage::open(&input, None)?, Stage::open(&out, None)?);
    for mesh in &want.geometry.meshes {
        let found = got.mesh(&mesh.path)?;
        let Some(bound) = want.bound(mesh) else {
            let moments = moments(subject.told.times.clone(), true);
            let codes: Vec<f64> = moments.iter().map(|m| m.code).collect();
            let pair = (&want.shown(mesh, &codes)?, &got.shown(found, &codes)?);
            report.check(&subject.name, &mesh.path, pair, &moments, &EXACT);
            continue;
        };
        let moves_points = mesh.binding.is_some() && !bound.binding().is_rigid();
        let samples = want.with_frames(want.skeleton_times(bound));
        let moments = moments(samples.clone(), moves_points);
        let codes: Vec<f64> = moments.iter().map(|m| m.code).collect();
        let expected = want.straight(mesh, &codes, &samples, |code| {
            mesh.world_from_prim(Time::At(code))
        })?;
        let allowed = Allowed {
            points: [tolerance::PIXAR_BAKE_POINTS; 2],
            // They need not have unit length, so between samples they have other directions.
            normals: Some([tolerance::PIXAR_BAKE_NORMALS, f64::INFINITY]),
            stated: None,
        };
        let got = got.shown(found, &codes)?;
        report.check(
            &subject.name,
            &mesh.path,
            (&expected, &got),
            &moments,
            &allowed,
        );
    }
    Ok(())
}

/// Keys, and some times between them.
fn moments(mut keys: Vec<f64>, looks_between: bool) -> Vec<Moment> {
    keys.sort_by(f64::total_cmp);
    keys.dedup();
    let mut out = Vec::new();
    for (i, code) in keys.iter().enumerate() {
        let key = Moment {
            code: *code,
            is_key: true,
        };
        out.push(key);
        let next = keys.get(i + 1).filter(|next| **next - code > CLOSE);
        if let Some(next) = next.filter(|_| looks_between) {
            let inside = INSIDE[i % 2].map(|share| Moment {
                code: code + (next - code) * share,
                is_key: false,
            });
            out.extend(inside);
        }
    }
    out
}
