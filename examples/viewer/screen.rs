//! The window's device and surface, the picture in its middle, and egui painted over both.

use std::sync::{Arc, Mutex};

use image::RgbaImage;
use sinew::wgpu;
use winit::event_loop::ActiveEventLoop;
use winit::window::Window;

/// Of the 3D picture. egui samples the same texels as they are stored.
pub const PICTURE_FORMAT: wgpu::TextureFormat = wgpu::TextureFormat::Rgba8UnormSrgb;

/// What went wrong on the device without a call that could return it.
#[derive(Clone, Debug, Default)]
pub struct Faults {
    pub error: Option<String>,
    pub lost: Option<String>,
}

/// What became of a frame.
pub enum Painted {
    Shown,
    /// Nothing to show it on at the moment: minimised, or being resized.
    Skipped,
    Captured(RgbaImage),
}

struct Picture {
    texture: wgpu::Texture,
    view: wgpu::TextureView,
    id: egui::TextureId,
}

pub struct Screen {
    pub device: wgpu::Device,
    pub queue: wgpu::Queue,
    pub adapter: wgpu::AdapterInfo,
    pub window: Arc<Window>,
    instance: wgpu::Instance,
    surface: wgpu::Surface<'static>,
    config: wgpu::SurfaceConfiguration,
    painter: egui_wgpu::Renderer,
    /// The main picture, and the one at the right of it.
    pictures: [Option<Picture>; 2],
    faults: Arc<Mutex<Faults>>,
}

impl Screen {
    /// Opens a device that can show pictures in `window`, a hardware one where there is one.
    pub fn new(event_loop: &ActiveEventLoop, window: Arc<Window>) -> Result<Self, String> {
        let display = Box::new(event_loop.owned_display_handle());
        let descriptor = wgpu::InstanceDescriptor {
            backends: wgpu::Backends::PRIMARY,
            ..wgpu::InstanceDescriptor::new_with_display_handle(display)
        };
        let instance = wgpu::Instance::new(descriptor);
        let surface = instance
            .create_surface(Arc::clone(&window))
            .map_err(|e| format!("no surface in this window: {e}"))?;
        let wanted = wgpu::RequestAdapterOptions {
            power_preference: wgpu::PowerPreference::HighPerformance,
            compatible_surface: Some(&surface),
            ..Default::default()
        };
        let adapter = pollster::block_on(instance.request_adapter(&wanted)).map_err(|e| {
            format!("no graphics adapter can draw into this window (a software one is enough: mesa-vulkan-drivers): {e}")
        })?;
        let descriptor = wgpu::DeviceDescriptor {
            label: Some("viewer"),
            required_features: adapter.features() & super::gpu_clock::FEATURES,
            required_limits: adapter.limits(),
            ..Default::default()
        };
        let (device, queue) = pollster::block_on(adapter.request_device(&descriptor))
            .map_err(|e| format!("{} gives no device: {e}", adapter.get_info().name))?;
        let faults = watch_faults(&device);

        let size = window.inner_size();
        let (width, height) = (size.width.max(1), size.height.max(1));
        let capabilities = surface.get_capabilities(&adapter);
        let mut config = surface
            .get_default_config(&adapter, width, height)
            .ok_or("the adapter cannot draw into this window")?;
        // egui blends in the encoding of the screen, and wants a format that leaves colours as they are.
        let plain = [
            wgpu::TextureFormat::Bgra8Unorm,
            wgpu::TextureFormat::Rgba8Unorm,
        ];
        if let Some(format) = plain.iter().find(|f| capabilities.formats.contains(f)) {
            config.format = *format;
        }
        config.present_mode = wgpu::PresentMode::AutoVsync;
        config.usage |= capabilities.usages & wgpu::TextureUsages::COPY_SRC;
        surface.configure(&device, &config);

        let options = egui_wgpu::RendererOptions {
            dithering: false,
            ..Default::default()
        };
        Ok(Self {
            painter: egui_wgpu::Renderer::new(&device, config.format, options),
            adapter: adapter.get_info(),
            pictures: [None, None],
            window,
            instance,
            surface,
            config,
            device,
            queue,
            faults,
        })
    }

    /// Whether the adapter runs on the CPU.
    pub fn is_software(&self) -> bool {
        self.adapter.device_type == wgpu::DeviceType::Cpu
    }

    /// Takes what went wrong since the last call.
    pub fn take_faults(&self) -> Faults {
        let slot = self.faults.lock();
        slot.map(|mut f| std::mem::take(&mut *f))
            .unwrap_or_default()
    }

    pub fn size(&self) -> [u32; 2] {
        [self.config.width, self.config.height]
    }

    pub fn resize(&mut self, width: u32, height: u32) {
        if width > 0 && height > 0 && self.size() != [width, height] {
            let most = self.device.limits().max_texture_dimension_2d;
            (self.config.width, self.config.height) = (width.min(most), height.min(most));
            self.surface.configure(&self.device, &self.config);
        }
    }

    /// The texture of a picture at this size, and what egui calls it. The id stays the same.
    pub fn picture(
        &mut self,
        which: usize,
        width: u32,
        height: u32,
    ) -> (wgpu::TextureView, egui::TextureId) {
        let most = self.device.limits().max_texture_dimension_2d;
        let (width, height) = (width.clamp(1, most), height.clamp(1, most));
        if let Some(picture) = &self.pictures[which]
            && (picture.texture.width(), picture.texture.height()) == (width, height)
        {
            return (picture.view.clone(), picture.id);
        }
        let plain = PICTURE_FORMAT.remove_srgb_suffix();
        let texture = self.device.create_texture(&wgpu::TextureDescriptor {
            label: Some("viewer.picture"),
            size: wgpu::Extent3d {
                width,
                height,
                depth_or_array_layers: 1,
            },
            mip_level_count: 1,
            sample_count: 1,
            dimension: wgpu::TextureDimension::D2,
            format: PICTURE_FORMAT,
            usage: wgpu::TextureUsages::RENDER_ATTACHMENT | wgpu::TextureUsages::TEXTURE_BINDING,
            view_formats: &[plain],
        });
        let view = texture.create_view(&wgpu::TextureViewDescriptor::default());
        let sampled = texture.create_view(&wgpu::TextureViewDescriptor {
            format: Some(plain),
            usage: Some(wgpu::TextureUsages::TEXTURE_BINDING),
            ..Default::default()
        });
        let nearest = wgpu::FilterMode::Nearest;
        let id = match &self.pictures[which] {
            Some(old) => {
                let id = old.id;
                self.painter.update_egui_texture_from_wgpu_texture(
                    &self.device,
                    &sampled,
                    nearest,
                    id,
                );
                id
            }
            None => self
                .painter
                .register_native_texture(&self.device, &sampled, nearest),
        };
        self.pictures[which] = Some(Picture {
            texture,
            view: view.clone(),
            id,
        });
        (view, id)
    }

    /// egui's ids of the pictures, before their size is known.
    pub fn picture_ids(&mut self) -> [egui::TextureId; 2] {
        [0, 1].map(|which| match &self.pictures[which] {
            Some(picture) => picture.id,
            None => self.picture(which, 1, 1).1,
        })
    }

    /// Submits what `encoder` holds, paints egui over it and shows the window, or reads it back too.
    pub fn paint(
        &mut self,
        ctx: &egui::Context,
        mut output: egui::FullOutput,
        mut encoder: wgpu::CommandEncoder,
        capture: bool,
    ) -> Result<Painted, String> {
        for (id, deltas) in output.textures_delta.set.drain() {
            for delta in &deltas {
                self.painter
                    .update_texture(&self.device, &self.queue, id, delta);
            }
        }
        let result = self.paint_shapes(
            ctx,
            output.shapes,
            &mut encoder,
            capture,
            output.pixels_per_point,
        );
        for id in output.textures_delta.free.drain() {
            self.painter.free_texture(&id);
        }
        let (frame, copy, more) = result;
        self.queue
            .submit(more.into_iter().chain([encoder.finish()]));
        if let Some(frame) = frame {
            self.window.pre_present_notify();
            self.queue.present(frame);
        }
        match copy {
            Some(copy) => copy.read(&self.device).map(Painted::Captured),
            None if capture => Ok(Painted::Skipped),
            None => Ok(Painted::Shown),
        }
    }

    #[allow(clippy::type_complexity, reason = "taken apart where it is called")]
    fn paint_shapes(
        &mut self,
        ctx: &egui::Context,
        shapes: Vec<egui::epaint::ClippedShape>,
        encoder: &mut wgpu::CommandEncoder,
        capture: bool,
        pixels_per_point: f32,
    ) -> (
        Option<wgpu::SurfaceTexture>,
        Option<Copy>,
        Vec<wgpu::CommandBuffer>,
    ) {
        let frame = self.acquire();
        let readable = self.config.usage.contains(wgpu::TextureUsages::COPY_SRC);
        let target = match &frame {
            Some(frame) if readable || !capture => frame.texture.clone(),
            None if !capture => return (None, None, Vec::new()),
            // The same picture, on a texture that can be read.
            _ => self.own_target(),
        };
        let screen = egui_wgpu::ScreenDescriptor {
            size_in_pixels: [target.width(), target.height()],
            pixels_per_point,
        };
        let jobs = ctx.tessellate(shapes, pixels_per_point);
        let more = self
            .painter
            .update_buffers(&self.device, &self.queue, encoder, &jobs, &screen);
        let view = target.create_view(&wgpu::TextureViewDescriptor::default());
        let pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            label: Some("viewer.window"),
            color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                view: &view,
                depth_slice: None,
                resolve_target: None,
                ops: wgpu::Operations {
                    load: wgpu::LoadOp::Clear(wgpu::Color::BLACK),
                    store: wgpu::StoreOp::Store,
                },
            })],
            ..Default::default()
        });
        self.painter
            .render(&mut pass.forget_lifetime(), &jobs, &screen);
        let copy = capture.then(|| Copy::new(&self.device, encoder, &target));
        (frame, copy, more)
    }

    /// The window's next frame; `None` where there is none at the moment.
    fn acquire(&mut self) -> Option<wgpu::SurfaceTexture> {
        use wgpu::CurrentSurfaceTexture as Current;
        for _ in 0..2 {
            match self.surface.get_current_texture() {
                Current::Success(frame) | Current::Suboptimal(frame) => return Some(frame),
                Current::Timeout | Current::Occluded | Current::Validation => return None,
                Current::Outdated => self.surface.configure(&self.device, &self.config),
                Current::Lost => {
                    self.surface = self
                        .instance
                        .create_surface(Arc::clone(&self.window))
                        .ok()?;
                    self.surface.configure(&self.device, &self.config);
                }
            }
        }
        None
    }

    fn own_target(&self) -> wgpu::Texture {
        self.device.create_texture(&wgpu::TextureDescriptor {
            label: Some("viewer.capture"),
            size: wgpu::Extent3d {
                width: self.config.width,
                height: self.config.height,
                depth_or_array_layers: 1,
            },
            mip_level_count: 1,
            sample_count: 1,
            dimension: wgpu::TextureDimension::D2,
            format: self.config.format,
            usage: wgpu::TextureUsages::RENDER_ATTACHMENT | wgpu::TextureUsages::COPY_SRC,
            view_formats: &[],
        })
    }
}

fn watch_faults(device: &wgpu::Device) -> Arc<Mutex<Faults>> {
    let faults = Arc::new(Mutex::new(Faults::default()));
    let slot = Arc::clone(&faults);
    device.on_uncaptured_error(Arc::new(move |error: wgpu::Error| {
        log::error!("{error}");
        if let Ok(mut faults) = slot.lock() {
            faults.error.get_or_insert(error.to_string());
        }
    }));
    let slot = Arc::clone(&faults);
    device.set_device_lost_callback(move |reason, text| {
        // Dropping the device is no loss.
        if reason != wgpu::DeviceLostReason::Destroyed
            && let Ok(mut faults) = slot.lock()
        {
            faults.lost.get_or_insert(text);
        }
    });
    faults
}

/// A frame on its way back to the CPU.
struct Copy {
    buffer: wgpu::Buffer,
    width: u32,
    height: u32,
    bytes_per_row: u32,
    swapped: bool,
}

impl Copy {
    fn new(
        device: &wgpu::Device,
        encoder: &mut wgpu::CommandEncoder,
        texture: &wgpu::Texture,
    ) -> Self {
        let (width, height) = (texture.width(), texture.height());
        let bytes_per_row = (width * 4).next_multiple_of(wgpu::COPY_BYTES_PER_ROW_ALIGNMENT);
        let buffer = device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("viewer.capture"),
            size: u64::from(bytes_per_row) * u64::from(height),
            usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ,
            mapped_at_creation: false,
        });
        encoder.copy_texture_to_buffer(
            texture.as_image_copy(),
            wgpu::TexelCopyBufferInfo {
                buffer: &buffer,
                layout: wgpu::TexelCopyBufferLayout {
                    offset: 0,
                    bytes_per_row: Some(bytes_per_row),
                    rows_per_image: None,
                },
            },
            texture.size(),
        );
        Self {
            buffer,
            width,
            height,
            bytes_per_row,
            swapped: texture.format().remove_srgb_suffix() == wgpu::TextureFormat::Bgra8Unorm,
        }
    }

    fn read(self, device: &wgpu::Device) -> Result<RgbaImage, String> {
        let failed = |e: &dyn std::fmt::Display| format!("the window cannot be read back: {e}");
        let (sender, receiver) = std::sync::mpsc::channel();
        self.buffer
            .map_async(wgpu::MapMode::Read, .., move |result| {
                let _ = sender.send(result);
            });
        device
            .poll(wgpu::PollType::wait_indefinitely())
            .map_err(|e| failed(&e))?;
        receiver
            .recv()
            .map_err(|e| failed(&e))?
            .map_err(|e| failed(&e))?;
        let bytes = self.buffer.get_mapped_range(..).map_err(|e| failed(&e))?;
        let mut image = RgbaImage::new(self.width, self.height);
        let rows = bytes.chunks_exact(self.bytes_per_row as usize);
        for (y, row) in rows.enumerate() {
            for (x, texel) in row.chunks_exact(4).take(self.width as usize).enumerate() {
                let [a, g, b] = [texel[0], texel[1], texel[2]];
                let [r, b] = if self.swapped { [b, a] } else { [a, b] };
                image.put_pixel(x as u32, y as u32, image::Rgba([r, g, b, 255]));
            }
        }
        Ok(image)
    }
}
