//! Statements that edit one list of a list edit.

use crate::value::ListOp;

/// Which list a statement sets; a statement without such a word sets the whole list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Edit {
    Add,
    Delete,
    Append,
    Prepend,
    Reorder,
}

impl Edit {
    pub const WORDS: [(&'static str, Self); 5] = [
        ("add", Self::Add),
        ("delete", Self::Delete),
        ("append", Self::Append),
        ("prepend", Self::Prepend),
        ("reorder", Self::Reorder),
    ];
}

/// Sets one list. The whole list and edits exclude each other: the later statement counts.
pub(super) fn set_list<T>(op: &mut ListOp<T>, edit: Option<Edit>, items: Vec<T>) {
    let Some(edit) = edit else {
        *op = ListOp::explicit(items);
        return;
    };
    if op.explicit {
        *op = ListOp::default();
    }
    *match edit {
        Edit::Add => &mut op.added,
        Edit::Delete => &mut op.deleted,
        Edit::Append => &mut op.appended,
        Edit::Prepend => &mut op.prepended,
        Edit::Reorder => &mut op.ordered,
    } = items;
}

/// Sets one list of a spec's field, which holds list edits of one type.
macro_rules! edit_field {
    ($spec:expr, $name:expr, $variant:ident, $edit:expr, $items:expr) => {{
        use $crate::value::Value;
        let (edit, items) = ($edit, $items);
        match $spec.fields.get_mut($name) {
            Some(Value::$variant(op)) => {
                let op = std::sync::Arc::make_mut(op);
                $crate::usda::list_edits::set_list(op, edit, items);
            }
            _ => {
                let mut op = $crate::value::ListOp::default();
                $crate::usda::list_edits::set_list(&mut op, edit, items);
                $spec.fields.set($name, Value::$variant(op.into()));
            }
        }
    }};
}
pub(super) use edit_field;
