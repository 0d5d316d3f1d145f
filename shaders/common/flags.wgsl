// Bits of an item's or a pose's `flags`.

// Nothing of a frame before is there: the previous positions are the new ones.
const FRESH: u32 = 1u;
const MIRRORED: u32 = 2u;
// Palette slots of 8 bits, four to a word.
const NARROW_JOINTS: u32 = 4u;
// Normals are written as octahedral directions, a word each.
const OCTAHEDRAL: u32 = 8u;
