//! Buffers made with their content.

/// A buffer that holds `bytes` from the start, and at least 16 of them, so that empty ones can be bound.
pub(super) fn filled(
    device: &wgpu::Device,
    label: &str,
    bytes: &[u8],
    usage: wgpu::BufferUsages,
) -> wgpu::Buffer {
    let buffer = device.create_buffer(&wgpu::BufferDescriptor {
        label: Some(label),
        size: (bytes.len() as u64).next_multiple_of(4).max(16),
        usage,
        mapped_at_creation: true,
    });
    // A device that has no memory gives a buffer that cannot be mapped, and says so to whoever guards it.
    if let Ok(mut view) = buffer.slice(..).get_mapped_range_mut() {
        view.slice(..bytes.len()).copy_from_slice(bytes);
    }
    buffer.unmap();
    buffer
}

/// Records a copy of `bytes` into a buffer: two frames in one submit each see their own.
pub(super) fn upload(
    device: &wgpu::Device,
    encoder: &mut wgpu::CommandEncoder,
    to: &wgpu::Buffer,
    bytes: &[u8],
) {
    if bytes.is_empty() {
        return;
    }
    let from = filled(device, "render.upload", bytes, wgpu::BufferUsages::COPY_SRC);
    encoder.copy_buffer_to_buffer(&from, 0, to, 0, bytes.len() as u64);
}

pub(super) fn entry(binding: u32, resource: wgpu::BindingResource<'_>) -> wgpu::BindGroupEntry<'_> {
    wgpu::BindGroupEntry { binding, resource }
}
