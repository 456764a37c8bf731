//! SET: scopes and variables that a session may set.

use super::{Asker, denied, not_yet};
use crate::context::variables::{Treatment, treatment};
use crate::error::{Error, Result};
use crate::sql::Source;
use crate::sql::ast::{Assignment, AssignmentKind, Expr, ExprKind, Name, Scope};
use crate::sql::literal;

pub(super) fn check(source: &Source<'_>, assignments: &[Assignment], asker: &Asker<'_>) -> Result<()> {
    assignments.iter().try_for_each(|assignment| one(source, &assignment.kind, asker))
}

fn one(source: &Source<'_>, assignment: &AssignmentKind, asker: &Asker<'_>) -> Result<()> {
    match assignment {
        AssignmentKind::UserVar { .. } | AssignmentKind::Names { .. } | AssignmentKind::CharacterSet(_) => Ok(()),
        AssignmentKind::SysVar { scope, qualifier, name, value } => match (scope, qualifier) {
            (None | Some(Scope::Session), None) => session_variable(source, *name, value, asker),
            // `hot_cache.key_buffer_size` is global whatever the scope.
            (None | Some(Scope::Session), Some(_)) | (Some(Scope::Global | Scope::Persist | Scope::PersistOnly), _) => {
                Err(global(asker))
            }
        },
        AssignmentKind::Transaction { scope, .. } => match scope {
            None | Some(Scope::Session) => Ok(()),
            Some(Scope::Global | Scope::Persist | Scope::PersistOnly) => Err(global(asker)),
        },
        AssignmentKind::Password => Err(denied::schema(asker, "mysql")),
        AssignmentKind::Role => {
            Err(not_yet("SET ROLE", "a user of Bifold has the rights that the topology file gives it"))
        }
        AssignmentKind::ResourceGroup => Err(denied::privilege("RESOURCE_GROUP_ADMIN OR RESOURCE_GROUP_USER")),
    }
}

fn session_variable(source: &Source<'_>, name: Name, value: &Expr, asker: &Asker<'_>) -> Result<()> {
    let name = variable(source, name);
    let refused = |why: &str| Error::refused(format!("Bifold: {name} can't be set: {why}."));
    match treatment(&name) {
        Treatment::Follow
        | Treatment::FollowUnlessZero
        | Treatment::Autocommit
        | Treatment::Characteristic
        | Treatment::LastInsertId => Ok(()),
        // A literal is not part of the plan: it is looked at when the statement runs.
        Treatment::Only(allowed, why) => match &value.kind {
            ExprKind::Literal(_) | ExprKind::Default => Ok(()),
            ExprKind::Column(column) if allowed.contains(&variable(source, column.column).as_str()) => Ok(()),
            _ => Err(refused(why)),
        },
        Treatment::Refuse(why) => Err(refused(why)),
        Treatment::Privileged => Err(denied::privilege_of(
            asker,
            "SUPER, SYSTEM_VARIABLES_ADMIN or SESSION_VARIABLES_ADMIN",
            "SUPER, BINLOG ADMIN",
        )),
    }
}

fn global(asker: &Asker<'_>) -> Error {
    denied::privilege_of(asker, "SUPER or SYSTEM_VARIABLES_ADMIN", "SUPER")
}

/// A variable's name, or a word that is its value, in lower case.
pub(in crate::plan) fn variable(source: &Source<'_>, name: Name) -> String {
    literal::name(source, name).to_ascii_lowercase()
}
