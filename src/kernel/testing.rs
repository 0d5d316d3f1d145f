//! Random values for the tests of this module.

use glam::Vec3;

/// xorshift64*.
pub(super) struct Rng(pub u64);

impl Rng {
    pub fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % end
    }

    pub fn unit(&mut self) -> f32 {
        self.below(1 << 24) as f32 / (1 << 24) as f32
    }

    pub fn vector(&mut self) -> Vec3 {
        Vec3::new(self.unit(), self.unit(), self.unit()) - 0.5
    }
}
