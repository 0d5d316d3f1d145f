//! Seeded random numbers, the same on every machine.

use glam::Vec3;

/// xorshift64*.
pub struct Rng(u64);

impl Rng {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn bits(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// Below `end`.
    pub fn below(&mut self, end: usize) -> usize {
        (self.bits() >> 33) as usize % end
    }

    /// In `from..to`.
    pub fn range(&mut self, from: f32, to: f32) -> f32 {
        from + (to - from) * ((self.bits() >> 40) as f32 / (1u64 << 24) as f32)
    }

    /// Components in `-size..size`.
    pub fn vector(&mut self, size: f32) -> Vec3 {
        let mut one = || self.range(-size, size);
        Vec3::new(one(), one(), one())
    }

    pub fn chance(&mut self, p: f32) -> bool {
        self.range(0.0, 1.0) < p
    }
}
