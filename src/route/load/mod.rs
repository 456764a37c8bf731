//! Lines of a file become piles of lines, one for each place: a line's key says its place, and an id
//! is put in where the table's rows get theirs from Bifold. Lines are dealt in groups, those that
//! stand whole in what has been read of the file.

mod lines;

use std::collections::HashMap;
use std::io::Write;
use std::ops::Range;

use super::text::Copier;
use super::value::sharded;
use super::{Facts, Name, RouteError, Statement};
use crate::config::{GeneratedBatch, IdRule};
use crate::error::Error;
use crate::plan::load::ByLine;
use crate::plan::{InsertId, Located, Over, RefKind, TableRef};
use crate::snowflake::{Carried, Format};
use crate::topology::key::{Canonical, Key, KeyType, Purpose, Reading};
use crate::topology::{HOME, KeyHash, Place, Sharded, SubtableNo};
use crate::value::Value;
use lines::{Field, Found};

/// The statement for one place, to be sent with a file of lines, and the names in it.
pub fn text(plan: &ByLine, statement: &Statement<'_>, facts: &Facts<'_>, place: Place) -> (Vec<u8>, Vec<Name>) {
    let name = |table: &TableRef| match &table.kind {
        RefKind::Sharded(located) => Name::subtable(table, sharded(located), place),
        RefKind::Reference | RefKind::Unsharded => Name::whole(table, place.shard),
    };
    let names: Vec<Name> = plan.template.refs.iter().map(name).collect();
    let mut text = Vec::new();
    Copier::new(statement, facts, &plan.template, &names).copy_rest(&mut text);
    (text, names)
}

/// Lines for one place, in the order of the file.
#[derive(Debug, Default)]
pub struct Pile {
    pub lines: Vec<u8>,
    /// Their numbers, from 1; lines that were passed over do not count.
    pub numbers: Vec<u32>,
}

/// Looks at lines and deals them out.
pub struct Sorter<'p> {
    plan: &'p ByLine,
    table: &'p TableRef,
    places: Option<Places<'p>>,
    /// What the file is written in.
    charset: Box<str>,
    skip: u64,
    /// The number of the last line looked at.
    number: u32,
    wanted: Vec<u16>,
    fields: Vec<Field>,
    /// Lines looked at and not dealt yet; positions count from the front of the input.
    seen: Vec<Line>,
    at: usize,
    /// So many bytes must be there before a line that was cut is looked at again.
    enough: usize,
    piles: HashMap<Place, Pile>,
    bytes: usize,
    /// The first id that was made.
    pub generated: Option<u64>,
}

/// How the places of a sharded table's lines are found.
struct Places<'p> {
    located: &'p Located,
    sharded: &'p Sharded,
    id: Option<(&'p InsertId, &'p IdRule)>,
    shards: u16,
}

struct Line {
    span: Range<usize>,
    body: usize,
    number: u32,
    hash: Option<KeyHash>,
    place: Place,
    id: LineId,
}

enum LineId {
    AsWritten,
    /// To be put before the first field.
    Added(Option<u64>),
    /// To be put where these bytes are.
    Replaced(Range<usize>, Option<u64>),
}

impl LineId {
    fn is_wanted(&self) -> bool {
        matches!(self, LineId::Added(None) | LineId::Replaced(_, None))
    }

    fn set(&mut self, made: u64) {
        match self {
            LineId::AsWritten => {}
            LineId::Added(id) | LineId::Replaced(_, id) => *id = Some(made),
        }
    }
}

/// A longer line is not looked for.
const LONGEST: usize = 64 << 20;

const FIRST: Place = Place { shard: HOME, subtable: SubtableNo(0) };

impl<'p> Sorter<'p> {
    pub fn new(plan: &'p ByLine, charset: &str) -> Result<Self, Error> {
        let table = plan.template.refs.first().ok_or_else(|| Error::proxy("Bifold: a file for no table."))?;
        let places = match (&table.kind, plan.over) {
            (RefKind::Sharded(located), Over::Places) => {
                let sharded = sharded(located);
                let id = plan.id.as_ref().zip(sharded.id.as_ref());
                Some(Places { located, sharded, id, shards: table.schema.shard_count() })
            }
            (RefKind::Sharded(_) | RefKind::Reference | RefKind::Unsharded, _) => None,
        };
        let id = plan.id.as_ref().and_then(|id| id.position);
        let wanted: Vec<u16> = plan.key.into_iter().chain(id).chain(plan.counted.as_ref().map(|c| c.field)).collect();
        Ok(Sorter {
            fields: vec![Field::default(); wanted.len()],
            wanted,
            plan,
            table,
            places,
            charset: charset.into(),
            skip: plan.skip,
            number: 0,
            seen: Vec::new(),
            at: 0,
            enough: 0,
            piles: HashMap::new(),
            bytes: 0,
            generated: None,
        })
    }

    /// Looks at the lines that stand whole in the input; `last`: it is all that there is. After a
    /// question was answered it goes on where it stopped.
    pub fn look(&mut self, input: &[u8], last: bool, facts: &Facts<'_>) -> Result<(), RouteError> {
        loop {
            let rest = &input[self.at..];
            if !last && rest.len() < self.enough {
                return Ok(());
            }
            self.enough = 0;
            let format = &self.plan.format;
            let found = match self.skip {
                0 => lines::read(format, rest, last, self.plan.width, &self.wanted, &mut self.fields),
                _ => lines::pass_over(format, rest, last),
            };
            match found {
                Found::More if rest.len() > LONGEST => {
                    return Err(Error::refused(format!(
                        "Bifold: line {} of the file has more than {} MiB; are its lines terminated otherwise?",
                        self.number.saturating_add(1),
                        LONGEST >> 20
                    ))
                    .into());
                }
                // Not looked at from its beginning with every byte that comes.
                Found::More => {
                    self.enough = rest.len() * 2;
                    return Ok(());
                }
                Found::End => {
                    self.at = input.len();
                    return Ok(());
                }
                Found::Line { end, .. } if self.skip > 0 => {
                    self.skip -= 1;
                    self.at += end;
                }
                Found::Line { body, end } => {
                    let line = self.line(body, end, facts)?;
                    self.number = line.number;
                    self.seen.push(line);
                    self.at += end;
                }
            }
        }
    }

    fn line(&self, body: usize, end: usize, facts: &Facts<'_>) -> Result<Line, RouteError> {
        let number = self.number.saturating_add(1);
        let (span, body) = (self.at..self.at + end, self.at + body);
        let mut line = Line { span, body, number, hash: None, place: FIRST, id: LineId::AsWritten };
        match &self.places {
            None => self.check_counted(number, facts)?,
            Some(places) => {
                line.id = self.id(places, number, facts)?;
                line.hash = self.hash(places, &line, facts)?;
                if let Some(hash) = line.hash {
                    line.place = hash.place(places.shards, places.sharded.subtables);
                    self.check_carried(places, &line, hash, facts)?;
                }
            }
        }
        Ok(line)
    }

    /// The field of this number.
    fn field(&self, number: u16) -> Option<&Field> {
        let at = self.wanted.iter().position(|wanted| *wanted == number)?;
        self.fields.get(at).filter(|field| field.there)
    }

    fn canonical<'v>(&'v self, key_type: &KeyType, field: &'v Field, facts: &Facts<'_>) -> Canonical<'v> {
        if field.null {
            return Canonical::Null;
        }
        let value = Value::Text { bytes: &field.value, charset: &self.charset };
        let reading = Reading { purpose: Purpose::Store, connection: &self.charset, weights: facts.weights };
        key_type.canonical(&value, &reading)
    }

    /// Does the line leave its id to Bifold?
    fn id(&self, places: &Places<'_>, number: u32, facts: &Facts<'_>) -> Result<LineId, RouteError> {
        let Some((id, _)) = places.id else { return Ok(LineId::AsWritten) };
        let Some(position) = id.position else { return Ok(LineId::Added(None)) };
        let Some(field) = self.field(position) else { return Err(self.missing(&id.column, number)) };
        let replaced = || {
            let raw = field.raw.start + self.at..field.raw.end + self.at;
            Ok(LineId::Replaced(raw, None))
        };
        match self.canonical(&id.id_type, field, facts) {
            Canonical::Null => replaced(),
            Canonical::Exact(Key::Integer(0)) if !facts.keeps_zero_ids => replaced(),
            Canonical::Exact(_) => Ok(LineId::AsWritten),
            Canonical::NotExact | Canonical::Ask(_) => Err(self.unclear(&id.column, field, number)),
        }
    }

    fn hash(&self, places: &Places<'_>, line: &Line, facts: &Facts<'_>) -> Result<Option<KeyHash>, RouteError> {
        let is_id = self.plan.key == places.id.and_then(|(id, _)| id.position);
        if is_id && line.id.is_wanted() {
            return Ok(None);
        }
        let key = &places.sharded.key;
        let field = self.plan.key.and_then(|number| self.field(number));
        let field = field.ok_or_else(|| self.missing(key, line.number))?;
        match self.canonical(&places.located.key_type, field, facts) {
            Canonical::Exact(value) => Ok(Some(value.hash(places.sharded.hash))),
            Canonical::Ask(question) => Err(RouteError::Ask(question)),
            Canonical::Null | Canonical::NotExact => Err(self.unclear(key, field, line.number)),
        }
    }

    fn missing(&self, column: &str, number: u32) -> RouteError {
        Error::refused(format!(
            "Bifold: line {number} of the file has no field for {column} of table {}, which says where the row belongs.",
            self.table.table
        ))
        .into()
    }

    fn unclear(&self, column: &str, field: &Field, number: u32) -> RouteError {
        let written = match field.null {
            true => "NULL".into(),
            false => format!("'{}'", String::from_utf8_lossy(&field.value)),
        };
        Error::refused(format!(
            "Bifold: line {number} of the file has {written} for {column} of table {}, which is not exactly a value that \
             the column can store. Correct the file; nothing of it is loaded.",
            self.table.table
        ))
        .into()
    }

    fn check_counted(&self, number: u32, facts: &Facts<'_>) -> Result<(), RouteError> {
        let Some(counted) = &self.plan.counted else { return Ok(()) };
        let Some(field) = self.field(counted.field) else { return Err(self.missing(&counted.column, number)) };
        match self.canonical(&counted.column_type, field, facts) {
            Canonical::Exact(Key::Integer(0)) | Canonical::Null | Canonical::NotExact | Canonical::Ask(_) => {
                Err(self.unclear(&counted.column, field, number))
            }
            Canonical::Exact(_) => Ok(()),
        }
    }

    /// An id that the file gives must name the place of its row, or it would not be found.
    fn check_carried(
        &self,
        places: &Places<'_>,
        line: &Line,
        hash: KeyHash,
        facts: &Facts<'_>,
    ) -> Result<(), RouteError> {
        let Some((id, rule)) = places.id.filter(|_| !line.id.is_wanted()) else { return Ok(()) };
        let Some(modulus) = rule.layout.carries else { return Ok(()) };
        let said = Carried { subtable: line.place.subtable.0, residue: hash.residue(modulus) };
        let Some(field) = id.position.and_then(|position| self.field(position)) else { return Ok(()) };
        let given = match self.canonical(&id.id_type, field, facts) {
            Canonical::Exact(Key::Integer(id)) => i64::try_from(id).ok(),
            _ => None,
        };
        if given.and_then(|id| Format::new(rule.layout).carried(id)) == Some(said) {
            return Ok(());
        }
        Err(Error::refused(format!(
            "Bifold: the id {} in line {} of the file does not carry the place of its row in table {}: leave {} out, and \
             Bifold makes one.",
            String::from_utf8_lossy(&field.value),
            line.number,
            self.table.table,
            rule.column
        ))
        .into())
    }

    /// Puts the lines looked at onto their piles; gives how many bytes of the input that were.
    pub fn deal(&mut self, input: &[u8], facts: &Facts<'_>) -> Result<usize, RouteError> {
        self.make_ids(facts)?;
        for line in self.seen.drain(..) {
            let pile = self.piles.entry(line.place).or_default();
            let before = pile.lines.len();
            let out = &mut pile.lines;
            // Writing to a Vec can't fail.
            match line.id {
                LineId::AsWritten | LineId::Added(None) | LineId::Replaced(_, None) => {
                    out.extend_from_slice(&input[line.span]);
                }
                LineId::Added(Some(id)) => {
                    out.extend_from_slice(&input[line.span.start..line.body]);
                    let _ = write!(out, "{id}");
                    out.extend_from_slice(&self.plan.format.field_end);
                    out.extend_from_slice(&input[line.body..line.span.end]);
                }
                LineId::Replaced(raw, Some(id)) => {
                    out.extend_from_slice(&input[line.span.start..raw.start]);
                    let _ = write!(out, "{id}");
                    out.extend_from_slice(&input[raw.end..line.span.end]);
                }
            }
            self.bytes += pile.lines.len() - before + size_of::<u32>();
            pile.numbers.push(line.number);
        }
        Ok(std::mem::take(&mut self.at))
    }

    fn make_ids(&mut self, facts: &Facts<'_>) -> Result<(), RouteError> {
        let Some(Places { located, sharded, id: Some((_, rule)), shards }) = &self.places else { return Ok(()) };
        let wanted: Vec<usize> = (0..self.seen.len()).filter(|at| self.seen[*at].id.is_wanted()).collect();
        if wanted.is_empty() {
            return Ok(());
        }
        let take = |at: Option<(u32, Place)>, count: usize| {
            let mut ids = Vec::with_capacity(count);
            let wanted = u32::try_from(count).map_err(|_| Error::proxy("Bifold: a group of lines too large."))?;
            match facts.ids.take(&self.table.schema, &located.rule, at, wanted, &mut ids)? {
                true if ids.len() == count => Ok(ids),
                true => Err(Error::proxy("Bifold: fewer ids were made than asked for.").into()),
                false => Err(RouteError::Wait),
            }
        };
        match rule.layout.carries {
            None => {
                for (at, id) in wanted.iter().zip(take(None, wanted.len())?) {
                    let line = &mut self.seen[*at];
                    line.id.set(id);
                    if line.hash.is_none() {
                        let hash = Key::Integer(i128::from(id)).hash(sharded.hash);
                        line.place = hash.place(*shards, sharded.subtables);
                    }
                }
            }
            Some(_) if rule.generated_batch == GeneratedBatch::Refuse => {
                return Err(Error::refused(format!(
                    "Bifold: ids of table {} carry places and are not consecutive, and the topology file refuses to make \
                     several in one statement: write them into the file.",
                    self.table.table
                ))
                .into());
            }
            Some(modulus) => {
                let mut groups: HashMap<(u32, Place), Vec<usize>> = HashMap::new();
                for &at in &wanted {
                    let line = &self.seen[at];
                    if let Some(hash) = line.hash {
                        groups.entry((hash.residue(modulus), line.place)).or_default().push(at);
                    }
                }
                let mut made = Vec::with_capacity(wanted.len());
                let mut short = false;
                for (carried, group) in groups {
                    match take(Some(carried), group.len()) {
                        // The other places go on gathering theirs.
                        Err(RouteError::Wait) => short = true,
                        taken => made.extend(group.into_iter().zip(taken?)),
                    }
                }
                if short {
                    return Err(RouteError::Wait);
                }
                made.into_iter().for_each(|(at, id)| self.seen[at].id.set(id));
            }
        }
        if self.generated.is_none() {
            self.generated = match self.seen[wanted[0]].id {
                LineId::AsWritten => None,
                LineId::Added(id) | LineId::Replaced(_, id) => id,
            };
        }
        Ok(())
    }

    /// What the piles hold, in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// The piles, by place.
    pub fn take_piles(&mut self) -> Vec<(Place, Pile)> {
        self.bytes = 0;
        let mut piles: Vec<(Place, Pile)> = self.piles.drain().collect();
        piles.sort_unstable_by_key(|(place, _)| *place);
        piles
    }
}
