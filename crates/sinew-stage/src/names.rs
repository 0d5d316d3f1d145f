//! The order of names: as in a dictionary, numbers by their value.

use std::cmp::Ordering;
use std::collections::HashMap;

use sinew_layer::Token;

/// Compares two names as USD sorts properties and metadata: without regard to case, runs of digits by their value. Names
/// that are then equal are in the order of fewer leading zeros, then upper case first.
pub(crate) fn compare(a: &str, b: &str) -> Ordering {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let (mut i, mut j) = (0, 0);
    let mut tie = Ordering::Equal;
    while let (Some(x), Some(y)) = (a.get(i), b.get(j)) {
        if x.is_ascii_digit() && y.is_ascii_digit() {
            let (end_a, end_b) = (digits(a, i), digits(b, j));
            let (run_a, run_b) = (&a[i..end_a], &b[j..end_b]);
            let (value_a, value_b) = (without_zeros(run_a), without_zeros(run_b));
            let order = value_a.len().cmp(&value_b.len()).then(value_a.cmp(value_b));
            if order.is_ne() {
                return order;
            }
            tie = tie.then(run_a.len().cmp(&run_b.len()));
            (i, j) = (end_a, end_b);
            continue;
        }
        let order = x.to_ascii_lowercase().cmp(&y.to_ascii_lowercase());
        if order.is_ne() {
            return order;
        }
        tie = tie.then(x.cmp(y));
        (i, j) = (i + 1, j + 1);
    }
    (a.len() - i).cmp(&(b.len() - j)).then(tie)
}

fn digits(text: &[u8], from: usize) -> usize {
    let run = text[from..].iter().take_while(|c| c.is_ascii_digit());
    from + run.count()
}

fn without_zeros(run: &[u8]) -> &[u8] {
    let zeros = run.iter().take_while(|c| **c == b'0').count();
    &run[zeros..]
}

/// Sorts names and removes those that are there twice.
pub(crate) fn sort(names: &mut Vec<Token>) {
    names.sort_by(|a, b| compare(a, b));
    names.dedup();
}

/// Puts the names that an authored order has in front, in that order.
pub(crate) fn apply_order(names: &mut [Token], order: &[Token]) {
    // Of a name that is there twice the first place counts.
    let places = order.iter().enumerate().rev().map(|(at, name)| (name, at));
    let places: HashMap<&Token, usize> = places.collect();
    names.sort_by_cached_key(|name| places.get(name).copied().unwrap_or(order.len()));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_in_the_order_of_a_dictionary() {
        let mut names = ["b10", "B2", "b2", "a_1", "ab", "a", "b02", "b2"]
            .map(Token::new)
            .to_vec();
        sort(&mut names);
        assert_eq!(names, ["a", "a_1", "ab", "B2", "b2", "b02", "b10"]);
        apply_order(&mut names, &["b10", "c", "ab"].map(Token::new));
        assert_eq!(names, ["b10", "ab", "a", "a_1", "B2", "b2", "b02"]);
    }
}
