//! The guide's page of options is made from the tables.

use crate::options::Syntax;
use crate::{bonnie, dd, diskspd, fio, hdparm, iometer, ior, iozone, mdtest, orion, sqlio};

const HEAD: &str = "# Options of the classic tools\n\nThis page is made from the tables that the command lines are \
                    read by; [Classic tools](classic-tools.md) says what they come to.\n";

/// A table of options as the guide has it: its heading, and the tool's line in the table of tools.
struct Table {
    heading: &'static str,
    markdown: String,
    spellings: Vec<&'static str>,
    counts: [usize; 3],
    /// Of those that are refused the ones that would change a drive.
    changing: usize,
    /// Of those that are refused the ones for other hardware, networks and systems.
    elsewhere: usize,
    tool: &'static str,
    version: &'static str,
    /// Files that are read.
    files: &'static str,
    /// What the tests compare its output with.
    readers: &'static str,
}

fn table<T>(
    syntax: &Syntax<T>,
    (tool, heading, version): (&'static str, &'static str, &'static str),
    files: &'static str,
    readers: &'static str,
) -> Table {
    let (changing, elsewhere) = (syntax.changing(), syntax.elsewhere());
    let (markdown, spellings, counts) = (syntax.markdown(), syntax.spellings(), syntax.counts());
    Table { heading, markdown, spellings, counts, changing, elsewhere, tool, version, files, readers }
}

fn tables() -> Vec<Table> {
    let [new, old] = [bonnie::Generation::V200, bonnie::Generation::V103].map(bonnie::Generation::syntax);
    let of_fio = "fio's own numbered tests, a reader of the JSON as fio-plot's";
    let of_ior = "a parser of its tables, of its JSON and of its CSV";
    vec![
        table(&dd::SYNTAX, ("dd", "dd", "coreutils 9.1"), "", "a parser of its three lines"),
        table(&new, ("Bonnie++", "Bonnie++ 2.00", "2.00a"), "", "`bon_csv2txt`, `bon_csv2html`"),
        table(&old, ("Bonnie++", "Bonnie++ 1.03", "1.03e"), "", "a parser of its 27 fields"),
        table(&fio::SYNTAX, ("fio", "fio", "3.42"), "job files, iologs, blktrace", of_fio),
        table(
            &iometer::SYNTAX,
            ("Iometer", "Iometer", "1998 to 1.1.0"),
            "`.icf`",
            "a parser of its 80 columns",
        ),
        table(&hdparm::SYNTAX, ("hdparm", "hdparm", "9.65"), "", "a parser of its lines"),
        table(&ior::SYNTAX, ("IOR", "IOR", "4.1.0"), "", of_ior),
        table(
            &iozone::SYNTAX,
            ("IOzone", "IOzone", "3.508"),
            "telemetry",
            "a parser of its table and reports",
        ),
        table(&mdtest::SYNTAX, ("mdtest", "mdtest", "4.1.0"), "", "a parser of its table"),
        table(&sqlio::SYNTAX, ("SQLIO", "SQLIO", "1.5.SG"), "parameter files", "a parser of its lines"),
        table(&diskspd::SYNTAX, ("diskspd", "diskspd", "2.2"), "XML profiles", "a parser of its XML"),
        table(&orion::SYNTAX, ("Orion", "Orion", "10.2 to 19c"), "`.lun`", "a parser of its tables"),
    ]
}

fn page() -> String {
    let section = |heading: &str, table: &str| format!("\n## {heading}\n\n{}\n", table.trim_end());
    let of = |Table { heading, markdown, .. }: Table| match heading {
        "fio" => section(heading, &markdown) + &section("fio's job options", &fio::markdown()),
        _ => section(heading, &markdown),
    };
    HEAD.to_owned() + &tables().into_iter().map(of).collect::<String>()
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
    for Table { mut spellings, .. } in tables() {
        spellings.sort_unstable();
        let twice: Vec<_> = spellings.windows(2).filter(|pair| pair[0] == pair[1]).collect();
        assert!(twice.is_empty() && !spellings.contains(&""), "{twice:?}");
    }
}

/// The table of the guide.
fn served() -> String {
    let mut table = String::from(
        "| tool | version | options served | change nothing | refused | files read | output compared with |\n\
         |---|---|--:|--:|--:|---|---|\n",
    );
    for Table { tool, version, counts, changing, elsewhere, files, readers, .. } in tables() {
        let of_jobs = if tool == "fio" { (fio::counts(), fio::elsewhere()) } else { ([0; 3], 0) };
        let [served, idle, refused] = [0, 1, 2].map(|place| counts[place] + of_jobs.0[place]);
        let elsewhere = elsewhere + of_jobs.1;
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
