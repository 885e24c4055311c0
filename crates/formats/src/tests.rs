//! The guide's page of options is made from the tables.

use crate::{bonnie, dd, diskspd, fio, hdparm, iometer, iozone, orion, sqlio};

const HEAD: &str = "# Options of the classic tools\n\nThis page is made from the tables that the command lines are \
                    read by; [Classic tools](classic-tools.md) says what they come to.\n";

fn page() -> String {
    let sections = [
        ("dd", dd::SYNTAX.markdown()),
        ("Bonnie++ 2.00", bonnie::Generation::V200.syntax().markdown()),
        ("Bonnie++ 1.03", bonnie::Generation::V103.syntax().markdown()),
        ("fio", fio::SYNTAX.markdown()),
        ("fio's job options", fio::markdown()),
        ("Iometer", iometer::SYNTAX.markdown()),
        ("hdparm", hdparm::SYNTAX.markdown()),
        ("IOzone", iozone::SYNTAX.markdown()),
        ("SQLIO", sqlio::SYNTAX.markdown()),
        ("diskspd", diskspd::SYNTAX.markdown()),
        ("Orion", orion::SYNTAX.markdown()),
    ];
    let section = |(tool, tables): &(&str, String)| format!("\n## {tool}\n\n{}\n", tables.trim_end());
    HEAD.to_owned() + &sections.iter().map(section).collect::<String>()
}

#[test]
fn the_page_of_options_is_up_to_date() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/src/classic-options.md");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(path, page()).unwrap();
    }
    let found = std::fs::read_to_string(path).unwrap_or_default();
    assert!(
        found == page(),
        "the page is out of date; run UPDATE_DOCS=1 cargo test -p fathom-formats options"
    );
}

#[test]
fn every_spelling_stands_once_in_its_table() {
    for mut spellings in [
        dd::SYNTAX.spellings(),
        bonnie::Generation::V200.syntax().spellings(),
        bonnie::Generation::V103.syntax().spellings(),
        fio::SYNTAX.spellings(),
        iometer::SYNTAX.spellings(),
        hdparm::SYNTAX.spellings(),
        iozone::SYNTAX.spellings(),
        sqlio::SYNTAX.spellings(),
        diskspd::SYNTAX.spellings(),
        orion::SYNTAX.spellings(),
    ] {
        spellings.sort_unstable();
        let twice: Vec<_> = spellings.windows(2).filter(|pair| pair[0] == pair[1]).collect();
        assert!(twice.is_empty() && !spellings.contains(&""), "{twice:?}");
    }
}
