//! Creates buffers that are filled with data.

/// A buffer that begins with `bytes`. Its size is at least 16 bytes, so that it can be bound if
/// there are none.
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
    // If the device has no memory, the buffer cannot be mapped; the error scope of the caller
    // reports it.
    if let Ok(mut view) = buffer.slice(..).get_mapped_range_mut() {
        view.slice(..bytes.len()).copy_from_slice(bytes);
    }
    buffer.unmap();
    buffer
}

/// Records a copy of `bytes` into a buffer. Unlike a write of the queue, it takes effect at its
/// place in the encoder, so two frames in one submit each read their own data.
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

/// A bind group entry.
pub(super) fn entry(binding: u32, resource: wgpu::BindingResource<'_>) -> wgpu::BindGroupEntry<'_> {
    wgpu::BindGroupEntry { binding, resource }
}
