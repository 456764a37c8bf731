//! The lines of a LOAD DATA file, found as MySQL's servers find them: where a line ends and what some
//! of its fields hold. What a server makes of oddities (text behind the last field, a quote that is
//! never closed) is its own affair: lines are sent on as they were written.

use std::ops::Range;

use crate::plan::load::Format;

/// A field that is looked at.
#[derive(Clone, Debug, Default)]
pub(super) struct Field {
    /// The line has it.
    pub there: bool,
    pub null: bool,
    /// Where it is written, with what encloses it.
    pub raw: Range<usize>,
    /// What it says.
    pub value: Vec<u8>,
}

/// What stands at the front of a file's rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    Line {
        /// Where its first field begins.
        body: usize,
        /// Behind its terminator.
        end: usize,
    },
    /// Its end is not there yet.
    More,
    /// No line follows.
    End,
}

/// More bytes are needed.
struct More;

/// What a field ended with.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ending {
    Field,
    Line,
    /// The file is over; or it was before the field began.
    File,
    Nothing,
}

/// Reads the line at the front; `last`: nothing follows these bytes. `wanted` are numbers of fields.
pub(super) fn read(
    format: &Format,
    bytes: &[u8],
    last: bool,
    width: u16,
    wanted: &[u16],
    fields: &mut [Field],
) -> Found {
    let mut cursor = Cursor { bytes, at: 0, last };
    for field in fields.iter_mut() {
        field.there = false;
    }
    cursor.line(format, width, wanted, fields).unwrap_or(Found::More)
}

/// The line at the front is passed over: its end.
pub(super) fn pass_over(format: &Format, bytes: &[u8], last: bool) -> Found {
    let mut cursor = Cursor { bytes, at: 0, last };
    match cursor.pass_line(format) {
        Ok(true) => Found::Line { body: 0, end: cursor.at },
        Ok(false) => Found::End,
        Err(More) => Found::More,
    }
}

struct Cursor<'b> {
    bytes: &'b [u8],
    at: usize,
    last: bool,
}

impl Cursor<'_> {
    fn line(&mut self, format: &Format, width: u16, wanted: &[u16], fields: &mut [Field]) -> Result<Found, More> {
        if !self.find_start(format)? {
            return Ok(Found::End);
        }
        let body = self.at;
        for number in 0..width {
            let field = wanted.iter().position(|one| *one == number).map(|at| &mut fields[at]);
            match self.field(format, field)? {
                Ending::Nothing if number == 0 => return Ok(Found::End),
                Ending::Field => {}
                Ending::Line | Ending::File | Ending::Nothing => return Ok(Found::Line { body, end: self.at }),
            }
        }
        // More fields than are read: up to the line's end, whatever stands in quotes.
        self.pass_line(format)?;
        Ok(Found::Line { body, end: self.at })
    }

    /// Goes behind the next LINES STARTING BY; false: there is none.
    fn find_start(&mut self, format: &Format) -> Result<bool, More> {
        let prefix = &*format.line_start;
        if prefix.is_empty() {
            return Ok(true);
        }
        match memchr::memmem::find(&self.bytes[self.at..], prefix) {
            Some(found) => {
                self.at += found + prefix.len();
                Ok(true)
            }
            None if self.last => Ok(false),
            None => Err(More),
        }
    }

    /// Behind the next end of a line; false: the file ends before.
    fn pass_line(&mut self, format: &Format) -> Result<bool, More> {
        while let Some(byte) = self.get()? {
            if Some(byte) == format.escape {
                if self.get()?.is_none() {
                    return Ok(false);
                }
            } else if self.ends(byte, &format.line_end)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn field(&mut self, format: &Format, field: Option<&mut Field>) -> Result<Ending, More> {
        let start = self.at;
        let mut ignored = Field::default();
        let wanted = field.is_some();
        let field = field.unwrap_or(&mut ignored);
        field.value.clear();
        let put = |value: &mut Vec<u8>, byte: u8| {
            if wanted {
                value.push(byte);
            }
        };
        let Some(first) = self.get()? else { return Ok(Ending::Nothing) };
        let enclosed = Some(first) == format.enclosed;
        if enclosed {
            put(&mut field.value, first);
        } else {
            self.at -= 1;
        }
        let (mut nulled, mut whole) = (false, false);
        // Where the field's own bytes end, before the delimiter behind it.
        let mut end;
        let ending = loop {
            end = self.at;
            let Some(mut byte) = self.get()? else { break Ending::File };
            if Some(byte) == format.escape {
                let escape = byte;
                let Some(next) = self.get()? else {
                    put(&mut field.value, escape);
                    end = self.at;
                    break Ending::File;
                };
                // An escape that is the quote too only doubles itself.
                if format.escape != format.enclosed || next == escape {
                    nulled |= next == b'N';
                    put(&mut field.value, unescaped(next));
                    continue;
                }
                self.at -= 1;
                byte = escape;
            }
            if !enclosed && self.ends(byte, &format.line_end)? {
                break Ending::Line;
            }
            if enclosed && Some(byte) == format.enclosed {
                end = self.at;
                match self.get()? {
                    Some(next) if next == byte => put(&mut field.value, byte),
                    None => {
                        whole = true;
                        break Ending::File;
                    }
                    Some(next) if self.ends(next, &format.line_end)? => {
                        whole = true;
                        break Ending::Line;
                    }
                    Some(next) if self.ends(next, &format.field_end)? => {
                        whole = true;
                        break Ending::Field;
                    }
                    Some(_) => {
                        self.at -= 1;
                        put(&mut field.value, byte);
                    }
                }
                continue;
            }
            if !enclosed && self.ends(byte, &format.field_end)? {
                break Ending::Field;
            }
            put(&mut field.value, byte);
        };
        if wanted {
            if whole {
                // Without the quote that opened it.
                field.value.remove(0);
            }
            field.there = true;
            field.raw = start..end;
            field.null =
                (field.value.len() == 1 && nulled) || (!whole && format.enclosed.is_some() && field.value == b"NULL");
        }
        Ok(ending)
    }

    fn get(&mut self) -> Result<Option<u8>, More> {
        match self.bytes.get(self.at) {
            Some(byte) => {
                self.at += 1;
                Ok(Some(*byte))
            }
            None if self.last => Ok(None),
            None => Err(More),
        }
    }

    /// `byte`, just read, begins this delimiter: goes behind it.
    fn ends(&mut self, byte: u8, delimiter: &[u8]) -> Result<bool, More> {
        if delimiter.first() != Some(&byte) {
            return Ok(false);
        }
        let here = &self.bytes[self.at - 1..];
        if here.starts_with(delimiter) {
            self.at += delimiter.len() - 1;
            return Ok(true);
        }
        if delimiter.starts_with(here) && !self.last { Err(More) } else { Ok(false) }
    }
}

fn unescaped(byte: u8) -> u8 {
    match byte {
        b'n' => b'\n',
        b't' => b'\t',
        b'r' => b'\r',
        b'b' => 8,
        b'0' => 0,
        b'Z' => 26,
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn format(field_end: &str, enclosed: Option<u8>, escape: Option<u8>, line_end: &str) -> Format {
        Format {
            field_end: field_end.as_bytes().into(),
            enclosed,
            escape,
            line_start: [].into(),
            line_end: line_end.as_bytes().into(),
        }
    }

    fn csv() -> Format {
        format(",", Some(b'"'), Some(b'\\'), "\r\n")
    }

    /// The lines of a text, each as its raw bytes and its second field.
    fn lines(format: &Format, text: &str, width: u16) -> Vec<(String, Option<String>)> {
        let (mut at, mut all) = (0, Vec::new());
        let mut fields = [Field::default()];
        while let Found::Line { end, .. } = read(format, &text.as_bytes()[at..], true, width, &[1], &mut fields) {
            let field = &fields[0];
            let value = match (field.there, field.null) {
                (false, _) => None,
                (true, true) => Some("<null>".to_owned()),
                (true, false) => Some(String::from_utf8_lossy(&field.value).into_owned()),
            };
            all.push((text[at..at + end].to_owned(), value));
            at += end;
        }
        all
    }

    fn seconds(format: &Format, text: &str) -> Vec<Option<String>> {
        lines(format, text, 2).into_iter().map(|(_, second)| second).collect()
    }

    fn some(values: &[&str]) -> Vec<Option<String>> {
        values.iter().map(|value| Some((*value).to_owned())).collect()
    }

    #[test]
    fn plain_lines() {
        let tabs = format("\t", None, Some(b'\\'), "\n");
        assert_eq!(seconds(&tabs, "1\ta\n2\tb"), some(&["a", "b"]));
        assert_eq!(
            seconds(&tabs, "1\t\\N\n2\t\\\\N\n3\tNULL\n4\ta\\\tb\\\nc\n"),
            some(&["<null>", "\\N", "NULL", "a\tb\nc"])
        );
        assert_eq!(seconds(&tabs, "1\n\n2\t\n"), [None, None, Some(String::new())]);
        assert_eq!(seconds(&tabs, "1\ta\tmore\\\nstill\n2\tb\n"), some(&["a", "b"]));
        assert_eq!(lines(&tabs, "1\ta\tmore\n2\tb", 2)[0].0, "1\ta\tmore\n");
    }

    #[test]
    fn enclosed_fields() {
        assert_eq!(seconds(&csv(), "1,\"a,b\"\r\n2,\"c\"\"d\"\r\n3,\"e\"f\"\r\n"), some(&["a,b", "c\"d", "e\"f"]));
        assert_eq!(seconds(&csv(), "1,\"a\r\nb\"\r\n2,x\"y\"\r\n"), some(&["a\r\nb", "x\"y\""]));
        assert_eq!(
            seconds(&csv(), "1,NULL\r\n2,\"NULL\"\r\n3,\\N\r\n4,\"open"),
            some(&["<null>", "NULL", "<null>", "\"open"])
        );
        let doubling = format(",", Some(b'"'), Some(b'"'), "\n");
        assert_eq!(seconds(&doubling, "1,\"a\"\"b\"\n2,\"c\"\n"), some(&["a\"b", "c"]));
    }

    #[test]
    fn a_raw_field_has_its_quotes() {
        let text = b"1,\"23\",x\r\n";
        let mut fields = [Field::default(), Field::default()];
        assert_eq!(read(&csv(), text, true, 3, &[1, 2], &mut fields), Found::Line { body: 0, end: text.len() });
        assert_eq!(&text[fields[0].raw.clone()], b"\"23\"");
        assert_eq!(&text[fields[1].raw.clone()], b"x");
    }

    #[test]
    fn lines_begin_behind_their_prefix() {
        let format = Format { line_start: b"xxx".as_slice().into(), ..format(",", None, None, "\n") };
        assert_eq!(lines(&format, "xxx1,a\nsomething xxx2,b\n3,c\n", 2).len(), 2);
        let text = b"junk xxx1,a\n";
        assert_eq!(read(&format, text, true, 2, &[], &mut []), Found::Line { body: 8, end: 12 });
    }

    #[test]
    fn a_line_cut_anywhere_waits_for_more() {
        let text = "1,\"a\"\"b\\\"\",x\r\n";
        for at in 0..text.len() {
            assert_eq!(
                read(&csv(), &text.as_bytes()[..at], false, 2, &[1], &mut [Field::default()]),
                Found::More,
                "{at}"
            );
        }
        assert_eq!(pass_over(&csv(), b"head\\\r\n\r", false), Found::More);
        assert_eq!(pass_over(&csv(), b"head\r\nmore", false), Found::Line { body: 0, end: 6 });
    }
}
