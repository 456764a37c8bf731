//! The file as written, checked against the table of keys: TOML text goes in, a tree of values
//! of the right kinds comes out, each with its line and path, defaults filled in and
//! `${ENVIRONMENT}` put in. What a value means beside others is not looked at here.

use toml_edit::{Document, Item, TableLike, Value};

use super::finding::{Finding, Findings, Severity};
use super::instant;
use super::keys::{self, Key, Kind, LeftOut};
use super::load::Surroundings;

#[derive(Clone, Debug)]
pub(super) struct Node {
    pub line: u32,
    /// With the file's own names: `schema.mall.table.orders.key`.
    pub path: String,
    /// It stands in the file; else it is the default.
    pub given: bool,
    pub value: Written,
}

#[derive(Clone, Debug)]
pub(super) enum Written {
    /// Left out, without a default.
    Absent,
    /// A mistake that has been told.
    Wrong,
    Text(String),
    /// Counts, milliseconds of a duration or of Unix time, bytes of a size.
    Number(i64),
    Flag(bool),
    List(Vec<Node>),
    /// Every key that the section may have, or the names that the file gives.
    Section(Vec<(String, Node)>),
}

impl Node {
    /// A key of this section; of a section that is wrong itself, every key is.
    pub fn at(&self, name: &str) -> &Node {
        static WRONG: Node = Node { line: 1, path: String::new(), given: false, value: Written::Wrong };
        match &self.value {
            Written::Section(entries) => entries
                .iter()
                .find(|(known, _)| known == name)
                .map(|(_, node)| node)
                .expect("a key of the table of keys"),
            _ => &WRONG,
        }
    }

    pub fn entries(&self) -> &[(String, Node)] {
        if let Written::Section(entries) = &self.value { entries } else { &[] }
    }

    pub fn list(&self) -> &[Node] {
        if let Written::List(list) = &self.value { list } else { &[] }
    }

    pub fn text(&self) -> Option<&str> {
        if let Written::Text(text) = &self.value { Some(text) } else { None }
    }

    pub fn number(&self) -> Option<i64> {
        if let Written::Number(number) = self.value { Some(number) } else { None }
    }

    pub fn flag(&self) -> Option<bool> {
        if let Written::Flag(flag) = self.value { Some(flag) } else { None }
    }

    pub fn is_wrong(&self) -> bool {
        matches!(self.value, Written::Wrong)
    }

    pub fn is_absent(&self) -> bool {
        matches!(self.value, Written::Absent)
    }
}

/// Reads the whole file; the root is a section, or `None` where it is not TOML.
pub(super) fn read(text: &str, around: &Surroundings<'_>, findings: &mut Findings) -> Option<Node> {
    let lines = Lines::new(text);
    match Document::parse(text) {
        Ok(document) => {
            let mut reader = Reader { place: LinePlace::File(lines), around, findings };
            let entries = reader.section(document.as_table(), "", "", 1);
            Some(Node { line: 1, path: String::new(), given: true, value: Written::Section(entries) })
        }
        Err(error) => {
            let line = error.span().map_or(1, |span| lines.of(span.start));
            let what = format!("not TOML: {}", error.message().trim().replace('\n', ", "));
            findings.push(Finding {
                severity: Severity::Mistake,
                line: Some(line),
                key: String::new(),
                what,
                remedy: String::new(),
            });
            None
        }
    }
}

struct Reader<'a> {
    place: LinePlace,
    around: &'a Surroundings<'a>,
    findings: &'a mut Findings,
}

/// Where spans point to: into the file, or into the text of a default, which lies at one line.
enum LinePlace {
    File(Lines),
    Default,
}

/// Where each line behind the first starts.
struct Lines(Vec<usize>);

impl Lines {
    fn new(text: &str) -> Self {
        Lines(text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1).collect())
    }

    /// 1-based line of an offset.
    fn of(&self, offset: usize) -> u32 {
        u32::try_from(self.0.partition_point(|start| *start <= offset)).unwrap_or(u32::MAX).saturating_add(1)
    }
}

impl Reader<'_> {
    fn section(&mut self, table: &dyn TableLike, pattern: &str, path: &str, line: u32) -> Vec<(String, Node)> {
        for (name, _) in table.iter() {
            if !keys::children(pattern).any(|key| key.name() == name) {
                let line = self.line_of_key(table, name, line);
                let (what, remedy) = unknown(pattern, name);
                self.mistake(line, &join(path, name), what, remedy);
            }
        }
        keys::children(pattern).map(|key| (key.name().to_owned(), self.entry(table, key, path, line))).collect()
    }

    /// A key of a section: as written, or its default.
    fn entry(&mut self, table: &dyn TableLike, key: &Key, section: &str, line: u32) -> Node {
        let path = join(section, key.name());
        if let Some(item) = table.get(key.name()) {
            let line = self.line_of_key(table, key.name(), line);
            let value = self.value(item, &key.kind, key.path, &path, line);
            let given = matches!(self.place, LinePlace::File(_));
            return Node { line, path, given, value };
        }
        let value = match key.default {
            LeftOut::Absent | LeftOut::Depends(_) => Written::Absent,
            LeftOut::Value(text) => self.default(text, key, &path, line),
            LeftOut::Required => {
                let whose = if section.is_empty() { "the file".to_owned() } else { header(section) };
                let header = match key.kind {
                    Kind::Sections => format!("add a section [[{}]]", key.name()),
                    Kind::Section => format!("add a section [{path}]"),
                    Kind::Named => format!("add a section [{path}.NAME]"),
                    _ => format!("add {} = …, {}", key.name(), key.kind.describe()),
                };
                self.mistake(line, &path, format!("missing in {whose}"), header);
                Written::Wrong
            }
        };
        Node { line, path, given: false, value }
    }

    fn default(&mut self, text: &str, key: &Key, path: &str, line: u32) -> Written {
        let document = Document::parse(format!("value = {text}")).expect("a default of the table of keys is TOML");
        let item = document.as_table().get("value").expect("just written");
        let mut reader = Reader { place: LinePlace::Default, around: self.around, findings: &mut *self.findings };
        reader.value(item, &key.kind, key.path, path, line)
    }

    fn value(&mut self, item: &Item, kind: &Kind, pattern: &str, path: &str, line: u32) -> Written {
        let line = self.line_of(item, line);
        let read = match kind {
            Kind::Either(one, other) => {
                let kind = if fits(item, one) { one } else { other };
                if !fits(item, kind) {
                    self.wrong_kind(item, &Kind::Either(one, other), path, line);
                    return Written::Wrong;
                }
                return self.value(item, kind, pattern, path, line);
            }
            Kind::Section => {
                item.as_table_like().map(|table| Written::Section(self.section(table, pattern, path, line)))
            }
            Kind::Sections => sections(item).map(|tables| self.sections(&tables, pattern, path, line)),
            Kind::Named => item.as_table_like().map(|table| self.named(table, pattern, path, line)),
            Kind::Text | Kind::Name | Kind::File | Kind::Word(_) => {
                item.as_str().map(|text| self.string(text, kind, path, line))
            }
            Kind::Names => self.list(item, &Kind::Name, path, line),
            Kind::Texts => self.list(item, &Kind::Text, path, line),
            Kind::Flag => item.as_bool().map(Written::Flag),
            Kind::Count { min, max } => {
                item.as_integer().map(|number| self.bounded(number, *min, *max, kind, path, line))
            }
            Kind::Span { min, max } => {
                item.as_str().and_then(span).map(|ms| self.bounded(ms, *min, *max, kind, path, line))
            }
            Kind::Size { min, max } => item
                .as_integer()
                .or_else(|| size(item.as_str()?))
                .map(|bytes| self.bounded(bytes, *min, *max, kind, path, line)),
            Kind::Instant => self.instant(item, path, line),
        };
        read.unwrap_or_else(|| {
            self.wrong_kind(item, kind, path, line);
            Written::Wrong
        })
    }

    fn sections(&mut self, tables: &[Section<'_>], pattern: &str, path: &str, line: u32) -> Written {
        let pattern = format!("{pattern}[]");
        let list = tables.iter().enumerate().map(|(position, table)| {
            let path = format!("{path}[{position}]");
            let line = table.start.map_or(line, |start| self.line_at(start, line));
            let value = Written::Section(self.section(table.keys, &pattern, &path, line));
            Node { line, path, given: true, value }
        });
        Written::List(list.collect())
    }

    fn named(&mut self, table: &dyn TableLike, pattern: &str, path: &str, line: u32) -> Written {
        let pattern = format!("{pattern}.*");
        let names: Vec<String> = table.iter().map(|(name, _)| name.to_owned()).collect();
        let entries = names.into_iter().map(|name| {
            let item = table.get(&name).expect("a name that was just listed");
            let path = join(path, &name);
            let line = self.line_of_key(table, &name, line);
            let value = self.value(item, &Kind::Section, &pattern, &path, line);
            (name, Node { line, path, given: true, value })
        });
        Written::Section(entries.collect())
    }

    fn list(&mut self, item: &Item, kind: &Kind, path: &str, line: u32) -> Option<Written> {
        let array = item.as_array()?;
        let list = array.iter().map(|value| {
            let line = value.span().map_or(line, |span| self.line_at(span.start, line));
            let value = match value.as_str() {
                Some(text) => self.string(text, kind, path, line),
                None => {
                    self.mistake(line, path, format!("holds {}", article(value.type_name())), "write strings only");
                    Written::Wrong
                }
            };
            Node { line, path: path.to_owned(), given: true, value }
        });
        Some(Written::List(list.collect()))
    }

    fn string(&mut self, text: &str, kind: &Kind, path: &str, line: u32) -> Written {
        let text = match expand(text, self.around.env) {
            Ok(text) => text,
            Err(Unset::Variable(name)) => {
                self.mistake(
                    line,
                    path,
                    format!("environment variable {name} is not set"),
                    "set it before Bifold starts",
                );
                return Written::Wrong;
            }
            Err(Unset::Form) => {
                self.mistake(line, path, "holds a ${ that is not ${NAME}", "write ${NAME}, or $${ for a plain ${");
                return Written::Wrong;
            }
        };
        let limit = super::pattern::MAX_NAME;
        match kind {
            Kind::Name | Kind::File if text.is_empty() => {
                self.mistake(line, path, "is empty", format!("write {}", kind.describe()));
                Written::Wrong
            }
            Kind::Name if text.chars().count() > limit => {
                self.mistake(
                    line,
                    path,
                    format!("has {} characters", text.chars().count()),
                    format!("at most {limit} are taken"),
                );
                Written::Wrong
            }
            Kind::Word(words) if !words.contains(&text.as_str()) => {
                self.mistake(line, path, format!("is \"{text}\""), format!("write {}", kind.describe()));
                Written::Wrong
            }
            _ => Written::Text(text),
        }
    }

    fn bounded(&mut self, number: i64, min: i64, max: i64, kind: &Kind, path: &str, line: u32) -> Written {
        if (min..=max).contains(&number) {
            return Written::Number(number);
        }
        let side = if number < min { "too small" } else { "too large" };
        self.mistake(line, path, format!("is {side}"), format!("write {}", kind.describe()));
        Written::Wrong
    }

    fn instant(&mut self, item: &Item, path: &str, line: u32) -> Option<Written> {
        let written = item.as_datetime().copied().or_else(|| item.as_str()?.parse().ok())?;
        match instant::from_datetime(&written) {
            Ok(ms) => Some(Written::Number(i64::try_from(ms).expect("years have four digits"))),
            Err(what) => {
                self.mistake(line, path, what, "write it with a Z, as 2024-01-01T00:00:00Z");
                Some(Written::Wrong)
            }
        }
    }

    fn wrong_kind(&mut self, item: &Item, kind: &Kind, path: &str, line: u32) {
        let what = match item {
            Item::Value(Value::Integer(number)) => format!("is {}", number.value()),
            Item::Value(Value::String(_)) if matches!(kind, Kind::Span { .. }) => "is no duration".to_owned(),
            Item::Value(Value::String(_)) if matches!(kind, Kind::Size { .. }) => "is no size".to_owned(),
            Item::Value(Value::String(_)) if matches!(kind, Kind::Instant) => "is no instant".to_owned(),
            // A password could stand where something else belongs: strings are not printed here.
            other => format!("is {}", article(other.type_name())),
        };
        let hint = match kind {
            Kind::Span { .. } => ", with its unit, as \"500ms\", \"5s\", \"10m\", \"8h\" or \"1d\"",
            Kind::Size { .. } => ", in bytes, or with its unit, as \"64K\", \"64M\" or \"1G\"",
            _ => "",
        };
        self.mistake(line, path, what, format!("write {}{hint}", kind.describe()));
    }

    fn mistake(&mut self, line: u32, path: &str, what: impl Into<String>, remedy: impl Into<String>) {
        self.findings.push(Finding {
            severity: Severity::Mistake,
            line: Some(line),
            key: path.to_owned(),
            what: what.into(),
            remedy: remedy.into(),
        });
    }

    fn line_of_key(&self, table: &dyn TableLike, name: &str, otherwise: u32) -> u32 {
        let span = table.get_key_value(name).and_then(|(key, _)| key.span());
        span.map_or(otherwise, |span| self.line_at(span.start, otherwise))
    }

    fn line_of(&self, item: &Item, otherwise: u32) -> u32 {
        match item {
            Item::Value(value) => value.span().map_or(otherwise, |span| self.line_at(span.start, otherwise)),
            Item::Table(_) | Item::ArrayOfTables(_) | Item::None => {
                item.span().map_or(otherwise, |span| self.line_at(span.start, otherwise))
            }
        }
    }

    fn line_at(&self, offset: usize, otherwise: u32) -> u32 {
        match &self.place {
            LinePlace::File(lines) => lines.of(offset),
            LinePlace::Default => otherwise,
        }
    }
}

/// One of several sections and where it starts.
struct Section<'a> {
    keys: &'a dyn TableLike,
    start: Option<usize>,
}

/// `[[server]]`, or `server = [{ … }]`.
fn sections(item: &Item) -> Option<Vec<Section<'_>>> {
    let start = |span: Option<std::ops::Range<usize>>| span.map(|span| span.start);
    match item {
        Item::ArrayOfTables(tables) => {
            Some(tables.iter().map(|table| Section { keys: table, start: start(table.span()) }).collect())
        }
        Item::Value(Value::Array(values)) => values
            .iter()
            .map(|value| value.as_inline_table().map(|table| Section { keys: table, start: start(value.span()) }))
            .collect(),
        Item::Value(_) | Item::Table(_) | Item::None => None,
    }
}

fn fits(item: &Item, kind: &Kind) -> bool {
    match kind {
        Kind::Section | Kind::Named => item.is_table_like(),
        Kind::Sections => sections(item).is_some(),
        Kind::Text | Kind::Name | Kind::File | Kind::Word(_) | Kind::Span { .. } => item.is_str(),
        Kind::Names | Kind::Texts => item.is_array(),
        Kind::Flag => item.is_bool(),
        Kind::Count { .. } => item.is_integer(),
        Kind::Size { .. } => item.is_integer() || item.is_str(),
        Kind::Instant => item.is_datetime() || item.is_str(),
        Kind::Either(one, other) => fits(item, one) || fits(item, other),
    }
}

/// What to say of a key that this section does not have.
fn unknown(pattern: &str, name: &str) -> (String, String) {
    let known: Vec<&str> = keys::children(pattern).map(Key::name).collect();
    if let Some(near) = nearest(name, known.iter().copied()) {
        return ("unknown key".to_owned(), format!("did you mean {near}?"));
    }
    let elsewhere = homes(pattern, name);
    if !elsewhere.is_empty() {
        return ("unknown key here".to_owned(), format!("it belongs in {}", elsewhere.join(" or ")));
    }
    ("unknown key".to_owned(), format!("known here: {}", known.join(", ")))
}

/// The sections that have a key of this name, as near to this one as there are.
fn homes(pattern: &str, name: &str) -> Vec<String> {
    let common =
        |key: &Key| pattern.split('.').zip(key.parent().split('.')).take_while(|(here, there)| here == there).count();
    let all = || keys::KEYS.iter().filter(|key| key.name() == name && !key.parent().is_empty());
    let nearest = all().map(common).max();
    all().filter(|key| Some(common(key)) == nearest).map(|key| header(&key.parent().replace('*', "NAME"))).collect()
}

/// `[listen]`, `[[server]]`
fn header(section: &str) -> String {
    match section.split_once('[') {
        Some((name, _)) => format!("[[{name}]]"),
        None => format!("[{section}]"),
    }
}

/// The name that was most likely meant, if one is near.
pub(super) fn nearest<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let bound = (name.chars().count() / 3).clamp(1, 3);
    candidates
        .map(|candidate| (strsim::damerau_levenshtein(&name.to_lowercase(), &candidate.to_lowercase()), candidate))
        .filter(|(distance, candidate)| {
            *distance <= bound || (candidate.len() > 3 && (candidate.starts_with(name) || name.starts_with(*candidate)))
        })
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

enum Unset {
    Variable(String),
    Form,
}

/// Puts `${NAME}` in; `$${` stands for `${`.
fn expand(text: &str, env: &dyn Fn(&str) -> Option<String>) -> Result<String, Unset> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("${") {
        if rest[..at].ends_with('$') {
            out.push_str(&rest[..at]);
            out.push('{');
            rest = &rest[at + 2..];
            continue;
        }
        out.push_str(&rest[..at]);
        let (name, behind) = rest[at + 2..].split_once('}').ok_or(Unset::Form)?;
        if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
            return Err(Unset::Form);
        }
        out.push_str(&env(name).ok_or_else(|| Unset::Variable(name.to_owned()))?);
        rest = behind;
    }
    out.push_str(rest);
    Ok(out)
}

/// `"5s"` in milliseconds.
fn span(text: &str) -> Option<i64> {
    let split = text.find(|c: char| !c.is_ascii_digit())?;
    let unit = match &text[split..] {
        "ms" => 1,
        "s" => 1000,
        "m" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        _ => return None,
    };
    text[..split].parse::<i64>().ok()?.checked_mul(unit)
}

/// `"64M"` in bytes.
fn size(text: &str) -> Option<i64> {
    let split = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let unit = match &text[split..] {
        "" => 1,
        "K" => 1 << 10,
        "M" => 1 << 20,
        "G" => 1 << 30,
        _ => return None,
    };
    text[..split].parse::<i64>().ok()?.checked_mul(unit)
}

fn join(section: &str, name: &str) -> String {
    let plain = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '-');
    match (section.is_empty(), plain) {
        (true, true) => name.to_owned(),
        (true, false) => format!("{name:?}"),
        (false, true) => format!("{section}.{name}"),
        (false, false) => format!("{section}.{name:?}"),
    }
}

fn article(kind: &str) -> String {
    let article = if kind.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
    format!("{article} {kind}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_is_put_in() {
        let env = |name: &str| (name == "A").then(|| "x${A}".to_owned());
        let ok = |text| expand(text, &env).ok();
        assert_eq!(ok("1${A}2${A}").as_deref(), Some("1x${A}2x${A}"));
        assert_eq!(ok("$${A} $ {A} $").as_deref(), Some("${A} $ {A} $"));
        assert!(matches!(expand("${B}", &env), Err(Unset::Variable(name)) if name == "B"));
        assert!(matches!(expand("${", &env), Err(Unset::Form)));
        assert!(matches!(expand("${}", &env), Err(Unset::Form)));
    }

    #[test]
    fn durations_and_sizes_need_their_unit() {
        assert_eq!(span("500ms"), Some(500));
        assert_eq!(span("8h"), Some(8 * 3_600_000));
        for text in ["5", "", "s", "-5s", "5 s", "99999999999999999999s", "9999999999999999d"] {
            assert_eq!(span(text), None, "{text}");
        }
        assert_eq!(size("64M"), Some(64 << 20));
        assert_eq!(size("65536"), Some(65536));
        for text in ["M", "64X", "64MB", "-1K"] {
            assert_eq!(size(text), None, "{text}");
        }
    }

    #[test]
    fn a_near_name_is_offered_and_a_far_one_is_not() {
        let known = ["tables", "key", "hash", "kind", "undeclared"];
        for (name, near) in [
            ("table", Some("tables")),
            ("Hash", Some("hash")),
            ("kye", Some("key")),
            ("undecalred", Some("undeclared")),
            ("colour", None),
        ] {
            assert_eq!(nearest(name, known.into_iter()), near, "{name}");
        }
    }
}
