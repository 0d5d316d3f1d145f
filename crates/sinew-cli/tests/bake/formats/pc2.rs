//! A reader of point caches.

use std::path::Path;

use glam::Vec3;

pub struct Cache {
    pub first: f32,
    pub step: f32,
    pub samples: Vec<Vec<Vec3>>,
}

pub fn read(file: &Path) -> Cache {
    let bytes = std::fs::read(file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
    assert_eq!(&bytes[..12], b"POINTCACHE2\0");
    let word = |at: usize| -> [u8; 4] { bytes[at..at + 4].try_into().unwrap() };
    assert_eq!(i32::from_le_bytes(word(12)), 1);
    let points = i32::from_le_bytes(word(16)) as usize;
    let samples = i32::from_le_bytes(word(28)) as usize;
    assert_eq!(bytes.len(), 32 + points * samples * 12);
    let number = |i: usize| f32::from_le_bytes(word(32 + i * 4));
    let point = |p: usize| Vec3::new(number(p * 3), number(p * 3 + 1), number(p * 3 + 2));
    Cache {
        first: f32::from_le_bytes(word(20)),
        step: f32::from_le_bytes(word(24)),
        samples: (0..samples)
            .map(|s| (s * points..(s + 1) * points).map(point).collect())
            .collect(),
    }
}
