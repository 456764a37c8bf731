//! UPDATE and DELETE in every place that their rows can be in; writes to reference tables on every
//! shard. All texts of one statement have one instant.

use std::io::Write;

use super::locate::Where;
use super::text::Copier;
use super::value::sharded;
use super::{Name, Part, RouteError, Routed, Work};
use crate::error::Error;
use crate::plan::{Given, Over, RefKind, Rows, Template, WriteScatter};
use crate::sql::{Flavour, Keyword, Kind, Span, fingerprint};
use crate::topology::key::Purpose;
use crate::topology::{HOME, Place, ShardNo, SubtableNo};

impl Work<'_> {
    pub fn scatter(&self, plan: &WriteScatter, out: &mut Routed) -> Result<(), RouteError> {
        let target = plan.template.refs.first().ok_or_else(|| Error::proxy("Bifold: a write without a target."))?;
        let schema = &target.schema;
        let mut places = match (&target.kind, plan.over) {
            (RefKind::Sharded(located), Over::Places) => match self.locate(schema, located)? {
                Where::One(place) => vec![place],
                Where::Several(places) => places,
                Where::Anywhere => schema.places(sharded(located)).collect(),
            },
            (RefKind::Sharded(_) | RefKind::Reference | RefKind::Unsharded, _) => (0..schema.shard_count())
                .map(|shard| Place { shard: ShardNo(shard), subtable: SubtableNo(0) })
                .collect(),
        };
        if self.sample {
            places.truncate(1);
        }
        if let Some(given) = &plan.given {
            self.check_given(given)?;
        }
        let one_instant = places.len() > 1 && plan.clock;
        for place in places {
            let names: Vec<Name> = plan
                .template
                .refs
                .iter()
                .map(|table| match &table.kind {
                    RefKind::Sharded(located) => Name::owned(table, located, place),
                    RefKind::Reference | RefKind::Unsharded => Name::whole(table, place.shard),
                })
                .collect();
            let server = schema.shard(place.shard).server;
            let start = out.buffer.len();
            let mut copier = Copier::new(self.statement, self.facts, &plan.template, &names);
            if one_instant {
                self.instant(&plan.template, &mut copier, &mut out.buffer);
            }
            copier.copy_rest(&mut out.buffer);
            let text = start..out.buffer.len();
            let copies = plan.over == Over::Shards && place.shard != HOME;
            out.parts.push(Part { server, text, args: None, names, rows: 0, numbers: Vec::new(), copies });
        }
        Ok(())
    }

    /// Every row says the value that a server would count up.
    fn check_given(&self, given: &Given) -> Result<(), RouteError> {
        let mut scratch = Vec::new();
        let source = self.statement.source;
        let mut check = |value: Option<Span>| {
            let known = value.and_then(|span| self.integer(&given.column_type, span, Purpose::Store, &mut scratch));
            match known {
                Some(0) | None if !self.sample => Err(Error::refused(format!(
                    "Bifold: {} of a reference table would be counted up on each shard by itself: give a number.",
                    given.column
                ))),
                Some(_) | None => Ok(()),
            }
        };
        match &given.rows {
            Rows::Set { values, .. } => {
                let value = values.get(usize::from(given.value)).map(|(from, to)| self.span(*from, *to));
                check(value)?;
            }
            Rows::Values { from, to } => {
                for row in fingerprint::rows(&source, self.span(*from, *to)) {
                    check(fingerprint::values(&source, row).nth(usize::from(given.value)))?;
                }
            }
        }
        Ok(())
    }

    /// Starts a text whose NOW() is that of its sisters.
    pub fn instant(&self, _template: &Template, copier: &mut Copier<'_>, out: &mut Vec<u8>) {
        let Some((seconds, micros)) = self.facts.instant else { return };
        let source = &self.statement.source;
        match source.dialect.flavour {
            Flavour::MariaDb => {
                let _ = write!(out, "SET STATEMENT timestamp={seconds}.{micros:06} FOR ");
            }
            Flavour::MySql => {
                let first = self.statement.fingerprint.span().start;
                let verb = matches!(
                    source.keyword(first),
                    Keyword::Insert | Keyword::Replace | Keyword::Update | Keyword::Delete | Keyword::Select
                );
                let Some(token) = source.tokens.get(first as usize).filter(|_| verb) else { return };
                copier.copy_to(token.end(), out);
                let hint = source.tokens.get(first as usize + 1).filter(|next| next.kind == Kind::Hint);
                match hint {
                    None => {
                        let _ = write!(out, " /*+ SET_VAR(timestamp={seconds}.{micros:06}) */");
                    }
                    // Only the first hint comment counts: it goes into that one.
                    Some(hint) => {
                        copier.copy_to(hint.end() - "*/".len(), out);
                        let _ = write!(out, " SET_VAR(timestamp={seconds}.{micros:06}) ");
                    }
                }
            }
        }
    }
}
