//! The report of a campaign: effects from its runs, its file, published figures, work of the array; each digit verified.

use super::{QUEUES, cells, user};

#[test]
fn a_report_of_a_campaign_computes_its_effects_from_the_runs_in_it() {
    let user = user(QUEUES);
    user.fathom("campaign campaign.toml -q").done();
    user.fathom("report campaign:queues -o report.html -o report.xlsx -o report.md").done();
    let page = std::fs::read_to_string(user.path("report.html")).unwrap();
    assert!(page.contains("<h2>Effects</h2>") && page.contains("<h2>Cells</h2>"));
    let verified = user.fathom("report --verify report.html").done();
    assert!(verified.out.contains("8 of 8 runs are in the library, unchanged"), "{}", verified.out);
    let at = page.find("data-at=\"8/figures/0/effects/0/changes/0/ratio\"").unwrap();
    let value = page[..at].rfind("<data ").unwrap();
    let digit = value + page[value..].find(|letter: char| letter.is_ascii_digit()).unwrap();
    let mut altered = page.clone().into_bytes();
    altered[digit] = if altered[digit] == b'9' { b'8' } else { altered[digit] + 1 };
    user.write("altered.html", altered);
    user.fathom("report --verify altered.html").with(6);
    user.fathom("report campaign:nothing").with(2).saying(&["no run of a campaign of this name"]);
}

#[test]
fn a_record_and_its_report_have_the_file_of_the_campaign() {
    let user = user(QUEUES);
    user.fathom("campaign campaign.toml -q").done();
    assert_eq!(user.last()["cell"]["toml"], QUEUES);
    user.fathom("report campaign:queues -o report.html").done();
    let page = std::fs::read_to_string(user.path("report.html")).unwrap();
    assert_eq!(page.matches("<summary>The campaign's file").count(), 1);
    assert!(page.contains("kind  = [&quot;queue-mm1&quot;, &quot;queue-mm4&quot;]"), "its text");
    user.fathom("report --verify report.html").done();
}

#[test]
fn what_an_array_does_beside_its_load_is_shown_with_what_the_load_got() {
    let campaign = r#"
name    = "rebuilds"
on      = "array:md3000?raid=5"
plans   = "plan.toml"
repeats = 1
set     = { run = "6m" }
[factors]
disks = [4, 6]
state = ["healthy", "rebuilding"]
[[theory]]
iops  = "100/s"
raid  = 5
where = { state = "healthy" }
"#;
    let user = user(campaign);
    user.fathom("campaign campaign.toml -q").done();
    user.fathom("report campaign:rebuilds -o report.html -o done.svg --chart progress").done();
    let verified = user.fathom("report --verify report.html").done().out;
    assert!(verified.contains("4 of 4 runs are in the library, unchanged"), "{verified}");
    let picture = std::fs::read_to_string(user.path("done.svg")).unwrap();
    for words in [">done<", ">rate, IOPS<", ">p99 latency<", ">time<", "disks 4"] {
        assert!(picture.contains(words), "{words}: {picture}");
    }
    let page = std::fs::read_to_string(user.path("report.html")).unwrap();
    assert!(page.contains("<h2>Progress</h2>") && page.contains("<h2>Latency over time</h2>"));
    // Theory of each cell: its disks × one disk.
    assert!(page.contains("disks × one disk") && page.contains(">400<") && page.contains(">600<"), "claims");
}

/// Two figures that somebody published, one of which a model was fitted with, and an order.
pub const FIGURES: &str = r#"
about     = "what somebody published of queues"
source    = "a write-up (2001)"
tolerance = "25%"
array     = "queue?kind=queue-mm1"

case = [
  { id = "Q-1", plan = "one", value = 1000 },
  { id = "Q-2", plan = "one", array = "queue?kind=queue-mm4", value = 500, fits = "queue-mm4 service" },
  { id = "Q-3", plan = "one", order = [{ array = "queue?kind=queue-mm1" }, { array = "queue?kind=queue-mm4" }], about = "One fast server is better than four slow ones." },
]

[plan.one]
pattern = "random"
size    = "4KiB"
metric  = "iops"
warmup  = "0s"
run     = "2s"
"#;

#[test]
fn published_figures_stand_beside_those_of_the_virtual_arrays_and_every_digit_is_verified() {
    let user = user(&QUEUES.replace("repeats = 2", "repeats = 2\npublished = \"figures.toml\""));
    user.write("figures.toml", FIGURES);
    let ended = user.fathom("campaign campaign.toml -q").done();
    assert!(ended.err.contains("queues: 10 runs") && ended.err.contains("block 2: figures.toml"));
    // Published figures are runs, and of no turn.
    let dry = user.fathom("campaign campaign.toml --dry-run").done().out;
    assert!(dry.contains("8 are in the library, 0 are left"), "{dry}");
    assert!(
        ended.out.contains("figures.toml: ") && ended.out.contains("of 2 figures are within"),
        "{}",
        ended.out
    );
    // In the list they are what they are: nothing was measured, and nothing is graded.
    let listed = user.fathom("ls --width 120").done().out;
    let published: Vec<&str> = listed.lines().filter(|line| line.contains("published")).collect();
    assert_eq!(published.len(), 2, "{listed}");
    assert!(
        published.iter().all(|line| line.contains("virtual arrays") && !line.contains("good")),
        "{listed}"
    );
    // The cells are as they would be without them, and nothing is measured twice.
    let blocks = cells(&user).into_iter().filter(|(_, levels, _)| levels.is_empty()).count();
    assert_eq!((blocks, cells(&user).len()), (2, 10));
    assert_eq!(user.fathom("campaign campaign.toml -q").done().out, ended.out);
    assert_eq!(cells(&user).len(), 10);

    user.fathom("report campaign:queues -o report.html -o report.csv -o report.xlsx").done();
    let answers: Vec<f64> = (1..=10)
        .map(|number| user.fathom(&format!("show {number} --format json")).done().json())
        .filter_map(|run| run["cell"]["claims"][0]["case"]["modelled"].as_f64())
        .collect();
    assert_eq!(answers.len(), 2, "an answer in each block");
    let page = std::fs::read_to_string(user.path("report.html")).unwrap();
    for part in [
        "<h2>Published figures: figures</h2>",
        "a write-up (2001)",
        "foretold",
        "fitted: queue-mm4 service",
        "One fast server is better than four slow ones.",
    ] {
        assert!(page.contains(part), "no {part}");
    }
    let ratio = (answers[0] * answers[1]).sqrt() / 1000.0;
    assert!(page.contains(&format!(">{ratio:.2}×</data>")), "no {ratio:.2}×");
    let csv = std::fs::read_to_string(user.path("report.csv")).unwrap();
    assert!(csv.contains("published/0/figures/0/published"), "{csv}");

    let verified = user.fathom("report --verify report.html").done().out;
    assert!(verified.contains("10 of 10 runs are in the library, unchanged"), "{verified}");
    let place = page.find("data-at=\"10/published/0/figures/0/published\"").unwrap();
    let shown = place + page[place..].find('>').unwrap() + 1;
    let mut altered = page.clone().into_bytes();
    assert_eq!(altered[shown], b'1', "1,000 IOPS were published");
    altered[shown] = b'2';
    user.write("altered.html", altered);
    user.fathom("report --verify altered.html").with(6);

    // Other figures are a question that was not put yet; figures that nobody has are none.
    user.write("figures.toml", FIGURES.replace("value = 500", "value = 501"));
    let other = user.fathom("campaign campaign.toml -q").done();
    assert!(other.err.contains("2 of 10 runs are left"), "{}", other.err);
    user.write("campaign.toml", QUEUES.replace("repeats = 2", "published = \"md300\""));
    user.fathom("campaign campaign.toml").with(2).saying(&["did you mean `md3000`?"]);
}
