//! Cameras.

use openusd::usd;

use crate::usd::read::values::{FromUsd, Token, read_sampled, read_uniform};
use sinew::sampled::{Interpolation, Sampled};
use sinew::scene::{Placement, StageCamera};

/// Reads a camera that stands at `place`.
pub(super) fn read(
    prim: &usd::Prim,
    place: Placement,
    interpolation: Interpolation,
) -> Result<StageCamera, openusd::Error> {
    fn sampled<T: FromUsd>(
        prim: &usd::Prim,
        name: &str,
        interpolation: Interpolation,
    ) -> Result<Sampled<T>, openusd::Error> {
        read_sampled(&prim.attribute(name), interpolation)
    }
    let number = |name| sampled::<f32>(prim, name, interpolation);
    let projection: Option<Token> = read_uniform(&prim.attribute("projection"))?;
    Ok(StageCamera {
        path: prim.path().as_str().to_owned(),
        place,
        perspective: projection.is_none_or(|p| p.0 != "orthographic"),
        focal_length: number("focalLength")?,
        horizontal_aperture: number("horizontalAperture")?,
        vertical_aperture: number("verticalAperture")?,
        horizontal_offset: number("horizontalApertureOffset")?,
        vertical_offset: number("verticalApertureOffset")?,
        clipping_range: sampled(prim, "clippingRange", interpolation)?,
    })
}
