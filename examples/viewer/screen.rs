//! The window's device, the pictures in its middle, and egui painted over all.

use std::num::NonZeroU32;
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};

use egui::{ScreenshotCallback, TextureId, ViewportId};
use egui_wgpu::winit::Painter;
use egui_wgpu::{
    RenderState, RendererOptions, SurfaceConfig, WgpuConfiguration, WgpuError, WgpuSetup,
    WgpuSetupCreateNew,
};
use image::{Rgba, RgbaImage};
use sinew::wgpu;
use winit::event_loop::ActiveEventLoop;
use winit::window::Window;

use super::platform;

/// Of the 3D picture. egui samples the same texels as they are stored.
pub const PICTURE_FORMAT: wgpu::TextureFormat = wgpu::TextureFormat::Rgba8UnormSrgb;

/// What went wrong on the device without a call that could return it.
#[derive(Clone, Debug, Default)]
pub struct Faults {
    pub error: Option<String>,
    pub lost: Option<String>,
}

struct Picture {
    texture: wgpu::Texture,
    view: wgpu::TextureView,
    id: TextureId,
}

pub struct Screen {
    pub window: Arc<Window>,
    pub gpu: RenderState,
    /// Width and height of the window in pixels, as they are painted.
    pub size: [u32; 2],
    painter: Painter,
    /// The main picture, and the one at the right of it.
    pictures: [Picture; 2],
    faults: Arc<Mutex<Faults>>,
}

impl Screen {
    /// Opens a device that can show pictures in `window`, a hardware one where there is one.
    pub fn open(
        event_loop: &ActiveEventLoop,
        window: Arc<Window>,
        egui: &egui::Context,
    ) -> impl Future<Output = Result<Self, String>> + use<> {
        let display = event_loop.owned_display_handle();
        let mut setup = WgpuSetupCreateNew::from_display_handle(display);
        setup.instance_descriptor.backends = wgpu::Backends::PRIMARY;
        setup.power_preference = wgpu::PowerPreference::HighPerformance;
        setup.device_descriptor = Arc::new(|adapter| wgpu::DeviceDescriptor {
            label: Some("viewer"),
            required_features: adapter.features() & super::gpu_clock::FEATURES,
            required_limits: adapter.limits(),
            ..Default::default()
        });
        let config = WgpuConfiguration {
            surface: SurfaceConfig {
                present_mode: wgpu::PresentMode::AutoVsync,
                desired_maximum_frame_latency: None,
            },
            wgpu_setup: WgpuSetup::CreateNew(setup),
            ..Default::default()
        };
        let options = RendererOptions {
            dithering: false,
            ..Default::default()
        };
        let egui = egui.clone();
        async move {
            let mut painter = Painter::new(egui, config, false, options).await;
            let set = painter.set_window(ViewportId::ROOT, Some(Arc::clone(&window)));
            set.await.map_err(|e| match e {
                WgpuError::CreateSurfaceError(e) => format!("no surface in this window: {e}"),
                WgpuError::RequestDeviceError(e) => format!("the adapter gives no device: {e}"),
                e => format!("{}: {e}", platform::NO_ADAPTER),
            })?;
            let gpu = painter.render_state().ok_or("no device for this window")?;
            Ok(Self {
                faults: watch_faults(&gpu.device),
                pictures: [(); 2].map(|()| picture(&gpu, [1, 1], None)),
                size: window.inner_size().into(),
                window,
                gpu,
                painter,
            })
        }
    }

    /// Takes what went wrong since the last call.
    pub fn take_faults(&self) -> Faults {
        let slot = self.faults.lock();
        slot.map(|mut f| std::mem::take(&mut *f))
            .unwrap_or_default()
    }

    pub fn resize(&mut self, width: u32, height: u32) {
        if let (Some(width), Some(height)) = (NonZeroU32::new(width), NonZeroU32::new(height))
            && self.size != [width.get(), height.get()]
        {
            self.size = [width.get(), height.get()];
            self.painter
                .on_window_resized(ViewportId::ROOT, width, height);
        }
    }

    /// A picture's texture at this size. What egui calls it stays the same.
    pub fn picture(&mut self, which: usize, size: [u32; 2]) -> wgpu::TextureView {
        let most = self.gpu.device.limits().max_texture_dimension_2d;
        let size = size.map(|n| n.clamp(1, most));
        let shown = &mut self.pictures[which];
        if [shown.texture.width(), shown.texture.height()] != size {
            *shown = picture(&self.gpu, size, Some(shown.id));
        }
        shown.view.clone()
    }

    /// egui's ids of the pictures.
    pub fn picture_ids(&self) -> [TextureId; 2] {
        [0, 1].map(|which| self.pictures[which].id)
    }

    /// Submits what `encoder` holds, paints egui over it and shows the window. Gives the picture of
    /// the window if `capture` asks for it and there is one: a window that is being resized may have
    /// none.
    pub fn paint(
        &mut self,
        egui: &egui::Context,
        mut output: egui::FullOutput,
        encoder: wgpu::CommandEncoder,
        capture: bool,
    ) -> Result<Option<RgbaImage>, String> {
        self.gpu.queue.submit([encoder.finish()]);
        let jobs = egui.tessellate(output.shapes, output.pixels_per_point);
        let (sender, receiver) = channel();
        let callback = ScreenshotCallback::new(move |image| {
            // Nobody may wait any more.
            let _ = sender.send(image);
        });
        self.painter.paint_and_update_textures(
            ViewportId::ROOT,
            output.pixels_per_point,
            [0.0, 0.0, 0.0, 1.0],
            &jobs,
            &mut output.textures_delta,
            capture.then_some(callback).into_iter().collect(),
            &self.window,
        );
        if !capture {
            return Ok(None);
        }
        let waited = self.gpu.device.poll(wgpu::PollType::wait_indefinitely());
        waited.map_err(|e| format!("the window cannot be read back: {e}"))?;
        Ok(receiver.recv().ok().map(|image| {
            let [width, height] = image.size.map(|n| n as u32);
            RgbaImage::from_fn(width, height, |x, y| {
                let color = image[(x as usize, y as usize)];
                Rgba([color.r(), color.g(), color.b(), 255])
            })
        }))
    }
}

/// A texture to draw a picture on, by a new name for egui or by `id`.
fn picture(gpu: &RenderState, [width, height]: [u32; 2], id: Option<TextureId>) -> Picture {
    let plain = PICTURE_FORMAT.remove_srgb_suffix();
    let texture = gpu.device.create_texture(&wgpu::TextureDescriptor {
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
    let sampled = texture.create_view(&wgpu::TextureViewDescriptor {
        format: Some(plain),
        usage: Some(wgpu::TextureUsages::TEXTURE_BINDING),
        ..Default::default()
    });
    let (device, filter) = (&gpu.device, wgpu::FilterMode::Nearest);
    let mut renderer = gpu.renderer.write();
    if let Some(id) = id {
        renderer.update_egui_texture_from_wgpu_texture(device, &sampled, filter, id);
    }
    Picture {
        view: texture.create_view(&wgpu::TextureViewDescriptor::default()),
        id: id.unwrap_or_else(|| renderer.register_native_texture(device, &sampled, filter)),
        texture,
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
