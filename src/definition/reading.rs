//! The settings of a connection that definitions are read on and made again on.

use std::sync::Arc;

use crate::context::{Setting, State, States};

/// Names in backticks, text in utf8mb4, and strict about nothing: what stands must be possible
/// to make again.
pub fn reading_state(states: &States) -> Arc<State> {
    let settings = [
        ("character_set_client", "'utf8mb4'"),
        ("character_set_results", "'utf8mb4'"),
        ("collation_connection", "'utf8mb4_general_ci'"),
        ("sql_mode", "''"),
        ("sql_quote_show_create", "1"),
        ("foreign_key_checks", "0"),
    ];
    states.of(settings.map(|(name, value)| (Setting::System(name.into()), value.to_owned())))
}
