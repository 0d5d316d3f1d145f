//! Clips as one file: GIF and animated PNG by crates, MP4 and WebM by ffmpeg.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fs::File;
use std::io::{BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};

use color_quant::NeuQuant;
use gif::{DisposalMethod, Encoder, Repeat};
use image::{Rgba, RgbaImage};
use sinew_io::output::Outputs;

use crate::error::{Error, Result};

/// Speed of the search for a GIF's colours, 1 to 30. 10 is what others take.
const GIF_SPEED: i32 = 10;
/// Colours of one picture of a GIF: one of 256 entries stands for pixels that stay.
const GIF_COLORS: usize = 255;
/// Largest difference of a channel, of 255, between a pixel and what a GIF shows there already, with
/// which the pixel is not written again. Nobody sees it: a palette of 255 colours is coarser.
const GIF_STAYS: u8 = 4;

/// A format of clips.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClipFormat {
    Gif,
    /// Animated PNG: all colours, and smooth transparency.
    Apng,
    /// By ffmpeg.
    Mp4,
    /// By ffmpeg.
    WebM,
}

impl ClipFormat {
    /// The format of a file's extension; `None` for files of one picture. A .png with a speed of its
    /// own is an animated PNG.
    pub fn of(file: &Path, has_speed: bool) -> Option<Self> {
        match sinew_io::extension(file).as_str() {
            "gif" => Some(Self::Gif),
            "apng" => Some(Self::Apng),
            "png" if has_speed => Some(Self::Apng),
            "mp4" => Some(Self::Mp4),
            "webm" => Some(Self::WebM),
            _ => None,
        }
    }

    /// Checks that the format can be written, before anything is drawn.
    ///
    /// # Errors
    /// ffmpeg is needed and missing, or it lacks an encoder.
    pub fn check(self, output: &Path, size: [u32; 2]) -> Result<()> {
        match self {
            Self::Gif if size.iter().any(|edge| *edge > u32::from(u16::MAX)) => Err(Error::write(
                output,
                "a GIF has at most 65535 pixels a side",
            )),
            Self::Gif | Self::Apng => Ok(()),
            Self::Mp4 | Self::WebM => self.codec(output).map(|_| ()),
        }
    }

    /// The best encoder that the installed ffmpeg has, and its options.
    fn codec(self, output: &Path) -> Result<&'static [&'static str]> {
        let known: &[(&str, &[&str])] = match self {
            Self::WebM => &[
                (
                    "libvpx-vp9",
                    &["-c:v", "libvpx-vp9", "-crf", "30", "-b:v", "0"],
                ),
                ("libvpx", &["-c:v", "libvpx", "-crf", "10", "-b:v", "4M"]),
            ],
            _ => &[
                (
                    "libx264",
                    &["-c:v", "libx264", "-crf", "18", "-preset", "medium"],
                ),
                ("libopenh264", &["-c:v", "libopenh264", "-b:v", "8M"]),
                ("mpeg4", &["-c:v", "mpeg4", "-q:v", "3"]),
            ],
        };
        let listed = Command::new("ffmpeg")
            .args(["-hide_banner", "-encoders"])
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .output();
        let listed = match listed {
            Ok(output) if output.status.success() => output.stdout,
            Ok(other) => {
                let reason = format!("ffmpeg -encoders failed with {}", other.status);
                return Err(Error::write(output, reason));
            }
            Err(e) => {
                let reason = format!(
                    "expected the program ffmpeg, which writes .mp4 and .webm, found none ({e}): install ffmpeg, or write .gif or .apng"
                );
                return Err(Error::write(output, reason));
            }
        };
        let listed = String::from_utf8_lossy(&listed);
        let has = |name: &str| listed.split_whitespace().any(|word| word == name);
        let found = known.iter().find(|(name, _)| has(name));
        found.map(|(_, options)| *options).ok_or_else(|| {
            let names: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
            let reason = format!(
                "expected an ffmpeg with one of the encoders {}, found none of them",
                names.join(", ")
            );
            Error::write(output, reason)
        })
    }
}

/// A clip that is being written. It gets its name when it is complete.
pub struct ClipFile {
    output: PathBuf,
    outputs: Outputs,
    writer: Writer,
}

enum Writer {
    Gif(Box<Gif>),
    Apng(Box<Apng>),
    Ffmpeg(Ffmpeg),
}

impl ClipFile {
    /// Begins a clip of `count` pictures of `size` pixels. Each is shown for `seconds`. `is_opaque`
    /// says whether no picture has transparent pixels.
    ///
    /// # Errors
    /// Those of [`ClipFormat::check`]; a folder that cannot be written to.
    pub fn new(
        output: &Path,
        format: ClipFormat,
        size: [u32; 2],
        count: usize,
        seconds: f64,
        is_opaque: bool,
    ) -> Result<Self> {
        let mut outputs = Outputs::default();
        let failed = |reason: String| Error::write(output, reason);
        let writer = match format {
            ClipFormat::Gif => {
                let sink = BufWriter::new(outputs.create(output)?);
                let gif = Gif::new(sink, size, seconds, is_opaque);
                Writer::Gif(Box::new(gif.map_err(|e| failed(e.to_string()))?))
            }
            ClipFormat::Apng => {
                let sink = BufWriter::new(outputs.create(output)?);
                let apng = Apng::new(sink, size, count, seconds);
                Writer::Apng(Box::new(apng.map_err(|e| failed(e.to_string()))?))
            }
            ClipFormat::Mp4 | ClipFormat::WebM => {
                let codec = format.codec(output)?;
                let file = outputs.begin(output)?;
                let ffmpeg = Ffmpeg::new(outputs.temporary(file), format, codec, size, seconds);
                Writer::Ffmpeg(ffmpeg.map_err(|e| failed(format!("cannot start ffmpeg: {e}")))?)
            }
        };
        Ok(Self {
            output: output.to_owned(),
            outputs,
            writer,
        })
    }

    /// Appends a picture.
    ///
    /// # Errors
    /// A full disk, or an ffmpeg that ended.
    pub fn add(&mut self, picture: RgbaImage) -> Result<()> {
        let added = match &mut self.writer {
            Writer::Gif(gif) => gif.add(picture).map_err(|e| e.to_string()),
            Writer::Apng(apng) => apng.add(picture).map_err(|e| e.to_string()),
            Writer::Ffmpeg(ffmpeg) => ffmpeg.add(&picture),
        };
        added.map_err(|reason| Error::write(&self.output, reason))
    }

    /// Completes the file.
    ///
    /// # Errors
    /// A full disk, or an ffmpeg that failed.
    pub fn finish(self) -> Result<()> {
        let finished = match self.writer {
            Writer::Gif(gif) => gif.finish().map_err(|e| e.to_string()),
            Writer::Apng(apng) => apng.finish().map_err(|e| e.to_string()),
            Writer::Ffmpeg(ffmpeg) => ffmpeg.finish(),
        };
        finished.map_err(|reason| Error::write(&self.output, reason))?;
        Ok(self.outputs.finish()?)
    }
}

/// Seconds that a GIF shows a picture, at least: browsers show one of less time for a tenth.
pub const SHORTEST_OF_GIF: f64 = 0.02;

/// Delays of GIF frames, which are whole hundredths of a second: their sum follows the clip's.
struct Delays {
    seconds: f64,
    frames: f64,
    told: f64,
}

impl Delays {
    fn new(seconds: f64) -> Self {
        Self {
            seconds,
            frames: 0.0,
            told: 0.0,
        }
    }

    /// The hundredths of the next frame.
    fn next(&mut self) -> u16 {
        self.frames += 1.0;
        let end = (self.frames * self.seconds * 100.0).round();
        let hundredths = (end - self.told).clamp(100.0 * SHORTEST_OF_GIF, 65535.0);
        self.told += hundredths;
        hundredths as u16
    }
}

/// A GIF. Frames of opaque clips have, after the first, only what changes.
struct Gif {
    encoder: Encoder<BufWriter<File>>,
    delays: Delays,
    is_opaque: bool,
    last: Option<Shown>,
}

/// A picture, and what the GIF shows of it with its colours.
struct Shown {
    picture: RgbaImage,
    shown: RgbaImage,
}

impl Shown {
    /// Whether a pixel of the next picture is there already.
    fn has(&self, x: u32, y: u32, pixel: Rgba<u8>) -> bool {
        let shown = self.shown.get_pixel(x, y).0;
        let is_near = |(a, b): (&u8, &u8)| a.abs_diff(*b) <= GIF_STAYS;
        *self.picture.get_pixel(x, y) == pixel || shown.iter().zip(&pixel.0).all(is_near)
    }
}

impl Gif {
    fn new(
        sink: BufWriter<File>,
        [width, height]: [u32; 2],
        seconds: f64,
        is_opaque: bool,
    ) -> Result<Self, gif::EncodingError> {
        // ClipFormat::check refuses larger pictures.
        let [width, height] = [width, height].map(|edge| u16::try_from(edge).unwrap_or(u16::MAX));
        let mut encoder = Encoder::new(sink, width, height, &[])?;
        encoder.set_repeat(Repeat::Infinite)?;
        Ok(Self {
            encoder,
            delays: Delays::new(seconds),
            is_opaque,
            last: None,
        })
    }

    fn add(&mut self, picture: RgbaImage) -> Result<(), gif::EncodingError> {
        let (width, height) = picture.dimensions();
        let last = self.last.take().filter(|_| self.is_opaque);
        let stays = |x, y, pixel| last.as_ref().is_some_and(|last| last.has(x, y, pixel));
        let [left, top, right, bottom] = match last {
            None => [0, 0, width, height],
            Some(_) => bounds(&picture, |x, y, pixel| !stays(x, y, pixel)),
        };
        let mut part =
            image::imageops::crop_imm(&picture, left, top, right - left, bottom - top).to_image();
        for (x, y, pixel) in part.enumerate_pixels_mut() {
            if stays(left + x, top + y, *pixel) {
                pixel.0 = [0; 4];
            }
        }
        let Palette {
            indices,
            colors,
            transparent,
        } = Palette::of(&part);
        let mut shown = last.map_or_else(|| RgbaImage::new(width, height), |last| last.shown);
        for ((x, y, _), index) in part.enumerate_pixels().zip(&indices) {
            if Some(*index) != transparent {
                let [r, g, b] = colors[usize::from(*index)];
                shown.put_pixel(left + x, top + y, Rgba([r, g, b, 255]));
            }
        }
        // Sides are at most 65535 pixels: see above.
        let [left, top, width, height] =
            [left, top, right - left, bottom - top].map(|n| u16::try_from(n).unwrap_or(u16::MAX));
        self.encoder.write_frame(&gif::Frame {
            delay: self.delays.next(),
            dispose: match self.is_opaque {
                true => DisposalMethod::Keep,
                false => DisposalMethod::Background,
            },
            transparent,
            left,
            top,
            width,
            height,
            palette: Some(colors.concat()),
            buffer: Cow::Owned(indices),
            ..gif::Frame::default()
        })?;
        self.last = Some(Shown { picture, shown });
        Ok(())
    }

    fn finish(self) -> Result<(), gif::EncodingError> {
        // Ends the file; a full disk is an error here.
        Ok(self.encoder.into_inner()?.flush()?)
    }
}

/// The colours of a picture of a GIF, and its pixels as their numbers.
struct Palette {
    indices: Vec<u8>,
    colors: Vec<[u8; 3]>,
    /// The number that stands for transparent pixels; `None` if there are none.
    transparent: Option<u8>,
}

impl Palette {
    /// The pixels of `picture` by at most 255 colours: its own if there are no more, or else those
    /// that come near to all. Pixels with an alpha of 0 are transparent, all others opaque.
    fn of(picture: &RgbaImage) -> Self {
        let visible = || picture.pixels().filter(|pixel| pixel.0[3] != 0);
        let opaque = |pixel: &Rgba<u8>| [pixel.0[0], pixel.0[1], pixel.0[2], 255];
        let mut numbers: HashMap<[u8; 4], u8> = HashMap::new();
        let mut colors: Vec<[u8; 3]> = Vec::new();
        for pixel in visible().map(opaque) {
            if colors.len() > GIF_COLORS {
                break;
            }
            numbers.entry(pixel).or_insert_with(|| {
                colors.push([pixel[0], pixel[1], pixel[2]]);
                (colors.len() - 1) as u8
            });
        }
        let mut search = None;
        if colors.len() > GIF_COLORS {
            let pixels: Vec<u8> = visible().flat_map(opaque).collect();
            let found = NeuQuant::new(GIF_SPEED, GIF_COLORS, &pixels);
            let rgb = found.color_map_rgb();
            colors = rgb.chunks_exact(3).map(|c| [c[0], c[1], c[2]]).collect();
            numbers.clear();
            search = Some(found);
        }
        let none = colors.len() as u8;
        let mut transparent = None;
        let indices = picture.pixels().map(|pixel| match pixel.0[3] {
            0 => *transparent.insert(none),
            _ => *numbers.entry(opaque(pixel)).or_insert_with_key(|color| {
                let search = search.as_ref();
                search.map_or(none, |search| search.index_of(color) as u8)
            }),
        });
        let indices = indices.collect();
        if transparent.is_some() {
            colors.push([0; 3]);
        }
        Self {
            indices,
            colors,
            transparent,
        }
    }
}

/// An animated PNG. Frames after the first have only what changed.
struct Apng {
    writer: png::Writer<BufWriter<File>>,
    last: Option<RgbaImage>,
}

impl Apng {
    fn new(
        sink: BufWriter<File>,
        [width, height]: [u32; 2],
        count: usize,
        seconds: f64,
    ) -> Result<Self, png::EncodingError> {
        let mut encoder = png::Encoder::new(sink, width, height);
        encoder.set_color(png::ColorType::Rgba);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.set_compression(png::Compression::High);
        encoder.set_animated(u32::try_from(count.max(1)).unwrap_or(u32::MAX), 0)?;
        let milliseconds = (seconds * 1000.0).round().clamp(1.0, 65535.0);
        encoder.set_frame_delay(milliseconds as u16, 1000)?;
        Ok(Self {
            writer: encoder.write_header()?,
            last: None,
        })
    }

    fn add(&mut self, picture: RgbaImage) -> Result<(), png::EncodingError> {
        if let Some(last) = &self.last {
            let [left, top, right, bottom] =
                bounds(&picture, |x, y, pixel| *last.get_pixel(x, y) != pixel);
            let (width, height) = (right - left, bottom - top);
            let mut part = image::imageops::crop_imm(&picture, left, top, width, height).to_image();
            // Opaque pictures leave out, by transparency, every pixel that stays.
            let opaque = picture.pixels().all(|p| p.0[3] == 255);
            if opaque {
                for (x, y, pixel) in part.enumerate_pixels_mut() {
                    if last.get_pixel(left + x, top + y) == pixel {
                        pixel.0 = [0; 4];
                    }
                }
            }
            self.writer.set_blend_op(match opaque {
                true => png::BlendOp::Over,
                false => png::BlendOp::Source,
            })?;
            self.writer.reset_frame_position()?;
            self.writer.set_frame_dimension(width, height)?;
            self.writer.set_frame_position(left, top)?;
            self.writer.write_image_data(part.as_raw())?;
        } else {
            self.writer.write_image_data(picture.as_raw())?;
        }
        self.last = Some(picture);
        Ok(())
    }

    fn finish(self) -> Result<(), png::EncodingError> {
        self.writer.finish()
    }
}

/// Left, top, right and bottom of the pixels that changed; one pixel if none did.
fn bounds(picture: &RgbaImage, changed: impl Fn(u32, u32, Rgba<u8>) -> bool) -> [u32; 4] {
    let mut out = [u32::MAX, u32::MAX, 0, 0];
    for (x, y, pixel) in picture.enumerate_pixels() {
        if changed(x, y, *pixel) {
            out[0] = out[0].min(x);
            out[1] = out[1].min(y);
            out[2] = out[2].max(x + 1);
            out[3] = out[3].max(y + 1);
        }
    }
    match out[0] {
        u32::MAX => [0, 0, 1, 1],
        _ => out,
    }
}

/// A running ffmpeg that reads pictures from its input.
struct Ffmpeg {
    process: Child,
    input: Option<ChildStdin>,
    /// Reads what ffmpeg says, so that it never waits for a reader.
    said: Option<std::thread::JoinHandle<String>>,
}

impl Ffmpeg {
    fn new(
        file: &Path,
        format: ClipFormat,
        codec: &[&str],
        [width, height]: [u32; 2],
        seconds: f64,
    ) -> std::io::Result<Self> {
        let mut process = Command::new("ffmpeg")
            .args(["-hide_banner", "-loglevel", "error", "-y"])
            .args(["-f", "rawvideo", "-pix_fmt", "rgba"])
            .args(["-s", &format!("{width}x{height}")])
            .args(["-r", &format!("{:.6}", 1.0 / seconds)])
            .args(["-i", "-", "-an"])
            .args(codec)
            // Colours of video have half the pixels, so that sides must be even.
            .args([
                "-vf",
                "pad=ceil(iw/2)*2:ceil(ih/2)*2",
                "-pix_fmt",
                "yuv420p",
            ])
            .args(match format {
                ClipFormat::WebM => &["-f", "webm"][..],
                _ => &["-movflags", "+faststart", "-f", "mp4"],
            })
            .arg(file)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()?;
        let input = process.stdin.take();
        let said = process.stderr.take().map(|mut stderr| {
            std::thread::spawn(move || {
                let mut bytes = Vec::new();
                // What cannot be read is not reported; the exit status is.
                let _ = stderr.read_to_end(&mut bytes);
                String::from_utf8_lossy(&bytes).trim().to_owned()
            })
        });
        Ok(Self {
            process,
            input,
            said,
        })
    }

    fn add(&mut self, picture: &RgbaImage) -> Result<(), String> {
        let written = match &mut self.input {
            Some(input) => input.write_all(picture.as_raw()),
            None => Ok(()),
        };
        written.map_err(|e| match self.wait() {
            Err(reason) => reason,
            Ok(()) => format!("ffmpeg ended too early: {e}"),
        })
    }

    fn finish(mut self) -> Result<(), String> {
        self.wait()
    }

    /// Closes its input, and waits until it ends.
    fn wait(&mut self) -> Result<(), String> {
        self.input = None;
        let status = self.process.wait().map_err(|e| e.to_string())?;
        let said = self.said.take().and_then(|thread| thread.join().ok());
        match status.success() {
            true => Ok(()),
            false => Err(format!(
                "ffmpeg failed with {status}: {}",
                said.unwrap_or_default()
            )),
        }
    }
}

impl Drop for Ffmpeg {
    fn drop(&mut self) {
        self.input = None;
        // It has ended, or nobody wants its file any more.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_of_whole_hundredths_keep_the_clips_length() {
        let mut delays = Delays::new(1.0 / 24.0);
        let all: Vec<u16> = (0..24).map(|_| delays.next()).collect();
        assert_eq!(all.iter().sum::<u16>(), 100);
        assert!(all.iter().all(|d| *d == 4 || *d == 5), "{all:?}");
    }

    #[test]
    fn what_changed_is_the_smallest_box() {
        let mut picture = RgbaImage::new(5, 4);
        let is_lit = |_, _, pixel: Rgba<u8>| pixel.0[0] > 0;
        assert_eq!(bounds(&picture, is_lit), [0, 0, 1, 1]);
        picture.put_pixel(1, 2, Rgba([1; 4]));
        picture.put_pixel(3, 1, Rgba([1; 4]));
        assert_eq!(bounds(&picture, is_lit), [1, 1, 4, 3]);
    }

    #[test]
    fn palettes_have_the_colours_themselves_where_these_are_few() {
        // 255 colours and a transparent pixel.
        let pixel = |x, _| Rgba([x as u8, 7, 255 - x as u8, if x == 255 { 0 } else { 255 }]);
        let picture = RgbaImage::from_fn(256, 2, pixel);
        let palette = Palette::of(&picture);
        assert_eq!(palette.transparent, Some(255));
        for (pixel, index) in picture.pixels().zip(&palette.indices) {
            assert_eq!(pixel.0[3] == 0, *index == 255);
            let color = palette.colors[usize::from(*index)];
            assert!(
                pixel.0[3] == 0 || color == pixel.0[..3],
                "{pixel:?} {color:?}"
            );
        }
    }
}
