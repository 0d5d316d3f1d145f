//! The binary form of splines in crate files.
//!
//! A crate file stores a spline as the number of bytes (u64), the bytes that are read and written here, the
//! number of knots with custom data (u64), and for each of those its time (f64) and its dictionary. An
//! inlined value without payload is an empty spline.
//!
//! | bytes | meaning |
//! |---|---|
//! | 1 | bits 0-3: version; 4-6: value type (in versions 1 and 2 bit 6 means times); 7: Hermite |
//! | 1 | bits 0-2: extrapolation before the knots; 3-5: after them; 6: an inner loop follows |
//! | 1 | only version 3: bit 0: the loop before the knots has a boundary; 1: the one after them has |
//! | 8 each | the boundaries of looping extrapolations, before the knots, then after them |
//! | 8 each | the slopes of sloped extrapolations, likewise |
//! | 32 | inner loop: start, end (f64), loops before, after (i32), value offset (f64) |
//! | 4 | number of knots |
//!
//! Each knot is a byte of flags (bit 0: has two values; 1-2: interpolation; 3: Hermite, no longer used), its time
//! (f64), its value, the value before it if it has two, the widths before and after (f64, not in Hermite splines), the
//! slopes before and after, and from version 2 on a byte with the tangents' algorithms (bits 0-3 before,
//! 4-7 after). Values and slopes have the spline's type.

use half::f16;

use super::{
    Extrapolation, Interpolation, Knot, LoopParams, Spline, SplineType, SplineValueType, Tangent,
    TangentAlgorithm,
};
use crate::value::Dictionary;

impl Spline {
    /// The binary form, and the custom data of knots by time. [`Self::crate_version`] says which version of
    /// crate files has it.
    #[must_use]
    pub fn to_crate(&self) -> (Vec<u8>, Vec<(f64, &Dictionary)>) {
        let format = self.format();
        let hermite = self.spline_type == SplineType::Hermite;
        let kind = match self.value_type {
            SplineValueType::Double => 1,
            SplineValueType::Float => 2,
            SplineValueType::Half => 3,
            SplineValueType::TimeCode => 4,
            SplineValueType::Duration => 5,
        };
        let both = [self.pre_extrapolation, self.post_extrapolation];
        let [pre, post] = both.map(|e| match e {
            Extrapolation::Block => 0,
            Extrapolation::Held => 1,
            Extrapolation::Linear => 2,
            Extrapolation::Sloped(_) => 3,
            Extrapolation::LoopRepeat(_) => 4,
            Extrapolation::LoopReset(_) => 5,
            Extrapolation::LoopOscillate(_) => 6,
        });
        let has_loop = u8::from(self.inner_loop.is_some());
        let mut out = vec![
            format | kind << 4 | u8::from(hermite) << 7,
            pre | post << 3 | has_loop << 6,
        ];
        if format > 2 {
            let [pre, post] = both.map(|e| u8::from(e.loop_boundary().is_some()));
            out.push(pre | post << 1);
        }
        let slopes = both.map(|e| match e {
            Extrapolation::Sloped(slope) => Some(slope),
            _ => None,
        });
        let boundaries = both.map(|e| e.loop_boundary());
        for number in boundaries.into_iter().chain(slopes).flatten() {
            out.extend(number.to_le_bytes());
        }
        if let Some(params) = &self.inner_loop {
            out.extend(params.start.to_le_bytes());
            out.extend(params.end.to_le_bytes());
            out.extend(params.pre_loops.to_le_bytes());
            out.extend(params.post_loops.to_le_bytes());
            out.extend(params.value_offset.to_le_bytes());
        }
        let number = |out: &mut Vec<u8>, value: f64| match self.value_type {
            SplineValueType::Double | SplineValueType::TimeCode | SplineValueType::Duration => {
                out.extend(value.to_le_bytes())
            }
            SplineValueType::Float => out.extend((value as f32).to_le_bytes()),
            SplineValueType::Half => out.extend(f16::from_f64(value).to_le_bytes()),
        };
        // A count is 32 bits in the file; more knots than that are 200 GB.
        let count = self.knots.len().min(u32::MAX as usize);
        out.extend((count as u32).to_le_bytes());
        for knot in &self.knots[..count] {
            let next = match knot.next {
                Interpolation::Block => 0,
                Interpolation::Held => 1,
                Interpolation::Linear => 2,
                Interpolation::Curve => 3,
            };
            out.push(u8::from(knot.pre_value.is_some()) | next << 1);
            out.extend(knot.time.to_le_bytes());
            number(&mut out, knot.value);
            if let Some(value) = knot.pre_value {
                number(&mut out, value);
            }
            let tangents = [knot.pre_tangent, knot.post_tangent];
            if !hermite {
                for tangent in tangents {
                    out.extend(tangent.width.to_le_bytes());
                }
            }
            for tangent in tangents {
                number(&mut out, tangent.slope);
            }
            if format > 1 {
                let [pre, post] = tangents.map(|t| match t.algorithm {
                    TangentAlgorithm::None => 0,
                    TangentAlgorithm::Custom => 1,
                    TangentAlgorithm::AutoEase => 2,
                });
                out.push(pre | post << 4);
            }
        }
        let custom = self.knots.iter().filter(|k| !k.custom_data.is_empty());
        (out, custom.map(|k| (k.time, &k.custom_data)).collect())
    }

    /// The lowest version of crate files that holds this spline: 0.12, with algorithms of tangents 0.13, with
    /// times as values or boundaries of loops 0.15.
    #[must_use]
    pub fn crate_version(&self) -> (u8, u8) {
        match self.format() {
            1 => (0, 12),
            2 => (0, 13),
            3 => (0, 15),
            _ => (0, 16),
        }
    }

    /// The lowest version of usda text that holds this spline: 1.0, with algorithms of tangents 1.1, with boundaries of
    /// loops 1.3, with durations 1.4.
    #[must_use]
    pub fn usda_version(&self) -> (u8, u8) {
        if self.value_type == SplineValueType::Duration {
            return (1, 4);
        }
        let both = [self.pre_extrapolation, self.post_extrapolation];
        if both.iter().any(|e| e.loop_boundary().is_some()) {
            (1, 3)
        } else if self.has_algorithms() {
            (1, 1)
        } else {
            (1, 0)
        }
    }

    /// Whether any tangent has an algorithm.
    fn has_algorithms(&self) -> bool {
        let set = |t: &Tangent| t.algorithm != TangentAlgorithm::None;
        self.knots
            .iter()
            .any(|k| set(&k.pre_tangent) || set(&k.post_tangent))
    }

    /// The lowest version of the binary form that holds this spline.
    fn format(&self) -> u8 {
        if self.value_type == SplineValueType::Duration {
            return 4;
        }
        let boundary = |e: &Extrapolation| e.loop_boundary().is_some();
        if self.value_type == SplineValueType::TimeCode
            || boundary(&self.pre_extrapolation)
            || boundary(&self.post_extrapolation)
        {
            return 3;
        }
        if self.has_algorithms() { 2 } else { 1 }
    }

    /// Reads the binary form. Custom data whose time no knot has is left out.
    ///
    /// # Errors
    /// What is wrong with the bytes: what was expected and what was found.
    pub fn from_crate(
        bytes: &[u8],
        custom_data: impl IntoIterator<Item = (f64, Dictionary)>,
    ) -> Result<Self, String> {
        if bytes.is_empty() {
            return Ok(Self::default());
        }
        let mut reader = Reader(bytes);
        let head = reader.u8()?;
        let format = head & 15;
        if !(1..=4).contains(&format) {
            return Err(format!(
                "a spline of version 1 to 4 expected, {format} found"
            ));
        }
        let descriptor = head >> 4 & if format < 3 { 3 } else { 7 };
        let value_type = match descriptor {
            // Before version 3, times are f64 too, whatever the type says.
            _ if format < 3 && head & 0x40 != 0 => SplineValueType::TimeCode,
            // A spline without a type has no knots.
            0 | 1 => SplineValueType::Double,
            2 => SplineValueType::Float,
            3 => SplineValueType::Half,
            4 => SplineValueType::TimeCode,
            5 => SplineValueType::Duration,
            other => {
                return Err(format!(
                    "a spline's value type 0 to 5 expected, {other} found"
                ));
            }
        };
        let hermite = head & 0x80 != 0;
        let modes = reader.u8()?;
        let boundaries = if format > 2 { reader.u8()? } else { 0 };
        let mut both = [modes & 7, modes >> 3 & 7].map(|mode| (mode, None));
        for (i, (_, number)) in both.iter_mut().enumerate() {
            if boundaries >> i & 1 != 0 {
                *number = Some(reader.f64()?);
            }
        }
        for (mode, number) in &mut both {
            if *mode == 3 {
                *number = Some(reader.f64()?);
            }
        }
        let [pre_extrapolation, post_extrapolation] = both.map(extrapolation);
        let (pre_extrapolation, post_extrapolation) = (pre_extrapolation?, post_extrapolation?);
        let inner_loop = match modes & 0x40 != 0 {
            true => Some(LoopParams {
                start: reader.f64()?,
                end: reader.f64()?,
                pre_loops: reader.i32()?,
                post_loops: reader.i32()?,
                value_offset: reader.f64()?,
            }),
            false => None,
        };
        // A spline without a type may end here.
        let count = match descriptor == 0 && reader.0.is_empty() {
            true => 0,
            false => reader.i32()? as u32 as usize,
        };
        let number = match value_type {
            SplineValueType::Float => 4,
            SplineValueType::Half => 2,
            _ => 8,
        };
        let least = 9 + 3 * number + if hermite { 0 } else { 16 } + usize::from(format > 1);
        if count > reader.0.len() / least {
            return Err(format!(
                "{count} knots of at least {least} bytes expected, {} bytes found",
                reader.0.len()
            ));
        }
        let mut knots: Vec<Knot> = Vec::with_capacity(count);
        for _ in 0..count {
            let knot = reader.knot(value_type, hermite, format)?;
            if let Some(last) = knots.last().filter(|last| knot.time <= last.time) {
                return Err(format!(
                    "rising times of knots expected, {} after {} found",
                    knot.time, last.time
                ));
            }
            if !knot.time.is_finite() {
                return Err(format!("the time of a knot expected, {} found", knot.time));
            }
            knots.push(knot);
        }
        if !reader.0.is_empty() {
            return Err(format!(
                "the end of a spline expected, {} more bytes found",
                reader.0.len()
            ));
        }
        for (time, data) in custom_data {
            let at = knots.partition_point(|k| k.time < time);
            if let Some(knot) = knots.get_mut(at).filter(|k| k.time == time) {
                knot.custom_data = data;
            }
        }
        Ok(Self {
            value_type,
            spline_type: match hermite {
                true => SplineType::Hermite,
                false => SplineType::Bezier,
            },
            pre_extrapolation,
            post_extrapolation,
            inner_loop,
            knots,
        })
    }
}

/// What is not read yet.
struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn bytes<const N: usize>(&mut self) -> Result<[u8; N], String> {
        let (head, rest) = self.0.split_first_chunk::<N>().ok_or_else(|| {
            format!(
                "{N} more bytes of a spline expected, {} found",
                self.0.len()
            )
        })?;
        self.0 = rest;
        Ok(*head)
    }

    fn u8(&mut self) -> Result<u8, String> {
        Ok(self.bytes::<1>()?[0])
    }

    fn i32(&mut self) -> Result<i32, String> {
        Ok(i32::from_le_bytes(self.bytes()?))
    }

    fn f64(&mut self) -> Result<f64, String> {
        Ok(f64::from_le_bytes(self.bytes()?))
    }

    /// A value or a slope.
    fn number(&mut self, kind: SplineValueType) -> Result<f64, String> {
        Ok(match kind {
            SplineValueType::Float => f64::from(f32::from_le_bytes(self.bytes()?)),
            SplineValueType::Half => f16::from_le_bytes(self.bytes()?).to_f64(),
            SplineValueType::Double | SplineValueType::TimeCode | SplineValueType::Duration => {
                self.f64()?
            }
        })
    }

    fn knot(&mut self, kind: SplineValueType, hermite: bool, format: u8) -> Result<Knot, String> {
        let flags = self.u8()?;
        let time = self.f64()?;
        let value = self.number(kind)?;
        let pre_value = match flags & 1 != 0 {
            true => Some(self.number(kind)?),
            false => None,
        };
        let mut tangents = [Tangent::default(); 2];
        if !hermite {
            for tangent in &mut tangents {
                tangent.width = self.f64()?;
            }
        }
        for tangent in &mut tangents {
            tangent.slope = self.number(kind)?;
        }
        if format > 1 {
            let both = self.u8()?;
            for (tangent, algorithm) in tangents.iter_mut().zip([both & 15, both >> 4]) {
                tangent.algorithm = match algorithm {
                    0 => TangentAlgorithm::None,
                    1 => TangentAlgorithm::Custom,
                    2 => TangentAlgorithm::AutoEase,
                    other => {
                        return Err(format!(
                            "a tangent's algorithm 0 to 2 expected, {other} found"
                        ));
                    }
                };
            }
        }
        let [pre_tangent, post_tangent] = tangents;
        Ok(Knot {
            time,
            value,
            pre_value,
            next: match flags >> 1 & 3 {
                0 => Interpolation::Block,
                1 => Interpolation::Held,
                2 => Interpolation::Linear,
                _ => Interpolation::Curve,
            },
            pre_tangent,
            post_tangent,
            custom_data: Dictionary::new(),
        })
    }
}

/// An extrapolation by its number in the file, with its slope or boundary.
fn extrapolation((mode, number): (u8, Option<f64>)) -> Result<Extrapolation, String> {
    Ok(match mode {
        0 => Extrapolation::Block,
        1 => Extrapolation::Held,
        2 => Extrapolation::Linear,
        3 => Extrapolation::Sloped(number.unwrap_or(0.0)),
        4 => Extrapolation::LoopRepeat(number),
        5 => Extrapolation::LoopReset(number),
        6 => Extrapolation::LoopOscillate(number),
        _ => return Err(format!("an extrapolation 0 to 6 expected, {mode} found")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::Value;

    fn spline() -> Spline {
        let knot = |time| Knot {
            time,
            pre_value: Some(2.0),
            ..Knot::default()
        };
        Spline {
            value_type: SplineValueType::TimeCode,
            pre_extrapolation: Extrapolation::Sloped(1.5),
            post_extrapolation: Extrapolation::LoopReset(Some(1.0)),
            inner_loop: Some(LoopParams::default()),
            knots: vec![knot(0.0), knot(1.0)],
            ..Spline::default()
        }
    }

    #[test]
    fn custom_data_goes_to_its_knot() {
        let mut spline = spline();
        spline.knots[1]
            .custom_data
            .insert("a".into(), Value::Int(3));
        let (bytes, custom) = spline.to_crate();
        let custom = custom.into_iter().map(|(t, d)| (t, d.clone()));
        let custom = custom.chain([(7.0, Dictionary::new())]);
        assert_eq!(Spline::from_crate(&bytes, custom), Ok(spline));
        assert_eq!(Spline::from_crate(&[], []), Ok(Spline::default()));
    }

    #[test]
    fn broken_bytes_are_errors() {
        let (bytes, _) = spline().to_crate();
        assert_eq!(spline().crate_version(), (0, 15));
        assert_eq!(spline().usda_version(), (1, 3));
        for len in 1..bytes.len() {
            assert!(Spline::from_crate(&bytes[..len], []).is_err(), "{len}");
        }
        let mut long = bytes.clone();
        long.push(0);
        assert!(Spline::from_crate(&long, []).is_err());
        for i in 0..bytes.len() {
            for byte in [0, 1, 0x7f, 0xff] {
                let mut changed = bytes.clone();
                changed[i] = byte;
                if let Ok(spline) = Spline::from_crate(&changed, []) {
                    let _ = (spline.eval(0.5), spline.eval_pre(-1e300), spline.to_crate());
                }
            }
        }
        // A count that the bytes cannot hold, and knots that do not rise.
        let mut spline = spline();
        spline.knots[1].time = 0.0;
        let error = Spline::from_crate(&spline.to_crate().0, []).unwrap_err();
        assert_eq!(error, "rising times of knots expected, 0 after 0 found");
    }
}
