//! The interface between the baker, which deforms, and sinks, which write frames.

use glam::{DMat4, Vec3};

use sinew::sampled::Time;
use sinew::scene::{NormalsProperty, OutSpace, Scene};

/// The error of a [`FrameSink`]. The bake returns an [`Error`](crate::Error) of this crate as it
/// is, and any other error as [`Error::Sink`](crate::Error::Sink).
pub type SinkError = Box<dyn std::error::Error + Send + Sync>;

/// Receives the frames of a bake, one after the other. A sink may be a file format, a socket or a
/// renderer. All formats of this crate are sinks.
///
/// The methods are called on the thread that called the bake, while other threads deform the next
/// frames. The order is `begin`, then `frame` for every time of [`BakeStart::times`], ascending,
/// then `finish`.
///
/// `finish` is called only if at least one prim was baked and nothing failed. If a bake fails or is
/// cancelled, no further method is called. So rename files to their final names in `finish`, and
/// remove unfinished files in `Drop`.
///
/// There are two kinds of formats, see [`Sampling`](crate::Sampling). Caches have every prim in
/// every frame. In USD each prim has its own times: a frame has only the prims with a sample at its
/// time.
///
/// ```
/// use sinew_bake::{BakePlan, Baker, Frame, FrameSink, SinkError};
///
/// /// The lowest point of each frame.
/// #[derive(Default)]
/// struct Lowest(Vec<f32>);
///
/// impl FrameSink for Lowest {
///     fn frame(&mut self, frame: &mut Frame) -> Result<(), SinkError> {
///         let points = frame.prims.iter().flat_map(|prim| &prim.points);
///         self.0.push(points.fold(f32::INFINITY, |y, p| y.min(p.y)));
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
    /// Called once, before the first frame. Without it, nothing is done.
    ///
    /// # Errors
    /// Whatever the sink says; the bake ends with it.
    fn begin(&mut self, _start: &BakeStart<'_>) -> Result<(), SinkError> {
        Ok(())
    }

    /// Receives a frame. The sink may take arrays out of the frame. The memory of arrays that stay
    /// in the frame, and of those passed to [`Frame::recycle`], is used for later frames.
    ///
    /// # Errors
    /// Whatever the sink says; the bake ends with it.
    fn frame(&mut self, frame: &mut Frame) -> Result<(), SinkError>;

    /// Called once, after the last frame. Without it, nothing is done.
    ///
    /// # Errors
    /// Whatever the sink says; the bake ends with it.
    fn finish(&mut self) -> Result<(), SinkError> {
        Ok(())
    }
}

/// Information for a sink before the first frame.
#[derive(Debug)]
#[non_exhaustive]
pub struct BakeStart<'a> {
    /// The scene that is baked.
    pub scene: &'a Scene,
    /// The prims that occur in frames.
    pub prims: &'a [PrimInfo],
    /// The time of every frame, ascending. Only the default time if nothing is animated.
    pub times: &'a [Time],
    /// Time codes from one frame to the next; `None` if frames are not evenly spaced.
    pub step: Option<f64>,
    /// The space of points and normals.
    pub space: OutSpace,
}

impl BakeStart<'_> {
    /// Frames per second of playback; `None` if frames are not evenly spaced.
    #[must_use]
    pub fn frames_per_second(&self) -> Option<f64> {
        let rate = self.scene.time_line.time_codes_per_second;
        self.step.map(|step| rate / step)
    }
}

/// A prim that occurs in frames.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct PrimInfo {
    /// Prim path.
    pub path: String,
    /// Index into [`Scene::bindings`].
    pub binding: usize,
    /// Number of points: in every frame if each frame has every prim, otherwise at the prim's first
    /// time. 0 for a prim that only moves by its transform.
    pub points: usize,
    /// The property of each array of [`PrimSample::normals`]. `None` for smooth normals computed
    /// from the deformed points, and for a prim without normals.
    pub normals: Vec<Option<NormalsProperty>>,
    /// Prims with the same result, by index into [`Scene::bindings`]: other instances of a
    /// prototype.
    pub copies: Vec<usize>,
}

/// All samples at one time.
#[derive(Debug)]
#[non_exhaustive]
pub struct Frame {
    /// Index into [`BakeStart::times`].
    pub index: usize,
    /// The time of the frame.
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

    /// Returns an array that a sink took out of an earlier frame and does not need any more. New
    /// memory costs more than the deformation that fills it.
    pub fn recycle(&mut self, array: Vec<Vec3>) {
        self.recycled.push(array);
    }
}

/// The sample of a prim at one time.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PrimSample {
    /// Index into [`BakeStart::prims`].
    pub prim: usize,
    /// Index into [`Scene::bindings`].
    pub binding: usize,
    /// Deformed points in [`BakeStart::space`]; empty if the prim only moves by its transform.
    pub points: Vec<Vec3>,
    /// Deformed normals, not normalised, one array per entry of [`PrimInfo::normals`]; `None` if
    /// nothing deforms them.
    pub normals: Vec<Option<Vec<Vec3>>>,
    /// Minimum and maximum corner of the bounding box of the points, with the widths of points and
    /// curves. `None` without points.
    pub extent: Option<[Vec3; 2]>,
    /// The velocity of each point in units of [`BakeStart::space`] per second, if
    /// [`BakePlan::velocities`](crate::BakePlan::velocities) is set. `None` without points and at
    /// the default time.
    pub velocities: Option<Vec<Vec3>>,
    /// The transform that replaces the prim's own; `None` if the prim keeps its own. It is
    /// parent_from_prim, or world_from_prim if the prim resets its transform stack or its points
    /// are not in prim space.
    pub transform: Option<DMat4>,
}
