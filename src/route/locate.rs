//! The places that a reference's keys name.

use std::collections::BTreeMap;

use super::value::{Given, Said, sharded};
use super::{RouteError, Work};
use crate::plan::{KeyColumn, KeyMatch, Located};
use crate::snowflake::Format;
use crate::sql::Span;
use crate::sql::fingerprint::{self, ListKind};
use crate::topology::key::Purpose;
use crate::topology::{Place, Schema, ShardNo, SubtableNo};

/// Where the rows are that a statement can mean.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Where {
    One(Place),
    /// In order, two or more.
    Several(Vec<Place>),
    /// Nothing is proved.
    Anywhere,
}

/// What of a list is for each place.
pub(super) type Shares = BTreeMap<Place, Vec<Span>>;

const FIRST: Place = Place { shard: ShardNo(0), subtable: SubtableNo(0) };

impl Work<'_> {
    pub fn locate(&self, schema: &Schema, located: &Located) -> Result<Where, RouteError> {
        let mut best = Where::Anywhere;
        for key in &located.keys {
            match (self.places(schema, located, key)?, &best) {
                (one @ Where::One(_), _) => return Ok(one),
                (Where::Several(more), Where::Several(fewer)) if fewer.len() <= more.len() => {}
                (several @ Where::Several(_), _) => best = several,
                (Where::Anywhere, _) => {}
            }
        }
        Ok(best)
    }

    fn places(&self, schema: &Schema, located: &Located, key: &KeyMatch) -> Result<Where, RouteError> {
        let mut found: Option<Place> = None;
        let mut several: Vec<Place> = Vec::new();
        let mut scratch = Vec::new();
        for source in &key.values {
            let proved = self.each(source, |given| {
                let place = match self.place(schema, located, key.column, given, &mut scratch)? {
                    Spot::At(place) => place,
                    // Equal to nothing: no row of any place is meant.
                    Spot::Nowhere if !key.null_safe => return Ok(true),
                    Spot::Nowhere | Spot::Unclear => return Ok(false),
                };
                match found {
                    None => found = Some(place),
                    Some(first) if first == place => {}
                    Some(first) => several.extend(several.is_empty().then_some(first).into_iter().chain([place])),
                }
                Ok(true)
            })?;
            if !proved {
                return Ok(Where::Anywhere);
            }
        }
        if several.is_empty() {
            return Ok(Where::One(found.unwrap_or(FIRST)));
        }
        several.sort_unstable();
        several.dedup();
        Ok(Where::Several(several))
    }

    /// The values of the driver's list by the places where they can be; those that can be nowhere are
    /// everywhere, since NULL in a list is not nothing.
    pub fn shares(&self, schema: &Schema, located: &Located) -> Result<Option<Shares>, RouteError> {
        let mut keys = located.keys.iter().filter_map(|key| Some((key, key.shared_list()?)));
        let Some((key, item)) = keys.next() else { return Ok(None) };
        let Some(list) = self.statement.fingerprint.list(item.0).filter(|list| list.kind == ListKind::Values) else {
            return Ok(None);
        };
        let (mut shares, mut nowhere, mut scratch) = (Shares::default(), Vec::new(), Vec::new());
        for span in fingerprint::values(&self.statement.source, list.span) {
            match self.place(schema, located, key.column, span.into(), &mut scratch)? {
                Spot::At(place) => shares.entry(place).or_default().push(span),
                Spot::Nowhere => nowhere.push(span),
                Spot::Unclear => return Ok(None),
            }
        }
        shares.values_mut().for_each(|share| share.extend(&nowhere));
        Ok(Some(shares))
    }

    fn place(
        &self,
        schema: &Schema,
        located: &Located,
        column: KeyColumn,
        given: Given,
        scratch: &mut Vec<u8>,
    ) -> Result<Spot, RouteError> {
        let table = sharded(located);
        let purpose = match column {
            KeyColumn::Key | KeyColumn::Id => Purpose::Compare,
            KeyColumn::Stored => Purpose::Store,
        };
        match (column, &located.id_type, &table.id) {
            (KeyColumn::Id, Some(id_type), Some(rule)) => {
                let said = self.key(id_type, table, given, purpose, scratch)?;
                if said == Said::Null {
                    return Ok(Spot::Nowhere);
                }
                let id = self.integer(id_type, given, purpose, scratch).and_then(|id| i64::try_from(id).ok());
                let carried = id.and_then(|id| Format::new(rule.layout).carried(id));
                Ok(carried.filter(|carried| carried.subtable < table.subtables).map_or(Spot::Unclear, |carried| {
                    Spot::At(Place {
                        shard: ShardNo(carried.shard(schema.shard_count())),
                        subtable: SubtableNo(carried.subtable),
                    })
                }))
            }
            (KeyColumn::Id, _, _) => Ok(Spot::Unclear),
            (KeyColumn::Key | KeyColumn::Stored, _, _) => {
                Ok(match self.key(&located.key_type, table, given, purpose, scratch)? {
                    Said::Hash(hash) => Spot::At(hash.place(schema.shard_count(), table.subtables)),
                    Said::Null if column == KeyColumn::Stored => Spot::Unclear,
                    Said::Null => Spot::Nowhere,
                    Said::Unclear => Spot::Unclear,
                })
            }
        }
    }
}

enum Spot {
    At(Place),
    Nowhere,
    Unclear,
}
