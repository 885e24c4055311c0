//! The guide's page tells every finding, and no other.

use std::path::Path;

use explain::Code;

/// The page's headings of findings, and the text below each.
fn sections() -> Vec<(String, String)> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/src/findings.md");
    let text = std::fs::read_to_string(page).unwrap();
    let parts = text.split("\n### `").skip(1);
    parts.map(|part| part.split_once("`\n").unwrap()).map(|(code, text)| (code.into(), text.into())).collect()
}

#[test]
fn every_code_has_its_section_in_the_order_of_the_code() {
    let told: Vec<String> = sections().into_iter().map(|(code, _)| code).collect();
    let known: Vec<&str> = Code::ALL.iter().map(|code| code.name()).collect();
    assert_eq!(told, known);
}

#[test]
fn every_section_says_what_it_means_on_what_evidence_and_what_to_do() {
    for (code, text) in sections() {
        for part in ["**Means.**", "**Evidence.**", "**Do.**"] {
            assert!(text.contains(part), "{code} lacks {part}");
        }
    }
}

/// The page on grades has these tables between lines that name them.
fn tables() -> [(&'static str, String); 2] {
    let mut checks = String::from("| check | passes where | kind |\n|---|---|---|\n");
    for check in explain::CHECKS {
        let kind = if check.main { "main" } else { "lesser" };
        checks += &format!("| `{}` | {} | {kind} |\n", check.name, check.question);
    }
    let mut codes = String::from("| finding | check | note | warning | invalid |\n|---|---|---|---|---|\n");
    for (code, check, [note, warning, invalid]) in explain::weights() {
        let code = code.name();
        codes +=
            &format!("| [`{code}`](findings.md#{code}) | `{check}` | {note} | {warning} | {invalid} |\n");
    }
    [("checks", checks), ("codes", codes)]
}

#[test]
fn the_page_on_grades_has_the_tables_of_the_code() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/src/grades.md");
    let mut page = std::fs::read_to_string(&path).unwrap();
    for (name, table) in tables() {
        let (begin, end) = (format!("<!-- {name} -->\n\n"), format!("\n<!-- end of {name} -->"));
        let from = page.find(&begin).unwrap() + begin.len();
        let until = page.find(&end).unwrap();
        if std::env::var_os("UPDATE_DOCS").is_some() {
            page.replace_range(from..until, &table);
            std::fs::write(&path, &page).unwrap();
        } else {
            assert!(
                page[from..until] == table,
                "grades.md is stale: UPDATE_DOCS=1 cargo test -p fathom-explain"
            );
        }
    }
}
