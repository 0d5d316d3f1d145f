//! Lists in messages.

/// The first few of a list, and how many more.
pub(super) fn list<T: ToString>(items: &[T]) -> String {
    const SHOWN: usize = 8;
    let shown: Vec<String> = items.iter().take(SHOWN).map(T::to_string).collect();
    match items.len().saturating_sub(SHOWN) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}
