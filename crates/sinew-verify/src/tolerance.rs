//! Every tolerance of the tests, each with its reason.

/// f64 reference against f32 kernels, points; relative to the largest coordinate expected (at
/// least 1). f32 has 6e-8 per operation; 12 influences with weights beyond 1 and of both signs, in-betweens
/// extrapolated several times over and a post matrix lose about five bits of it.
pub const POINTS: f64 = 4e-6;

/// f64 reference against f32 kernels, normals; relative to the longest normal expected (at least
/// 1). Normalising divides by a length that blending and negative weights can make short, which
/// magnifies the rounding before it.
pub const NORMALS: f64 = 4e-5;

/// A joint this close to half a turn from the one of the largest weight may be blended either way round
/// by dual quaternions: rounding decides. The dot product of two unit quaternions.
pub const HEMISPHERE_TIE: f64 = 1e-4;

/// Share of points that such ties may leave out of a comparison with Pixar.
pub const MOST_TIES: f64 = 1e-3;

/// The same on random skins: they share 20 joints, so one pair of these is several percent of points.
pub const MOST_TIES_OF_20_JOINTS: f64 = 0.06;

/// CPU mirror against GPU, points, relative as above: both are f32, but a GPU contracts
/// multiply-adds and the mirror multiplies the post matrix in beforehand.
pub const MIRROR_POINTS: f64 = 4e-6;

/// The suite's baselines with f32 weights against the mirror, points, relative as above: their joints' matrices are rounded
/// once more, with the translation of a character's place in them.
pub const PEER_POINTS: f64 = 4e-6;

/// The same with unorm16 weights: four of them, or eight, are each off by half of 1/65,535.
pub const PEER_UNORM16_POINTS: f64 = 8.0 * 0.5 / 65_535.0;

/// Their normals, where one joint moves a point: they are as the mirror's, but for an order of operations.
pub const PEER_NORMALS: f64 = 4e-6;

/// Points of Blender against the evaluator of the tests at keys, relative to the mesh's size: Blender takes the matrices of bones
/// apart and holds them in f32 (2.4e-5 measured, of eyelids at the end of a chain of bones).
pub const BLENDER: f64 = 4e-5;

/// Octahedral normals of two unorm16, rounded in and cut off on the way out: 1.5 steps of 2/65,535 in each of two
/// directions, which an octahedron stretches by up to the root of 3; and weights as above.
pub const PEER_OCTAHEDRAL_NORMALS: f64 = 2e-4;

/// CPU mirror against GPU, normals.
pub const MIRROR_NORMALS: f64 = 4e-5;

/// Normals as octahedral directions of 16 bits, rounded to the nearest in each component: half a step of 1/32,767 in each of
/// two directions, which an octahedron stretches by up to the root of 3.
pub const OCTAHEDRAL_NORMALS: f64 = 7e-5;

/// f64 reference against f32 kernels, unit tangents: as [`NORMALS`], and negative weights shorten them just so.
pub const TANGENTS: f64 = 4e-5;

/// Smooth normals in f64 of the points that a kernel made, against those that it made of them: a few roundings of 6e-8, of
/// a sum that is down to [`CANCELLED_AREAS`] of its terms.
pub const MADE_NORMALS: f64 = 3e-4;

/// Share of its terms that the sum of areas round a point has to be, for its direction to mean something.
pub const CANCELLED_AREAS: f64 = 1e-3;

/// f64 reference against Pixar's bake, points, relative to the size of the mesh. Pixar skins in f32
/// and moves to prim space in f32; `slerp_half` has joints scaled far beyond the mesh's rest size.
pub const PIXAR_REFERENCE_POINTS: f64 = 2e-6;

/// f64 reference against Pixar's bake, vertex normals, absolute: they are about unit length.
pub const PIXAR_REFERENCE_NORMALS: f64 = 2e-6;

/// A whole bake (f32 kernels on either side) against Pixar's, points, relative to the size of the
/// mesh. Both round; a character far from its own origin loses more, as Maya's skinCluster does
/// (1.4e-6 measured).
pub const PIXAR_BAKE_POINTS: f64 = 1e-5;

/// A whole bake against Pixar's, vertex normals, absolute. Pixar inverts and transposes joint
/// matrices in f32, which costs digits where a joint is scaled hard.
pub const PIXAR_BAKE_NORMALS: f64 = 1e-3;

/// The Blender figure against the vertices that Blender computed, in metres: the exporter writes
/// f32 and half3, so `rig_noscale` is the one whose scales lose nothing.
pub const BLENDER_METRES: f64 = 1e-5;

/// The same where bones scale: half3 (INDEX.md of the assets: 4 to 8 mm).
pub const BLENDER_HALF_SCALES_METRES: f64 = 0.008;

/// The same where the glTF exporter kept the four strongest influences of each vertex and dropped the others (INDEX.md of
/// the assets: up to 13 mm).
pub const BLENDER_4_INFLUENCES_METRES: f64 = 0.013;

/// Vertices that two exporters wrote of one resting vertex, in metres: f32 on either side, and the armature's transform
/// applied before or after (3.5e-7 measured, while neighbours are a millimetre apart).
pub const SAME_REST_METRES: f64 = 1e-6;

/// Extents against the bounding box of the points in the same file: the same f32 numbers.
pub const EXTENT: f64 = 0.0;

/// Transforms of rigid prims against Pixar's, relative to the larger of 1 and the translation: Pixar
/// skins the four points of the frame in f32.
pub const PIXAR_TRANSFORM: f64 = 1e-6;

/// UsdSkel's utilities that both sides compute in f64, or in f32 by the same steps; relative to the larger of 1 and
/// what is expected.
pub const UTILITY: f64 = 1e-12;

/// Utilities that Pixar computes in f32 on the way, and sinew in f64: a few roundings of 6e-8, relative as above.
pub const UTILITY_IN_F32: f64 = 1e-6;

/// Scales of decomposed transforms, relative: half precision has 4.9e-4 to a step, and a value near the middle of
/// two may go either way.
pub const HALF: f64 = 1e-3;

/// Values of clips, flattened into samples, against those that usd-core resolves from the clips;
/// relative to the value, at least 1. f32 values are interpolated from samples that clips resampled
/// in f32, and the sample beside a jump stands a few billionths of a frame before it.
pub const CLIPS: f64 = 1e-6;

/// The differential test, points: relative to the larger of the prim's size and the largest
/// coordinate that its points pass through on the way from rest to the world. Both sides round to
/// f32 at each step. Normals and transforms are judged as in the bakes above.
pub const DIFFERENTIAL_POINTS: f64 = 1e-5;
/// Sums of the same few terms in another order: f64 rounding of coordinates of a few units.
pub const SORTED_SUMS: f64 = 1e-14;

/// Points beyond an extentsHint, relative to its largest coordinate: the hint and the points are rounded to
/// f32, each in its own space.
pub const HINT: f64 = 1e-6;

/// Directions of bones after retargeting against the source's, both by plain f64 products of some ten turns; the
/// issue asks for 1e-6.
pub const DIRECTION: f64 = 1e-9;

/// Numbers that two readers read of one file, relative to the largest of them, at least 1: one keeps f32, and
/// normalises what it reads.
pub const READ: f64 = 1e-6;

/// Numbers that a file stores in f32, relative to the larger of 1 and themselves: half a step of f32.
pub const STORED_IN_F32: f64 = 6e-8;

/// Directions of retargeted bones through a SkelAnimation: quaternions of 6e-8 in f32 on either side, down a dozen joints.
pub const DIRECTION_IN_F32: f64 = 3e-6;

/// Directions of bones that are measured between joints: positions in f32 at 1.5 m (1.2e-7 m) at both ends of bones of
/// 2 cm (5e-6 measured, at a thumb).
pub const MEASURED_DIRECTION: f64 = 1.2e-5;

/// Positions of retargeted joints, in metres: f32 translations of a few metres, and turns above them as before.
pub const RETARGETED_METRES: f64 = 3e-6;
/// Points of a glTF file as sinew skins them, relative to the mesh's size: attributes and keys are f32 on one side, f64 on the
/// other, and a dozen joints lie between a point and the world.
pub const GLTF_DIRECT: f64 = 1e-5;

/// Points of a converted file as usd-core skins them, at key times, relative to the mesh's size: SkelAnimation holds f32.
/// 1e-4 is promised, 5e-7 measured.
pub const GLTF_AT_KEYS: f64 = 1e-5;

/// The same where scales are animated: SkelAnimation stores half, with 4.9e-4 to a step (2.4e-4 measured).
pub const GLTF_AT_KEYS_SCALED: f64 = 1e-3;

/// Points between key times, relative to the mesh's size: splines become straight samples, and half scales are
/// interpolated as halves. 4e-3 is promised, 5.5e-4 measured.
pub const GLTF_BETWEEN_KEYS: f64 = 1e-3;

/// Unit normals at key times, where morph targets may shorten them before they are normalised.
pub const GLTF_NORMALS: f64 = 1e-3;

/// The same where half scales turn them, each joint of a chain by up to 2.4e-4.
pub const GLTF_NORMALS_SCALED: f64 = 5e-3;

/// Points of a written glTF file at keys against usd-core's bake of the stage, relative to the mesh's size: promised.
pub const GLTF_OUT_AT_KEYS: f64 = 1e-4;

/// The same at times at which not everything that moves has a sample: USD interpolates scales as halves, and matrices element by
/// element (1.3e-3 measured).
pub const GLTF_OUT_BETWEEN_KEYS: f64 = 4e-3;

/// Unit normals there: where a joint is small against another, they turn by more than the points move (2.8e-2 measured).
pub const GLTF_OUT_NORMALS_BETWEEN_KEYS: f64 = 3e-2;

/// Points of three.js against the evaluator of the tests, relative to the mesh's size: three.js holds poses in f32.
pub const THREE_JS: f64 = 2e-6;

/// The same between keys, where three.js takes the straight line between two rotations that are near each other.
pub const THREE_JS_BETWEEN_KEYS: f64 = 1e-5;

/// Points of a converted character against glTF's rules in f64, relative to the size of the mesh: components of up to five
/// joints below each other are stored in f32, and skinned in f32 by usd-core. The issue asks for 1e-4.
pub const CONVERTED: f64 = 1e-5;

/// Points of our own FBX character at key times, in units of which it is ten tall: points, offsets and weights are f32 in
/// an asset, and weights are normalised.
pub const FBX_AT_KEYS: f64 = 5e-6;

/// The same between keys: Euler angles that turn 180 degrees a second, and splines, sampled 72 times a second.
pub const FBX_BETWEEN_KEYS: f64 = 3e-3;

/// Joints of a converted file in usd-core against f64, relative to the figure's size: f32 translations and quaternions of a dozen
/// levels.
pub const JOINTS_IN_USD: f64 = 2e-6;

/// Joints and points of our own FBX character as usd-core has them, at key times, relative to its size: joints are scaled by
/// 1.1, 0.9 and 1.2, and SkelAnimation stores half.
pub const FBX_IN_USD: f64 = 1e-3;

/// Retargeted joints of a clip with cubic curves, which were sampled for either side at other times and stray by 3e-4 at each of
/// the three joints in a row that move.
pub const SAMPLED_CURVES: f64 = 2e-3;

/// A clip retargeted onto the character that it was made for, of the size of what is posed: rotations that exporters
/// rounded are of unit length afterwards, f32 down a dozen joints else.
pub const OWN_CLIP: f64 = 2e-6;

/// Edges of a silhouette against projected points, in pixels: a pixel counts where one of four samples is covered, half a
/// pixel either way, and the highest point of a curve has its neighbours beside it.
pub const SILHOUETTE_PIXELS: f64 = 1.5;

/// Steps of 255 within which colours are the same: f32 positions that round differently move shading by less.
pub const SAME_COLOR: u8 = 6;

/// Share of pixels of one picture drawn two ways that may have another colour: edges, where a sample falls on either side.
pub const SAME_PICTURE: f64 = 5e-3;
/// Sums of uvs and colours against usd-core's, per value: its Python adds in f64 what is f32 on either side, so only the order
/// of additions is left; values reach some hundreds.
pub const SUMS_OF_VALUES: f64 = 1e-9;

/// Frustums of cameras against GfCamera, relative: both compute in f64 from the same f32 attributes, but GfCamera keeps
/// interpolated attributes in f32.
pub const FRUSTUMS: f64 = 1e-6;

/// World transforms against UsdGeomXformCache, relative to the largest element: f64 on either side, of attributes that may be
/// interpolated in f32 and rotations that are normalised in another order.
pub const TRANSFORMS: f64 = 1e-6;
/// Points of frames against the f64 reference, relative to the largest coordinate: f32 kernels, and a few metres of world around
/// them.
pub const FRAME_POINTS: f64 = 4e-6;

/// Unit normals of frames against the f64 reference, or against smooth normals made in f64 from the frame's points.
pub const FRAME_NORMALS: f64 = 1e-4;

/// A sum in f32 of a mesh's vertex and its offset, which was rounded too, relative to the largest coordinate.
pub const VAT_SUM_IN_F32: f32 = 1.2e-7;

/// Integers that are rounded to the nearest, in steps; a little more for the decoding in f32.
pub const VAT_HALF_A_STEP: f32 = 0.501;

/// Half floats, relative: 11 bits, rounded to the nearest.
pub const VAT_HALF_FLOAT: f32 = 4.9e-4;

/// Half floats below 6e-5 have steps of this.
pub const VAT_SMALLEST_HALF_FLOAT: f32 = 6e-8;
/// Pixels that a window's surfaces and the reference's triangles both cover, over those that either covers: edges are
/// blurred over a pixel by multisampling, which is about 2 % of a character some hundred pixels high.
pub const SILHOUETTE_OVERLAP: f64 = 0.97;
/// Two ways of multiplying the same f64 transforms, one of them through an inverse; relative to the largest
/// coordinate.
pub const SAME_IN_F64: f64 = 1e-9;

/// What posing in f32 may be off by per level of a hierarchy, in units of 2^-24, of a chain's scales and reach. 18 is
/// derived (`src/kernel/pose_rig.rs`); random rigs measure 1.2, and 2.0 for normals.
pub const POSED_PER_LEVEL: f64 = 4.0;

/// Points and normals of a rig of so many levels, posed and skinned by the GPU and by its mirror, relative to the
/// largest coordinate: each rounds as [`POSED_PER_LEVEL`] says, and skinning adds about as much as four levels.
pub fn posed(levels: usize) -> f64 {
    POSED_PER_LEVEL * (levels as f64 + 4.0) * f64::from(f32::EPSILON)
}

/// Points of a figure of some units that plays clips, GPU against mirror, relative to the largest coordinate: as [`posed`], and what
/// two decoded and blended rotations round by at each level; the time in a clip is off by a step of f32.
pub fn played(levels: usize) -> f64 {
    2.0 * posed(levels) + 1e-5
}

/// The same against f64, which computes times, blends, hierarchy and skinning in f64 from the same packed samples. A
/// ten-thousandth of the figure.
pub const PLAYED_IN_F64: f64 = 1e-4;

/// Palettes, posed in f32, against f64: points of the figure's size that they move, relative to the largest coordinate. A
/// ten-thousandth of the figure, for hierarchies of any depth.
pub const POSED_IN_F64: f64 = 1e-4;

/// Megabytes of memory by which four times the frames may differ, 90 MB of them on disk: times and boxes are held, some
/// hundred bytes a sample, and threads meet in other moments.
pub const MEMORY_OF_FRAMES_MB: u64 = 20;

/// Between samples, in parts of a value's size: usd-core interpolates in f32, in clips perhaps twice over, or between
/// another pair of equal samples.
pub const BETWEEN_SAMPLES: f64 = 4e-7;

/// Numbers of about 1 that short formulas in f64 give in two ways, and what the dot product of two quaternions of one turn lacks
/// of 1: some ten roundings of 1e-16 each, and a margin of as many times more.
pub const FORMULAS_IN_F64: f64 = 1e-12;

/// Numbers below 1 after a few operations in f64.
pub const STEPS_IN_F64: f64 = 1e-15;

/// Numbers of about 1 after a few roundings of 6e-8 to f32.
pub const FEW_ROUNDINGS: f64 = 1e-6;

/// The same, where what is compared is f32 itself.
pub const FEW_ROUNDINGS_F32: f32 = 1e-6;

/// Angles that an arc cosine gives, in radians or degrees: it is steep where a turn is small, so that 1e-16 becomes 1e-8.
pub const ANGLE_BY_ACOS: f64 = 1e-6;

/// Baked points and normals of a few units that follow from a stage by hand: every value is f32, and a slerp or a half is on
/// the way of some.
pub const BY_HAND: f64 = 1e-5;

/// Points of glTF files that follow by hand: f32 attributes below 2, evaluated in f64.
pub const GLTF_BY_HAND: f64 = 1e-7;

/// Joints after retargeting, in metres, against the same by other formulas: some dozen transforms of a metre in f64.
pub const RETARGETED_IN_F64: f64 = 1e-9;

/// The angle between the directions of an arm in T-pose and in A-pose, in radians: the arm is turned by 0.8 about z, and stands a
/// 26th out of the plane that this turns, which takes less than a thousandth off.
pub const BEND_BY_HAND: f64 = 1e-3;

/// What the dot product of a turn and the same turn stored in f32 lacks of 1.
pub const TURN_STORED_IN_F32: f64 = 1e-7;

/// Joints of a figure and of the same figure turned round as a whole, in metres: f32 keys of both, turned in f32.
pub const TURNED_FIGURE: f64 = 1e-5;

/// Volumes of boxes of some units, of points in f32: three coordinates are multiplied, each rounded by 6e-8.
pub const VOLUME_OF_A_BOX: f64 = 1e-5;

/// Sums of up to 12 weights in f32 that were normalised.
pub const SUM_OF_WEIGHTS: f32 = 1e-5;

/// Lengths of normals that a kernel normalised: WebGPU lets an inverse square root be off by 2 units in the last place, and some
/// drivers compute with less.
pub const UNIT_LENGTH: f32 = 1e-5;

/// How much further from f64 than the mirror's the GPU's normals may be where f32 loses digits on either side: each rounds in its own
/// way, so that one of a few dozen products is off by some times the other.
pub const AS_NEAR_AS_THE_MIRROR: f64 = 4.0;

/// Where the root of a retargeted body is, relative to the height of its hips: f64 products of a dozen transforms, of
/// which one is found by comparing two poses.
pub const ROOT_OF_BODIES: f64 = 1e-9;

/// Metres that a locked foot slides in a contact: its heel rolls a little before the ball carries
/// it. The goal is 0.01.
pub const LOCKED_FOOT: f64 = 0.003;

/// Degrees between the knee of the first and of the last sample of a loop: f32 samples of a leg.
pub const LOOP_OF_A_KNEE: f64 = 1e-3;

/// How much faster, and how much more abruptly, a knee bends when its foot is locked: bending a
/// nearly straight leg by a millimetre takes degrees.
pub const KNEE_OF_A_LOCKED_FOOT: f64 = 1.4;

/// Points that a vertex shader computes in f32 from a bone texture of f32, against the ordinary bake, in metres, of a
/// character of about a metre. Matrices are rounded once more, with the character's place in them.
pub const BONE_TEXTURE_METRES: f64 = 2e-6;

/// The same from a texture of 16-bit floats: 11 bits of a translation of about a metre.
pub const BONE_TEXTURE_HALF_METRES: f64 = 2e-3;

/// Velocities against differences of the reference's points over 0.1 time codes, or from key to key, relative to the
/// fastest or the size, per second. The reference's values between keys are rounded to f32.
pub const VELOCITY: f64 = 2e-2;

/// Velocities against differences of points of usd-core's joints, relative to the fastest, without scales. Rotations are
/// rounded to f32.
pub const VELOCITY_OF_USD_CORE: f64 = 2e-4;

/// Velocities against differences over 0.1 or 0.02 time codes of usd-core's own points, relative to the fastest. The points
/// are f32: some units from the origin they have errors of 1e-6, divided by the step.
pub const VELOCITY_OF_F32_POINTS: f64 = 2e-3;

/// Packed clips, CPU mirror against GPU, relative to the largest component, at least 1: both read the same integers; a square
/// root, a quotient and a few sums differ by their roundings of 6e-8 where a GPU contracts them.
pub const MIRROR_CLIPS: f64 = 2e-6;

/// Points at 3 cm from joints of packed clips against their curves in f64, each coordinate, in metres: the encoder keeps 1e-4, of
/// times in f64; a time in f32 is off by 1e-7 s, at joints that move at tens of metres a second.
pub const PACKED_CLIPS_METRES: f64 = 1.1e-4;

/// Vertices of characters that play clips on the GPU against their files' own poses, relative to the size of the character: packed
/// clips keep 1e-4 m at 3 cm from joints, which a vertex ten times as far from its joint has tenfold.
pub const CHARACTERS: f64 = 1.5e-3;

/// The same against the mirrors, or two characters of one pose: f32 over a dozen joints, and the time in a clip by a step of f32.
pub const CHARACTERS_MIRRORED: f64 = 2e-6;
