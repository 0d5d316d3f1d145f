//! Every SkelAnimation of a stage, bound or not.

use openusd::usd;

use crate::usd::read::scene::UsdFile;
use crate::usd::read::skel_prims::read_animation;
use crate::usd::read::tree::read_tree;
use sinew::error::Result;
use sinew::sampled::Interpolation;
use sinew::skel::SkelAnimation;
use sinew::skel::binding::PrimKind;

impl UsdFile {
    /// Every active, loaded SkelAnimation, in the stage's order, whether it moves a Skeleton or not.
    ///
    /// # Errors
    /// Values that cannot be decoded.
    pub fn animations(&self) -> Result<Vec<SkelAnimation>> {
        self.all_read(self.read_animations())
    }

    fn read_animations(&self) -> Result<Vec<SkelAnimation>, openusd::Error> {
        let interpolation = match self.stage.interpolation_type() {
            usd::InterpolationType::Held => Interpolation::Held,
            usd::InterpolationType::Linear => Interpolation::Linear,
        };
        let tree = read_tree(&self.stage)?;
        let mut out = Vec::new();
        for (prim, path) in tree.tree.iter().zip(&tree.paths) {
            if prim.kind == PrimKind::SkelAnimation {
                let prim = self.stage.prim(path)?;
                let mut animation = read_animation(&prim, interpolation, &mut Vec::new())?;
                let exact = self.made.as_ref();
                animation.float_scales = exact.and_then(|m| m.float_scales(&animation.path));
                out.push(animation);
            }
        }
        Ok(out)
    }
}
