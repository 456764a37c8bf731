//! UPDATE and DELETE in every place that their rows can be in; writes to reference tables on every
//! shard. All texts of one statement have one instant.

use std::io::Write;

use super::locate::Where;
use super::text::Copier;
use super::value::sharded;
use super::{Chosen, Name, Part, RouteError, Routed, Work};
use crate::error::Error;
use crate::plan::{Given, Over, RefKind, Rows, TableRef, Template, WriteScatter};
use crate::sql::{Flavour, Keyword, Kind, Span, fingerprint};
use crate::topology::key::Purpose;
use crate::topology::{HOME, Place, ShardNo, SubtableNo};

/// More texts than these are worth having their parameters as literals: then they needn't be prepared.
const FEW: usize = 4;

/// So many chosen rows are named in one text.
const ROWS: usize = 1000;

impl Work<'_> {
    pub fn scatter(&self, plan: &WriteScatter, out: &mut Routed) -> Result<(), RouteError> {
        let target = target(plan)?;
        // 1. Where its rows can be
        let mut places = match (&target.kind, plan.over) {
            (RefKind::Sharded(located), Over::Places) => match self.locate(&target.schema, located)? {
                Where::One(place) => vec![place],
                Where::Several(places) => places,
                Where::Anywhere => target.schema.places(sharded(located)).collect(),
            },
            (RefKind::Sharded(_) | RefKind::Reference | RefKind::Unsharded, _) => (0..target.schema.shard_count())
                .map(|shard| Place { shard: ShardNo(shard), subtable: SubtableNo(0) })
                .collect(),
        };
        if self.sample {
            places.truncate(1);
        }
        out.copying = plan.from_home.as_ref().is_some_and(|copy| copy.always);
        if let Some(given) = &plan.given {
            match (self.check_given(given), &plan.from_home) {
                (Err(RouteError::Refused(_)), Some(_)) => out.copying = true,
                (checked, _) => checked?,
            }
        }
        if out.copying {
            places.truncate(1);
        }
        if let (RefKind::Sharded(located), Over::Places, [_]) = (&target.kind, plan.over, places.as_slice()) {
            out.hot = self.hot(located);
        }
        // 2. Where they may have to go
        if let (Some(moves), RefKind::Sharded(located), false) = (&plan.moves, &target.kind, self.sample) {
            out.moving = self.moving(target, located, moves, &places)?;
        }
        // 3. Rows of several places are chosen first
        if let Some(choice) = plan.choice.as_ref().filter(|_| places.len() > 1) {
            out.window = Some(self.window(&choice.window)?);
            out.choosing = true;
        }
        out.inlined = self.statement.params.is_some() && (out.choosing || places.len() > FEW);
        // 4. A text for each
        let template = plan.choice.as_ref().filter(|_| out.choosing).map_or(&plan.template, |choice| &choice.query);
        let one_instant = places.len() > 1 && plan.clock && !out.choosing;
        for (number, place) in places.iter().enumerate() {
            let number = number.to_string();
            self.place_text(plan, Text { template, inserted: number.as_bytes(), one_instant }, *place, out);
        }
        out.places = places;
        Ok(())
    }

    /// The texts that change the chosen rows, at one instant.
    pub fn change(&self, plan: &WriteScatter, rows: &[Chosen], out: &mut Routed) -> Result<(), RouteError> {
        let choice = plan.choice.as_ref().ok_or_else(|| Error::proxy("Bifold: rows were chosen for no statement."))?;
        let names: Vec<&str> = choice.columns.iter().map(|column| &*column.name).collect();
        let names = if names.len() == 1 { names[0].to_owned() } else { format!("({})", names.join(", ")) };
        let mut by_part: Vec<Vec<&str>> = vec![Vec::new(); out.places.len()];
        rows.iter().for_each(|row| by_part[row.part].push(&row.key));
        let places = std::mem::take(&mut out.places);
        out.buffer.clear();
        out.parts.clear();
        out.choosing = false;
        let several = by_part.iter().filter(|rows| !rows.is_empty()).count() > 1;
        for (place, rows) in places.into_iter().zip(by_part) {
            for rows in rows.chunks(ROWS) {
                let condition = format!(" WHERE {names} IN ({})", rows.join(", "));
                let text = Text {
                    template: &choice.change,
                    inserted: condition.as_bytes(),
                    one_instant: plan.clock && (several || rows.len() == ROWS),
                };
                self.place_text(plan, text, place, out);
                out.places.push(place);
            }
        }
        Ok(())
    }

    fn place_text(&self, plan: &WriteScatter, text: Text<'_>, place: Place, out: &mut Routed) {
        let names: Vec<Name> = plan
            .template
            .refs
            .iter()
            .map(|table| match &table.kind {
                RefKind::Sharded(located) => Name::owned(table, located, place),
                RefKind::Reference | RefKind::Unsharded => Name::whole(table, place.shard),
            })
            .collect();
        let server = plan.template.refs[0].schema.shard(place.shard).server;
        let start = out.buffer.len();
        let mut copier = Copier::new(self.statement, self.facts, text.template, &names);
        copier.limit = out.window.map_or(0, |window| window.offset.saturating_add(window.count));
        copier.inserted = text.inserted;
        if out.inlined {
            copier.inlined = self.params;
        }
        if text.one_instant {
            self.instant(text.template, &mut copier, &mut out.buffer);
        }
        copier.copy_rest(&mut out.buffer);
        let text = start..out.buffer.len();
        let copies = plan.over == Over::Shards && place.shard != HOME;
        out.parts.push(Part {
            server,
            text,
            args: None,
            names,
            rows: 0,
            numbers: Vec::new(),
            copies,
            branches: Vec::new(),
        });
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

/// What a text for a place is made of.
#[derive(Clone, Copy)]
struct Text<'t> {
    template: &'t Template,
    inserted: &'t [u8],
    one_instant: bool,
}

fn target(plan: &WriteScatter) -> Result<&TableRef, Error> {
    plan.template.refs.first().ok_or_else(|| Error::proxy("Bifold: a write without a target."))
}
