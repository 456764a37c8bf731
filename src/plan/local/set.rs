//! SET: what a server can set is one text for it; what concerns transactions and ids the proxy
//! keeps itself, as steps after it. A server checks first, so that a wrong name or value changes
//! nothing.

use std::sync::Arc;

use super::desk::Desk;
use super::operand::{on_one_server, operand};
use super::{Characteristic, Local, Operand, Step};
use crate::context::Setting;
use crate::context::variables::{Treatment, treatment};
use crate::error::{Error, Result};
use crate::plan::allow::set::variable;
use crate::plan::survey::{Env, Survey};
use crate::plan::{Kind, Outcome, Patch, Plan};
use crate::sql::ast::{Access, Assignment, AssignmentKind, Expr, ExprKind, Isolation, Name, Scope};
use crate::sql::{self, Flavour, Span};

pub(super) fn plan(desk: &Desk<'_>, assignments: &[Assignment]) -> Result<Outcome> {
    let mut sorted = Sorted {
        desk,
        survey: desk.survey(),
        kept: Vec::new(),
        checks: Vec::new(),
        after: Vec::new(),
        needs_schema: false,
    };
    for (at, assignment) in assignments.iter().enumerate() {
        sorted.sort(at, assignment)?;
    }
    let Sorted { mut survey, kept, checks, after, needs_schema, .. } = sorted;
    // 1. What a server sets
    let mut steps = checks;
    if !kept.is_empty() {
        leave_out(&mut survey, assignments, &kept);
        let mut planned = match on_one_server(survey)? {
            Outcome::Planned(planned) => planned,
            lacks @ Outcome::Lacks(_) => return Ok(lacks),
        };
        if let Plan::Single(single) = &mut planned.plan {
            single.needs_schema |= needs_schema;
        }
        if steps.is_empty() && after.is_empty() {
            return Ok(match assignments.iter().all(is_fixed) {
                true => desk.planned(Local::Follow(Arc::new(planned)), Kind::Other),
                false => Outcome::Planned(planned),
            });
        }
        steps.push(Step::Server(Arc::new(planned)));
    }
    // 2. What the proxy keeps
    if desk.fingerprint.span().tokens().any(|token| desk.source.kind(token) == sql::Kind::Param) {
        return Err(Error::refused("Bifold: a parameter in this SET is not supported; write the value in the text."));
    }
    steps.extend(after);
    Ok(desk.planned(Local::Set(steps), Kind::Other))
}

/// Drivers say such ones on every connection: names, words and literals, of session variables.
fn is_fixed(assignment: &Assignment) -> bool {
    match &assignment.kind {
        AssignmentKind::Names { charset, .. } => charset.is_some(),
        AssignmentKind::SysVar { value, .. } => match &value.kind {
            ExprKind::Literal(_) => true,
            ExprKind::Column(column) => column.table.is_none(),
            _ => false,
        },
        AssignmentKind::Transaction { .. } => true,
        AssignmentKind::UserVar { .. }
        | AssignmentKind::CharacterSet(_)
        | AssignmentKind::Password
        | AssignmentKind::Role
        | AssignmentKind::ResourceGroup => false,
    }
}

/// Cuts out of the text what is not a server's, each with one comma.
fn leave_out(survey: &mut Survey<'_>, assignments: &[Assignment], kept: &[usize]) {
    let first_kept = kept[0];
    for at in (0..assignments.len()).filter(|at| !kept.contains(at)) {
        let own = assignments[at].span;
        let span = match at < first_kept {
            true => Span::new(own.start, assignments[at + 1].span.start),
            false => Span::new(assignments[at - 1].span.end, own.end),
        };
        survey.cut(span, Patch::Text([].into()));
    }
}

struct Sorted<'d> {
    desk: &'d Desk<'d>,
    survey: Survey<'d>,
    /// Positions of what a server sets.
    kept: Vec<usize>,
    checks: Vec<Step>,
    after: Vec<Step>,
    needs_schema: bool,
}

impl Sorted<'_> {
    fn sort(&mut self, at: usize, assignment: &Assignment) -> Result<()> {
        match &assignment.kind {
            AssignmentKind::UserVar { name, value } => {
                self.survey.assigned(*name);
                self.on_server(at, Some(value))
            }
            AssignmentKind::SysVar { scope, name, value, .. } => self.system_variable(at, *scope, *name, value),
            AssignmentKind::Names { .. } => self.charsets(at),
            AssignmentKind::CharacterSet(_) => {
                // The connection's set becomes that of the default database.
                self.needs_schema = true;
                self.charsets(at)
            }
            AssignmentKind::Transaction { scope: None, isolation, access } => {
                let word = |word: &str| Operand::Word(word.into());
                self.after.extend(
                    isolation
                        .map(|level| Step::NextTransaction(Characteristic::Isolation(word(isolation_word(level))))),
                );
                let read_only = |access| if access == Access::ReadOnly { "on" } else { "off" };
                self.after.extend(
                    access.map(|access| Step::NextTransaction(Characteristic::ReadOnly(word(read_only(access))))),
                );
                Ok(())
            }
            AssignmentKind::Transaction { scope: Some(_), isolation, access } => {
                let (level, read_only) = match self.desk.source.dialect.flavour {
                    Flavour::MySql => ("transaction_isolation", "transaction_read_only"),
                    Flavour::MariaDb => ("tx_isolation", "tx_read_only"),
                };
                isolation.is_some().then(|| self.assign(level));
                access.is_some().then(|| self.assign(read_only));
                self.on_server(at, None)
            }
            // The allow-list lets none of these through.
            AssignmentKind::Password | AssignmentKind::Role | AssignmentKind::ResourceGroup => {
                Err(Error::refused("Bifold: this SET is not supported."))
            }
        }
    }

    fn on_server(&mut self, at: usize, value: Option<&Expr>) -> Result<()> {
        self.kept.push(at);
        value.map_or(Ok(()), |value| self.survey.expr(value, &Env::default()))
    }

    fn assign(&mut self, name: &str) {
        self.survey.marks.assigns.insert(Setting::System(name.into()));
    }

    /// The connection's character set follows from its collation.
    fn charsets(&mut self, at: usize) -> Result<()> {
        for name in ["character_set_client", "character_set_results", "collation_connection"] {
            self.assign(name);
        }
        self.on_server(at, None)
    }

    fn system_variable(&mut self, at: usize, scope: Option<Scope>, name: Name, value: &Expr) -> Result<()> {
        let written_with_at = self.desk.source.kind(name.0) == sql::Kind::SysVar;
        let name = variable(self.desk.source, name);
        let setting = || Setting::System(name.as_str().into());
        match treatment(&name) {
            Treatment::Autocommit => self.after.push(Step::Autocommit(operand(self.desk, value)?)),
            Treatment::LastInsertId => self.after.push(Step::LastInsertId(operand(self.desk, value)?)),
            Treatment::Characteristic if scope.is_none() && written_with_at => {
                let value = operand(self.desk, value)?;
                self.after.push(Step::NextTransaction(match name.ends_with("isolation") {
                    true => Characteristic::Isolation(value),
                    false => Characteristic::ReadOnly(value),
                }));
            }
            Treatment::FollowUnlessZero => {
                self.after.push(Step::DefaultIfZero { setting: setting(), value: operand(self.desk, value)? });
                return self.follow(at, &name, value);
            }
            Treatment::Only(allowed, why) => {
                if matches!(value.kind, ExprKind::Literal(_)) {
                    let value = operand(self.desk, value)?;
                    self.checks.push(Step::Check { variable: name.as_str().into(), value, allowed, why });
                }
                return self.follow(at, &name, value);
            }
            Treatment::Follow | Treatment::Characteristic => return self.follow(at, &name, value),
            // The allow-list lets none of these through.
            Treatment::Refuse(_) | Treatment::Privileged => {
                return Err(Error::refused(format!("Bifold: {name} can't be set.")));
            }
        }
        Ok(())
    }

    fn follow(&mut self, at: usize, name: &str, value: &Expr) -> Result<()> {
        match (&value.kind, name) {
            (ExprKind::Default, _) => self.after.push(Step::Default(Setting::System(name.into()))),
            (_, "character_set_connection") => self.assign("collation_connection"),
            (_, name) => self.assign(name),
        }
        self.on_server(at, Some(value))
    }
}

fn isolation_word(level: Isolation) -> &'static str {
    match level {
        Isolation::ReadUncommitted => "READ-UNCOMMITTED",
        Isolation::ReadCommitted => "READ-COMMITTED",
        Isolation::RepeatableRead => "REPEATABLE-READ",
        Isolation::Serializable => "SERIALIZABLE",
    }
}
