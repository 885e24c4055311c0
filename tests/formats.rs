//! What stdout and files get, for people and for programs.

use std::fs;

use serde_json::Value;

use crate::support::{SMALL, User, repository};

fn schema() -> jsonschema::Validator {
    let text = fs::read_to_string(repository("docs/schema/run-v2.json")).unwrap();
    jsonschema::validator_for(&serde_json::from_str(&text).unwrap()).unwrap()
}

#[track_caller]
fn assert_valid(record: &Value) {
    let errors: Vec<String> =
        schema().iter_errors(record).map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert!(errors.is_empty(), "{}", errors.join("\n"));
}

#[test]
fn json_is_the_record_and_keeps_to_the_published_schema() {
    let user = User::with_plan(SMALL);
    user.directory("disk");
    for line in [
        "run plan.toml --on disk --format json --set reads=70% --tag room=3",
        "run plan.toml --on null: --format json --set pace=rate(1000/s)",
        "run plan.toml --on disk --format json --set depth={sweep=[1,2]} --set repeat=2",
    ] {
        let ended = user.fathom(line).done();
        let record = ended.json();
        assert_valid(&record);
        assert_eq!(record, user.last(), "what was printed is what is kept");
        let asked: Vec<&str> =
            record["command"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
        assert!(asked[1..].iter().copied().eq(line.split(' ')), "{asked:?}");
    }
}

#[test]
fn the_schema_would_notice_a_record_that_is_not_one() {
    let user = User::with_plan(SMALL);
    let mut record = user.fathom("run plan.toml --on null: --format json --no-save").done().json();
    assert_valid(&record);
    record["points"][0]["workloads"][0]["planned"] = "many".into();
    assert!(!schema().is_valid(&record));
}

#[test]
fn json_lines_tell_what_happens_while_it_happens() {
    let user = User::with_plan(SMALL);
    let ended = user.fathom("run plan.toml --on null: --format jsonl --set depth={sweep=[1,2]}").done();
    let events: Vec<Value> = ended.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let names: Vec<&str> = events.iter().map(|event| event["event"].as_str().unwrap()).collect();
    let without_live: Vec<&str> = names.iter().copied().filter(|name| *name != "live").collect();
    assert_eq!(
        without_live,
        ["point-started", "point-ended", "point-started", "point-ended", "run-ended"],
        "{names:?}"
    );
    assert_eq!(events.last().unwrap()["ending"]["code"], 0);
    assert_eq!(events.last().unwrap()["id"], user.last()["id"]);
}

#[test]
fn csv_has_one_line_for_each_point_and_operation() {
    let user = User::with_plan(SMALL);
    let ended = user
        .fathom("run plan.toml --on disk --create --format csv --set reads=50% --set depth={sweep=[1,2]}")
        .done();
    let mut reader = csv::Reader::from_reader(ended.out.as_bytes());
    let header = reader.headers().unwrap().clone();
    let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    let column =
        |name: &str| header.iter().position(|column| column == name).unwrap_or_else(|| panic!("{header:?}"));
    let ops: Vec<&str> = rows.iter().map(|row| &row[column("op")]).collect();
    assert_eq!(ops, ["all", "read", "write", "all", "read", "write"]);
    for row in &rows {
        let rate: f64 = row[column("ops_per_s")].parse().unwrap();
        assert!(rate > 0.0, "{row:?}");
    }
}

#[test]
fn several_files_are_written_each_in_the_format_of_its_ending() {
    let user = User::with_plan(SMALL);
    let outputs = "-o a.json -o b.jsonl -o c.csv -o d.md -o e.txt";
    user.fathom(&format!("run plan.toml --on null: {outputs}")).done();
    let text = |name: &str| fs::read_to_string(user.path(name)).unwrap();
    assert_eq!(serde_json::from_str::<Value>(&text("a.json")).unwrap(), user.last());
    assert!(text("b.jsonl").lines().all(|line| serde_json::from_str::<Value>(line).is_ok()));
    assert!(csv::Reader::from_reader(text("c.csv").as_bytes()).records().count() > 0);
    assert!(text("d.md").contains("| read"), "{}", text("d.md"));
    assert!(text("e.txt").starts_with("small on null:"), "{}", text("e.txt"));

    // The same again from the library.
    for (name, other) in [("a.json", "f.json"), ("c.csv", "g.csv"), ("d.md", "h.md"), ("e.txt", "i.txt")] {
        user.fathom(&format!("export last -o {other}")).done();
        assert_eq!(text(name), text(other), "{name} and {other}");
    }
}

#[test]
fn the_list_of_formats_has_every_format_and_tool_and_is_that_of_the_guide() {
    let user = User::new();
    let list = user.fathom("formats").done().out;
    // What is refused names all values that there are.
    let refused = user.fathom("show --format none").with(2).err;
    let values = refused.split("possible values: ").nth(1).unwrap().split(']').next().unwrap();
    let formats: Vec<&str> = values.split(", ").collect();
    assert!(formats.len() > 20, "{refused}");
    let refused = user.fathom("as none").with(2).err;
    let tools = refused.split("Tools: ").nth(1).unwrap().split(". ").next().unwrap();
    let tools: Vec<&str> = tools.split(", ").collect();
    assert!(tools.len() > 10, "{refused}");
    for name in formats.iter().chain(&tools) {
        assert!(
            list.lines().any(|line| line.split_whitespace().next() == Some(name)),
            "no {name} in:\n{list}"
        );
    }
    let page = repository("docs/src/formats.md");
    let guide = fs::read_to_string(&page).unwrap();
    let (before, rest) = guide.split_once("```text\n").unwrap();
    let (shown, after) = rest.split_once("```").unwrap();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(page, format!("{before}```text\n{list}```{after}")).unwrap();
    } else {
        assert!(shown == list, "the guide has another list; UPDATE_DOCS=1 writes it:\n{list}");
    }
}

#[test]
fn a_file_that_cannot_be_written_is_told_before_anything_is_measured() {
    let user = User::with_plan(SMALL);
    user.fathom("run plan.toml --on null: -o x.foo")
        .with(2)
        .saying(&["`.foo` is not a known extension", ".csv"]);
    user.fathom("run plan.toml --on null: -o no/such/x.json").with(2).saying(&["no/such"]);
    assert!(user.fathom("ls").done().out.contains("No run"));
}
