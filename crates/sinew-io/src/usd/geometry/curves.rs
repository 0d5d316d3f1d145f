//! Curves (UsdGeomBasisCurves): points, counts, basis and widths.

use std::sync::Arc;

use sinew_stage::Prim;

use super::meshes::{MeshReader, read_points};
use super::primvars::PrimvarReader;
use crate::usd::read::values::{Token, read_sampled, read_uniform};
use sinew::error::Invalid;
use sinew::sampled::Sampled;
use sinew::scene::{
    CurveBasis, CurveWidths, CurveWrap, Curves, DrawnMesh, Geometry, Placement, Primvar,
};
use sinew::skel::MeshTopology;

impl MeshReader<'_> {
    /// Reads curves. Broken ones are errors of the geometry.
    pub fn read_curves(
        &mut self,
        prims: &[Prim<'_>],
        out: &mut Geometry,
    ) -> Result<(), sinew_stage::Error> {
        for prim in prims {
            match self.curves(*prim, out)? {
                Ok(mut mesh) => {
                    mesh.definition = out.curves.len();
                    out.curves.push(mesh);
                }
                Err(broken) => out.errors.push(broken),
            }
        }
        Ok(())
    }

    fn curves(
        &mut self,
        prim: Prim<'_>,
        out: &mut Geometry,
    ) -> Result<Result<DrawnMesh, Invalid>, sinew_stage::Error> {
        let path = prim.path();
        let points = match read_points(prim, self.interpolation, &mut out.warnings)? {
            Ok(points) => points,
            Err(broken) => return Ok(Err(broken)),
        };
        let count = points.first().map_or(0, |p| p.len());
        let counts: Sampled<Vec<i32>> =
            read_sampled(&prim.attribute("curveVertexCounts"), self.interpolation)?;
        let counts = counts.first().map_or_else(Vec::new, |c| c.to_vec());
        // Each curve as a face of its points: values for faces are those for curves then.
        let order: Vec<i32> = (0..count).map(|i| i as i32).collect();
        let strands = match MeshTopology::new(path.as_str(), &counts, &order, false, count) {
            Ok(strands) => strands,
            Err(_) => {
                let sum: i64 = counts.iter().map(|c| i64::from(*c)).sum();
                let expected = format!("counts of 0 or more that add up to the {count} points");
                let found = format!("{} counts, the sum is {sum}", counts.len());
                let broken = Invalid::new(path.as_str(), "curveVertexCounts", expected, found);
                return Ok(Err(broken.coded("curve-counts")));
            }
        };
        let token = |name: &str| -> Result<Option<String>, sinew_stage::Error> {
            Ok(read_uniform::<Token>(&prim.attribute(name))?.map(|t| t.0))
        };
        let basis = match (token("type")?.as_deref(), token("basis")?.as_deref()) {
            (Some("linear"), _) => CurveBasis::Linear,
            (_, Some("bspline")) => CurveBasis::BSpline,
            (_, Some("catmullRom")) => CurveBasis::CatmullRom,
            _ => CurveBasis::Bezier,
        };
        let wrap = match token("wrap")?.as_deref() {
            Some("periodic") => CurveWrap::Periodic,
            Some("pinned") => CurveWrap::Pinned,
            _ => CurveWrap::Nonperiodic,
        };
        let material = self.material(prim, &mut out.warnings)?;
        let mut primvars = PrimvarReader {
            interpolation: self.interpolation,
            prim,
            topology: &strands,
            points: count,
            left_out: Vec::new(),
            warnings: &mut out.warnings,
        };
        let widths = primvars.widths()?.as_ref().and_then(widths);
        let display_color = primvars.inherited("primvars:displayColor", &mut self.colors)?;
        let display_opacity = primvars.inherited("primvars:displayOpacity", &mut self.opacities)?;
        let skin = self.skins.get(path.as_str());
        let skin = skin.filter(|(_, b)| b.unsupported.is_none());
        Ok(Ok(DrawnMesh {
            path: path.as_str().to_owned(),
            binding: skin.map(|(i, _)| *i),
            definition: 0,
            place: Placement::new(self.places.0.clone(), self.places.1[&path]),
            instances: Vec::new(),
            topology: Arc::default(),
            points,
            normals: None,
            skin_normals: None,
            uvs: None,
            other_uvs: Vec::new(),
            display_color,
            display_opacity,
            subsets: Vec::new(),
            material,
            double_sided: true,
            subdivided: false,
            curves: Some(Arc::new(Curves {
                counts: counts
                    .iter()
                    .filter_map(|c| u32::try_from(*c).ok())
                    .collect(),
                basis,
                wrap,
                widths,
            })),
        }))
    }
}

/// The widths at the first time, without indices.
fn widths(primvar: &Primvar<f32>) -> Option<CurveWidths> {
    let values = primvar.values.first()?;
    let values = match &primvar.indices {
        None => values.to_vec(),
        Some(indices) => {
            let values = indices.iter().map(|i| values.get(*i as usize).copied());
            values.collect::<Option<_>>()?
        }
    };
    Some(CurveWidths {
        interpolation: primvar.interpolation,
        values,
    })
}
