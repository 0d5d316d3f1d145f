//! Sinew for C: opens characters, deforms their points into arrays of the caller, and bakes.
//!
//! `include/sinew.h` is made of this file by cbindgen. The test keeps the two equal, and compiles a C
//! program against them.

use std::any::Any;
use std::cell::RefCell;
use std::ffi::{CStr, CString, OsString, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;

use glam::{DMat4, Vec3};
use sinew::kernel::{ArrayInfluences, Palette, skin_points_of_arrays};
use sinew::sampled::Time;
use sinew::scene::{OutSpace, Scene};
use sinew::skel::SkinningMethod;
use sinew_bake::{Backend, Sampler};
use sinew_cli::Failure;

/// Space of points: that of the prim, as in Pixar's bake.
pub const SINEW_SPACE_PRIM: i32 = 0;
/// Space of points: that of the skeleton.
pub const SINEW_SPACE_SKEL: i32 = 1;
/// Space of points: the world.
pub const SINEW_SPACE_WORLD: i32 = 2;

/// Skinning by linear blending.
pub const SINEW_LINEAR: i32 = 0;
/// Skinning by dual quaternions.
pub const SINEW_DUAL_QUATERNION: i32 = 1;

/// An open character. Several threads may use it at once.
pub struct SinewScene {
    scene: Arc<Scene>,
    sampler: Sampler,
    paths: Vec<CString>,
}

thread_local! {
    static LAST_ERROR: RefCell<CString> = RefCell::default();
}

/// Text for C, without the zeros that it cannot hold.
fn text(text: impl Into<String>) -> CString {
    let bytes: Vec<u8> = text.into().into_bytes();
    CString::new(bytes.into_iter().filter(|b| *b != 0).collect::<Vec<_>>()).unwrap_or_default()
}

/// Runs the body of a function. An error or a panic is kept for [`sinew_last_error`].
fn guarded<T>(failed: T, body: impl FnOnce() -> Result<T, Failure>) -> T {
    let message = match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(done)) => return done,
        Ok(Err(failure)) => failure.message,
        Err(panic) => format!("a bug in sinew: {}", said(&*panic)),
    };
    LAST_ERROR.with_borrow_mut(|last| *last = text(message));
    failed
}

fn said(panic: &dyn Any) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("a panic")
}

/// Text of the caller.
///
/// # Safety
/// `from` is null or text that ends with a zero.
unsafe fn argument<'a>(from: *const c_char, name: &str) -> Result<&'a str, Failure> {
    if from.is_null() {
        return Err(Failure::usage(format!("{name}: expected text, found NULL")));
    }
    // SAFETY: it is not null, and the caller says that it ends.
    let text = unsafe { CStr::from_ptr(from) };
    let wrong = |_| Failure::usage(format!("{name}: expected UTF-8"));
    text.to_str().map_err(wrong)
}

/// An array of the caller; NULL is one without elements.
///
/// # Safety
/// `from` is null or has `count` elements that live as long as the result.
unsafe fn array<'a, T>(from: *const T, count: usize, name: &str) -> Result<&'a [T], Failure> {
    match from.is_null() {
        true if count == 0 => Ok(&[]),
        true => Err(Failure::usage(format!(
            "{name}: expected {count} elements, found NULL"
        ))),
        // SAFETY: the caller says that the elements are there.
        false => Ok(unsafe { std::slice::from_raw_parts(from, count) }),
    }
}

/// # Safety
/// As [`array`], and nobody else uses the elements.
unsafe fn array_mut<'a, T>(from: *mut T, count: usize, name: &str) -> Result<&'a mut [T], Failure> {
    match from.is_null() {
        true if count == 0 => Ok(&mut []),
        true => Err(Failure::usage(format!(
            "{name}: expected {count} elements, found NULL"
        ))),
        // SAFETY: the caller says that the elements are there and are not shared.
        false => Ok(unsafe { std::slice::from_raw_parts_mut(from, count) }),
    }
}

/// # Safety
/// `scene` is null or came from [`sinew_open`] and is not closed.
unsafe fn opened<'a>(scene: *const SinewScene) -> Result<&'a SinewScene, Failure> {
    // SAFETY: as the caller says.
    let scene = unsafe { scene.as_ref() };
    scene.ok_or_else(|| Failure::usage("scene: expected an open scene, found NULL"))
}

impl SinewScene {
    fn check(&self, prim: usize) -> Result<(), Failure> {
        let count = self.paths.len();
        match prim < count {
            true => Ok(()),
            false => Err(Failure::usage(format!(
                "prim: expected less than {count}, found {prim}"
            ))),
        }
    }
}

/// The version of the library, such as "0.1.0". Never free it.
#[unsafe(no_mangle)]
pub extern "C" fn sinew_version() -> *const c_char {
    const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "\0");
    VERSION.as_ptr().cast()
}

/// What the last function that failed on this thread says, in UTF-8. It is valid until the next one
/// fails there. Never free it.
#[unsafe(no_mangle)]
pub extern "C" fn sinew_last_error() -> *const c_char {
    LAST_ERROR.with_borrow(|last| last.as_ptr())
}

/// Opens a file of any format: USD, glTF, VRM, BVH or FBX. NULL if it cannot be read.
///
/// # Safety
/// `file` is text in UTF-8 that ends with a zero.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_open(file: *const c_char) -> *mut SinewScene {
    guarded(std::ptr::null_mut(), || {
        // SAFETY: as the caller says.
        let file = unsafe { argument(file, "file") }?;
        let scene = sinew_io::open(PathBuf::from(file))?.scene(Default::default())?;
        let scene = Arc::new(scene);
        let opened = SinewScene {
            sampler: Sampler::new(scene.clone(), &Backend::Cpu)?,
            paths: scene.bindings.iter().map(|b| text(&*b.path)).collect(),
            scene,
        };
        Ok(Box::into_raw(Box::new(opened)))
    })
}

/// Closes a scene; NULL is allowed.
///
/// # Safety
/// `scene` came from sinew_open, is not closed yet, and nobody uses it any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_close(scene: *mut SinewScene) {
    guarded((), || {
        if !scene.is_null() {
            // SAFETY: as the caller says.
            drop(unsafe { Box::from_raw(scene) });
        }
        Ok(())
    });
}

/// Number of skinned prims; 0 for NULL.
///
/// # Safety
/// `scene` is open.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_prim_count(scene: *const SinewScene) -> usize {
    // SAFETY: as the caller says.
    guarded(0, || Ok(unsafe { opened(scene) }?.paths.len()))
}

/// The path of a prim; NULL if there is no such prim. It is valid until the scene is closed.
///
/// # Safety
/// `scene` is open.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_prim_path(scene: *const SinewScene, prim: usize) -> *const c_char {
    guarded(std::ptr::null(), || {
        // SAFETY: as the caller says.
        let scene = unsafe { opened(scene) }?;
        scene.check(prim)?;
        Ok(scene.paths[prim].as_ptr())
    })
}

/// The number of the prim with this path; -1 if there is none.
///
/// # Safety
/// `scene` is open; `path` is text that ends with a zero.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_find_prim(scene: *const SinewScene, path: *const c_char) -> isize {
    guarded(-1, || {
        // SAFETY: as the caller says.
        let (scene, path) = unsafe { (opened(scene)?, argument(path, "path")?) };
        Ok(scene.scene.resolve(path)?.index() as isize)
    })
}

/// Writes startTimeCode and endTimeCode. Returns false, and writes nothing, if the stage lacks one.
///
/// # Safety
/// `scene` is open; `first` and `last` can be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_time_range(
    scene: *const SinewScene,
    first: *mut f64,
    last: *mut f64,
) -> bool {
    guarded(false, || {
        // SAFETY: as the caller says.
        let scene = unsafe { opened(scene) }?;
        // SAFETY: as the caller says.
        let (first, last) = unsafe { (array_mut(first, 1, "first")?, array_mut(last, 1, "last")?) };
        let Some((begin, end)) = scene.scene.time_line.range else {
            return Err(Failure::new("the stage has no range of times"));
        };
        (first[0], last[0]) = (begin, end);
        Ok(true)
    })
}

/// Number of points of a prim at a time; -1 after an error.
///
/// # Safety
/// `scene` is open.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_point_count(
    scene: *const SinewScene,
    prim: usize,
    time: f64,
) -> isize {
    guarded(-1, || {
        // SAFETY: as the caller says.
        let scene = unsafe { opened(scene) }?;
        scene.check(prim)?;
        Ok(scene.sampler.point_count(prim, Time::At(time))? as isize)
    })
}

/// Deforms a prim at times: blend shapes, then skinning, on all cores. The bits are those of
/// `sinew bake --backend cpu --rigid points`.
///
/// `out` gets 3 floats for each point, one time after the other; `out_count` is the number of floats:
/// 3 * points * times. `space` is SINEW_SPACE_PRIM, SINEW_SPACE_SKEL or SINEW_SPACE_WORLD. Returns
/// false after an error; `out` is then not specified.
///
/// # Safety
/// `scene` is open; the arrays have so many elements.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_points(
    scene: *const SinewScene,
    prim: usize,
    times: *const f64,
    time_count: usize,
    space: i32,
    out: *mut f32,
    out_count: usize,
) -> bool {
    guarded(false, || {
        // SAFETY: as the caller says.
        let (scene, times) = unsafe { (opened(scene)?, array(times, time_count, "times")?) };
        // SAFETY: as the caller says.
        let out = unsafe { array_mut(out, out_count, "out") }?;
        scene.check(prim)?;
        let space = match space {
            SINEW_SPACE_PRIM => OutSpace::Prim,
            SINEW_SPACE_SKEL => OutSpace::Skel,
            SINEW_SPACE_WORLD => OutSpace::World,
            other => {
                let message = format!("space: expected a SINEW_SPACE constant, found {other}");
                return Err(Failure::usage(message));
            }
        };
        if let Some(bad) = times.iter().find(|time| !time.is_finite()) {
            let message = format!("times: expected finite numbers, found {bad}");
            return Err(Failure::usage(message));
        }
        let times: Vec<Time> = times.iter().copied().map(Time::At).collect();
        let Some(first) = times.first() else {
            return Ok(true);
        };
        let points = scene.sampler.point_count(prim, *first)?;
        let expected = points.saturating_mul(3).saturating_mul(times.len());
        if out.len() != expected {
            let message = format!("out_count: expected {expected}, found {}", out.len());
            return Err(Failure::usage(message));
        }
        let out: &mut [Vec3] = bytemuck::cast_slice_mut(out);
        scene.sampler.points(prim, &times, space, out)?;
        Ok(true)
    })
}

/// Skins plain arrays, as UsdSkelSkinPoints does: from prim space to skeleton space.
///
/// - `method`: SINEW_LINEAR or SINEW_DUAL_QUATERNION.
/// - `points`, `out`: 3 floats for each of `point_count` points. They are different memory.
/// - `joint_indices`, `joint_weights`: `influences` for each point.
/// - `palette`: 16 doubles for each of `joint_count` joints, in rows: the skinning transform of row
///   vectors, as in USD, whose translation is in the last row.
/// - `geom_bind`: 16 doubles, or NULL for the identity.
///
/// Returns false after an error, such as a joint index that the palette lacks; `out` is then not
/// specified.
///
/// # Safety
/// The arrays have so many elements, and `out` is not shared.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_skin_points(
    method: i32,
    points: *const f32,
    point_count: usize,
    joint_indices: *const i32,
    joint_weights: *const f32,
    influences: usize,
    palette: *const f64,
    joint_count: usize,
    geom_bind: *const f64,
    out: *mut f32,
) -> bool {
    guarded(false, || {
        let method = match method {
            SINEW_LINEAR => SkinningMethod::ClassicLinear,
            SINEW_DUAL_QUATERNION => SkinningMethod::DualQuaternion,
            other => {
                let text = format!(
                    "method: expected SINEW_LINEAR or SINEW_DUAL_QUATERNION, found {other}"
                );
                return Err(Failure::usage(text));
            }
        };
        let too_many = || Failure::usage("the arrays are larger than memory");
        let floats = point_count.checked_mul(3).ok_or_else(too_many)?;
        let records = point_count.checked_mul(influences).ok_or_else(too_many)?;
        if joint_count > 65_534 {
            return Err(Failure::usage("joint_count: expected at most 65534"));
        }
        // SAFETY: as the caller says.
        let (points, joints, weights, palette) = unsafe {
            (
                array(points, floats, "points")?,
                array(joint_indices, records, "joint_indices")?,
                array(joint_weights, records, "joint_weights")?,
                array(palette, joint_count * 16, "palette")?,
            )
        };
        // SAFETY: as the caller says.
        let out = unsafe { array_mut(out, floats, "out") }?;
        let bind = match geom_bind.is_null() {
            true => DMat4::IDENTITY,
            // SAFETY: as the caller says.
            false => DMat4::from_cols_slice(unsafe { array(geom_bind, 16, "geom_bind") }?),
        };
        // The rows of row vectors are the columns of column vectors.
        let skinning = palette.chunks_exact(16).map(DMat4::from_cols_slice);
        let skinning: Vec<DMat4> = skinning.collect();
        if !(bind.is_finite() && skinning.iter().all(DMat4::is_finite)) {
            return Err(Failure::usage(
                "palette, geom_bind: expected finite numbers",
            ));
        }
        let palette = Palette::pack(method, &skinning, bind, false);
        let influences = ArrayInfluences {
            joints,
            weights,
            count: influences,
            constant: false,
        };
        let rest: &[Vec3] = bytemuck::cast_slice(points);
        let out: &mut [Vec3] = bytemuck::cast_slice_mut(out);
        skin_points_of_arrays("sinew_skin_points", influences, &palette, rest, out)?;
        Ok(true)
    })
}

/// Bakes a file, as the command `sinew bake INPUT -o OUTPUT OPTIONS`. Nothing is printed.
///
/// `options` are `option_count` words, such as "--frames", "1:48"; NULL if there are none. If
/// `report` is not NULL, it gets what the command prints with --json, or NULL after an error; free it
/// by sinew_free_text. Returns the exit code of the command (0: all is baked, 3: some prims failed),
/// or -1 after an error, such as arguments that are wrong: then nothing is written.
///
/// # Safety
/// All texts are in UTF-8 and end with a zero; `options` has so many; `report` can be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_bake(
    input: *const c_char,
    output: *const c_char,
    options: *const *const c_char,
    option_count: usize,
    report: *mut *mut c_char,
) -> i32 {
    let (code, json) = guarded((-1, std::ptr::null_mut()), || {
        // SAFETY: as the caller says.
        let (input, output, options) = unsafe {
            (
                argument(input, "input")?,
                argument(output, "output")?,
                array(options, option_count, "options")?,
            )
        };
        let mut line: Vec<OsString> = vec!["sinew".into(), "bake".into()];
        for option in options {
            // SAFETY: as the caller says.
            line.push(unsafe { argument(*option, "options") }?.into());
        }
        line.push(format!("--output={output}").into());
        line.extend(["--json", "--", input].map(OsString::from));
        let go_on = Box::new(|_| std::ops::ControlFlow::Continue(()));
        let outcome = sinew_cli::call(line, go_on)?;
        let json = text(outcome.output).into_raw();
        Ok((i32::from(outcome.exit), json))
    });
    // SAFETY: as the caller says.
    match unsafe { report.as_mut() } {
        Some(report) => *report = json,
        // SAFETY: it came from `into_raw` just now, or is null.
        None => unsafe { sinew_free_text(json) },
    }
    code
}

/// Frees a text that a function gave by a pointer to it; NULL is allowed.
///
/// # Safety
/// `text` came from this library and is not freed yet.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_free_text(text: *mut c_char) {
    if !text.is_null() {
        // SAFETY: as the caller says.
        drop(unsafe { CString::from_raw(text) });
    }
}
