//! The codes of findings about whole files: errors in glTF, VRM, FBX and BVH files and in their
//! conversion to UsdSkel, `.usdc` files that cannot be read correctly, data that cannot be written,
//! and clips that do not fit a character.
//!
//! The codes of EXT_skeleton_humanoid are in capitals, because other tools that check the extension
//! use the same codes.

use super::code::Severity::{Error, Info, Warning};
use super::code::{Code, row};

const CORRECT_BONE: &str = "use one of the extension's 55 names, such as leftUpperArm";
const REPOSE: &str =
    "bind the character in the extension's reference pose, or apply clips in the mode `conjugate`";

/// The codes of findings in files that are not USD, and of USD files that cannot be read or written
/// correctly, grouped by subject.
#[rustfmt::skip]
pub const FILE_CODES: &[Code] = &[
    // Any format
    row("file-invalid", Error, "", "the file breaks a rule of its format: it is not read", "repair what the message names, or export the file again"),
    // EXT_skeleton_humanoid: skeletons
    row("NOT_IN_EXTENSIONS_USED", Error, "", "EXT_skeleton_humanoid is used but not listed in extensionsUsed", "list the extension"),
    row("SKELETONS_EMPTY", Error, "", "humanoidSkeletons is missing or empty", "list at least one skeleton, or remove the extension"),
    row("ONE_SKELETON_LAYOUT", Warning, "", "the extension has one skeleton and no list humanoidSkeletons, like the published JSON schema: it is read as a list of one", "put the skeleton into humanoidSkeletons, as the extension's text asks"),
    row("ROOT_MISSING", Error, "", "a humanoid skeleton has no rootNode", "name the node above all bones"),
    row("ROOT_RANGE", Error, "", "rootNode is not the index of a node", "name the node above all bones"),
    row("ROOT_NOT_ANCESTOR", Error, "", "rootNode is not at or above every bone", "name a node above all bones"),
    row("BONES_MISSING", Error, "", "a humanoid skeleton has no humanoidBones", "map bone names to nodes"),
    row("BONE_NAME_UNKNOWN", Error, "", "a name is none of the 55 human bones", CORRECT_BONE),
    row("NODE_RANGE", Error, "", "the node of a bone is not the index of a node", "give the bone the index of its node"),
    row("NODE_REUSED", Error, "", "two bones have the same node", "give each bone its own node, or remove one of the bones"),
    row("NOT_A_JOINT", Error, "", "the node of a bone is not a joint of any skin", "map the bone to a joint"),
    row("HIERARCHY", Error, "", "a bone is not below the bone that the extension's hierarchy asks for", "map the bones in the order of the hierarchy"),
    // EXT_skeleton_humanoid: channels
    row("BONE_NAME_MISSING", Error, "", "the target of a channel has the extension but no humanoidBoneName", CORRECT_BONE),
    row("PATH", Error, "", "the channel of a human bone animates something other than rotation, translation or scale", "animate the rotation"),
    row("DUPLICATE_TARGET", Error, "", "two channels of an animation have the same bone or node and the same path", "keep one of the channels"),
    row("SAMPLER_SHARED", Error, "", "a human bone and a channel without the extension share a sampler, although their values mean different things", "give each channel its own sampler"),
    row("PATH_NOT_ROTATION", Warning, "", "the translation or scale of a human bone is animated, which fits only the character that it was made for", "animate rotations"),
    row("NODE_AND_EXT", Warning, "", "a channel names both a node and a human bone: the bone is used", "remove the node"),
    // EXT_skeleton_humanoid: reference pose
    row("REF_AXES", Warning, "", "a bone is rotated about its length in the bind pose: +X is not the axis that it bends about", REPOSE),
    row("REF_Y_TO_CHILD", Warning, "", "the +Y axis of a bone does not point to its child in the bind pose", REPOSE),
    row("REF_TPOSE_ARM", Warning, "", "an arm is not stretched along X in the bind pose", REPOSE),
    row("REF_TPOSE_LEG", Warning, "", "a leg does not point straight down in the bind pose", REPOSE),
    row("REF_FOOT", Warning, "", "a foot is not perpendicular to its leg in the bind pose, or its toes do not point along +Z", REPOSE),
    row("REF_HAND", Warning, "", "a hand is not flat with its palm facing the ground in the bind pose", REPOSE),
    row("REF_FINGER", Warning, "", "a finger is not stretched along X in the bind pose", REPOSE),
    row("REF_THUMB", Warning, "", "a thumb is not level and halfway between X and Z in the bind pose", REPOSE),
    row("REF_UP", Warning, "", "the character does not stand upright in the bind pose", REPOSE),
    row("REF_FACING", Warning, "", "the character does not face +Z in the bind pose", REPOSE),
    // VRM: humanoid
    row("vrm-spec-version", Error, "", "the version of VRM is neither 1.0 nor 0.x", "export the file as VRM 1.0"),
    row("vrm-spec-version-draft", Warning, "", "the version of VRM is missing or a draft of 1.0: the file is read as 1.0", "export the file as VRM 1.0"),
    row("vrm-version-twice", Warning, "", "the file has both VRM 1.0 and VRM 0.x: 1.0 is used", "remove one of the two"),
    row("vrm-extension-missing", Warning, "", "a .vrm or .vrma file does not have its VRM extension: it is read as plain glTF", "rename the file, or export it again"),
    row("vrm-not-in-extensions-used", Warning, "", "extensionsUsed does not list a VRM extension that is used", "list the extension"),
    row("vrm-humanoid-missing", Error, "", "humanBones is missing or empty", "map human bones to nodes"),
    row("vrm-bone-unknown", Warning, "", "a name is not the name of a human bone: it is ignored", "use a name of this VRM version"),
    row("vrm-bone-required", Warning, "", "bones that VRM requires are missing", "map these bones, if the character has them"),
    row("vrm-bone-twice", Error, "", "a human bone is listed twice", "keep one of the entries"),
    row("vrm-node-range", Error, "", "the node of a bone or of lookAt is not the index of a node", "give the index of a node of the file"),
    row("vrm-node-reused", Error, "", "two bones or two expressions have the same node", "give each its own node"),
    row("vrm-hierarchy", Warning, "", "a bone is not below the bone that VRM's hierarchy asks for: clips may bend it wrongly", "map the bones in the order of the hierarchy"),
    row("vrma-eye-ignored", Warning, "", "a VRM Animation animates an eye bone, although it may move eyes by lookAt only: the track is ignored", "remove the track"),
    row("vrma-track-ignored", Warning, "", "a VRM Animation scales a bone, or translates a bone other than the hips: the track is ignored", "animate rotations, and translations of the hips"),
    // VRM: expressions
    row("expression-name", Warning, "", "the group of an expression does not allow its name", "list presets by VRM's names, and all other expressions as custom"),
    row("expression-twice", Warning, "", "two expressions have the same name: the first one is used", "rename or remove one of the two"),
    row("expression-target-range", Error, "", "an expression names a node, mesh or morph target that does not exist", "name one that the file has"),
    row("expression-node-no-mesh", Warning, "", "an expression binds to a node without a mesh: it moves nothing", "name the node of the mesh"),
    row("expression-materials-ignored", Warning, "", "expressions change materials, which UsdSkel cannot do: these changes are dropped", "nothing; the blend shapes of the expressions are kept"),
    row("expression-overrides-ignored", Info, "", "expressions override blinking, gaze or mouth: the overrides are ignored", "nothing, if the clip does not rely on the overrides"),
    // VRM: parts that are not read
    row("spring-bones-ignored", Warning, "", "spring bones are ignored: hair and cloth keep their rest pose", "bake their motion into a clip"),
    row("node-constraints-ignored", Warning, "", "node constraints are ignored: twist bones keep their own tracks", "bake their motion into a clip"),
    row("mtoon-ignored", Info, "", "MToon shading is ignored: the plain glTF material is used", "nothing, if the look does not matter"),
    row("look-at-ignored", Info, "", "gaze control (lookAt) is ignored", "animate the bones of the eyes, if they should move"),
    row("first-person-ignored", Info, "", "first-person visibility is ignored: every mesh is shown", "nothing"),
    // glTF
    row("gltf-extension-required", Error, "", "the file requires extensions that sinew does not read", "export the file without these extensions"),
    row("gltf-too-large", Error, "", "the file would unpack to far more than its own size", "check where the file comes from"),
    row("gltf-animated-matrix", Warning, "", "an animated node has a matrix: it is decomposed, and its shear is dropped", "give the node a translation, rotation and scale"),
    row("gltf-channel-left-out", Warning, "", "a channel animates the weights of a node without morph targets: it is ignored", "remove the channel"),
    row("gltf-pointer", Warning, "", "KHR_animation_pointer animates a property that sinew does not read: the channel is ignored", "nothing, if the property is neither a node's transform nor a morph weight"),
    row("gltf-image-format", Warning, "", "USD cannot show an image in this format: the image is not used", "use PNG or JPEG"),
    row("gltf-image-unreadable", Warning, "", "an image cannot be read: it is not used", "put the image where the file refers to it"),
    row("gltf-texture-format", Warning, "", "a texture has no image in a format that USD can show: it is not used", "add an image in PNG or JPEG"),
    row("gltf-morph-attribute", Info, "", "a morph target changes colours or texture coordinates: these changes are dropped", "nothing; UsdSkel cannot express them"),
    row("gltf-no-position", Warning, "", "a primitive has no POSITION: it is ignored", "remove the primitive"),
    row("gltf-primitive-mode", Warning, "", "a primitive is made of points or lines: it is ignored", "nothing, if only surfaces are needed"),
    row("gltf-triangle-incomplete", Warning, "", "there are indices after the last complete triangle: they are ignored", "remove these indices"),
    row("gltf-quantization-undeclared", Warning, "", "attributes are small integers, but KHR_mesh_quantization is not listed: they are read as if it were", "list the extension"),
    row("gltf-rotation-length", Warning, "", "the length of a node's rotation is not 1: it is normalised", "normalise the rotation"),
    row("gltf-not-finite", Warning, "", "some values are not finite: they are ignored where possible, otherwise it is an error", "export the file again"),
    row("gltf-weights-sum", Warning, "", "the weights of some points do not sum to 1: they are divided by their sum", "normalise the weights"),
    row("gltf-extension-ignored", Warning, "", "the file uses an extension that sinew does not read: what it says is dropped", "nothing, if the extension does not matter; otherwise export without it"),
    row("gltf-extras-ignored", Info, "", "some extras have no place in USD: they are dropped", "nothing, or move the extras to a node, mesh, material or animation"),
    row("gltf-attribute-ignored", Info, "", "a vertex or instance attribute is not read", "nothing, if the attribute does not matter"),
    row("gltf-camera-size", Warning, "", "the size of an orthographic camera is negative: the positive one is used", "export the camera with a positive size"),
    row("gltf-material-ignored", Info, "", "UsdPreviewSurface cannot express a part of a material: that part is dropped", "nothing, if the look does not matter"),
    row("gltf-material-range", Warning, "", "a factor of a material is not between 0 and 1: the nearest of the two is used", "correct the factor"),
    row("gltf-node-unshown", Warning, "", "nodes belong to no scene: they are dropped", "add the nodes to a scene, if they should be shown"),
    row("gltf-unused", Info, "", "no node shows a mesh, camera or light: it is dropped", "nothing, or add a node that shows it"),
    // Human bones moved by a clip
    row("bind-sheared", Warning, "", "the bind transform of a human bone is sheared, which translation, rotation and scale cannot express: the shear is dropped", "bind the bone without shear"),
    row("bone-missing", Warning, "", "a clip moves a human bone that the model does not have: its motion is dropped, or folded into the bones below it", "map the bone, or apply the clip in the mode `collapse`"),
    row("bone-not-joint", Warning, "", "the node of a human bone is not a joint: its rest pose is used as its bind pose", "make the node a joint of a skin"),
    row("hips-height", Warning, "", "the height of the hips is unknown in the clip or the model: translations are not scaled", "map the hips on both sides"),
    row("pose-off-reference", Warning, "", "the axes of bones differ from the extension's reference pose: a clip rotates these bones in the wrong direction", REPOSE),
    row("humanoid-shared", Warning, "", "two humanoid skeletons of the file share nodes: a clip moves them as the first skeleton says", "give each humanoid skeleton its own nodes"),
    row("humanoid-unmoved", Warning, "", "a clip of human bones moves none of the bones of a humanoid skeleton", "map the bones that the clip moves"),
    row("track-ignored", Warning, "", "a clip has a track that applies only to its own model: the track is ignored", "animate human bones"),
    row("retarget-lying", Warning, "", "a retargeted character lies while the source character stands, or the other way round", "retarget with the reference pose `auto` or `rest`"),
    // Conversion to UsdSkel
    row("bone-tracks-left", Info, "", "the file has tracks of human bones, which do not move nodes of the file itself", "apply the clip to a humanoid model"),
    row("clip-resampled", Info, "", "a clip has too many different key times: it is sampled at whole time codes", "nothing"),
    row("expression-missing", Info, "", "a clip animates an expression that the file does not have", "apply the clip to a model with this expression"),
    row("mesh-empty", Warning, "", "a primitive has no points: it is ignored", "remove the primitive"),
    row("camera-aspect", Info, "", "a camera has no aspect ratio, which UsdGeomCamera cannot express: 16:9 is used", "give the camera an aspect ratio"),
    row("camera-far", Info, "", "a camera has no far clipping plane, which UsdGeomCamera cannot express: a distant one is used", "give the camera a far clipping plane"),
    row("instances-still", Warning, "", "instances of a mesh that is skinned or has morph targets: they do not move", "export the instances as nodes"),
    row("light-range", Info, "", "UsdLux lights have no range: the range of a light is dropped, except from customData", "nothing"),
    row("material-specular", Info, "", "UsdPreviewSurface cannot express all reflections of a material: parts of them are dropped", "nothing, if the look does not matter"),
    row("material-transmission", Info, "", "UsdPreviewSurface has no transmission: it becomes part of the opacity", "nothing, if the look does not matter"),
    row("scenes-inactive", Info, "", "the file has further scenes: they are inactive root prims", "activate the prim of the scene that should be shown"),
    row("sockets-beside-skeleton", Info, "", "nodes below joints are Xforms beside the Skeleton: they follow the bound clip alone", "nothing, or make the nodes joints of the skin, if every clip should move them"),
    row("normal-scale", Info, "", "UsdPreviewSurface cannot express the scale of a normal map: the scale is dropped", "scale the normals in the image itself"),
    row("singular-bind", Warning, "", "an inverse bind matrix is singular: the joint's rest pose is used if no point is weighted to the joint, otherwise it is an error", "bind the joint again"),
    row("texture-format", Warning, "", "a texture is in a format that USD renderers do not read: it is not used", "use PNG or JPEG"),
    row("too-large", Error, "", "the result would be far larger than the file", "check where the file comes from; convert clips one by one"),
    row("overflow", Error, "", "products of transforms or tangents are not finite", "use smaller scales and translations"),
    row("tracks-left-out", Warning, "", "some tracks are ignored: their nodes are not joints and have no mesh below them, or their clip is not bound", "nothing, if these tracks move nothing visible"),
    // FBX
    row("fbx-repaired", Warning, "", "an error in the file was corrected while reading it", "see the message; export the file again if it matters"),
    row("fbx-dual-quaternion", Warning, "", "the file uses dual quaternion skinning, which is converted to linear skinning", "set primvars:skel:skinningMethod to dualQuaternion in the converted file, if it matters"),
    row("fbx-several-skins", Warning, "", "a mesh has more than one skin: the first one is used", "merge the skins"),
    row("fbx-skin-ignored", Warning, "", "a skin has no joints: its mesh is not skinned", "bind the mesh again"),
    row("fbx-geometry-cache", Warning, "", "the file has a geometry cache, which is not read", "bake the cache into blend shapes or a skin"),
    row("fbx-nurbs", Warning, "", "the file has a NURBS surface, which is not read", "export the surface as a mesh"),
    row("fbx-constraint", Warning, "", "the file has a constraint, which is not evaluated", "bake the animation on export"),
    row("fbx-image-unreadable", Warning, "", "a texture is neither embedded nor in the file's folder or below it", "embed textures on export, or copy the texture there"),
    row("fbx-image-format", Warning, "", "a texture is in a format that USD does not show", "convert it to PNG or JPEG"),
    row("fbx-texture-left-out", Warning, "", "roughness or metalness are separate images: they are not used", "pack them into one image as in glTF: roughness in green, metalness in blue"),
];
