//! Where the rows of an UPDATE of the sharding key may have to go, as far as values tell.

use super::value::{Said, sharded};
use super::{Moving, RouteError, Work};
use crate::error::Error;
use crate::plan::{KeyColumn, Located, Move, TableRef, ValueSource};
use crate::snowflake::{Carried, Format};
use crate::sql::literal;
use crate::topology::Place;
use crate::topology::key::Purpose;

impl Work<'_> {
    /// Can rows of these places have to leave them? `None`: their new key is of the one place where
    /// they are.
    pub fn moving(
        &self,
        target: &TableRef,
        located: &Located,
        moves: &Move,
        places: &[Place],
    ) -> Result<Option<Moving>, RouteError> {
        let table = sharded(located);
        let mut scratch = Vec::new();
        // 1. The new key's hash, if it is known
        let span = match &moves.key {
            Some(ValueSource::One { from, to }) => Some(self.span(*from, *to)),
            Some(ValueSource::LastInsertId | ValueSource::List(_) | ValueSource::Rows { .. } | ValueSource::Driver)
            | None => None,
        };
        let said = match span {
            Some(span) => self.key(&located.key_type, table, span, Purpose::Store, &mut scratch)?,
            None => Said::Unclear,
        };
        // 2. An id that carries the key's place keeps its row there
        if let Some(id) = &moves.carries
            && !self.keeps_place(located, said)?
        {
            let (key, table) = (&table.key, &target.table);
            return Err(Error::refused(format!(
                "Bifold: {id} of table {table} carries the place of its row's {key}, and would not lead to the row any \
                 more: insert the row anew with its new {key}, and delete the old one."
            ))
            .into());
        }
        // 3. Its place
        let hash = match said {
            Said::Hash(hash) => Some(hash),
            Said::Null | Said::Unclear => None,
        };
        let place = hash.map(|hash| hash.place(target.schema.shard_count(), table.subtables));
        if place.is_some_and(|place| places == [place]) {
            return Ok(None);
        }
        if target.schema.dirty {
            return Err(Error::refused(format!(
                "Bifold: {} is the sharding key of table {}, whose rows can't go to another place until the doubled \
                 databases are cleaned: try again when `bifold expand status` says that it is done.",
                table.key, target.table
            ))
            .into());
        }
        let Some(place) = place else { return Ok(Some(Moving { to: None })) };
        let mut literal = Vec::new();
        let mut scratch = Vec::new();
        if let Some(value) = span.and_then(|span| self.value(span.into(), &mut scratch)) {
            literal::put_value(&value, &self.statement.source.dialect, self.facts.charset, &mut literal);
        }
        Ok(Some(Moving { to: Some((place, literal)) }))
    }

    /// Is the new key of the very hash that the rows' keys or ids have already?
    fn keeps_place(&self, located: &Located, new: Said) -> Result<bool, RouteError> {
        let table = sharded(located);
        let Said::Hash(hash) = new else { return Ok(false) };
        let Some((rule, modulus)) = table.id.as_ref().and_then(|rule| Some((rule, rule.layout.carries?))) else {
            return Ok(true);
        };
        let carried = Carried { subtable: hash.subtable(table.subtables).0, residue: hash.residue(modulus) };
        let mut scratch = Vec::new();
        for key in &located.keys {
            let mut alike = !key.null_safe;
            for values in &key.values {
                alike &= self.each(values, |given| {
                    Ok(match (key.column, &located.id_type) {
                        (KeyColumn::Key, _) => {
                            self.key(&located.key_type, table, given, Purpose::Compare, &mut scratch)? == new
                        }
                        (KeyColumn::Id, Some(id_type)) => {
                            let id = self.integer(id_type, given, Purpose::Compare, &mut scratch);
                            let id = id.and_then(|id| i64::try_from(id).ok());
                            id.and_then(|id| Format::new(rule.layout).carried(id)) == Some(carried)
                        }
                        (KeyColumn::Id | KeyColumn::Stored, _) => false,
                    })
                })?;
            }
            if alike {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
