//! Normalises, sorts, resizes and expands joint influences.
//!
//! All functions work on arrays as files have them: `element_size` influences per component, one
//! component after the other. A component is a point, or the whole prim. Joint indices may have any
//! integer type. Where Pixar's tools print a warning and do nothing, the function here returns an
//! error. To keep the largest influences of every point, sort and then resize.

use super::UtilError;
use super::error::same_length;

/// Default epsilon of UsdSkelNormalizeWeights: weights whose sum is at most this become zero.
pub const WEIGHT_SUM_EPSILON: f32 = f32::EPSILON;

/// Divides the weights of each component by their sum (UsdSkelNormalizeWeights), in f32 as Pixar
/// does. If the sum is within `eps` of zero, they all become 0. A negative sum changes their signs.
///
/// # Errors
/// An `element_size` of 0, or one that does not divide the number of weights.
pub fn normalize_weights(
    weights: &mut [f32],
    element_size: usize,
    eps: f32,
) -> Result<(), UtilError> {
    whole("weights", weights.len(), element_size)?;
    for component in weights.chunks_exact_mut(element_size) {
        let sum: f32 = component.iter().fold(0.0, |sum, w| sum + w);
        for w in component {
            *w = if sum.abs() > eps { *w / sum } else { 0.0 };
        }
    }
    Ok(())
}

/// Sorts the influences of each component by weight, the largest first (UsdSkelSortInfluences). Of
/// equal weights, the one with the larger joint index comes first, as in Pixar's code.
///
/// # Errors
/// Arrays of different length; an `element_size` of 0, or one that does not divide it.
pub fn sort_influences<I: Copy + Ord>(
    joints: &mut [I],
    weights: &mut [f32],
    element_size: usize,
) -> Result<(), UtilError> {
    same_length("weights, as many as joints", joints.len(), weights.len())?;
    whole("influences", joints.len(), element_size)?;
    let mut pairs: Vec<(f32, I)> = Vec::with_capacity(element_size);
    let components = joints
        .chunks_exact_mut(element_size)
        .zip(weights.chunks_exact_mut(element_size));
    for (joints, weights) in components {
        pairs.clear();
        pairs.extend(weights.iter().copied().zip(joints.iter().copied()));
        // Adding 0 turns -0 into 0; C++ compares them as equal.
        pairs.sort_by(|a, b| (b.0 + 0.0).total_cmp(&(a.0 + 0.0)).then(b.1.cmp(&a.1)));
        for (at, (weight, joint)) in pairs.iter().enumerate() {
            weights[at] = *weight;
            joints[at] = *joint;
        }
    }
    Ok(())
}

/// Changes the number of influences per component from `from` to `to` (UsdSkelResizeInfluences, for
/// indices and weights at once). Added influences have joint 0 and weight 0. If `to` is less than
/// `from`, the *first* influences are kept, and their weights are normalised to the sum 1, whatever
/// the sum was before.
///
/// # Errors
/// Arrays of different length; sizes of 0, or a `from` that does not divide it.
pub fn resize_influences<I: Copy + Default>(
    joints: &mut Vec<I>,
    weights: &mut Vec<f32>,
    from: usize,
    to: usize,
) -> Result<(), UtilError> {
    same_length("weights, as many as joints", joints.len(), weights.len())?;
    whole("influences", joints.len(), from)?;
    if to == 0 {
        return Err(UtilError::ElementSize);
    }
    if from == to {
        return Ok(());
    }
    *joints = resized(joints, from, to);
    *weights = resized(weights, from, to);
    if to < from {
        normalize_weights(weights, to, WEIGHT_SUM_EPSILON)?;
    }
    Ok(())
}

fn resized<T: Copy + Default>(values: &[T], from: usize, to: usize) -> Vec<T> {
    let kept = from.min(to);
    let mut out = Vec::with_capacity(values.len() / from * to);
    for component in values.chunks_exact(from) {
        out.extend_from_slice(&component[..kept]);
        out.resize(out.len() + to - kept, T::default());
    }
    out
}

/// Repeats constant influences for each of `points` points
/// (UsdSkelExpandConstantInfluencesToVarying). Call it for indices and for weights. With 0 points,
/// the arrays become empty.
pub fn expand_constant_influences_to_varying<T: Copy>(values: &mut Vec<T>, points: usize) {
    *values = values.repeat(points);
}

/// Checks that an array consists of whole elements of at least one value each.
fn whole(what: &'static str, found: usize, element_size: usize) -> Result<(), UtilError> {
    if element_size == 0 {
        return Err(UtilError::ElementSize);
    }
    if !found.is_multiple_of(element_size) {
        return Err(UtilError::NotWhole {
            what,
            element_size,
            found,
        });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_few_of_every_point() {
        let (mut joints, mut weights) = (vec![5, 6, 7, 8], vec![0.25, 0.75, 0.5, 0.5]);
        sort_influences(&mut joints, &mut weights, 2).unwrap();
        assert_eq!(joints, [6, 5, 8, 7]);
        resize_influences(&mut joints, &mut weights, 2, 1).unwrap();
        assert_eq!((joints, weights), (vec![6, 8], vec![1.0, 1.0]));
    }

    #[test]
    fn sizes_that_do_not_fit_are_refused() {
        let not_whole = UtilError::NotWhole {
            what: "weights",
            element_size: 2,
            found: 3,
        };
        assert_eq!(normalize_weights(&mut [1.0; 3], 2, 0.0), Err(not_whole));
        let zero = Err(UtilError::ElementSize);
        assert_eq!(normalize_weights(&mut [], 0, 0.0), zero);
        assert_eq!(resize_influences(&mut vec![0], &mut vec![1.0], 1, 0), zero);
        assert!(sort_influences(&mut [0], &mut [1.0, 0.0], 1).is_err());
    }

    #[test]
    fn weights_that_are_no_numbers_do_not_stop_a_sort() {
        let (mut joints, mut weights) = ([0, 1, 2], [0.5, f32::NAN, -f32::NAN]);
        sort_influences(&mut joints, &mut weights, 3).unwrap();
        assert_eq!(joints, [1, 0, 2]);
    }
}
