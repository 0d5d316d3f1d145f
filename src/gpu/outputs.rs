//! Where results go: pages of output buffers.

use super::GpuError;
use super::arena::Arena;
use super::frame::OutPlace;
use super::skinner::Skinner;
use super::slices::{GpuSkin, Slice};

/// One buffer per kind of result, as one dispatch binds them.
#[derive(Debug)]
pub(super) struct OutPage {
    pub points: Arena,
    pub normals: Arena,
}

/// Bytes of one kind of result each.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct OutBytes {
    pub points: u64,
    pub normals: u64,
}

impl OutBytes {
    fn of(slice: &Slice) -> Self {
        let bytes = u64::from(slice.item.count) * 12;
        let wanted = |wanted: bool| if wanted { bytes } else { 0 };
        Self {
            points: wanted(slice.has_points()),
            normals: wanted(slice.has_normals()),
        }
    }
}

impl GpuSkin {
    /// Bytes that an instance's results take.
    pub fn out_bytes(&self) -> OutBytes {
        self.slices.iter().map(OutBytes::of).fold(
            OutBytes::default(),
            |OutBytes { points, normals }, slice| OutBytes {
                points: points + slice.points,
                normals: normals + slice.normals,
            },
        )
    }
}

impl OutPage {
    pub fn new(skinner: &Skinner) -> Result<Self, GpuError> {
        let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::VERTEX;
        let limit = skinner.limits.binding_bytes;
        Ok(Self {
            points: Arena::new(skinner, "skin.points", usage, limit)?,
            normals: Arena::new(skinner, "skin.normals", usage, limit)?,
        })
    }

    fn has_room(&mut self, bytes: OutBytes) -> bool {
        self.points.has_room(bytes.points) && self.normals.has_room(bytes.normals)
    }

    /// Times that growing replaced a buffer.
    pub fn replaced(&self) -> u64 {
        self.points.replaced() + self.normals.replaced()
    }

    pub fn buffer_bytes(&self) -> u64 {
        self.points.buffer().size() + self.normals.buffer().size()
    }

    fn take(&mut self, skinner: &Skinner, bytes: OutBytes) -> Result<(u32, u32), GpuError> {
        let points = self.points.take(skinner, bytes.points)?;
        match self.normals.take(skinner, bytes.normals) {
            // Pages hold less than 4 GiB, so a count of floats fits u32.
            Ok(normals) => Ok(((points / 4) as u32, (normals / 4) as u32)),
            Err(error) => {
                self.points.give_back(points, bytes.points);
                Err(error)
            }
        }
    }
}

/// Finds room for the results of one instance: all of it, or none where there is an error.
pub(super) fn place(
    skinner: &Skinner,
    pages: &mut Vec<OutPage>,
    skin: &GpuSkin,
) -> Result<Vec<OutPlace>, GpuError> {
    let mut out = Vec::with_capacity(skin.slices.len());
    for slice in &skin.slices {
        match place_slice(skinner, pages, OutBytes::of(slice)) {
            Ok(place) => out.push(place),
            Err(error) => {
                give_back(pages, skin, &out);
                return Err(error);
            }
        }
    }
    Ok(out)
}

fn place_slice(
    skinner: &Skinner,
    pages: &mut Vec<OutPage>,
    bytes: OutBytes,
) -> Result<OutPlace, GpuError> {
    let page = match pages.iter_mut().position(|page| page.has_room(bytes)) {
        Some(page) => page,
        None => {
            pages.push(OutPage::new(skinner)?);
            pages.len() - 1
        }
    };
    let (points, normals) = pages[page].take(skinner, bytes)?;
    Ok(OutPlace {
        page,
        points,
        normals,
    })
}

/// Makes the room of an instance's results free again.
pub(super) fn give_back(pages: &mut [OutPage], skin: &GpuSkin, places: &[OutPlace]) {
    for (slice, place) in skin.slices.iter().zip(places) {
        let bytes = OutBytes::of(slice);
        let page = &mut pages[place.page];
        page.points
            .give_back(u64::from(place.points) * 4, bytes.points);
        page.normals
            .give_back(u64::from(place.normals) * 4, bytes.normals);
    }
}
