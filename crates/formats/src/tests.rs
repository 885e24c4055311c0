//! The guide's page of options is made from the tables.

use crate::{bonnie, dd, diskspd, fio, hdparm, iometer, ior, iozone, mdtest, orion, sqlio};

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
        ("IOR", ior::SYNTAX.markdown()),
        ("IOzone", iozone::SYNTAX.markdown()),
        ("mdtest", mdtest::SYNTAX.markdown()),
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
        ior::SYNTAX.spellings(),
        iozone::SYNTAX.spellings(),
        mdtest::SYNTAX.spellings(),
        sqlio::SYNTAX.spellings(),
        diskspd::SYNTAX.spellings(),
        orion::SYNTAX.spellings(),
    ] {
        spellings.sort_unstable();
        let twice: Vec<_> = spellings.windows(2).filter(|pair| pair[0] == pair[1]).collect();
        assert!(twice.is_empty() && !spellings.contains(&""), "{twice:?}");
    }
}

/// A tool's line in the guide: the version that is meant, files that are read, readers that its output is compared with by the tests.
struct Told {
    tool: &'static str,
    version: &'static str,
    counts: [usize; 3],
    /// Of those that are refused the ones that would change a drive.
    changing: usize,
    /// Of those that are refused the ones for other hardware, networks and systems.
    elsewhere: usize,
    files: &'static str,
    readers: &'static str,
}

fn told() -> Vec<Told> {
    let with = |[one, other]: [[usize; 3]; 2]| [one[0] + other[0], one[1] + other[1], one[2] + other[2]];
    let row = |tool, version, counts, files, readers| {
        let changing = if tool == "hdparm" { hdparm::SYNTAX.changing() } else { 0 };
        let elsewhere = match tool {
            "fio" => fio::SYNTAX.elsewhere() + fio::elsewhere(),
            "mdtest" => mdtest::SYNTAX.elsewhere(),
            _ => 0,
        };
        Told { tool, version, counts, changing, elsewhere, files, readers }
    };
    vec![
        row("dd", "coreutils 9.1", dd::SYNTAX.counts(), "", "a parser of its three lines"),
        row(
            "Bonnie++",
            "2.00a",
            bonnie::Generation::V200.syntax().counts(),
            "",
            "`bon_csv2txt`, `bon_csv2html`",
        ),
        row("Bonnie++", "1.03e", bonnie::Generation::V103.syntax().counts(), "", "a parser of its 27 fields"),
        row(
            "fio",
            "3.42",
            with([fio::SYNTAX.counts(), fio::counts()]),
            "job files, iologs, blktrace",
            "fio's own numbered tests, a reader of the JSON as fio-plot's",
        ),
        row("Iometer", "1998 to 1.1.0", iometer::SYNTAX.counts(), "`.icf`", "a parser of its 80 columns"),
        row("hdparm", "9.65", hdparm::SYNTAX.counts(), "", "a parser of its lines"),
        row("IOR", "4.1.0", ior::SYNTAX.counts(), "", "a parser of its tables, of its JSON and of its CSV"),
        row("IOzone", "3.508", iozone::SYNTAX.counts(), "telemetry", "a parser of its table and reports"),
        row("mdtest", "4.1.0", mdtest::SYNTAX.counts(), "", "a parser of its table"),
        row("SQLIO", "1.5.SG", sqlio::SYNTAX.counts(), "parameter files", "a parser of its lines"),
        row("diskspd", "2.2", diskspd::SYNTAX.counts(), "XML profiles", "a parser of its XML"),
        row("Orion", "10.2 to 19c", orion::SYNTAX.counts(), "`.lun`", "a parser of its tables"),
    ]
}

/// The table of the guide.
fn served() -> String {
    let mut table = String::from(
        "| tool | version | options served | change nothing | refused | files read | output compared with |\n\
         |---|---|--:|--:|--:|---|---|\n",
    );
    for Told { tool, version, counts: [served, idle, refused], changing, elsewhere, files, readers } in told()
    {
        let all = served + idle + refused;
        let part = |others: usize| format!("{} %", 100 * (served + idle) / (all - others).max(1));
        let taken = match (changing, elsewhere) {
            (0, 0) => format!("{} taken", part(0)),
            (0, count) => format!(
                "{} taken, {} without the {count} for other hardware, networks and systems",
                part(0),
                part(count)
            ),
            (count, _) => format!("{} of the others taken; {count} change the drive", part(count)),
        };
        table += &format!(
            "| {tool} | {version} | {served} of {all} | {idle} | {refused} ({taken}) | {files} | {readers} |\n"
        );
    }
    table
}

const BEGINS: &str = "<!-- begin: made from the tables of options -->\n";
const ENDS: &str = "<!-- end -->\n";

#[test]
fn the_table_of_classic_tools_is_up_to_date() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/src/classic-tools.md");
    let page = std::fs::read_to_string(path).unwrap();
    let (before, rest) = page.split_once(BEGINS).expect("the page has a place for the table");
    let (found, after) = rest.split_once(ENDS).expect("the place has an end");
    if std::env::var_os("UPDATE_DOCS").is_some() && found != served() {
        std::fs::write(path, format!("{before}{BEGINS}{}{ENDS}{after}", served())).unwrap();
        return;
    }
    assert!(found == served(), "the table is out of date; run UPDATE_DOCS=1 cargo test -p fathom-formats");
}
