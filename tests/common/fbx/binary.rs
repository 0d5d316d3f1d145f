//! The binary form of FBX 7.4, from the text that `maker` writes.

const MAGIC: &[u8] = b"Kaydara FBX Binary  \0\x1a\0";
/// Arrays from this many elements on are packed, as exporters do.
const PACKED_FROM: usize = 32;

/// Words of the text: names with their colon, braces, commas left out.
fn words(text: &str) -> Vec<&str> {
    let mut words = Vec::new();
    for line in text.lines().filter(|l| !l.starts_with(';')) {
        let mut rest = line.trim_start();
        while !rest.is_empty() {
            let end = if let Some(quoted) = rest.strip_prefix('"') {
                quoted.find('"').expect("a closing quote") + 2
            } else if rest.starts_with(['{', '}']) {
                1
            } else {
                let end = rest.find([' ', ',', '{', '}']);
                end.unwrap_or(rest.len())
            };
            words.push(&rest[..end]);
            rest = rest[end..].trim_start_matches([' ', ',']);
        }
    }
    words
}

/// The same file in binary.
pub fn binary(text: &str) -> Vec<u8> {
    let mut out = MAGIC.to_vec();
    out.extend(7_400u32.to_le_bytes());
    let words = words(text);
    let mut at = 0;
    while at < words.len() {
        node(&words, &mut at, &mut out);
    }
    out.extend([0; 13]);
    out
}

fn node(words: &[&str], at: &mut usize, out: &mut Vec<u8>) {
    let name = words[*at].strip_suffix(':').expect(words[*at]);
    *at += 1;
    let start = out.len();
    out.extend([0; 12]);
    out.push(name.len() as u8);
    out.extend(name.bytes());
    let values_start = out.len();
    let mut count = 0u32;
    let is_value =
        |word: Option<&&str>| word.is_some_and(|w| !w.ends_with(':') && *w != "{" && *w != "}");
    while is_value(words.get(*at)) {
        count += 1;
        let word = words[*at];
        *at += 1;
        if word.starts_with('*') {
            // `{ a: values }`
            *at += 2;
            let end = *at + words[*at..].iter().position(|w| *w == "}").unwrap();
            array(name, &words[*at..end], out);
            *at = end + 1;
        } else {
            value(word, out);
        }
    }
    let values_end = out.len();
    if words.get(*at) == Some(&"{") {
        *at += 1;
        while words[*at] != "}" {
            node(words, at, out);
        }
        *at += 1;
        out.extend([0; 13]);
    }
    let header = [out.len() as u32, count, (values_end - values_start) as u32];
    for (i, number) in header.into_iter().enumerate() {
        out[start + 4 * i..start + 4 * i + 4].copy_from_slice(&number.to_le_bytes());
    }
}

fn value(word: &str, out: &mut Vec<u8>) {
    if let Some(text) = word.strip_prefix('"') {
        let text = text.trim_end_matches('"');
        // Objects are named the other way round.
        let text = match text.split_once("::") {
            Some((class, name)) => format!("{name}\0\x01{class}"),
            None => text.to_owned(),
        };
        out.push(b'S');
        out.extend((text.len() as u32).to_le_bytes());
        out.extend(text.bytes());
    } else if let Ok(whole) = word.parse::<i64>() {
        out.push(b'L');
        out.extend(whole.to_le_bytes());
    } else {
        out.push(b'D');
        out.extend(word.parse::<f64>().expect(word).to_le_bytes());
    }
}

fn array(name: &str, words: &[&str], out: &mut Vec<u8>) {
    let whole = || words.iter().map(|w| w.parse::<i64>().expect(w));
    let (kind, bytes): (u8, Vec<u8>) = match name {
        "KeyTime" => (b'l', whole().flat_map(i64::to_le_bytes).collect()),
        // Bits, in text.
        "KeyAttrDataFloat" => (
            b'f',
            whole().flat_map(|v| (v as i32).to_le_bytes()).collect(),
        ),
        "Indexes" | "PolygonVertexIndex" | "Materials" | "KeyAttrFlags" | "KeyAttrRefCount" => (
            b'i',
            whole().flat_map(|v| (v as i32).to_le_bytes()).collect(),
        ),
        _ => {
            let numbers = words.iter().map(|w| w.parse::<f64>().expect(w));
            (b'd', numbers.flat_map(f64::to_le_bytes).collect())
        }
    };
    let is_packed = words.len() >= PACKED_FROM;
    let bytes = if is_packed { zlib(&bytes) } else { bytes };
    out.push(kind);
    for number in [words.len(), usize::from(is_packed), bytes.len()] {
        out.extend((number as u32).to_le_bytes());
    }
    out.extend(bytes);
}

/// A zlib stream of stored blocks (RFC 1950 and 1951).
fn zlib(bytes: &[u8]) -> Vec<u8> {
    let mut out = vec![0x78, 0x01];
    let blocks = bytes.chunks(0xffff);
    let last = blocks.len().saturating_sub(1);
    for (i, block) in blocks.enumerate() {
        let length = block.len() as u16;
        out.push(u8::from(i == last));
        out.extend(length.to_le_bytes());
        out.extend((!length).to_le_bytes());
        out.extend(block);
    }
    let (mut a, mut b) = (1u32, 0u32);
    for byte in bytes {
        a = (a + u32::from(*byte)) % 65_521;
        b = (b + a) % 65_521;
    }
    out.extend((b << 16 | a).to_be_bytes());
    out
}
