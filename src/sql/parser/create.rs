//! CREATE TABLE and CREATE INDEX, with the columns and keys that ALTER TABLE has too.

use super::super::ast::*;
use super::super::{Keyword, Kind, Span};
use super::Parser;
use crate::error::Result;

impl Parser<'_, '_> {
    /// Behind `CREATE [OR REPLACE] [TEMPORARY] TABLE`.
    pub(super) fn create_table(&mut self, or_replace: bool, temporary: bool) -> Result<CreateTable> {
        let if_not_exists = self.if_not_exists();
        let table = self.table_name()?;
        let mut create = CreateTable {
            or_replace,
            temporary,
            if_not_exists,
            table,
            like: None,
            elements_span: None,
            elements: Vec::new(),
            options: Vec::new(),
            partition: None,
            query: None,
        };
        if self.eat_word(Keyword::Like) {
            create.like = Some(self.table_name()?);
            return Ok(create);
        }
        if self.kind() == Kind::LParen && self.word_at(1) == Keyword::Like {
            self.at += 2;
            create.like = Some(self.table_name()?);
            self.expect(Kind::RParen)?;
            return Ok(create);
        }
        if self.kind() == Kind::LParen && !self.starts_query_at(1) && self.kind_at(1) != Kind::LParen {
            let start = self.at;
            create.elements = self.parenthesised(Self::element)?;
            create.elements_span = Some(self.since(start));
        }
        self.create_options(&mut create)?;
        create.partition = self.partition_by()?;
        self.eat_one_of(&[Keyword::Ignore, Keyword::Replace]);
        if self.eat_word(Keyword::As) || !self.is_end() {
            create.query = Some(Box::new(self.query()?));
        }
        Ok(create)
    }

    fn create_options(&mut self, create: &mut CreateTable) -> Result<()> {
        while self.starts_table_option() {
            create.options.push(self.table_option()?);
            self.eat(Kind::Comma);
        }
        Ok(())
    }

    /// PARTITION BY, unread, up to the end or a query.
    pub(super) fn partition_by(&mut self) -> Result<Option<Span>> {
        let start = self.at;
        if !self.are(&[Keyword::Partition, Keyword::By]) {
            return Ok(None);
        }
        let ends = |p: &Self| {
            p.is_end()
                || p.starts_query_at(0)
                || matches!(p.word(), Keyword::As | Keyword::Ignore | Keyword::Replace)
                || p.kind() == Kind::Comma
        };
        while !ends(self) {
            match self.kind() {
                Kind::LParen => self.skip_parens().map(|_| ())?,
                Kind::Bad | Kind::RParen => return self.fail(),
                _ => {
                    self.bump();
                }
            }
        }
        Ok(Some(self.since(start)))
    }

    pub(super) fn element(&mut self) -> Result<TableElement> {
        let start = self.at;
        if self.are(&[Keyword::Period, Keyword::For]) {
            self.at += 2;
            self.name()?;
            self.skip_parens()?;
            return Ok(TableElement::Period(self.since(start)));
        }
        if self.starts_key() {
            return self.key_or_check();
        }
        self.column_def().map(|c| TableElement::Column(Box::new(c)))
    }

    /// Whether a key or a constraint starts here, not a column.
    pub(super) fn starts_key(&self) -> bool {
        matches!(
            self.word(),
            Keyword::Constraint
                | Keyword::Primary
                | Keyword::Unique
                | Keyword::Foreign
                | Keyword::Check
                | Keyword::Index
                | Keyword::Key
                | Keyword::Fulltext
                | Keyword::Spatial
        ) || (self.is(Keyword::Vector) && matches!(self.word_at(1), Keyword::Index | Keyword::Key))
    }

    pub(super) fn key_or_check(&mut self) -> Result<TableElement> {
        let start = self.at;
        let mut constraint = None;
        if self.eat_word(Keyword::Constraint) {
            self.if_not_exists();
            let named = !matches!(self.word(), Keyword::Primary | Keyword::Unique | Keyword::Foreign | Keyword::Check);
            constraint = if named { Some(self.name()?) } else { None };
        }
        if self.is(Keyword::Check) {
            return self.check(start, constraint).map(TableElement::Check);
        }
        self.key(start, constraint).map(|k| TableElement::Key(Box::new(k)))
    }

    pub(super) fn check(&mut self, start: u32, name: Option<Name>) -> Result<CheckDef> {
        self.expect_word(Keyword::Check)?;
        self.expect(Kind::LParen)?;
        let expr = self.expr()?;
        self.expect(Kind::RParen)?;
        if !self.is_mariadb() {
            self.eat_words(&[Keyword::Not, Keyword::Enforced]);
            self.eat_word(Keyword::Enforced);
        }
        Ok(CheckDef { span: self.since(start), name, expr })
    }

    fn key(&mut self, start: u32, constraint: Option<Name>) -> Result<KeyDef> {
        let kind = match self.word() {
            Keyword::Primary => KeyKind::Primary,
            Keyword::Unique => KeyKind::Unique,
            Keyword::Foreign => KeyKind::Foreign,
            Keyword::Fulltext => KeyKind::Fulltext,
            Keyword::Spatial => KeyKind::Spatial,
            Keyword::Vector => KeyKind::Vector,
            Keyword::Index | Keyword::Key => KeyKind::Index,
            _ => return self.fail(),
        };
        self.bump();
        match kind {
            KeyKind::Primary | KeyKind::Foreign => self.expect_word(Keyword::Key)?,
            _ => {
                self.eat_one_of(&[Keyword::Index, Keyword::Key]);
            }
        }
        self.if_not_exists();
        let name = if self.is_name() && !self.starts_index_type() { Some(self.name()?) } else { None };
        self.index_type()?;
        let parts = self.parenthesised(Self::key_part)?;
        let references = if kind == KeyKind::Foreign { Some(self.references()?) } else { None };
        self.key_options()?;
        Ok(KeyDef { span: self.since(start), kind, constraint, name, parts, references })
    }

    fn starts_index_type(&self) -> bool {
        matches!(self.word(), Keyword::Using | Keyword::Type)
            && matches!(self.word_at(1), Keyword::Btree | Keyword::Hash | Keyword::Rtree)
    }

    fn index_type(&mut self) -> Result<()> {
        if self.starts_index_type() {
            self.at += 2;
        }
        Ok(())
    }

    fn key_part(&mut self) -> Result<KeyPart> {
        let start = self.at;
        let kind = if !self.is_mariadb() && self.eat(Kind::LParen) {
            let expr = self.expr()?;
            self.expect(Kind::RParen)?;
            KeyPartKind::Expr(expr)
        } else {
            let name = self.name()?;
            let prefix = if self.kind() == Kind::LParen {
                self.bump();
                if self.kind() != Kind::Int {
                    return self.fail();
                }
                let length = self.bump();
                self.expect(Kind::RParen)?;
                Some(length)
            } else {
                None
            };
            KeyPartKind::Column { name, prefix }
        };
        self.eat_one_of(&[Keyword::Asc, Keyword::Desc]);
        self.eat_words(&[Keyword::Without, Keyword::Overlaps]);
        Ok(KeyPart { span: self.since(start), kind })
    }

    fn references(&mut self) -> Result<References> {
        self.expect_word(Keyword::References)?;
        let table = self.table_name()?;
        let columns = self.optional_names()?;
        let mut cascades = false;
        if self.eat_word(Keyword::Match) {
            self.bump();
        }
        while self.eat_word(Keyword::On) {
            if self.eat_one_of(&[Keyword::Delete, Keyword::Update]).is_none() {
                return self.fail();
            }
            match self.word() {
                Keyword::Cascade => cascades = true,
                Keyword::Restrict => {}
                Keyword::Set if matches!(self.word_at(1), Keyword::Null | Keyword::Default) => {
                    self.bump();
                    cascades = true;
                }
                Keyword::No if self.word_at(1) == Keyword::Action => {
                    self.bump();
                }
                _ => return self.fail(),
            }
            self.bump();
        }
        Ok(References { table, columns, cascades })
    }

    /// USING, COMMENT, WITH PARSER …, up to the comma or parenthesis behind the key.
    fn key_options(&mut self) -> Result<()> {
        loop {
            match self.kind() {
                Kind::Word | Kind::QuotedName | Kind::Eq | Kind::String | Kind::Int | Kind::Decimal => self.bump(),
                _ => return Ok(()),
            };
        }
    }

    pub(super) fn column_def(&mut self) -> Result<ColumnDef> {
        let start = self.at;
        let name = self.name()?;
        let type_start = self.at;
        self.data_type()?;
        let data_type = self.since(type_start);
        let mut attributes = Vec::new();
        while !matches!(self.kind(), Kind::Comma | Kind::RParen) && !self.is_end() && !self.ends_column() {
            attributes.push(self.column_attribute()?);
        }
        Ok(ColumnDef { span: self.since(start), name, data_type, attributes })
    }

    /// What ALTER TABLE has behind a column.
    fn ends_column(&self) -> bool {
        matches!(self.word(), Keyword::First | Keyword::After | Keyword::Partition | Keyword::Remove)
    }

    /// The words of a type; which types there are the server knows.
    pub(super) fn data_type(&mut self) -> Result<()> {
        if self.kind() != Kind::Word {
            return self.fail();
        }
        // `c AS (e)` has no type in MariaDB; `c GENERATED ALWAYS AS (e)` neither
        if matches!(self.word(), Keyword::As | Keyword::Generated) {
            return Ok(());
        }
        let first = self.word();
        self.bump();
        let seconds: &[Keyword] = match first {
            Keyword::National => &[Keyword::Char, Keyword::Character, Keyword::Varchar, Keyword::Varcharacter],
            Keyword::Nchar => &[Keyword::Varchar, Keyword::Varcharacter],
            Keyword::Double => &[Keyword::Precision],
            Keyword::Long => &[Keyword::Varchar, Keyword::Varbinary, Keyword::Char, Keyword::Character],
            _ => &[],
        };
        self.eat_one_of(seconds);
        self.eat_one_of(&[Keyword::Varying]);
        if self.kind() == Kind::LParen {
            self.skip_parens()?;
        }
        loop {
            match self.word() {
                Keyword::Unsigned | Keyword::Signed | Keyword::Zerofill | Keyword::Binary | Keyword::Ascii => {}
                Keyword::Unicode | Keyword::Byte => {}
                Keyword::Character | Keyword::Char if self.word_at(1) == Keyword::Set => {
                    self.at += 2;
                    self.charset_name()?;
                    continue;
                }
                Keyword::Charset => {
                    self.bump();
                    self.charset_name()?;
                    continue;
                }
                _ => return Ok(()),
            }
            self.bump();
        }
    }

    fn column_attribute(&mut self) -> Result<ColumnAttribute> {
        let start = self.at;
        let kind = self.column_attribute_kind(start)?;
        Ok(ColumnAttribute { span: self.since(start), kind })
    }

    fn column_attribute_kind(&mut self, start: u32) -> Result<ColumnAttributeKind> {
        use ColumnAttributeKind as Attribute;
        let word = self.word();
        self.bump();
        Ok(match word {
            Keyword::Null => Attribute::Null,
            Keyword::Not => match self.eat_one_of(&[Keyword::Null, Keyword::Secondary]) {
                Some(Keyword::Null) => Attribute::NotNull,
                Some(_) => Attribute::Other,
                None => return self.fail(),
            },
            Keyword::Default => Attribute::Default(self.default_value()?),
            Keyword::On => {
                self.expect_word(Keyword::Update)?;
                self.primary()?;
                Attribute::OnUpdate
            }
            Keyword::AutoIncrement => Attribute::AutoIncrement,
            Keyword::Primary => {
                self.expect_word(Keyword::Key)?;
                Attribute::PrimaryKey
            }
            Keyword::Key => Attribute::PrimaryKey,
            Keyword::Unique => {
                self.eat_word(Keyword::Key);
                Attribute::Unique
            }
            Keyword::Comment => Attribute::Comment(self.string()?),
            Keyword::Collate => {
                self.eat(Kind::Eq);
                Attribute::Collate(self.collation_name()?)
            }
            Keyword::Generated => {
                self.expect_word(Keyword::Always)?;
                self.expect_word(Keyword::As)?;
                self.generated()?
            }
            Keyword::As => self.generated()?,
            Keyword::Constraint if !self.is_mariadb() => {
                let name = if self.is(Keyword::Check) { None } else { Some(self.name()?) };
                Attribute::Check(self.check(start, name)?)
            }
            Keyword::Check => {
                self.at = start;
                Attribute::Check(self.check(start, None)?)
            }
            Keyword::References => {
                self.at = start;
                Attribute::References(self.references()?.table)
            }
            Keyword::Invisible => Attribute::Invisible,
            Keyword::Visible => Attribute::Visible,
            Keyword::ColumnFormat
            | Keyword::Storage
            | Keyword::Srid
            | Keyword::EngineAttribute
            | Keyword::SecondaryEngineAttribute
            | Keyword::RefSystemId => {
                self.eat(Kind::Eq);
                self.bump();
                Attribute::Other
            }
            Keyword::Compressed => {
                if self.eat(Kind::Eq) {
                    self.bump();
                }
                Attribute::Other
            }
            Keyword::Serial => {
                self.expect_word(Keyword::Default)?;
                self.expect_word(Keyword::Value)?;
                Attribute::AutoIncrement
            }
            Keyword::With | Keyword::Without => {
                self.expect_word(Keyword::System)?;
                self.expect_word(Keyword::Versioning)?;
                Attribute::Other
            }
            _ => {
                self.at = start;
                return self.fail();
            }
        })
    }

    /// A signed literal, a call, `(e)`; no COLLATE, which is the column's.
    pub(super) fn default_value(&mut self) -> Result<Expr> {
        if matches!(self.kind(), Kind::Minus | Kind::Plus) {
            let start = self.at;
            let op = if self.kind() == Kind::Minus { UnaryOp::Neg } else { UnaryOp::Plus };
            self.bump();
            let operand = Box::new(self.primary()?);
            return Ok(self.node(start, ExprKind::Unary(op, operand)));
        }
        self.primary()
    }

    /// Behind AS.
    fn generated(&mut self) -> Result<ColumnAttributeKind> {
        if self.eat_word(Keyword::Row) {
            self.bump(); // START, END
            return Ok(ColumnAttributeKind::Generated { expr: None, stored: true });
        }
        self.expect(Kind::LParen)?;
        let expr = Some(self.expr()?);
        self.expect(Kind::RParen)?;
        let word = self.eat_one_of(&[Keyword::Virtual, Keyword::Stored, Keyword::Persistent]);
        let stored = matches!(word, Some(Keyword::Stored | Keyword::Persistent));
        Ok(ColumnAttributeKind::Generated { expr, stored })
    }

    pub(super) fn starts_table_option(&self) -> bool {
        match self.word() {
            Keyword::Default | Keyword::Character | Keyword::Charset | Keyword::Collate | Keyword::Union => true,
            Keyword::Index => self.word_at(1) == Keyword::Directory,
            Keyword::With => self.word_at(1) == Keyword::System,
            Keyword::Start => self.word_at(1) == Keyword::Transaction,
            // some of these words are reserved in MariaDB
            word => is_option_word(word) || (self.is_name() && self.kind_at(1) == Kind::Eq),
        }
    }

    pub(super) fn table_option(&mut self) -> Result<TableOption> {
        let start = self.at;
        self.eat_word(Keyword::Default);
        let word = self.word();
        let kind = match word {
            Keyword::Engine | Keyword::Type => TableOptionKind::Engine,
            Keyword::AutoIncrement => TableOptionKind::AutoIncrement,
            Keyword::Charset => TableOptionKind::Charset,
            Keyword::Character | Keyword::Char => {
                self.bump();
                if !self.is(Keyword::Set) {
                    return self.fail();
                }
                TableOptionKind::Charset
            }
            Keyword::Collate => TableOptionKind::Collate,
            Keyword::Comment => TableOptionKind::Comment,
            Keyword::Data | Keyword::Index => {
                self.bump();
                if !self.is(Keyword::Directory) {
                    return self.fail();
                }
                TableOptionKind::Location
            }
            Keyword::Tablespace => TableOptionKind::Location,
            Keyword::Union => TableOptionKind::Union,
            Keyword::Connection => TableOptionKind::Connection,
            Keyword::With => {
                self.at += 3; // SYSTEM VERSIONING
                return Ok(TableOption { span: self.since(start), kind: TableOptionKind::Other, value: None });
            }
            Keyword::Start => {
                self.at += 2; // TRANSACTION
                return Ok(TableOption { span: self.since(start), kind: TableOptionKind::Other, value: None });
            }
            _ => TableOptionKind::Other,
        };
        self.bump();
        self.eat(Kind::Eq);
        if self.kind() == Kind::LParen {
            self.skip_parens()?;
            return Ok(TableOption { span: self.since(start), kind, value: None });
        }
        if !matches!(self.kind(), Kind::Word | Kind::QuotedName | Kind::String | Kind::Int | Kind::Decimal | Kind::Hex)
        {
            return self.fail();
        }
        let value = Some(self.bump());
        if word == Keyword::Tablespace && self.eat_word(Keyword::Storage) {
            self.bump();
        }
        Ok(TableOption { span: self.since(start), kind, value })
    }

    /// Behind `CREATE [OR REPLACE]`, at UNIQUE, FULLTEXT … or INDEX.
    pub(super) fn create_index(&mut self, or_replace: bool) -> Result<CreateIndex> {
        let start = self.at;
        self.eat_word(Keyword::Online);
        let kind = match self.word() {
            Keyword::Unique => KeyKind::Unique,
            Keyword::Fulltext => KeyKind::Fulltext,
            Keyword::Spatial => KeyKind::Spatial,
            Keyword::Vector => KeyKind::Vector,
            _ => KeyKind::Index,
        };
        if kind != KeyKind::Index {
            self.bump();
        }
        self.expect_word(Keyword::Index)?;
        let if_not_exists = self.if_not_exists();
        let name = Some(self.name()?);
        self.index_type()?;
        self.expect_word(Keyword::On)?;
        let table = self.table_name()?;
        let parts = self.parenthesised(Self::key_part)?;
        let key = KeyDef { span: self.since(start), kind, constraint: None, name, parts, references: None };
        Ok(CreateIndex { or_replace, if_not_exists, table, key, options: self.skip_rest()? })
    }

    pub(super) fn if_exists(&mut self) -> bool {
        self.eat_words(&[Keyword::If, Keyword::Exists])
    }

    pub(super) fn if_not_exists(&mut self) -> bool {
        self.eat_words(&[Keyword::If, Keyword::Not, Keyword::Exists])
    }
}

fn is_option_word(word: Keyword) -> bool {
    matches!(
        word,
        Keyword::Engine
            | Keyword::Type
            | Keyword::AutoIncrement
            | Keyword::Comment
            | Keyword::Data
            | Keyword::Tablespace
            | Keyword::Connection
            | Keyword::AvgRowLength
            | Keyword::Checksum
            | Keyword::TableChecksum
            | Keyword::Compression
            | Keyword::DelayKeyWrite
            | Keyword::Encryption
            | Keyword::InsertMethod
            | Keyword::KeyBlockSize
            | Keyword::MaxRows
            | Keyword::MinRows
            | Keyword::PackKeys
            | Keyword::PageChecksum
            | Keyword::Password
            | Keyword::RowFormat
            | Keyword::StatsAutoRecalc
            | Keyword::StatsPersistent
            | Keyword::StatsSamplePages
            | Keyword::AutoextendSize
            | Keyword::EngineAttribute
            | Keyword::SecondaryEngine
            | Keyword::SecondaryEngineAttribute
            | Keyword::Transactional
            | Keyword::Sequence
            | Keyword::Storage
    )
}
