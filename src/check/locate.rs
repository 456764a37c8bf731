//! The line of a key in the topology file.

use toml_edit::{Document, Item, Table};

pub(super) struct Lines {
    document: Option<Document<String>>,
    /// Offsets at which lines begin.
    starts: Vec<usize>,
}

impl Lines {
    pub fn new(text: &str) -> Self {
        let starts = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        Lines { document: Document::parse(text.to_owned()).ok(), starts }
    }

    /// The line of the longest part of this path that stands in the file, and the path as the
    /// file's messages write it: `["server", "1", "address"]` is `server[1].address`.
    pub fn of(&self, path: &[&str]) -> (Option<u32>, String) {
        let mut name = String::new();
        let mut line = None;
        let mut at = self.document.as_ref().map(|document| At::Table(document.as_table()));
        for segment in path {
            match segment.parse::<usize>() {
                Ok(index) => name.push_str(&format!("[{index}]")),
                Err(_) if name.is_empty() => name.push_str(segment),
                Err(_) => name.push_str(&format!(".{segment}")),
            }
            at = at.and_then(|at| at.step(segment)).map(|(next, offset)| {
                line = offset.map(|offset| self.line_at(offset)).or(line);
                next
            });
        }
        (line, name)
    }

    fn line_at(&self, offset: usize) -> u32 {
        u32::try_from(self.starts.partition_point(|start| *start <= offset)).unwrap_or(u32::MAX)
    }
}

/// Where in the document a path has led to.
#[derive(Clone, Copy)]
enum At<'a> {
    Table(&'a Table),
    Item(&'a Item),
}

impl<'a> At<'a> {
    /// The next segment, and the offset at which it starts.
    fn step(self, segment: &str) -> Option<(At<'a>, Option<usize>)> {
        let (key, item) = match self {
            At::Table(table) => table.get_key_value(segment)?,
            At::Item(item) => match (item.as_table(), item.as_array_of_tables(), segment.parse::<usize>()) {
                (Some(table), _, _) => table.get_key_value(segment)?,
                (None, Some(tables), Ok(index)) => {
                    let table = tables.get(index)?;
                    return Some((At::Table(table), table.span().map(|span| span.start)));
                }
                // Inline tables and arrays stand on the line of their key.
                (None, _, _) => return None,
            },
        };
        let offset = key.span().or_else(|| item.span()).map(|span| span.start);
        Some((At::Item(item), offset))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "[listen]\nmysql = \"x\"\n\n[[server]]\nname = \"s0\"\naddress = \"a\"\n\n[[server]]\nname = \"s1\"\naddress = \"b\"\n\n[schema.mall]\nshards = []\n\n[schema.mall.table.orders]\nkey = \"uid\"\nid = { column = \"x\" }\n";

    #[test]
    fn a_key_is_found_and_what_is_left_out_falls_back_to_its_section() {
        let lines = Lines::new(FILE);
        assert_eq!(lines.of(&["listen", "mysql"]), (Some(2), "listen.mysql".into()));
        assert_eq!(lines.of(&["server", "1", "address"]), (Some(10), "server[1].address".into()));
        assert_eq!(lines.of(&["schema", "mall", "table", "orders", "key"]).0, Some(16));
        assert_eq!(lines.of(&["schema", "mall", "table", "orders", "id"]).0, Some(17));
        assert_eq!(lines.of(&["schema", "mall", "table", "orders", "unique_per_place"]).0, Some(15));
        assert_eq!(lines.of(&["backend"]), (None, "backend".into()));
    }
}
