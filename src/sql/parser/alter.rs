//! ALTER TABLE: its list of changes, each with the names in it.

use super::super::ast::*;
use super::super::{Keyword, Kind};
use super::Parser;
use crate::error::Result;

impl Parser<'_, '_> {
    /// Behind ALTER, at ONLINE, IGNORE or TABLE.
    pub(super) fn alter_table(&mut self) -> Result<AlterTable> {
        if self.is_mariadb() {
            self.eat_word(Keyword::Online);
        }
        let ignore = self.is_mariadb() && self.eat_word(Keyword::Ignore);
        self.expect_word(Keyword::Table)?;
        let if_exists = self.if_exists();
        let table = self.table_name()?;
        if self.eat_word(Keyword::Wait) {
            self.limit_value()?;
        } else {
            self.eat_word(Keyword::Nowait);
        }
        let mut alter = AlterTable { ignore, if_exists, table, specs: Vec::new(), partition: None };
        while !self.is_end() {
            alter.partition = self.partition_by()?;
            if alter.partition.is_some() {
                break;
            }
            self.alter_spec(&mut alter.specs)?;
            if !self.eat(Kind::Comma) && !self.are(&[Keyword::Partition, Keyword::By]) && !self.is(Keyword::Remove) {
                break;
            }
        }
        Ok(alter)
    }

    fn alter_spec(&mut self, specs: &mut Vec<AlterSpec>) -> Result<()> {
        let start = self.at;
        let word = self.word();
        let kind = match word {
            Keyword::Add => self.alter_add()?,
            Keyword::Modify => {
                self.bump();
                self.eat_word(Keyword::Column);
                self.if_exists();
                let column = self.column_def()?;
                self.column_position()?;
                AlterSpecKind::Modify(Box::new(column))
            }
            Keyword::Change => {
                self.bump();
                self.eat_word(Keyword::Column);
                self.if_exists();
                let from = self.name()?;
                let to = Box::new(self.column_def()?);
                self.column_position()?;
                AlterSpecKind::Change { from, to }
            }
            Keyword::Alter => self.alter_alter()?,
            Keyword::Drop => self.alter_drop()?,
            Keyword::Rename => self.alter_rename()?,
            Keyword::Convert if self.word_at(1) == Keyword::To => self.convert_charset()?,
            Keyword::Order => {
                self.order_by()?;
                AlterSpecKind::OrderBy
            }
            Keyword::Disable | Keyword::Enable => {
                self.bump();
                self.expect_word(Keyword::Keys)?;
                AlterSpecKind::Execution
            }
            Keyword::Discard | Keyword::Import if self.word_at(1) == Keyword::Tablespace => {
                self.at += 2;
                AlterSpecKind::Tablespace
            }
            Keyword::Force => {
                self.bump();
                AlterSpecKind::Execution
            }
            Keyword::Algorithm | Keyword::Lock => {
                self.bump();
                self.eat(Kind::Eq);
                if self.kind() != Kind::Word {
                    return self.fail();
                }
                self.bump();
                AlterSpecKind::Execution
            }
            Keyword::With | Keyword::Without if self.word_at(1) == Keyword::Validation => {
                self.at += 2;
                AlterSpecKind::Execution
            }
            _ if is_partition_verb(word) && matches!(self.word_at(1), Keyword::Partition | Keyword::Partitioning) => {
                self.partition_change()?
            }
            _ if self.starts_table_option() => return self.alter_options(specs),
            _ => return self.fail(),
        };
        specs.push(AlterSpec { span: self.since(start), kind });
        Ok(())
    }

    /// Options, which here too may stand without commas.
    fn alter_options(&mut self, specs: &mut Vec<AlterSpec>) -> Result<()> {
        while self.starts_table_option() {
            let option = self.table_option()?;
            specs.push(AlterSpec { span: option.span, kind: AlterSpecKind::Option(option) });
        }
        Ok(())
    }

    fn alter_add(&mut self) -> Result<AlterSpecKind> {
        self.bump();
        if self.is(Keyword::Partition) {
            self.at -= 1;
            return self.partition_change();
        }
        if self.eat_words(&[Keyword::System, Keyword::Versioning]) {
            return Ok(AlterSpecKind::Versioning);
        }
        if self.are(&[Keyword::Period, Keyword::For]) {
            self.element()?;
            return Ok(AlterSpecKind::Versioning);
        }
        if self.starts_key() {
            return Ok(match self.key_or_check()? {
                TableElement::Key(key) => AlterSpecKind::AddKey(key),
                TableElement::Check(check) => AlterSpecKind::AddCheck(check),
                TableElement::Column(_) | TableElement::Period(_) => return self.fail(),
            });
        }
        self.eat_word(Keyword::Column);
        self.if_not_exists();
        if self.kind() == Kind::LParen {
            return Ok(AlterSpecKind::AddColumns(self.parenthesised(Self::element)?));
        }
        let column = self.column_def()?;
        self.column_position()?;
        Ok(AlterSpecKind::AddColumns(vec![TableElement::Column(Box::new(column))]))
    }

    /// FIRST, AFTER c, or nothing.
    fn column_position(&mut self) -> Result<()> {
        if self.eat_word(Keyword::After) {
            self.name()?;
        } else {
            self.eat_word(Keyword::First);
        }
        Ok(())
    }

    fn alter_alter(&mut self) -> Result<AlterSpecKind> {
        self.bump();
        if self.eat_one_of(&[Keyword::Index, Keyword::Key]).is_some() {
            self.if_exists();
            let name = self.name()?;
            self.eat_word(Keyword::Not);
            let states: &[Keyword] = match self.is_mariadb() {
                true => &[Keyword::Ignored],
                false => &[Keyword::Visible, Keyword::Invisible],
            };
            if self.eat_one_of(states).is_none() {
                return self.fail();
            }
            return Ok(AlterSpecKind::AlterKey(name));
        }
        if self.eat_one_of(&[Keyword::Check, Keyword::Constraint]).is_some() {
            let name = self.name()?;
            self.eat_word(Keyword::Not);
            self.expect_word(Keyword::Enforced)?;
            return Ok(AlterSpecKind::AlterKey(name));
        }
        self.eat_word(Keyword::Column);
        self.if_exists();
        let column = self.name()?;
        let mut default = None;
        if self.eat_word(Keyword::Set) {
            if self.eat_word(Keyword::Default) {
                default = Some(self.default_value()?);
            } else if self.eat_one_of(&[Keyword::Visible, Keyword::Invisible]).is_none() {
                return self.fail();
            }
        } else {
            self.expect_word(Keyword::Drop)?;
            self.expect_word(Keyword::Default)?;
        }
        Ok(AlterSpecKind::AlterColumn { column, default })
    }

    fn alter_drop(&mut self) -> Result<AlterSpecKind> {
        self.bump();
        match self.word() {
            Keyword::Primary => {
                self.bump();
                self.expect_word(Keyword::Key)?;
                Ok(AlterSpecKind::DropPrimaryKey)
            }
            Keyword::Index | Keyword::Key => {
                self.bump();
                self.if_exists();
                Ok(AlterSpecKind::DropKey(self.name()?))
            }
            Keyword::Foreign => {
                self.bump();
                self.expect_word(Keyword::Key)?;
                self.if_exists();
                Ok(AlterSpecKind::DropForeignKey(self.name()?))
            }
            Keyword::Constraint | Keyword::Check => {
                self.bump();
                self.if_exists();
                Ok(AlterSpecKind::DropConstraint(self.name()?))
            }
            Keyword::Partition => {
                self.at -= 1;
                self.partition_change()
            }
            Keyword::System if self.word_at(1) == Keyword::Versioning => {
                self.at += 2;
                Ok(AlterSpecKind::Versioning)
            }
            Keyword::Period if self.word_at(1) == Keyword::For => {
                self.at += 2;
                self.name()?;
                Ok(AlterSpecKind::Versioning)
            }
            _ => {
                self.eat_word(Keyword::Column);
                self.if_exists();
                let name = self.name()?;
                self.eat_one_of(&[Keyword::Restrict, Keyword::Cascade]);
                Ok(AlterSpecKind::DropColumn(name))
            }
        }
    }

    fn alter_rename(&mut self) -> Result<AlterSpecKind> {
        self.bump();
        let pair = |p: &mut Self| -> Result<(Name, Name)> {
            p.bump();
            p.if_exists();
            let from = p.name()?;
            p.expect_word(Keyword::To)?;
            Ok((from, p.name()?))
        };
        match self.word() {
            Keyword::Column => pair(self).map(|(from, to)| AlterSpecKind::RenameColumn { from, to }),
            Keyword::Index | Keyword::Key => pair(self).map(|(from, to)| AlterSpecKind::RenameKey { from, to }),
            _ => {
                if self.eat_one_of(&[Keyword::To, Keyword::As]).is_none() {
                    self.eat(Kind::Eq);
                }
                Ok(AlterSpecKind::RenameTable(self.table_name()?))
            }
        }
    }

    fn convert_charset(&mut self) -> Result<AlterSpecKind> {
        self.at += 2; // CONVERT TO
        if !self.eat_words(&[Keyword::Character, Keyword::Set]) && !self.eat_word(Keyword::Charset) {
            return self.fail();
        }
        self.charset_name()?;
        if self.eat_word(Keyword::Collate) {
            self.collation_name()?;
        }
        Ok(AlterSpecKind::ConvertCharset)
    }

    /// Changes of partitions, unread but for the table of EXCHANGE; they stand alone or last.
    fn partition_change(&mut self) -> Result<AlterSpecKind> {
        let mut exchange = None;
        while !self.is_end() && self.kind() != Kind::Bad {
            if self.is(Keyword::With) && self.word_at(1) == Keyword::Table {
                self.at += 2;
                exchange = Some(self.table_name()?);
            } else {
                self.bump();
            }
        }
        Ok(AlterSpecKind::Partition { exchange })
    }
}

fn is_partition_verb(word: Keyword) -> bool {
    matches!(
        word,
        Keyword::Coalesce
            | Keyword::Truncate
            | Keyword::Reorganize
            | Keyword::Exchange
            | Keyword::Analyze
            | Keyword::Check
            | Keyword::Optimize
            | Keyword::Rebuild
            | Keyword::Repair
            | Keyword::Remove
            | Keyword::Convert
            | Keyword::Upgrade
            | Keyword::Discard
            | Keyword::Import
    )
}
