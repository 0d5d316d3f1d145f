//! Writes splines.

use super::check::Version;
use super::write_values::Output;
use crate::error::Result;
use crate::layer::Spec;
use crate::value::Spline;

pub(super) fn check(_: &Spline, _: &Spec) -> std::result::Result<Version, String> {
    Err("splines".to_owned())
}

pub(super) fn spline(_: &Spline, _: usize, _: &mut Output) -> Result<()> {
    Ok(())
}
