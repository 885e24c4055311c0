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
