//! Parts of a bake for several machines.

/// One of several equal parts of the clips of a bake, for one of several machines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// Number of the part, from 1.
    pub number: usize,
    /// Number of parts.
    pub of: usize,
}

impl std::str::FromStr for Shard {
    type Err = String;

    /// Parses `I/N`, where I is 1 to N.
    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text.split_once('/');
        let parts = parts.and_then(|(number, of)| Some((number.parse().ok()?, of.parse().ok()?)));
        let Some((number, of)) = parts else {
            return Err(format!("expected I/N, such as 1/4, found '{text}'"));
        };
        if number == 0 || number > of {
            return Err(format!("expected I from 1 to {of} in I/N, found {text}"));
        }
        Ok(Self { number, of })
    }
}

impl Shard {
    /// The clips of this part, by index. They are consecutive, and the numbers of clips of two
    /// parts differ by at most 1.
    #[must_use]
    pub fn clips(self, count: usize) -> std::ops::Range<usize> {
        // It fits into 64 bits for any realistic number of clips.
        let until = |part: usize| (part as u128 * count as u128 / self.of as u128) as usize;
        until(self.number - 1)..until(self.number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_disjoint_and_whole() {
        for count in [0, 1, 3, 10, 48] {
            for of in 1..=12 {
                let shards = (1..=of).map(|number| Shard { number, of });
                let sizes: Vec<usize> = shards.clone().map(|s| s.clips(count).len()).collect();
                let all: Vec<usize> = shards.flat_map(|s| s.clips(count)).collect();
                assert_eq!(all, (0..count).collect::<Vec<_>>());
                let (least, most) = (sizes.iter().min(), sizes.iter().max());
                assert!(most.unwrap() - least.unwrap() <= 1, "{sizes:?}");
            }
        }
    }

    #[test]
    fn spelled_as_a_fraction() {
        assert_eq!("2/4".parse(), Ok(Shard { number: 2, of: 4 }));
        for bad in ["", "0/4", "5/4", "1", "a/b", "1/0", "-1/2", "1/2/3"] {
            assert!(bad.parse::<Shard>().is_err(), "{bad}");
        }
    }
}
