//! Works around: openusd 0.8 writes a crate file from a layer that is whole in memory. The samples of a long bake do not fit
//! there, so this file writes them to disk as they come.
//!
//! A crate file names every array by its offset, so arrays may lie anywhere in it. The samples of a bake go to the
//! front of the file, one after the other. openusd then writes the layer behind them. In that layer each streamed sample is a
//! block, which is a reference without a value of its own. Where openusd writes the reference to the block, this file writes
//! the reference to the array in its place.
//!
//! It relies on the order in which openusd 0.8 asks for samples, seeks and writes. An unexpected order is an error at the end
//! of the bake, never a wrong file.
//!
//! See the fault: write a layer with 10 GB of samples by `sdf::FileFormat::write`; the process needs 10 GB of memory.
//!
//! Test: `arrays_take_the_place_of_blocks_and_of_nothing_else` and `what_was_not_spliced_is_told` below.
//!
//! Goes when: openusd can write the samples of an attribute one at a time.
//!
//! Source of the layout: pxr/usd/sdf/crateFile.h of OpenUSD 26 (`ValueRep`, TimeSamples).

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::io::{BufWriter, Seek, SeekFrom, Write};
use std::vec::IntoIter;

use glam::Vec3;
use openusd::sdf;
use openusd::sdf::{AbstractData, DataError, Path, Value};

use super::crate_first_token;
use super::crate_first_token::HEADER;
use crate::error::explain;
use crate::openusd_compat::layer_view::{LayerView, Viewed};

/// What usd-core aligns arrays to, so that it can use them where they are in a mapped file.
const ALIGNMENT: u64 = 8;

/// Offsets have 48 bits.
const END: u64 = 1 << 48;

/// Small arrays of many prims gather; large ones pass.
const BUFFER: usize = 1 << 20;

/// A reference to a block: inlined (bit 62), of type ValueBlock (51).
const BLOCK: u64 = 1 << 62 | 51 << 48;

/// A reference to an array (bit 63) of type Vec3f (24).
fn vec3f_array(offset: u64) -> u64 {
    1 << 63 | 24 << 48 | offset
}

/// Attributes whose samples are arrays of the file: an offset for each, or `None` for one that the layer has itself.
pub(crate) type Streamed = HashMap<Path, Vec<Option<u64>>>;

/// A crate file that begins with arrays.
pub(crate) struct CrateArrays {
    out: BufWriter<File>,
    position: u64,
}

impl CrateArrays {
    /// Takes an empty file.
    pub fn new(file: File) -> io::Result<Self> {
        let mut out = BufWriter::with_capacity(BUFFER, file);
        out.write_all(&[0; HEADER as usize])?;
        Ok(Self {
            out,
            position: HEADER,
        })
    }

    /// Writes an array; its offset is what the layer refers to it by.
    pub fn vectors(&mut self, values: &[Vec3]) -> io::Result<u64> {
        let offset = self.position.next_multiple_of(ALIGNMENT);
        if offset >= END {
            return Err(io::Error::other("a .usdc holds at most 256 TiB"));
        }
        let padding = [0; ALIGNMENT as usize];
        self.out
            .write_all(&padding[..(offset - self.position) as usize])?;
        self.out.write_all(&(values.len() as u64).to_le_bytes())?;
        let bytes: &[u8] = bytemuck::cast_slice(values);
        self.out.write_all(bytes)?;
        self.position = offset + 8 + bytes.len() as u64;
        Ok(offset)
    }

    /// Writes the layer behind the arrays.
    pub fn finish(mut self, data: &dyn AbstractData, streamed: Streamed) -> Result<(), String> {
        let format = sdf::LayerRegistry::find_by_extension("usdc").ok_or("no crate format")?;
        let asked = streamed.len();
        let splice = RefCell::new(Splice {
            streamed,
            phase: Phase::Between,
            done: 0,
        });
        let data = Viewed(SplicedData {
            data,
            splice: &splice,
        });
        let mut sink = SplicedFile {
            position: self.position,
            front: self.position,
            out: &mut self.out,
            splice: &splice,
        };
        crate_first_token::write(format, &data, &mut sink).map_err(|e| explain(&e))?;
        self.out.flush().map_err(|e| e.to_string())?;
        match splice.into_inner().done {
            done if done == asked => Ok(()),
            _ => Err(UNEXPECTED.to_owned()),
        }
    }
}

const UNEXPECTED: &str =
    "openusd writes time samples in another way than this build of sinew knows";

/// The state that the layer and the file share.
struct Splice {
    streamed: Streamed,
    phase: Phase,
    /// Attributes whose references are written.
    done: usize,
}

/// openusd asks for the samples of an attribute, writes their times, leaves room for the references, writes values that
/// have no place in a reference, goes back to the room and writes the references there.
enum Phase {
    Between,
    /// The samples were asked for.
    Asked(IntoIter<Option<u64>>),
    /// It went back: these references come.
    References(IntoIter<Option<u64>>),
}

/// A layer that notes when streamed samples are asked for.
struct SplicedData<'a> {
    data: &'a dyn AbstractData,
    splice: &'a RefCell<Splice>,
}

impl LayerView for SplicedData<'_> {
    fn layer(&self) -> &dyn AbstractData {
        self.data
    }

    fn try_field(&self, path: &Path, field: &str) -> Result<Option<Cow<'_, Value>>, DataError> {
        if field == sdf::FieldKey::TimeSamples.as_str() {
            let mut splice = self.splice.borrow_mut();
            if let Some(offsets) = splice.streamed.remove(path) {
                splice.phase = Phase::Asked(offsets.into_iter());
            }
        }
        self.data.try_field(path, field)
    }
}

/// A file whose front is written, and where references to arrays take the place of references to blocks.
struct SplicedFile<'a> {
    out: &'a mut BufWriter<File>,
    /// Kept here, as asking a `BufWriter` for it empties its buffer, and openusd asks for every value.
    position: u64,
    /// End of the arrays.
    front: u64,
    splice: &'a RefCell<Splice>,
}

impl Write for SplicedFile<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let splice = &mut *self.splice.borrow_mut();
        if let Phase::References(offsets) = &mut splice.phase {
            let offset = offsets.next();
            if offsets.as_slice().is_empty() {
                splice.phase = Phase::Between;
                splice.done += 1;
            }
            if let Some(Some(offset)) = offset {
                if *bytes != BLOCK.to_le_bytes() {
                    return Err(io::Error::other(UNEXPECTED));
                }
                let reference = vec3f_array(offset).to_le_bytes();
                self.out.write_all(&reference)?;
                self.position += reference.len() as u64;
                return Ok(bytes.len());
            }
        }
        let written = self.out.write(bytes)?;
        self.position += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

impl Seek for SplicedFile<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let to = match to {
            SeekFrom::Current(0) => return Ok(self.position),
            // Values begin behind openusd's header, and so behind the arrays; only the header itself is before them.
            SeekFrom::Start(to) if to > 0 => SeekFrom::Start(to.max(self.front)),
            to => to,
        };
        let splice = &mut *self.splice.borrow_mut();
        splice.phase = match std::mem::replace(&mut splice.phase, Phase::Between) {
            Phase::Asked(offsets) => Phase::References(offsets),
            Phase::References(_) => return Err(io::Error::other(UNEXPECTED)),
            Phase::Between => Phase::Between,
        };
        self.position = self.out.seek(to)?;
        Ok(self.position)
    }

    fn stream_position(&mut self) -> io::Result<u64> {
        Ok(self.position)
    }
}

#[cfg(test)]
mod tests {
    use openusd::gf;

    use super::*;

    fn samples(values: impl IntoIterator<Item = (f64, Value)>) -> Value {
        Value::TimeSamples(values.into_iter().collect())
    }

    fn array(values: &[Vec3]) -> Value {
        Value::Vec3fVec(values.iter().map(|v| gf::vec3f(v.x, v.y, v.z)).collect())
    }

    /// A layer of one prim with these attributes.
    fn layer(attributes: Vec<(&str, Value)>) -> sdf::Data {
        let mut data = sdf::Data::new();
        let root = data.create_spec(Path::abs_root(), sdf::SpecType::PseudoRoot);
        root.add("primChildren", Value::TokenVec(vec!["points".into()]));
        root.add("defaultPrim", Value::token("points"));
        let prim = Path::new("/points").unwrap();
        let spec = data.create_spec(prim.clone(), sdf::SpecType::Prim);
        spec.add("specifier", Value::Specifier(sdf::Specifier::Def));
        let names = attributes.iter().map(|(name, _)| (*name).into());
        spec.add("properties", Value::TokenVec(names.collect()));
        for (name, value) in attributes {
            let path = prim.append_property(name).unwrap();
            let spec = data.create_spec(path, sdf::SpecType::Attribute);
            spec.add("typeName", Value::token("point3f[]"));
            spec.add("timeSamples", value);
        }
        data
    }

    fn attribute(name: &str) -> Path {
        Path::new("/points").unwrap().append_property(name).unwrap()
    }

    #[test]
    fn arrays_take_the_place_of_blocks_and_of_nothing_else() {
        // 19.0 has the bits of a reference to a block.
        assert_eq!(19.0_f64.to_bits(), BLOCK);
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.usdc");
        let mut arrays = CrateArrays::new(File::create(&file).unwrap()).unwrap();
        let values = |n: usize| -> Vec<Vec3> { (0..n).map(|i| Vec3::splat(i as f32)).collect() };
        // Odd numbers leave a gap before the next one; several properties take turns; one array may serve twice.
        let points = [0, 3, 19].map(|n| arrays.vectors(&values(n)).unwrap());
        let large = arrays.vectors(&values(200_000)).unwrap();
        assert!(points.iter().chain([&large]).all(|o| o % 8 == 0));
        let block = || Value::ValueBlock;
        let data = layer(vec![
            (
                "points",
                samples([
                    (0.0, block()),
                    (18.0, block()),
                    (19.0, block()),
                    (20.0, array(&values(2))),
                ]),
            ),
            ("normals", samples([(19.0, block())])),
            ("again", samples([(1.0, block()), (2.0, block())])),
            (
                "blocked",
                samples([(19.0, block()), (20.0, array(&values(1)))]),
            ),
        ]);
        let streamed = Streamed::from([
            (
                attribute("points"),
                vec![Some(points[0]), Some(points[1]), Some(points[2]), None],
            ),
            (attribute("normals"), vec![Some(large)]),
            (attribute("again"), vec![Some(points[1]), Some(points[1])]),
        ]);
        arrays.finish(&data, streamed).unwrap();
        let layer = sdf::Layer::open(file.to_str().unwrap()).unwrap();
        let found = |name: &str| {
            let value = layer.data().get_field(&attribute(name), "timeSamples");
            value.unwrap().into_owned()
        };
        let a = |n: usize| array(&values(n));
        assert_eq!(
            found("points"),
            samples([(0.0, a(0)), (18.0, a(3)), (19.0, a(19)), (20.0, a(2))])
        );
        assert!(found("normals") == samples([(19.0, a(200_000))]));
        assert_eq!(found("again"), samples([(1.0, a(3)), (2.0, a(3))]));
        assert_eq!(found("blocked"), samples([(19.0, block()), (20.0, a(1))]));
        let root = layer.data().get_field(&Path::abs_root(), "defaultPrim");
        assert_eq!(root.unwrap().into_owned(), Value::token("points"));
    }

    #[test]
    fn what_was_not_spliced_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let new = || {
            let file = File::create(folder.path().join("a.usdc")).unwrap();
            let mut arrays = CrateArrays::new(file).unwrap();
            let offset = arrays.vectors(&[Vec3::ONE]).unwrap();
            (arrays, offset)
        };
        // An attribute that the layer lacks, and one that has values where blocks should be.
        let data = layer(vec![("points", samples([(1.0, array(&[Vec3::ONE]))]))]);
        for name in ["normals", "points"] {
            let (arrays, offset) = new();
            let streamed = Streamed::from([(attribute(name), vec![Some(offset)])]);
            let reported = arrays.finish(&data, streamed).unwrap_err();
            assert!(reported.contains("time samples"), "{reported}");
        }
    }
}
