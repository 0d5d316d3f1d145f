//! The .glb container (glTF 2.0, 4.4), read and written: a header and chunks, the first JSON, the
//! second perhaps binary data.

use std::io::{self, Write};

use sinew::error::Invalid;

const MAGIC: &[u8; 4] = b"glTF";
const JSON: u32 = 0x4E4F_534A;
const BIN: u32 = 0x004E_4942;

/// The parts of a file that matter.
pub(super) struct Parts<'a> {
    pub json: &'a [u8],
    /// The BIN chunk of a .glb.
    pub bin: Option<&'a [u8]>,
}

/// Tells .glb from .gltf by the first four bytes, whatever the file is called.
pub(super) fn split(bytes: &[u8]) -> Result<Parts<'_>, Invalid> {
    if !bytes.starts_with(MAGIC) {
        // Forbidden, and written by some editors all the same.
        let json = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
        return Ok(Parts { json, bin: None });
    }
    let word = |at: usize, place: &str| {
        let word = bytes.get(at..at + 4).and_then(|w| w.try_into().ok());
        word.map(u32::from_le_bytes)
            .ok_or_else(|| broken(place, "4 bytes", bytes.len().saturating_sub(at)))
    };
    let version = word(4, "header.version")?;
    if version != 2 {
        return Err(broken("header.version", "2", version));
    }
    let length = word(8, "header.length")? as usize;
    if length > bytes.len() {
        let expected = format!("at most the file's {} bytes", bytes.len());
        return Err(broken("header.length", expected, length));
    }
    if length < 12 {
        return Err(broken("header.length", "at least 12", length));
    }
    let mut parts = Parts {
        json: &[],
        bin: None,
    };
    let mut at = 12;
    let mut chunk = 0;
    while at < length {
        let place = |what: &str| format!("chunks[{chunk}].{what}");
        let size = word(at, &place("length"))? as usize;
        let kind = word(at + 4, &place("type"))?;
        let rest = length.saturating_sub(at + 8);
        if size > rest {
            let expected = format!("at most the remaining {rest} bytes");
            return Err(broken(&place("length"), expected, size));
        }
        let data = &bytes[at + 8..at + 8 + size];
        match (chunk, kind) {
            (0, JSON) => parts.json = data,
            (0, other) => {
                return Err(broken(&place("type"), "JSON", format!("{other:#010x}")));
            }
            (1, BIN) => parts.bin = Some(data),
            // Others are for extensions, and to be passed over.
            _ => {}
        }
        at += 8 + size;
        chunk += 1;
    }
    if chunk == 0 {
        return Err(broken("chunks[0]", "a JSON chunk", "nothing"));
    }
    Ok(parts)
}

/// Writes a .glb file: a header, the JSON, padded by spaces, and the binary chunk if there is one,
/// padded by zeros.
///
/// # Errors
/// The file would be larger than 4 GiB, the limit of a .glb, or `out` fails.
pub fn write_glb(out: &mut dyn Write, mut json: Vec<u8>, bin: Option<Vec<u8>>) -> io::Result<()> {
    json.resize(json.len().next_multiple_of(4), b' ');
    let mut chunks = vec![(JSON, json)];
    if let Some(mut bin) = bin {
        bin.resize(bin.len().next_multiple_of(4), 0);
        chunks.push((BIN, bin));
    }
    let length: usize = 12 + chunks.iter().map(|(_, data)| 8 + data.len()).sum::<usize>();
    let length = u32::try_from(length).map_err(|_| {
        io::Error::other(format!("{length} bytes, but a .glb can have at most 4 GiB"))
    })?;
    out.write_all(MAGIC)?;
    out.write_all(&2u32.to_le_bytes())?;
    out.write_all(&length.to_le_bytes())?;
    for (kind, data) in &chunks {
        // Each chunk is shorter than the whole.
        out.write_all(&(data.len() as u32).to_le_bytes())?;
        out.write_all(&kind.to_le_bytes())?;
        out.write_all(data)?;
    }
    Ok(())
}

fn broken(at: &str, expected: impl Into<String>, found: impl ToString) -> Invalid {
    Invalid::new(at, "", expected, found.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn glb(chunks: &[(u32, &[u8])]) -> Vec<u8> {
        let length = 12 + chunks.iter().map(|(_, d)| 8 + d.len()).sum::<usize>();
        let mut out = MAGIC.to_vec();
        out.extend(2u32.to_le_bytes());
        out.extend((length as u32).to_le_bytes());
        for (kind, data) in chunks {
            out.extend((data.len() as u32).to_le_bytes());
            out.extend(kind.to_le_bytes());
            out.extend(*data);
        }
        out
    }

    #[test]
    fn chunks_are_found_and_others_passed_over() {
        let file = glb(&[(JSON, b"{}  "), (BIN, &[1, 2, 3, 4]), (7, b"????")]);
        let parts = split(&file).unwrap();
        assert_eq!(
            (parts.json, parts.bin),
            (&b"{}  "[..], Some(&[1, 2, 3, 4][..]))
        );
        let file = glb(&[(JSON, b"{}  "), (7, b"????"), (BIN, &[1, 2, 3, 4])]);
        assert!(
            split(&file).unwrap().bin.is_none(),
            "only the second chunk is read"
        );
        assert_eq!(split(b"\xEF\xBB\xBF{}").unwrap().json, b"{}");
    }
}
