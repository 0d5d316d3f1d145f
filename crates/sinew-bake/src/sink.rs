//! Where baked frames go: the seam between what deforms and what writes.

use glam::{DMat4, Vec3};

use sinew::sampled::Time;
use sinew::scene::{NormalsProperty, OutSpace, Scene};

/// What a [`FrameSink`] may fail with. An [`Error`](crate::Error) of this crate comes out of the bake
/// as it is, anything else as [`Error::Sink`](crate::Error::Sink).
pub type SinkError = Box<dyn std::error::Error + Send + Sync>;

/// Takes the frames of a bake, one after the other: a file format, a socket, a renderer.
///
/// Every format of this crate is one. The calls come on the thread that called the bake, while other
/// threads deform the next frames. Their order is `begin`, then a `frame` for every time of
/// [`BakeStart::times`], ascending, then `finish`.
///
/// `finish` is called only if at least one prim came out and nothing failed. A bake that fails or is
/// cancelled just drops the sink's turn, so give files their names in `finish` and remove what is
/// unfinished in `Drop`.
///
/// Two kinds of formats fit behind this trait, see [`Sampling`](crate::Sampling). Caches hold every
/// prim at every frame. USD has times of its own for each prim: there a frame holds the prims that
/// have a sample at its time, and only those.
///
/// ```
/// use sinew_bake::{BakePlan, BakeStart, Baker, Frame, FrameSink, SinkError};
///
/// /// The lowest point of each frame.
/// #[derive(Default)]
/// struct Lowest(Vec<f32>);
///
/// impl FrameSink for Lowest {
///     fn begin(&mut self, start: &BakeStart<'_>) -> Result<(), SinkError> {
///         self.0.reserve(start.times.len());
///         Ok(())
///     }
///     fn frame(&mut self, frame: &mut Frame) -> Result<(), SinkError> {
///         let points = frame.prims.iter().flat_map(|prim| &prim.points);
///         self.0.push(points.fold(f32::INFINITY, |y, p| y.min(p.y)));
///         Ok(())
///     }
///     fn finish(&mut self) -> Result<(), SinkError> {
///         Ok(())
///     }
/// }
///
/// let scene = sinew_io::open("../../examples/assets/hatchling.usda")?.scene(Default::default())?;
/// let mut baker = Baker::cpu();
/// let mut lowest = Lowest::default();
/// let plan = BakePlan::frames(1.0, 3.0, 1.0);
/// let go_on = &mut |_| std::ops::ControlFlow::Continue(());
/// let report = baker.bake(&scene, &plan, &mut lowest, go_on)?;
/// assert_eq!((report.frames, lowest.0.len()), (3, 3));
/// # Ok::<(), sinew_bake::Error>(())
/// ```
pub trait FrameSink {
    /// Called once, before the first frame.
    ///
    /// # Errors
    /// Whatever the sink says; the bake ends with it.
    fn begin(&mut self, start: &BakeStart<'_>) -> Result<(), SinkError>;

    /// Takes a frame. Arrays that the sink wants to keep it may take out of the frame; what it leaves
    /// there, and what it gives to [`Frame::recycle`], is memory for later frames.
    ///
    /// # Errors
    /// Whatever the sink says; the bake ends with it.
    fn frame(&mut self, frame: &mut Frame) -> Result<(), SinkError>;

    /// Called once, after the last frame.
    ///
    /// # Errors
    /// Whatever the sink says; the bake ends with it.
    fn finish(&mut self) -> Result<(), SinkError>;
}

/// What a sink is told before the first frame.
#[derive(Debug)]
#[non_exhaustive]
pub struct BakeStart<'a> {
    /// The scene that is baked.
    pub scene: &'a Scene,
    /// The prims that frames hold.
    pub prims: &'a [PrimInfo],
    /// The time of every frame, ascending; the default time alone if nothing is animated.
    pub times: &'a [Time],
    /// Time codes from one frame to the next, if frames are evenly spaced.
    pub step: Option<f64>,
    /// The space of points and normals.
    pub space: OutSpace,
}

impl BakeStart<'_> {
    /// Frames per second of playback, if frames are evenly spaced.
    #[must_use]
    pub fn frames_per_second(&self) -> Option<f64> {
        let rate = self.scene.time_line.time_codes_per_second;
        self.step.map(|step| rate / step)
    }
}

/// A prim that frames hold.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct PrimInfo {
    /// Prim path.
    pub path: String,
    /// Index into [`Scene::bindings`].
    pub binding: usize,
    /// How many points it has: in every frame if each frame has every prim, else at its first time.
    /// 0 for a prim that only moves by its transform.
    pub points: usize,
    /// What each array of [`PrimSample::normals`] is; `None` for smooth normals made from the deformed
    /// points, and for a prim without normals.
    pub normals: Vec<Option<NormalsProperty>>,
    /// Prims that come out the same, by index into [`Scene::bindings`]: other instances of a prototype.
    pub copies: Vec<usize>,
}

/// Everything that was baked at one time.
#[derive(Debug)]
#[non_exhaustive]
pub struct Frame {
    /// Index into [`BakeStart::times`].
    pub index: usize,
    /// The time.
    pub time: Time,
    /// The prims that have a sample at this time, in the order of [`BakeStart::prims`].
    pub prims: Vec<PrimSample>,
    pub(super) recycled: Vec<Vec<Vec3>>,
}

impl Frame {
    pub(super) fn new(index: usize, time: Time) -> Self {
        Self {
            index,
            time,
            prims: Vec::new(),
            recycled: Vec::new(),
        }
    }

    /// Gives an array back that a sink took out of an earlier frame and needs no more. Fresh memory
    /// costs more than the deformation that fills it.
    pub fn recycle(&mut self, array: Vec<Vec3>) {
        self.recycled.push(array);
    }
}

/// A prim at one time.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PrimSample {
    /// Index into [`BakeStart::prims`].
    pub prim: usize,
    /// Index into [`Scene::bindings`].
    pub binding: usize,
    /// Deformed points; none if the prim only moves by its transform.
    pub points: Vec<Vec3>,
    /// Deformed normals, not normalised; `None` if nothing deforms them. Entries are those of
    /// [`PrimInfo::normals`].
    pub normals: Vec<Option<Vec<Vec3>>>,
    /// Corners of the bounding box of the points, widths of points and curves included; `None` without
    /// points.
    pub extent: Option<[Vec3; 2]>,
    /// The transform that replaces the prim's own: parent_from_prim, or world_from_prim if the prim
    /// resets its transform stack or its points left prim space. `None` if it keeps its own.
    pub transform: Option<DMat4>,
}
