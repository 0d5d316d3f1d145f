//! The table of what is wrong with whole files: what reading glTF, VRM, FBX and BVH files can find, and turning them into
//! UsdSkel; crates that are not read as they are; what cannot be written; and clips that do not fit a character.
//!
//! The codes of EXT_skeleton_humanoid are in capitals, as other tools that check the extension have them.

use super::code::Severity::{Error, Info, Warning};
use super::code::{Code, row};

const CORRECT_BONE: &str = "use one of the extension's 55 names, such as leftUpperArm";
const REPOSE: &str = "bind the character in the extension's reference pose, or apply clips with `sinew humanoid --mode conjugate`";

/// Every code, by subject.
#[rustfmt::skip]
pub const FILE_CODES: &[Code] = &[
    // Any format
    row("file-invalid", Error, "", "the file breaks a rule of its format: nothing is read", "repair what is named, or export the file anew"),
    // USD
    row("crate-version", Error, "", "a .usdc file of a version that is not read as it is: nothing is read", "have USD's own usdcat write the file anew"),
    row("integers-not-read", Error, "", "64-bit integers in a .usdc file that are not read as they are: they are left out or changed, and no file is written with them", "have USD's own usdcat write the file as .usda"),
    row("spline-not-written", Error, "", "a spline, which no file is written with: it would be lost or changed", "sample the spline into time samples, or write a layer of overs"),
    row("value-not-in-crate", Error, "", "a single half2, or a pathExpression, which no .usdc file is written with: it would be changed", "write a .usda file"),
    // EXT_skeleton_humanoid: skeletons
    row("NOT_IN_EXTENSIONS_USED", Error, "", "EXT_skeleton_humanoid is used but not listed in extensionsUsed", "list it"),
    row("SKELETONS_EMPTY", Error, "", "humanoidSkeletons is missing or empty", "list at least one skeleton, or remove the extension"),
    row("ONE_SKELETON_LAYOUT", Warning, "", "one skeleton in place of the list humanoidSkeletons, as the published JSON schema has it: read as a list of one", "put it into humanoidSkeletons, as the extension's text asks"),
    row("ROOT_MISSING", Error, "", "a humanoid skeleton without rootNode", "name the node above all bones"),
    row("ROOT_RANGE", Error, "", "rootNode is no index of a node", "name the node above all bones"),
    row("ROOT_NOT_ANCESTOR", Error, "", "rootNode is not at or above every bone", "name a node above all bones"),
    row("BONES_MISSING", Error, "", "a humanoid skeleton without humanoidBones", "map bone names to nodes"),
    row("BONE_NAME_UNKNOWN", Error, "", "a name that is none of the 55 human bones", CORRECT_BONE),
    row("NODE_RANGE", Error, "", "a bone's node is no index of a node", "name the bone's node"),
    row("NODE_REUSED", Error, "", "one node serves two bones", "give each bone its own node, or leave one of them out"),
    row("NOT_A_JOINT", Error, "", "a bone's node is a joint of no skin", "map the bone to a joint"),
    row("HIERARCHY", Error, "", "the nearest bone above a bone is not the nearest one present of the extension's hierarchy", "map the bones in the order of the hierarchy"),
    // EXT_skeleton_humanoid: channels
    row("BONE_NAME_MISSING", Error, "", "a channel's target has the extension without humanoidBoneName", CORRECT_BONE),
    row("PATH", Error, "", "a human bone's channel moves something other than rotation, translation or scale", "use rotation"),
    row("DUPLICATE_TARGET", Error, "", "two channels of an animation for one path of one bone or node", "keep one of them"),
    row("SAMPLER_SHARED", Error, "", "a sampler serves a human bone and a channel without the extension, whose values mean different things", "give each a sampler of its own"),
    row("PATH_NOT_ROTATION", Warning, "", "a human bone's translation or scale, which fits no character but the one it was made for", "animate rotations"),
    row("NODE_AND_EXT", Warning, "", "a channel names both a node and a human bone: the bone counts", "leave the node out"),
    // EXT_skeleton_humanoid: reference pose
    row("REF_AXES", Warning, "", "a bone's bind pose is turned about its length: +X does not bend it as a muscle does", REPOSE),
    row("REF_Y_TO_CHILD", Warning, "", "a bone's +Y does not point to its child in the bind pose", REPOSE),
    row("REF_TPOSE_ARM", Warning, "", "an arm is not stretched along X in the bind pose", REPOSE),
    row("REF_UP", Warning, "", "the character does not stand upright in the bind pose", REPOSE),
    row("REF_FACING", Warning, "", "the character does not face +Z in the bind pose", REPOSE),
    // VRM: humanoid
    row("vrm-spec-version", Error, "", "a version of VRM other than 1.0 or 0.x", "export the file as VRM 1.0"),
    row("vrm-spec-version-draft", Warning, "", "a draft of VRM 1.0, or no version: read as 1.0", "export the file as VRM 1.0"),
    row("vrm-version-twice", Warning, "", "VRM 1.0 and VRM 0.x in one file: 1.0 counts", "remove one of them"),
    row("vrm-extension-missing", Warning, "", "a .vrm or .vrma file without the extension: plain glTF", "rename the file, or export it anew"),
    row("vrm-not-in-extensions-used", Warning, "", "a VRM extension that extensionsUsed does not list", "list it"),
    row("vrm-humanoid-missing", Error, "", "no humanBones, or none in it", "map human bones to nodes"),
    row("vrm-bone-unknown", Warning, "", "a name that is no human bone's: left out", "use a name of this VRM version"),
    row("vrm-bone-required", Warning, "", "bones missing that VRM requires", "map them, where the character has them"),
    row("vrm-bone-twice", Error, "", "a human bone is listed twice", "keep one of them"),
    row("vrm-node-range", Error, "", "a bone or the gaze is given a node that is none", "name a node of the file"),
    row("vrm-node-reused", Error, "", "one node serves two bones or expressions", "give each its own node"),
    row("vrm-hierarchy", Warning, "", "a bone does not stand below the nearest bone of VRM's hierarchy: clips may bend it wrongly", "map the bones in the order of the hierarchy"),
    row("vrma-eye-ignored", Warning, "", "an eye among the bones of a VRM Animation, which moves eyes by lookAt only: left out", "remove it"),
    row("vrma-track-ignored", Warning, "", "a VRM Animation scales a bone, or moves another one than the hips: left out", "animate rotations, and translations of the hips"),
    // VRM: expressions
    row("expression-name", Warning, "", "an expression's name is not what its group allows", "list presets by VRM's names, and others as custom"),
    row("expression-twice", Warning, "", "two expressions of one name: the first counts", "rename or remove one of them"),
    row("expression-target-range", Error, "", "an expression names a node, mesh or morph target that is none", "name one of the file"),
    row("expression-node-no-mesh", Warning, "", "an expression's bind is to a node without a mesh: moves nothing", "name the mesh's node"),
    row("expression-materials-ignored", Warning, "", "expressions change materials, which UsdSkel cannot: left out", "nothing; the faces' shapes are kept"),
    row("expression-overrides-ignored", Info, "", "expressions hold back blinking, gaze or mouth: left out", "nothing, where the clip does not rely on it"),
    // VRM: what is read past
    row("spring-bones-ignored", Warning, "", "spring bones are read past: hair and cloth keep their rest pose", "bake their motion into a clip"),
    row("node-constraints-ignored", Warning, "", "node constraints are read past: twist bones keep their own tracks", "bake their motion into a clip"),
    row("mtoon-ignored", Info, "", "MToon shading is read past: the plain glTF material counts", "nothing, where looks do not matter"),
    row("look-at-ignored", Info, "", "gaze control is read past", "animate the eyes' bones, if they should move"),
    row("first-person-ignored", Info, "", "first-person visibility is read past: every mesh is shown", "nothing"),
    // glTF
    row("gltf-extension-required", Error, "", "the file requires extensions that sinew does not read", "export it without them"),
    row("gltf-too-large", Error, "", "the file unpacks to far more than its own size", "look where it comes from"),
    row("gltf-animated-matrix", Warning, "", "an animated node has a matrix: it is taken apart, without shear", "give it translation, rotation and scale"),
    row("gltf-channel-left-out", Warning, "", "a weights channel of a node without morph targets: left out", "remove it"),
    row("gltf-pointer", Warning, "", "KHR_animation_pointer animates what sinew does not read: left out", "nothing, where it is no node or morph weight"),
    row("gltf-image-format", Warning, "", "an image that USD cannot show: left out", "use PNG or JPEG"),
    row("gltf-image-unreadable", Warning, "", "an image that cannot be read: left out", "put it where the file names it"),
    row("gltf-texture-format", Warning, "", "a texture without an image that USD could show: left out", "add one in PNG or JPEG"),
    row("gltf-morph-attribute", Info, "", "a morph target changes colours or texture coordinates: left out", "nothing; UsdSkel has no place for them"),
    row("gltf-no-position", Warning, "", "a primitive without POSITION: left out", "remove it"),
    row("gltf-primitive-mode", Warning, "", "points or lines: left out", "nothing, where only surfaces are meant"),
    row("gltf-triangle-incomplete", Warning, "", "indices beyond the last whole triangle: left out", "remove them"),
    row("gltf-quantization-undeclared", Warning, "", "small integers without KHR_mesh_quantization: read all the same", "list the extension"),
    row("gltf-rotation-length", Warning, "", "a node's rotation is not of length 1: made so", "normalise it"),
    row("gltf-not-finite", Warning, "", "values that are not finite: left out where that can be, else an error", "export the file anew"),
    row("gltf-weights-sum", Warning, "", "weights of some points do not sum to 1: divided by their sum", "normalise them"),
    row("gltf-instances", Warning, "", "EXT_mesh_gpu_instancing: one of the instances is shown", "export the instances as nodes"),
    // Human bones moved by a clip
    row("bind-sheared", Warning, "", "a human bone's bind transform is sheared, which components cannot say: the shear is left out", "bind the bone without shear"),
    row("bone-missing", Warning, "", "a clip moves a human bone that the model lacks: dropped, or folded into the bones below", "map the bone, or apply the clip with `sinew humanoid --mode collapse`"),
    row("bone-not-joint", Warning, "", "a human bone's node is no joint: its rest pose stands for its bind pose", "bind a skin to it"),
    row("hips-height", Warning, "", "there are no hips heights to compare: translations are not scaled", "map the hips on both sides"),
    row("pose-off-reference", Warning, "", "bone axes are not those of the extension's reference pose: a clip turns them otherwise than it means", REPOSE),
    row("track-ignored", Warning, "", "a clip moves what no other model has: left out", "animate human bones"),
    row("retarget-lying", Warning, "", "a retargeted character lies while the clip's own stands, or the other way round", "retarget with `sinew retarget --pose rest`"),
    // UsdSkel made of a file
    row("bone-tracks-left", Info, "", "tracks of human bones, which move no nodes of the file itself", "apply the clip to a model with `sinew humanoid`"),
    row("clip-resampled", Info, "", "a clip with so many different key times is sampled at whole time codes", "nothing"),
    row("expression-missing", Info, "", "a clip moves an expression that the file lacks", "apply the clip to a model with `sinew humanoid`"),
    row("mesh-empty", Warning, "", "a primitive without points: left out", "remove it"),
    row("normal-scale", Info, "", "the scale of a normal map, which UsdPreviewSurface cannot say: left out", "scale the picture itself"),
    row("singular-bind", Warning, "", "an inverse bind matrix without an inverse: its rest pose takes its place where no point is weighted to it, else an error", "bind the joint anew"),
    row("texture-format", Warning, "", "a texture that USD renderers do not read: left out", "use PNG or JPEG"),
    row("too-large", Error, "", "what the file says multiplies to far more than its own size", "look where it comes from; convert clips one by one"),
    row("overflow", Error, "", "transforms or tangents whose products are no numbers any more", "scale by numbers that can be meant"),
    row("tracks-left-out", Warning, "", "tracks of nodes that are no joints and carry nothing, or of clips that are not bound: left out", "nothing, where they show nothing"),
    // FBX
    row("fbx-repaired", Warning, "", "something broken in the file was mended on reading", "see the message; export it anew where it matters"),
    row("fbx-dual-quaternion", Warning, "", "dual quaternion skinning in FBX, which becomes linear", "set primvars:skel:skinningMethod to dualQuaternion in what is written, if it should be"),
    row("fbx-several-skins", Warning, "", "a mesh with more than one skin: the first one counts", "merge them"),
    row("fbx-skin-ignored", Warning, "", "a skin without joints: the mesh stays as it is", "bind it anew"),
    row("fbx-geometry-cache", Warning, "", "a geometry cache, which is not read", "bake it into blend shapes or a skin"),
    row("fbx-nurbs", Warning, "", "a NURBS surface, which is not read", "export it as a mesh"),
    row("fbx-constraint", Warning, "", "a constraint, which is not evaluated", "bake the animation on export"),
    row("fbx-image-unreadable", Warning, "", "a texture that is neither embedded nor below the file's folder", "embed textures on export, or copy it there"),
    row("fbx-image-format", Warning, "", "a texture in a format that USD does not show", "make it PNG or JPEG"),
    row("fbx-texture-left-out", Warning, "", "roughness or metalness in pictures of their own", "pack them as glTF has them: roughness in green, metalness in blue"),
];
