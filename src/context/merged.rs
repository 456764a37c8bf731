//! One table: what becomes of a setting that servers would apply to each part of a query over several
//! places. A name that is not here is followed, as for any statement: it means the same in each part.

/// What is done with a setting in a query over several places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Merged {
    /// The parts run without it; the merge applies it.
    AtMerge,
    /// Text columns would come out of a UNION otherwise: each place gets a text of its own.
    Alone,
    /// Refused where rows are sorted or grouped.
    Refused,
}

/// By lower-case name.
pub const MERGED: [(&str, Merged); 3] = [
    // In a UNION it cuts what is to be added up.
    ("sql_select_limit", Merged::AtMerge),
    // Of it only PAD_CHAR_TO_FULL_LENGTH.
    ("sql_mode", Merged::Alone),
    // Servers would take for equal what the merge does not.
    ("max_sort_length", Merged::Refused),
];
