//! Random stages from seeds: small layers with all arcs.

use std::fmt::Write;

/// xorshift64*.
pub struct Rng(u64);

impl Rng {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn bits(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn below(&mut self, end: usize) -> usize {
        (self.bits() >> 33) as usize % end
    }

    /// True once in so many times.
    fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.below(from.len())]
    }
}

const ROOTS: [&str; 4] = ["A", "B", "C", "D"];
const CHILDREN: [&str; 3] = ["X", "Y", "Z"];
const SETS: [&str; 2] = ["v", "w"];
const VARIANTS: [&str; 2] = ["one", "two"];

/// A layer that is written.
struct Maker<'a> {
    rng: &'a mut Rng,
    /// This layer's number, and how many there are. Layer 0 is the root layer.
    layer: usize,
    layers: usize,
    text: String,
}

/// The layers of a stage: names and texts. The first is the root layer.
pub fn stage(seed: u64) -> Vec<(String, String)> {
    let mut rng = Rng::new(seed + 1);
    let layers = 2 + rng.below(3);
    // Layers that are sublayers of another; a layer is one only once.
    let parents: Vec<Option<usize>> = (0..layers)
        .map(|i| (i > 0 && rng.once_in(3)).then(|| rng.below(i)))
        .collect();
    (0..layers)
        .map(|layer| {
            let subs = (0..layers).filter(|s| parents[*s] == Some(layer)).collect();
            let mut maker = Maker {
                rng: &mut rng,
                layer,
                layers,
                text: String::new(),
            };
            maker.layer(subs);
            (name(layer), maker.text)
        })
        .collect()
}

fn name(layer: usize) -> String {
    match layer {
        0 => "root.usda".to_owned(),
        n => format!("l{n}.usda"),
    }
}

impl Maker<'_> {
    fn layer(&mut self, subs: Vec<usize>) {
        self.text.push_str("#usda 1.0\n(\n");
        let default = match self.rng.below(4) {
            0 => "/B/X",
            1 => "None",
            _ => "A",
        };
        let _ = writeln!(self.text, "    defaultPrim = \"{default}\"");
        if self.rng.once_in(4) {
            let rate = self.rng.pick(&["12", "24", "48"]);
            let _ = writeln!(self.text, "    timeCodesPerSecond = {rate}");
        }
        if self.rng.once_in(3) {
            let variant = self.rng.pick(&VARIANTS);
            let n = 1 + self.rng.below(self.layers);
            let _ = writeln!(
                self.text,
                "    expressionVariables = {{\n        string V = \"{variant}\"\n        string L = \"l{n}\"\n    }}"
            );
        }
        if !subs.is_empty() {
            let offsets: Vec<String> = subs
                .iter()
                .map(|s| format!("@./{}@{}", name(*s), self.offset()))
                .collect();
            let _ = writeln!(self.text, "    subLayers = [{}]", offsets.join(", "));
        }
        if self.rng.once_in(4) {
            let mut moves = Vec::new();
            for _ in 0..1 + self.rng.below(2) {
                let from = format!("{}/{}", self.root(), self.rng.pick(&CHILDREN));
                let to = match self.rng.below(4) {
                    0 => format!("/{}", self.rng.pick(&["M", "N"])),
                    1 => String::new(),
                    _ => format!("{}/{}", self.root(), self.rng.pick(&["M", "N"])),
                };
                moves.push(format!("<{from}>: <{to}>"));
            }
            let _ = writeln!(self.text, "    relocates = {{ {} }}", moves.join(", "));
        }
        self.text.push_str(")\n");
        for root in ROOTS {
            if !self.rng.once_in(4) {
                self.prim(root, &format!("/{root}"), 1, 0);
            }
        }
    }

    fn offset(&mut self) -> &'static str {
        match self.rng.below(6) {
            0 => " (offset = 10)",
            1 => " (offset = -4; scale = 2)",
            2 => " (scale = 0.5)",
            _ => "",
        }
    }

    fn root(&mut self) -> String {
        format!("/{}", self.rng.pick(&ROOTS))
    }

    /// The path of any prim.
    fn any_prim(&mut self) -> String {
        let mut path = self.root();
        for _ in 0..self.rng.below(3) {
            path = format!("{path}/{}", self.rng.pick(&CHILDREN));
        }
        path
    }

    /// The path of a prim that an arc of a prim in the same layer stack may lead to.
    fn target(&mut self, from: &str) -> String {
        loop {
            let path = self.any_prim();
            // Later roots only, or siblings that come later: no circles.
            let is_later = path.as_bytes()[1] > from.as_bytes()[1];
            if is_later {
                return path;
            }
            if from.as_bytes()[1] == b'D' {
                return "/E".to_owned();
            }
        }
    }

    fn list_op(&mut self) -> &'static str {
        self.rng
            .pick(&["prepend ", "prepend ", "append ", "", "delete ", "add "])
    }

    fn reference(&mut self, from: &str) -> String {
        let offset = self.offset();
        let is_internal = self.rng.once_in(4) || self.layer + 1 >= self.layers;
        if is_internal {
            return format!("<{}>{}", self.target(from), offset);
        }
        let next = self.layer + 1;
        let layer = next + self.rng.below(self.layers - next);
        let asset = match self.rng.below(10) {
            0 => "./missing.usda".to_owned(),
            // Only the root layer's variable is known to name a later layer.
            1 if self.layer == 0 => "`\"./${L}.usda\"`".to_owned(),
            _ => format!("./{}", name(layer)),
        };
        match self.rng.below(4) {
            0 => format!("@{asset}@{offset}"),
            _ => format!("@{asset}@<{}>{offset}", self.any_prim()),
        }
    }

    fn arcs(&mut self, path: &str) -> Vec<String> {
        let mut lines = Vec::new();
        for (field, rarity) in [
            ("references", 4),
            ("payload", 12),
            ("inherits", 8),
            ("specializes", 16),
        ] {
            if !self.rng.once_in(rarity) {
                continue;
            }
            let op = self.list_op();
            let items: Vec<String> = (0..1 + self.rng.below(2))
                .map(|_| match field {
                    "references" | "payload" => self.reference(path),
                    _ => format!("<{}>", self.target(path)),
                })
                .collect();
            let mut unique = items.clone();
            unique.dedup();
            lines.push(format!("{op}{field} = [{}]", unique.join(", ")));
        }
        if self.rng.once_in(3) {
            let set = self.rng.pick(&SETS);
            let variant = match self.rng.below(6) {
                0 => "`${V}`",
                1 => "",
                _ => self.rng.pick(&VARIANTS),
            };
            lines.push(format!("variants = {{ string {set} = \"{variant}\" }}"));
        }
        if self.rng.once_in(8) {
            lines.push("instanceable = true".to_owned());
        }
        if self.rng.once_in(20) {
            lines.push("active = false".to_owned());
        }
        lines
    }

    fn prim(&mut self, name: &str, path: &str, depth: usize, in_variant: usize) {
        let kind = self.rng.pick(&["def", "def", "over", "class"]);
        let mut lines = self.arcs(path);
        let has_sets = in_variant < 2 && self.rng.once_in(6);
        let set = self.rng.pick(&SETS);
        if has_sets {
            lines.push(format!("prepend variantSets = \"{set}\""));
        }
        let lines = lines.join("\n    ");
        let _ = writeln!(self.text, "{kind} \"{name}\" (\n    {lines}\n)\n{{");
        self.body(path, depth, in_variant);
        if has_sets {
            let _ = writeln!(self.text, "variantSet \"{set}\" = {{");
            for variant in VARIANTS {
                let lines = self.arcs(path).join("\n    ");
                let _ = writeln!(self.text, "\"{variant}\" (\n    {lines}\n) {{");
                self.body(path, depth, in_variant + 1);
                self.text.push_str("}\n");
            }
            self.text.push_str("}\n");
        }
        self.text.push_str("}\n");
    }

    /// What is in a prim or a variant.
    fn body(&mut self, path: &str, depth: usize, in_variant: usize) {
        if self.rng.once_in(3) {
            let names = match self.rng.once_in(2) {
                true => "[\"Z\", \"X\"]",
                false => "[\"Y\", \"M\", \"X\"]",
            };
            let _ = writeln!(self.text, "reorder nameChildren = {names}");
        }
        if self.rng.once_in(2) {
            let name = self.rng.pick(&["p", "q"]);
            let _ = writeln!(self.text, "int {name} = {}", self.layer);
        }
        if depth >= 3 {
            return;
        }
        for child in CHILDREN {
            if self.rng.once_in(3 + in_variant) {
                self.prim(child, &format!("{path}/{child}"), depth + 1, in_variant);
            }
        }
    }
}
