//! The order of the modules: `src/lib.rs` lists them in floors (a paragraph each, lowest first),
//! and a module may name only modules of lower floors. This test reads the sources and says which
//! line looks up or sideways.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

#[test]
fn a_module_names_only_modules_of_lower_floors() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let floors = floors(&fs::read_to_string(src.join("lib.rs")).expect("src/lib.rs"));
    assert!(floors.len() >= 2, "src/lib.rs lists no modules");

    let mut wrong = Vec::new();
    for module in floors.keys() {
        for file in files_of(&src, module) {
            let text = fs::read_to_string(&file).expect("a source file");
            let depth = file.strip_prefix(&src).expect("below src").components().count();
            let at_top = depth == 1 || (depth == 2 && file.ends_with("mod.rs"));
            for (line, name) in names_looking_wrong(&text, module, &floors, at_top) {
                wrong.push(format!("{}:{line}: `{module}` names `{name}`", file.display()));
            }
        }
    }
    wrong.sort();
    assert!(wrong.is_empty(), "modules that look up or sideways:\n{}", wrong.join("\n"));
}

#[test]
fn every_folder_and_file_of_src_is_on_a_floor() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let floors = floors(&fs::read_to_string(src.join("lib.rs")).expect("src/lib.rs"));
    for entry in fs::read_dir(&src).expect("src") {
        let path = entry.expect("an entry of src").path();
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        if name != "lib" && name != "main" {
            assert!(floors.contains_key(&name), "src/lib.rs does not list `{name}`");
        }
    }
}

/// The floor of each module: paragraphs of `mod` lines, counted from the lowest.
fn floors(lib: &str) -> HashMap<String, usize> {
    let mut floors = HashMap::new();
    let mut floor = 0;
    for line in lib.lines().map(str::trim) {
        if line.is_empty() {
            floor += 1;
        } else if let Some(name) =
            line.trim_start_matches("pub ").strip_prefix("mod ").and_then(|rest| rest.strip_suffix(';'))
        {
            floors.insert(name.to_owned(), floor);
        }
    }
    floors
}

fn files_of(src: &Path, module: &str) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let single = src.join(format!("{module}.rs"));
    if single.exists() {
        files.push(single);
    }
    let mut folders = vec![src.join(module)];
    while let Some(folder) = folders.pop() {
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        for entry in entries {
            let path = entry.expect("an entry of src").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "rs") {
                files.push(path);
            }
        }
    }
    files
}

/// Line and name of each path into a module that is not on a lower floor than `module`.
fn names_looking_wrong(
    text: &str,
    module: &str,
    floors: &HashMap<String, usize>,
    at_top: bool,
) -> Vec<(usize, String)> {
    let own = floors[module];
    let code = without_comments(text);
    let mut found = names_after(&code, "crate::");
    if at_top {
        // `super::x` at the top of a module is `crate::x`; inside its inline test module it is not.
        let before_tests = code.find("mod tests").map_or(code.as_str(), |at| &code[..at]);
        found.extend(names_after(before_tests, "super::"));
    }
    found.retain(|(_, name)| name != module && floors.get(name).is_some_and(|&floor| floor >= own));
    found
}

/// The first names of each path (or of each branch of `{…}`) that follows `root`.
fn names_after(code: &str, root: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for (at, _) in code.match_indices(root) {
        if code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ':') {
            continue;
        }
        let line = code[..at].matches('\n').count() + 1;
        let rest = &code[at + root.len()..];
        match rest.strip_prefix('{') {
            Some(group) => found.extend(branches(group).into_iter().map(|name| (line, name))),
            None => found.push((line, first_word(rest))),
        }
    }
    found
}

/// The first word of each branch of a use group, given what follows its `{`.
fn branches(group: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut depth = 0;
    let mut start = 0;
    for (at, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => {
                names.push(first_word(&group[start..at]));
                break;
            }
            '}' => depth -= 1,
            ',' if depth == 0 => {
                names.push(first_word(&group[start..at]));
                start = at + 1;
            }
            _ => {}
        }
    }
    names
}

fn first_word(text: &str) -> String {
    text.trim_start().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
}

/// Line comments blanked: a link in a doc comment may point anywhere.
fn without_comments(text: &str) -> String {
    let kept: Vec<&str> =
        text.lines().map(|line| if line.trim_start().starts_with("//") { "" } else { line }).collect();
    kept.join("\n")
}

#[test]
fn the_test_sees_what_it_must_see() {
    let floors = floors("pub mod low;\n\n// words\npub mod mid;\npub mod peer;\n\nmod high;\n");
    let wrong = |text: &str| -> Vec<String> {
        names_looking_wrong(text, "mid", &floors, true).into_iter().map(|(_, name)| name).collect()
    };
    assert_eq!(wrong("use crate::low::A;\nuse crate::mid::B;"), Vec::<String>::new());
    assert_eq!(wrong("use crate::high::A;"), ["high"]);
    assert_eq!(wrong("fn f() -> crate::peer::P {}"), ["peer"]);
    assert_eq!(wrong("use crate::{low::{a, b}, high::{c, d},\n peer};"), ["high", "peer"]);
    assert_eq!(wrong("use super::peer::P;"), ["peer"]);
    assert_eq!(wrong("/// see [crate::high]\nmod tests { use super::high; }"), Vec::<String>::new());
    assert_eq!(wrong("use mycrate::high;"), Vec::<String>::new());
}
