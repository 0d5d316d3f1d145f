//! The times at which a clip is looked at.

use common::gltf_eval::clip::Clip;

#[derive(Clone, Copy, Debug)]
pub struct Moment {
    pub seconds: f64,
    /// At a key, or beyond all keys, where the nearest one holds.
    pub is_key: bool,
}

/// Intervals of a clip up to which each is looked into twice.
const FEW_INTERVALS: usize = 40;

/// Seconds between keys below which nothing is looked at between them: a converted step's old value ends a thousandth of a frame
/// before its key.
const CLOSE: f64 = 1e-3;

/// Every key, two moments between each two (one, where there are many), and one beyond either end; one
/// moment where nothing moves.
pub fn moments(clip: Option<&Clip>) -> Vec<Moment> {
    let keys = clip.map_or(Vec::new(), Clip::key_times);
    let moment = |seconds, is_key| Moment { seconds, is_key };
    let (Some(first), Some(last)) = (keys.first(), keys.last()) else {
        return vec![moment(0.0, true)];
    };
    let mut out = vec![moment(first - 0.5, true), moment(last + 0.5, true)];
    out.extend(keys.iter().map(|t| moment(*t, true)));
    let shares: &[f64] = if keys.len() > FEW_INTERVALS {
        &[0.5]
    } else {
        &[0.3, 0.5]
    };
    for pair in keys.windows(2).filter(|p| p[1] - p[0] > CLOSE) {
        out.extend(
            shares
                .iter()
                .map(|s| moment(pair[0] + (pair[1] - pair[0]) * s, false)),
        );
    }
    out.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
    out
}
