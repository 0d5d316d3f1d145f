//! Draws pictures into memory, without a window.

use image::RgbaImage;

use super::targets::drawn_into;
use super::{Background, Camera, Look, Renderer, Result, Stage};
use sinew::gpu::{GpuError, guarded, mapped, wait_for};

/// In a buffer on the GPU the bytes of a picture's row are a multiple of this.
const ROW: u32 = wgpu::COPY_BYTES_PER_ROW_ALIGNMENT;

/// Number of samples of each pixel.
const SAMPLES: u32 = 4;

/// Draws pictures into memory. They are RGBA with 8 bits per channel, sRGB, with straight alpha,
/// and the first row is the top.
#[derive(Debug)]
pub struct Offscreen {
    device: wgpu::Device,
    queue: wgpu::Queue,
    renderer: Renderer,
    /// For the size of the last picture.
    target: Option<Target>,
}

/// The texture that pictures of one size are drawn into.
#[derive(Debug)]
struct Target {
    size: [u32; 2],
    texture: wgpu::Texture,
}

/// Checks that a device can draw pictures of `size` pixels (width and height).
///
/// # Errors
/// [`GpuError::Limit`], with the name of the limit, if the picture is too large;
/// [`GpuError::Invalid`] if it has no pixels.
pub fn check_size(device: &wgpu::Device, size: [u32; 2]) -> Result<(), GpuError> {
    let limits = device.limits();
    let [width, height] = size.map(u64::from);
    let limit = |what: &str, asked: u64, limit: u64| {
        Err(GpuError::Limit {
            what: format!("{what} of a picture of {width} x {height} pixels"),
            asked,
            limit,
        })
    };
    let most = u64::from(limits.max_texture_dimension_2d);
    if width.min(height) == 0 {
        return Err(GpuError::Invalid {
            what: "the size of a picture".into(),
            expected: "a width and a height of at least 1 pixel".into(),
            found: format!("{width} x {height}"),
        });
    }
    if width.max(height) > most {
        return limit(
            "pixels along an edge (max_texture_dimension_2d)",
            width.max(height),
            most,
        );
    }
    let bytes = (width * 4).next_multiple_of(u64::from(ROW)) * height;
    if bytes > limits.max_buffer_size {
        return limit("bytes (max_buffer_size)", bytes, limits.max_buffer_size);
    }
    Ok(())
}

impl Offscreen {
    /// Draws on a device. Pipelines are compiled later: see [`Renderer::new`].
    ///
    /// # Errors
    /// Those of [`Renderer::new`].
    pub fn new(device: &wgpu::Device, queue: &wgpu::Queue) -> Result<Self, GpuError> {
        Ok(Self {
            device: device.clone(),
            queue: queue.clone(),
            renderer: Renderer::new(device, wgpu::TextureFormat::Rgba8UnormSrgb, SAMPLES)?,
            target: None,
        })
    }

    /// Compiles now what every picture of this look needs, in several threads: see
    /// [`Renderer::prewarm`].
    ///
    /// # Errors
    /// Those of [`Renderer::prewarm`].
    pub fn prewarm(&self, look: &Look) -> Result<(), GpuError> {
        self.renderer.prewarm(look)
    }

    /// Deforms a stage in its current pose, draws it, and waits for the picture of `size` pixels
    /// (width and height). The blocking form of [`Offscreen::start_picture`].
    ///
    /// # Errors
    /// Those of [`Offscreen::start_picture`] and [`sinew::gpu::wait_for`].
    pub fn picture(
        &mut self,
        stage: &mut Stage,
        camera: &Camera,
        look: &Look,
        size: [u32; 2],
    ) -> Result<RgbaImage> {
        let device = self.device.clone();
        let picture = self.start_picture(stage, camera, look, size)?;
        wait_for(&device, picture)?
    }

    /// Deforms a stage in its current pose, draws it, and returns a future of the picture of `size`
    /// pixels (width and height). Everything is submitted when this returns, so the stage is free for
    /// its next pose, and another picture may be started. On native targets somebody must poll the
    /// device until the picture is there.
    ///
    /// # Errors
    /// Those of [`check_size`], [`Renderer::draw`] and [`Stage::encode`]; the device is lost or has no
    /// memory.
    pub fn start_picture(
        &mut self,
        stage: &mut Stage,
        camera: &Camera,
        look: &Look,
        size: [u32; 2],
    ) -> Result<impl Future<Output = Result<RgbaImage>> + use<>> {
        check_size(&self.device, size)?;
        let device = self.device.clone();
        if self.target.as_ref().is_none_or(|t| t.size != size) {
            self.target = Some(guarded(&device, || Target::new(&device, size))?);
        }
        let mut encoder = guarded(&device, || {
            device.create_command_encoder(&Default::default())
        })?;
        stage.encode(&mut encoder)?;
        let Some(target) = &self.target else {
            return Err(GpuError::Lost("no texture to draw into".into()).into());
        };
        let view = target.texture.create_view(&Default::default());
        self.renderer
            .draw(&mut encoder, &view, size, stage, camera, look)?;
        let [width, height] = size;
        let row = (width * 4).next_multiple_of(ROW);
        let bytes = u64::from(row) * u64::from(height);
        // Of each picture its own: the one before may not have been read yet.
        let readback = guarded(&device, || {
            let readback = device.create_buffer(&wgpu::BufferDescriptor {
                label: Some("render.readback"),
                size: bytes,
                usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
                mapped_at_creation: false,
            });
            let to = wgpu::TexelCopyBufferInfo {
                buffer: &readback,
                layout: wgpu::TexelCopyBufferLayout {
                    offset: 0,
                    bytes_per_row: Some(row),
                    rows_per_image: None,
                },
            };
            encoder.copy_texture_to_buffer(
                target.texture.as_image_copy(),
                to,
                wgpu::Extent3d {
                    width,
                    height,
                    depth_or_array_layers: 1,
                },
            );
            self.queue.submit([encoder.finish()]);
            readback
        })?;
        let is_transparent = look.background == Background::Transparent;
        Ok(async move {
            let pixels = mapped(&device, &readback, bytes, |bytes| {
                let rows = bytes.chunks_exact(row as usize);
                rows.flat_map(|r| &r[..width as usize * 4])
                    .copied()
                    .collect::<Vec<u8>>()
            })
            .await?;
            let mut picture = RgbaImage::from_raw(width, height, pixels).ok_or_else(|| {
                GpuError::Readback("fewer bytes were read than the picture has".into())
            })?;
            if is_transparent {
                straighten(&mut picture);
            }
            Ok(picture)
        })
    }
}

impl Target {
    fn new(device: &wgpu::Device, size: [u32; 2]) -> Self {
        let [width, height] = size;
        Self {
            size,
            texture: drawn_into(
                device,
                "render.picture",
                [width, height, 1],
                1,
                wgpu::TextureFormat::Rgba8UnormSrgb,
                wgpu::TextureUsages::COPY_SRC,
            ),
        }
    }
}

/// Converts premultiplied colours to straight ones. The colours are sRGB, and were premultiplied
/// before that encoding.
fn straighten(picture: &mut RgbaImage) {
    let decode = |c: u8| super::frame::linear([f32::from(c) / 255.0; 3]).x;
    let encode = |light: f32| {
        let light = light.clamp(0.0, 1.0);
        let srgb = match light {
            l if l <= 0.003_130_8 => l * 12.92,
            l => 1.055 * l.powf(1.0 / 2.4) - 0.055,
        };
        (srgb * 255.0).round() as u8
    };
    for pixel in picture.pixels_mut() {
        let alpha = f32::from(pixel.0[3]) / 255.0;
        if alpha > 0.0 && alpha < 1.0 {
            for c in &mut pixel.0[..3] {
                *c = encode(decode(*c) / alpha);
            }
        }
    }
}
