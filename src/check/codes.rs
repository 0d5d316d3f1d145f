//! The table of what [`check`](super::check) can find in a stage.

use serde::Serialize;

use super::file_codes::FILE_CODES;

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth knowing; results are as meant.
    Info,
    /// There is a result, but probably not what is meant, or other tools will disagree.
    Warning,
    /// Pixar's result or sinew's is missing or wrong for some prim.
    Error,
}

impl Severity {
    /// `error`, `warning` or `info`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Info => "info",
        }
    }
}

/// One kind of finding.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Code {
    /// Stable name: kebab-case, or capitals for EXT_skeleton_humanoid.
    pub code: &'static str,
    pub severity: Severity,
    /// What it means, in one line.
    pub meaning: &'static str,
    /// What to do about it.
    pub advice: &'static str,
    /// [`fix`](super::fix) can mend it without guessing.
    pub fixable: bool,
    /// Property at fault, where the finding names none itself.
    #[serde(skip)]
    pub(super) property: &'static str,
}

/// The row of a code.
#[must_use]
pub fn code(name: &str) -> Option<&'static Code> {
    all_codes().find(|c| c.code == name)
}

/// Every row there is: of stages, then of files of other formats.
pub fn all_codes() -> impl Iterator<Item = &'static Code> {
    CODES.iter().chain(FILE_CODES)
}

pub(super) const fn row(
    code: &'static str,
    severity: Severity,
    property: &'static str,
    meaning: &'static str,
    advice: &'static str,
) -> Code {
    Code {
        code,
        severity,
        meaning,
        advice,
        fixable: false,
        property,
    }
}

impl Code {
    const fn mendable(mut self) -> Self {
        self.fixable = true;
        self
    }
}

use Severity::{Error, Info, Warning};

const INDICES: &str = "primvars:skel:jointIndices";
const WEIGHTS: &str = "primvars:skel:jointWeights";
const GEOM_BIND: &str = "primvars:skel:geomBindTransform";

/// Every code of stages, by subject; [`FILE_CODES`] has those of other formats.
#[rustfmt::skip]
pub const CODES: &[Code] = &[
    // The file
    row("composition", Error, "", "the stage does not compose whole", "repair the reference, payload or sublayer that is named"),
    row("time-range-reversed", Warning, "startTimeCode", "startTimeCode is after endTimeCode", "swap them"),
    row("frame-rate-invalid", Error, "framesPerSecond", "framesPerSecond or timeCodesPerSecond is not above 0", "author a positive rate, such as 24"),
    row("nothing-to-skin", Info, "", "no prim is skinned", "bind a prim below a SkelRoot to a Skeleton, if some should be"),
    // Binding
    row("binding-api-missing", Error, "", "skel: properties without SkelBindingAPI: they are overlooked, inherited ones serve", "apply SkelBindingAPI to the prim (sinew fix does)").mendable(),
    row("skel-root-missing", Error, "", "bound outside any SkelRoot: not skinned", "make an ancestor of prim and Skeleton a SkelRoot; where this is a bake, remove the binding"),
    row("binding-outside-skel-root", Warning, "", "SkelBindingAPI on a prim outside any SkelRoot, which the schema does not allow", "move the prim below the SkelRoot, or remove the API"),
    row("skel-root-nested", Warning, "", "a SkelRoot within a SkelRoot: only the outer one counts", "make the inner one an Xform"),
    row("skeleton-unbound", Error, "skel:skeleton", "skel:skeleton leads to no active Skeleton: not skinned", "target the Skeleton prim"),
    row("no-skeleton-bound", Error, "skel:skeleton", "influences or blend shapes but no Skeleton: not skinned", "author skel:skeleton on the prim or the SkelRoot"),
    row("several-targets", Warning, "", "a relationship with more than one target: the first one counts", "keep the one that is meant"),
    row("binding-not-visited", Error, "", "bound below a gprim or a prim that is not imageable, where skinning does not look", "move the prim up"),
    row("binding-no-effect", Warning, "", "a binding property that reaches no skinned prim", "remove it, or give a prim at or below it influences"),
    row("influences-incomplete", Error, "", "jointIndices without jointWeights, or the other way round", "author both"),
    row("blend-shapes-not-inherited", Error, "skel:blendShapes", "blend shapes on a prim that is no gprim with points: they are not inherited", "author them on the mesh itself"),
    row("influences-without-points", Error, INDICES, "vertex influences on a gprim without points: they do nothing", "bind it by constant influences, or make it a Mesh"),
    row("native-instance", Info, "", "skinned prims in a native instance, which Pixar's bake refuses", "nothing for sinew; set instanceable = false for Pixar's tools"),
    row("skeleton-unused", Info, "", "a Skeleton that no prim is bound to", "bind prims to it, or remove it"),
    row("not-skinned", Error, "", "the prim cannot be skinned", "see the message"),
    row("attribute-type", Error, "", "an attribute of another type than the schema's: it counts as missing", "author it with the schema's type"),
    // Skeleton
    row("joint-order", Error, "joints", "a joint before its parent: no prim of this Skeleton is skinned", "sort the joints so that parents come first, with all that counts in their order"),
    row("joint-duplicate", Warning, "joints", "a joint is listed twice: the last one counts", "rename or remove one of them"),
    row("joint-name-invalid", Warning, "joints", "a joint's token is no prim path: it becomes a root", "use identifiers joined by /"),
    row("skeleton-without-joints", Warning, "joints", "a bound Skeleton has no joints", "author joints"),
    row("bind-transforms-missing", Error, "bindTransforms", "no bindTransforms: skinned prims stay as they are", "author one world-space matrix per joint"),
    row("bind-transforms-count", Error, "bindTransforms", "bindTransforms are not as many as joints", "author one world-space matrix per joint"),
    row("bind-transforms-singular", Error, "bindTransforms", "a bind transform that is singular or not finite", "author an invertible matrix"),
    row("rest-transforms-missing", Info, "restTransforms", "no restTransforms: nothing to show at rest, and sparse animation fails", "author one joint-local matrix per joint"),
    row("rest-transforms-ignored", Warning, "restTransforms", "restTransforms of the wrong number or not finite: they count as missing", "author one joint-local matrix per joint"),
    row("rest-transforms-needed", Error, "restTransforms", "restTransforms are needed, since the animation does not move every joint at all times", "author restTransforms, or animate every joint"),
    row("rest-transforms-singular", Info, "restTransforms", "a rest transform is singular: its joint is scaled to nothing", "look at its scale"),
    row("rest-bind-mismatch", Info, "restTransforms", "the rest pose is far from the bind pose", "nothing, where that is meant; else author rest as bind relative to the parent's bind"),
    row("matrix-not-affine", Warning, "", "a matrix whose last column is not (0, 0, 0, 1): projections are dropped", "author an affine matrix"),
    // Animation
    row("animation-ignored", Error, "skel:animationSource", "skel:animationSource leads to no active SkelAnimation: rest pose", "target the SkelAnimation prim"),
    row("animation-source-ignored", Warning, "skel:animationSource", "an animation source that drives nothing", "author it on the Skeleton prim or above it"),
    row("animation-unused", Info, "", "a SkelAnimation that drives no bound Skeleton", "target it by skel:animationSource, or remove it"),
    row("animation-empty", Warning, "", "an animation in use with neither joints nor channels", "author joints with their components, or channels"),
    row("animation-component", Error, "", "translations, rotations or scales missing or not as many as joints: rest pose", "author all three, one value per joint"),
    row("animation-not-finite", Error, "", "animation values that are not finite: rest pose, or weight 0, at such times", "author finite values"),
    row("animation-joints-foreign", Error, "joints", "animation and Skeleton have no joint in common: rest pose", "name joints by the Skeleton's whole joint paths"),
    row("animation-joints-unknown", Info, "joints", "animated joints that the Skeleton lacks", "nothing, where the animation serves several Skeletons"),
    row("animation-sparse", Info, "joints", "joints without animation stay in their rest pose", "nothing, where that is meant"),
    row("rotation-not-unit", Warning, "rotations", "quaternions that are not of length 1: they shear", "normalise them (sinew fix does)").mendable(),
    row("rotation-zero", Warning, "rotations", "a zero quaternion: no rotation", "author (1, 0, 0, 0)"),
    row("scale-zero", Info, "scales", "a joint scaled to 0: singular", "nothing, where it is to vanish"),
    row("channel-weights-count", Warning, "blendShapeWeights", "blendShapeWeights are not as many as blendShapes: missing ones are 0", "author one weight per channel"),
    row("channel-weights-missing", Warning, "blendShapeWeights", "channels without blendShapeWeights: all are 0", "author one weight per channel"),
    row("channel-unused", Warning, "blendShapes", "channels that no bound prim has a shape for", "name the prim's shapes as the channels"),
    // Blend shapes
    row("shape-undriven", Info, "skel:blendShapes", "shapes that no channel drives", "add a channel of that name, if it should move"),
    row("shape-duplicate", Warning, "", "a shape or channel is listed twice: only the last one is driven", "rename or remove one of them"),
    row("blend-shapes-ignored", Error, "skel:blendShapes", "skel:blendShapes and skel:blendShapeTargets differ in number: no blend shapes at all", "author one target per shape"),
    row("blend-shape-missing", Error, "skel:blendShapeTargets", "a target that is no active BlendShape: its slot does nothing", "target the BlendShape prim"),
    row("blend-shape-unbound", Info, "", "a BlendShape that no prim targets", "target it, or remove it"),
    row("offsets-missing", Warning, "offsets", "a blend shape without any offsets moves nothing", "author offsets"),
    row("offsets-count", Error, "offsets", "offsets are not as many as pointIndices, or as points: no blend shapes where this one takes part", "author one offset per index, or per point without indices"),
    row("offsets-not-finite", Error, "offsets", "offsets that are not finite: no blend shapes where this one takes part", "author finite offsets"),
    row("point-index-range", Error, "pointIndices", "a point index beyond the prim's points: no blend shapes where this one takes part", "author indices below the number of points"),
    row("point-index-duplicate", Info, "pointIndices", "a point is listed twice: its offsets add", "merge them"),
    row("point-indices-uint", Info, "pointIndices", "pointIndices are uint[], which usd-core and sinew read and others need not", "author int[] (sinew fix does)").mendable(),
    row("normal-offsets-ignored", Warning, "normalOffsets", "normalOffsets of the wrong number or not finite: left out", "author as many as offsets"),
    row("inbetween-skipped", Warning, "", "an in-between without a weight of its own: skipped", "give it a weight other than 0, 1 and the others', or remove it (sinew fix does)").mendable(),
    row("inbetween-offsets", Error, "", "an in-between with offsets that do not fit: no blend shapes where its shape takes part", "author as many offsets as the shape has, or remove it (sinew fix does)").mendable(),
    // Influences
    row("influences-ignored", Error, INDICES, "jointIndices and jointWeights disagree in interpolation or elementSize, or have one that does not count", "make both vertex or both constant, with the same elementSize"),
    row("interpolation-missing", Error, INDICES, "one row of influences per point but no interpolation authored, so constant: not skinned", "author interpolation = \"vertex\" (sinew fix does)").mendable(),
    row("influences-no-value", Error, INDICES, "influences without a value", "author arrays of the schema's types"),
    row("influences-count", Error, INDICES, "jointIndices are not elementSize times the number of points", "author elementSize influences for every point"),
    row("weights-count", Error, WEIGHTS, "jointWeights are not as many as jointIndices", "author one weight per index"),
    row("joint-index-range", Error, INDICES, "a joint index beyond the joints: the prim is not skinned", "author indices into skel:joints, or the Skeleton's joints"),
    row("primvar-index-range", Error, "", "an indexed primvar's index beyond its values", "author indices below the number of values"),
    row("joints-unknown", Warning, "skel:joints", "skel:joints lists joints that the Skeleton lacks: they do not move", "name joints by the Skeleton's whole joint paths"),
    row("weights-unnormalised", Warning, WEIGHTS, "weights do not sum to 1: points move towards or away from the skeleton's origin", "normalise them (sinew fix does)").mendable(),
    row("weights-zero", Warning, WEIGHTS, "points of which all weights are 0 collapse into the skeleton's origin", "give each point a joint"),
    row("weights-negative", Warning, WEIGHTS, "negative weights, which count as authored but few tools write on purpose", "look at them"),
    row("weights-unsorted", Info, WEIGHTS, "influences not in the order of their weights, which tools that take the first few rely on", "sort them (sinew fix does)").mendable(),
    row("weights-not-finite", Error, WEIGHTS, "weights that are not finite: the prim is not skinned", "author finite weights"),
    row("influences-too-many", Warning, INDICES, "more influences per point than the limit given", "keep the largest (sinew fix --max-influences does)").mendable(),
    row("geom-bind-not-finite", Error, GEOM_BIND, "geomBindTransform is not finite: the prim is not skinned", "author a finite matrix"),
    row("geom-bind-singular", Warning, GEOM_BIND, "geomBindTransform is singular: the prim is flattened, and its normals are lost", "author an invertible matrix"),
    row("skinning-method-unknown", Error, "primvars:skel:skinningMethod", "an unknown skinningMethod: the prim is not skinned", "author classicLinear or dualQuaternion"),
    row("dual-quaternion-scale", Info, "primvars:skel:skinningMethod", "dual quaternions with joints that scale: tools differ in what becomes of the scale", "look at the result"),
    // Geometry
    row("points-missing", Error, "points", "a bound prim without points", "author points"),
    row("points-not-finite", Error, "points", "points or normals that are not finite: the prim is not skinned", "author finite values"),
    row("points-count-varies", Error, "points", "the number of points changes, which blend shapes do not follow", "keep one number, or bake the shapes"),
    row("normals-left", Warning, "normals", "normals that do not fit the points: left as they are", "author one per point, with the interpolation that fits"),
    row("prim-transform-singular", Error, "xformOpOrder", "the prim's world transform is singular: points have no place in its space", "look at its scale"),
    row("xform-op-ignored", Warning, "xformOpOrder", "an xformOp without a known kind or a value of a fitting type: left out", "author the op that xformOpOrder names"),
    row("extents-hint-incomplete", Warning, "extent", "a point instancer or volume without an extent, below a prim whose extentsHint is rewritten: the hint leaves it out", "author its extent"),
];
