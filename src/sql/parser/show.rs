//! SHOW, DESCRIBE and EXPLAIN.

use super::super::ast::*;
use super::super::{Keyword, Kind};
use super::Parser;
use crate::error::Result;

/// What may follow the words of a SHOW.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Tail {
    /// `[FROM db] [LIKE … | WHERE …]`.
    Database,
    /// `FROM t [FROM db] [LIKE … | WHERE …]`.
    Table,
    /// `[LIKE … | WHERE …]`.
    Filter,
    /// `[LIMIT …]`.
    Limit,
    /// A table's name.
    Name,
    /// Anything, unread.
    Rest,
    Nothing,
}

impl Parser<'_, '_> {
    pub(super) fn show(&mut self) -> Result<Show> {
        self.expect_word(Keyword::Show)?;
        let mut show =
            Show { kind: ShowKind::Other, full: false, scope: None, table: None, db: None, filter: None, limit: None };
        while self.eat_one_of(&[Keyword::Full, Keyword::Extended]).is_some() {
            show.full = true;
        }
        show.scope = self.scope();
        let (kind, tail) = self.show_kind()?;
        show.kind = kind;
        self.show_tail(&mut show, tail)?;
        Ok(show)
    }

    fn show_kind(&mut self) -> Result<(ShowKind, Tail)> {
        let word = self.word();
        if self.kind() != Kind::Word {
            return self.fail();
        }
        self.bump();
        Ok(match word {
            Keyword::Databases | Keyword::Schemas => (ShowKind::Databases, Tail::Filter),
            Keyword::Tables => (ShowKind::Tables, Tail::Database),
            Keyword::Open => {
                self.expect_word(Keyword::Tables)?;
                (ShowKind::OpenTables, Tail::Database)
            }
            Keyword::Table => {
                self.expect_word(Keyword::Status)?;
                (ShowKind::TableStatus, Tail::Database)
            }
            Keyword::Columns | Keyword::Fields => (ShowKind::Columns, Tail::Table),
            Keyword::Index | Keyword::Indexes | Keyword::Keys => (ShowKind::Index, Tail::Table),
            Keyword::Create => return self.show_create(),
            Keyword::Triggers => (ShowKind::Triggers, Tail::Database),
            Keyword::Events => (ShowKind::Events, Tail::Database),
            Keyword::Procedure | Keyword::Function | Keyword::Package => self.show_routine()?,
            Keyword::Variables => (ShowKind::Variables, Tail::Filter),
            Keyword::Status => (ShowKind::Status, Tail::Filter),
            Keyword::Warnings => (ShowKind::Warnings, Tail::Limit),
            Keyword::Errors => (ShowKind::Errors, Tail::Limit),
            Keyword::Count => {
                self.expect(Kind::LParen)?;
                self.expect(Kind::Star)?;
                self.expect(Kind::RParen)?;
                match self.eat_one_of(&[Keyword::Warnings, Keyword::Errors]) {
                    Some(Keyword::Warnings) => (ShowKind::CountWarnings, Tail::Nothing),
                    Some(_) => (ShowKind::CountErrors, Tail::Nothing),
                    None => return self.fail(),
                }
            }
            Keyword::Processlist => (ShowKind::Processlist, Tail::Nothing),
            Keyword::Storage => {
                self.expect_word(Keyword::Engines)?;
                (ShowKind::Engines, Tail::Nothing)
            }
            Keyword::Engines => (ShowKind::Engines, Tail::Nothing),
            Keyword::Engine => (ShowKind::Engine, Tail::Rest),
            Keyword::Collation => (ShowKind::Collation, Tail::Filter),
            Keyword::Charset => (ShowKind::CharacterSet, Tail::Filter),
            Keyword::Character | Keyword::Char => {
                self.expect_word(Keyword::Set)?;
                (ShowKind::CharacterSet, Tail::Filter)
            }
            Keyword::Grants => (ShowKind::Grants, Tail::Rest),
            Keyword::Plugins => (ShowKind::Plugins, Tail::Rest),
            Keyword::Privileges => (ShowKind::Privileges, Tail::Nothing),
            Keyword::Profile => (ShowKind::Profile, Tail::Rest),
            Keyword::Profiles => (ShowKind::Profiles, Tail::Nothing),
            Keyword::Master
            | Keyword::Binary
            | Keyword::Binlog
            | Keyword::Slave
            | Keyword::Replica
            | Keyword::Replicas
            | Keyword::Relaylog
            | Keyword::All => (ShowKind::Replication, Tail::Rest),
            Keyword::Library | Keyword::ParseTree if !self.is_mariadb() => (ShowKind::Other, Tail::Rest),
            Keyword::Explain
            | Keyword::Analyze
            | Keyword::Contributors
            | Keyword::Authors
            | Keyword::ClientStatistics
            | Keyword::IndexStatistics
            | Keyword::TableStatistics
            | Keyword::UserStatistics
                if self.is_mariadb() =>
            {
                (ShowKind::Other, Tail::Rest)
            }
            _ => {
                self.at -= 1;
                return self.fail();
            }
        })
    }

    fn show_create(&mut self) -> Result<(ShowKind, Tail)> {
        let word = self.word();
        self.bump();
        Ok(match word {
            Keyword::Table => (ShowKind::CreateTable, Tail::Name),
            Keyword::View => (ShowKind::CreateView, Tail::Name),
            Keyword::Database | Keyword::Schema => (ShowKind::CreateDatabase, Tail::Rest),
            Keyword::Procedure | Keyword::Function | Keyword::Trigger | Keyword::Event | Keyword::Sequence => {
                (ShowKind::CreateRoutine, Tail::Name)
            }
            Keyword::Package => (ShowKind::CreateRoutine, Tail::Rest),
            Keyword::User => (ShowKind::CreateUser, Tail::Rest),
            _ => {
                self.at -= 1;
                return self.fail();
            }
        })
    }

    fn show_routine(&mut self) -> Result<(ShowKind, Tail)> {
        self.eat_word(Keyword::Body);
        match self.eat_one_of(&[Keyword::Status, Keyword::Code]) {
            Some(Keyword::Status) => Ok((ShowKind::RoutineStatus, Tail::Filter)),
            Some(_) => Ok((ShowKind::RoutineCode, Tail::Rest)),
            None => self.fail(),
        }
    }

    fn show_tail(&mut self, show: &mut Show, tail: Tail) -> Result<()> {
        match tail {
            Tail::Database => {
                show.db = self.database_name()?;
                show.filter = self.show_filter()?;
            }
            Tail::Table => {
                if self.eat_one_of(&[Keyword::From, Keyword::In]).is_none() {
                    return self.fail();
                }
                show.table = Some(self.table_name()?);
                show.db = self.database_name()?;
                show.filter = self.show_filter()?;
            }
            Tail::Filter => show.filter = self.show_filter()?,
            Tail::Limit => show.limit = self.limit()?,
            Tail::Name => {
                self.if_not_exists();
                show.table = Some(self.table_name()?);
            }
            Tail::Rest if show.kind == ShowKind::CreateDatabase => {
                self.if_not_exists();
                show.db = Some(self.name()?);
            }
            Tail::Rest => {
                self.skip_rest()?;
            }
            Tail::Nothing => {}
        }
        Ok(())
    }

    fn database_name(&mut self) -> Result<Option<Name>> {
        match self.eat_one_of(&[Keyword::From, Keyword::In]) {
            Some(_) => self.name().map(Some),
            None => Ok(None),
        }
    }

    fn show_filter(&mut self) -> Result<Option<ShowFilter>> {
        if self.eat_word(Keyword::Like) {
            return self.primary().map(|e| Some(ShowFilter::Like(e)));
        }
        if self.eat_word(Keyword::Where) {
            return self.expr().map(|e| Some(ShowFilter::Where(e)));
        }
        Ok(None)
    }

    /// DESCRIBE, DESC and EXPLAIN are one word in three spellings.
    pub(super) fn explain(&mut self) -> Result<StatementKind> {
        self.bump();
        let mut explain = Explain {
            route: false,
            analyze: false,
            format: None,
            into: None,
            target: ExplainTarget::Connection(self.node(self.at, ExprKind::Default)),
        };
        if self.is(Keyword::Route) && self.starts_explainable_at(1) {
            self.bump();
            explain.route = true;
        } else if self.is_described() {
            let table = self.table_name()?;
            let column = if self.is_end() { None } else { Some(self.name_or_string()?) };
            return Ok(StatementKind::Describe { table, column });
        } else {
            self.explain_options(&mut explain)?;
        }
        self.explain_target(explain)
    }

    /// MariaDB's `ANALYZE SELECT …`.
    pub(super) fn analyze_statement(&mut self) -> Result<StatementKind> {
        self.bump();
        let target = ExplainTarget::Connection(self.node(self.at, ExprKind::Default));
        let mut explain = Explain { route: false, analyze: true, format: None, into: None, target };
        self.explain_options(&mut explain)?;
        self.explain_target(explain)
    }

    fn explain_options(&mut self, explain: &mut Explain) -> Result<()> {
        loop {
            match self.word() {
                Keyword::Analyze if !self.is_mariadb() => explain.analyze = true,
                Keyword::Extended | Keyword::Partitions if self.is_mariadb() => {}
                Keyword::Format => {
                    self.bump();
                    self.expect(Kind::Eq)?;
                    explain.format = Some(self.name_or_string()?);
                    continue;
                }
                Keyword::Into => {
                    self.bump();
                    if self.kind() != Kind::UserVar {
                        return self.fail();
                    }
                    explain.into = Some(self.bump());
                    continue;
                }
                _ => return Ok(()),
            }
            self.bump();
        }
    }

    fn explain_target(&mut self, mut explain: Explain) -> Result<StatementKind> {
        if self.eat_words(&[Keyword::For, Keyword::Connection]) {
            explain.target = ExplainTarget::Connection(self.primary()?);
        } else {
            if !self.starts_explainable_at(0) && !explain.route {
                return self.fail();
            }
            explain.target = ExplainTarget::Statement(self.statement()?);
        }
        Ok(StatementKind::Explain(Box::new(explain)))
    }

    fn starts_explainable_at(&self, ahead: u32) -> bool {
        self.starts_query_at(ahead)
            || self.kind_at(ahead) == Kind::LParen
            || matches!(self.word_at(ahead), Keyword::Insert | Keyword::Replace | Keyword::Update | Keyword::Delete)
            || (ahead > 0 && self.kind_at(ahead) == Kind::Word && !matches!(self.kind_at(ahead + 1), Kind::End))
            || (ahead > 0 && matches!(self.word_at(ahead), Keyword::Begin | Keyword::Commit | Keyword::Rollback))
    }

    /// A table follows, not a statement or an option.
    fn is_described(&self) -> bool {
        let option = match self.word() {
            Keyword::Format => self.kind_at(1) == Kind::Eq,
            Keyword::Extended | Keyword::Partitions if self.is_mariadb() => {
                self.kind_at(1) != Kind::End && self.kind_at(1) != Kind::Dot
            }
            _ => false,
        };
        self.is_name() && !option
    }
}
