//! Studies of small spaces, simulated.

#![allow(clippy::print_stderr, reason = "the figures of a long test are its result")]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should say where")]

use std::collections::BTreeMap;
use std::sync::OnceLock;

use array::raid::{Geometry, Level, SetSpec};
use array::spec::Shipped;
use explore::{Design, Heard, Options, Outcome, search};
use record::Exploration;
use units::Sectors;

const STUDY: &str = r#"
name = "small"

[space]
array = "px6-300d"
raid  = ["0", "5", "6", "10"]
disks = [2, 3, 4, 6]
drive = ["hds723020bla642", "st32000542as"]

[prices]
array = { "px6-300d" = 600 }
disk  = { hds723020bla642 = 110, st32000542as = 80 }

[[workload]]
name  = "vm"
size  = "8KiB"
reads = "70%"
depth = 4

[[requirement]]
meet = ["usable >= 5TB", "loss < 20%"]

[[requirement]]
workload = "vm"
meet     = "iops >= 150 at p99 < 400ms"
"#;

fn study() -> Design {
    Design::parse("study.toml", STUDY, &Shipped).unwrap_or_else(|errors| panic!("{}", errors.plain()))
}

fn options(threads: usize) -> Options {
    Options { threads, brute: false }
}

fn answer(design: &Design, options: Options) -> Exploration {
    search(design, &Shipped, options, &BTreeMap::new(), &mut |_| true).unwrap()
}

/// The answer on three threads.
fn found() -> &'static Exploration {
    static FOUND: OnceLock<Exploration> = OnceLock::new();
    FOUND.get_or_init(|| answer(&study(), options(3)))
}

/// All but what it took.
fn told(answer: &Exploration) -> serde_json::Value {
    let mut told = serde_json::to_value(answer).unwrap();
    let counts = told["counts"].as_object_mut().unwrap();
    counts.remove("simulated");
    counts.remove("known");
    told
}

#[test]
fn a_search_finds_what_simulating_every_design_finds_and_asks_for_less() {
    let (found, all) = (found(), answer(&study(), Options { threads: 2, brute: true }));
    assert!(found.front.len() >= 3, "{found:#?}");
    let (mut told, mut of_all) = (told(found), told(&all));
    assert_eq!(told["front"], of_all["front"]);
    // What was only looked at shortly has other figures in its reasons, and no more than that.
    for one in [&mut told, &mut of_all] {
        for requirement in one["requirements"].as_array_mut().unwrap() {
            requirement.as_object_mut().unwrap().remove("best");
        }
    }
    assert_eq!(told["requirements"], of_all["requirements"]);
    assert!(found.counts.left_out > 0 && all.counts.left_out == 0, "{:?}", found.counts);
    assert!(found.counts.simulated[1] < all.counts.simulated[1], "{:?} {:?}", found.counts, all.counts);
}

#[test]
fn the_answer_is_the_same_for_any_number_of_threads_and_after_a_kill() {
    let design = study();
    let whole = found();
    assert_eq!(told(whole), told(&answer(&design, options(1))));
    let mut known: BTreeMap<String, Outcome> = BTreeMap::new();
    let half = whole.counts.simulated.iter().sum::<u64>() / 2;
    let mut ended = 0;
    let killed = search(&design, &Shipped, options(2), &BTreeMap::new(), &mut |heard| {
        if let Heard::Ended(one) = heard {
            ended += 1;
            // As a checkpoint keeps it.
            let text = serde_json::to_string(one.outcome).unwrap();
            known.insert(one.key.into(), serde_json::from_str(&text).unwrap());
        }
        ended < half
    });
    assert!(killed.is_none() && known.len() as u64 == half);
    let resumed = search(&design, &Shipped, options(2), &known, &mut |_| true).unwrap();
    assert_eq!(told(whole), told(&resumed));
    let simulated = |answer: &Exploration| answer.counts.simulated.iter().sum::<u64>();
    assert_eq!(simulated(whole), simulated(&resumed) + half, "nothing twice");
}

#[test]
fn the_cheapest_meets_every_requirement_and_every_neighbour_has_its_reason() {
    let answer = found();
    let cheapest = &answer.front[0];
    let is_time = |figure: &record::DesignFigure| figure.unit == record::DesignUnit::Nanos;
    assert_eq!(
        cheapest.requests.is_some(),
        answer.figures.iter().any(is_time),
        "of times it is told how many"
    );
    for requirement in &answer.requirements {
        assert!(requirement.value.is_some(), "{requirement:?}");
    }
    let prices: Vec<f64> = answer.front.iter().map(|row| row.values[0]).collect();
    assert!(prices.is_sorted(), "{prices:?}");
    assert_eq!(answer.neighbours.len(), 3 + 3 + 1, "every other level of every factor");
    for neighbour in &answer.neighbours {
        assert!(!neighbour.rejected.is_empty(), "{neighbour:?}");
        if let Some(more) = neighbour.rejected.strip_prefix("impossible: ") {
            assert!(array::spec::array(&Shipped, &neighbour.address).is_err(), "{more}");
        }
    }
    let dropped = answer.requirements.iter().filter_map(|requirement| requirement.without.as_ref());
    for cheaper in dropped {
        assert!(cheaper.price < cheapest.values[0] && cheaper.saves.is_some_and(|saves| saves > 0.0));
    }
    assert!(answer.requirements[0].without.is_some(), "fewer disks are cheaper: {:?}", answer.requirements);
}

#[test]
fn no_impossible_geometry_is_enumerated_and_no_possible_one_is_left_out() {
    let answer = found();
    let mut possible = 0;
    for level in [Level::Raid0, Level::Raid5, Level::Raid6, Level::Raid10] {
        for disks in [2, 3, 4, 6] {
            let spec = SetSpec::new(level, disks, Sectors(128), Sectors(1 << 30));
            possible += u64::from(Geometry::new(spec).is_ok());
        }
    }
    let counts = &answer.counts;
    assert_eq!((counts.designs, counts.designs - counts.impossible), (4 * 4 * 2, possible * 2));
    let reasons: u64 = counts.reasons.iter().map(|(_, count)| count).sum();
    assert_eq!(reasons, counts.impossible, "each with its reason: {:?}", counts.reasons);
}

#[test]
fn an_array_that_does_not_take_a_factor_is_one_design_for_all_of_its_levels() {
    let text = "name = \"two\"\n[space]\narray = [\"px6-300d\", \"md3000\"]\nraid = [5, 10]\ncontrollers = [1, 2]\n\
                protocol = [\"iscsi\", \"nfs3\"]\n\"cache.size\" = [\"256MiB\", \"1GiB\"]\n";
    let design =
        Design::parse("two.toml", text, &Shipped).unwrap_or_else(|errors| panic!("{}", errors.plain()));
    let space = &design.space;
    // Controllers are a figure of both; protocols only the box has.
    assert_eq!(space.count(), 2 * 2 * 2 * 2 + 2 * 2 * 2);
    let addresses: std::collections::BTreeSet<String> =
        (0..space.count()).map(|number| space.address(number)).collect();
    assert_eq!(addresses.len() as u64, space.count());
    for number in 0..space.count() {
        assert_eq!(space.number(&space.levels(number)), number);
    }
    assert!(addresses.contains("md3000?raid=10&controllers=2&cache.size=1GiB"), "{addresses:?}");
}

#[test]
fn mistakes_are_told_where_they_stand() {
    let wrong = |text: &str| Design::parse("d.toml", text, &Shipped).unwrap_err().plain();
    let space = "name = \"x\"\n[space]\narray = \"px6-300d\"\n";
    for empty in [STUDY.replace("[2, 3, 4, 6]", "[]"), STUDY.replace("\"px6-300d\"\nraid", "[]\nraid")] {
        let said = wrong(&empty);
        assert!(said.contains("it has 0 levels"), "{said}");
    }
    let said = wrong("name = \"x\"\n[space]\nraid = [5]\n");
    assert!(said.contains("the arrays to choose from are missing"), "{said}");
    let said = wrong(&format!("{space}rad = [5, 6]\n"));
    assert!(said.starts_with("d.toml:4:7:") && said.contains("did you mean `raid`?"), "{said}");
    let said = wrong("name = \"x\"\n[space]\narray = [\"px6-300\"]\n");
    assert!(said.starts_with("d.toml:3:") && said.contains("px6-300d"), "{said}");
    let said = wrong(&format!("{space}[[requirement]]\nmeet = [\"usable >= 1TB\", \"iops > fast\"]\n"));
    assert!(said.starts_with("d.toml:5:26:") && said.contains("fast"), "{said}");
    let said = wrong(&format!("{space}[[requirement]]\nmeet = \"iops >= 5k\"\n"));
    assert!(said.contains("give a `[[workload]]`"), "{said}");
    let said = wrong(&format!("{space}[[requirement]]\nmeet = \"watts < 5\"\n"));
    assert!(said.contains("say in `[watts]`"), "{said}");
    let said = wrong(&format!("{space}[prices]\nlevel = {{ raid = {{ \"5\" = 10 }} }}\n"));
    assert!(said.contains("`raid` is no factor"), "{said}");
    let said = wrong(&format!("{space}[prices]\ndsik = 10\n"));
    assert!(said.contains("d.toml:5:1:") && said.contains("did you mean `disk`"), "{said}");
    let said = wrong(&format!("{space}[reliability]\nafr = \"1%\"\nmttf = \"5h\"\n"));
    assert!(said.contains("one of `afr` and `mttf`"), "{said}");
    let said = wrong(&format!("{space}[[requirement]]\nmeet = []\n"));
    assert!(said.starts_with("d.toml:5:8:") && said.contains("is not a requirement"), "{said}");
    let said = wrong(&format!("{space}[prices]\nbase = 5\n"));
    assert!(
        said.contains("`disk` is missing") && said.contains("add `disk = 100`") && !said.contains("`array`"),
        "{said}"
    );
    let two = space.replace("\"px6-300d\"", "[\"px6-300d\", \"md3000\"]");
    let said = wrong(&format!("{two}[watts]\ndisk = 5\n"));
    assert!(said.contains("watts") && said.contains("`array` is missing"), "{said}");
    let load = "[[workload]]\nname = \"w\"\ndepth = [4, 2]\n";
    let said = wrong(&format!("{space}{load}"));
    assert!(said.starts_with("d.toml:6:9:") && said.contains("rising"), "{said}");
}

#[test]
fn a_level_that_no_array_can_read_is_a_mistake_and_one_of_another_geometry_is_not() {
    let parse = |factor: &str, arrays: &str| {
        Design::parse("d.toml", &format!("name = \"x\"\n[space]\narray = {arrays}\n{factor}\n"), &Shipped)
    };
    for arrays in ["\"px6-300d\"", "[\"px6-300d\", \"md3000\"]"] {
        for level in ["\"x\"", "1.5", "true", "-1.5", "-1"] {
            let said = parse(&format!("disks = [4, {level}]"), arrays).unwrap_err().plain();
            let text = level.trim_matches('"');
            assert!(
                said.starts_with("d.toml:4:13:") && said.contains(&format!("the level `{text}`")),
                "{said}"
            );
        }
        let said = parse("\"cache.size\" = \"5\"", arrays).unwrap_err().plain();
        assert!(said.starts_with("d.toml:4:16:") && said.contains("size"), "{said}");
        for level in ["\"x\"", "7"] {
            let said = parse(&format!("raid = [5, {level}]"), arrays).unwrap_err().plain();
            assert!(
                said.starts_with("d.toml:4:12:") && said.contains("It takes") | said.contains("it takes"),
                "{said}"
            );
        }
        for possible in
            ["disks = [2, 3, 99]", "raid = [5, 6]\ndisks = [0, 4]", "chunk = [\"1KiB\", \"64KiB\"]"]
        {
            assert!(
                parse(possible, arrays).is_ok(),
                "{possible}: {}",
                parse(possible, arrays).unwrap_err().plain()
            );
        }
    }
}

#[test]
fn a_part_that_a_table_does_not_list_is_refused_by_name_and_never_free() {
    let arrays =
        "name = \"x\"\n[space]\narray = [\"px6-300d\", \"md3000\"]\n[prices]\narray = { md3000 = 9000 }\n";
    let said = Design::parse("d.toml", arrays, &Shipped).unwrap_err().plain();
    assert!(said.contains("`px6-300d` is missing"), "{said}");
    let watts = STUDY.replace("[[workload]]", "[watts]\ndisk = { hds723020bla642 = 7.5 }\n\n[[workload]]");
    let prices = STUDY.replace(", st32000542as = 80", "");
    for (table, text) in [("prices", prices), ("watts", watts)] {
        let said = Design::parse("d.toml", &text, &Shipped).unwrap_err().plain();
        assert!(said.contains(table) && said.contains("`st32000542as` is missing"), "{said}");
    }
}

#[test]
fn a_hot_spare_beside_a_set_that_survives_nothing_is_no_design() {
    let text = "name = \"x\"\n[space]\narray = \"px6-300d\"\nraid = [0, 5]\ndisks = 4\nspares = [0, 1]\n";
    let design =
        Design::parse("d.toml", text, &Shipped).unwrap_or_else(|errors| panic!("{}", errors.plain()));
    let found = answer(&design, options(1));
    assert_eq!((found.counts.designs, found.counts.impossible), (4, 1));
    assert!(found.counts.reasons[0].0.contains("nothing to rebuild from"), "{:?}", found.counts.reasons);
}

#[test]
fn a_value_that_misses_its_limit_by_little_is_not_shown_as_the_limit() {
    let text = STUDY.replace("iops >= 150 at p99 < 400ms", "iops >= 1 at p99 < 400ms");
    let design =
        Design::parse("d.toml", &text, &Shipped).unwrap_or_else(|errors| panic!("{}", errors.plain()));
    let iops = answer(&design, options(2)).requirements[2].value.unwrap();
    // A limit just above what the cheapest has.
    let limit = format!("iops >= {:.4} at p99 < 400ms", iops * 1.0001);
    let design = Design::parse("d.toml", &text.replace("iops >= 1 at p99 < 400ms", &limit), &Shipped)
        .unwrap_or_else(|errors| panic!("{}", errors.plain()));
    let beside = answer(&design, options(2));
    let cheaper = beside.requirements[2].without.as_ref().unwrap();
    let shown: f64 = cheaper.shown.split(' ').next().unwrap().parse().unwrap();
    assert!(shown < iops * 1.0001, "{} {iops}", cheaper.shown);
}

#[test]
fn what_settles_a_close_call_is_its_load_in_its_state_with_its_limits() {
    let text = STUDY.replace("workload = \"vm\"\nmeet ", "workload = \"vm\"\nstate = \"degraded\"\nmeet ");
    let design =
        Design::parse("d.toml", &text, &Shipped).unwrap_or_else(|errors| panic!("{}", errors.plain()));
    let mut found = found().clone();
    found.close_calls.clear();
    let call = |requirement: usize| record::CloseCall {
        address: found.front[0].address.clone(),
        requirement: design.requirements[requirement].text.clone(),
        ahead: 0.01,
    };
    let of = |calls: Vec<record::CloseCall>| {
        let answer = Exploration { close_calls: calls, ..found.clone() };
        explore::settle::settling(&design, &answer, "p.toml").unwrap()
    };
    let degraded = of(vec![call(2)]);
    let at =
        |text: &str| degraded.plan.find(text).unwrap_or_else(|| panic!("{text} is in {}", degraded.plan));
    assert!(at("state = \"fail disk 0\"") < at("name    = \"vm, degraded, 4 in flight\""));
    assert!(
        degraded.plan.contains("depth   = 4\n") && !degraded.plan.contains("rebuild\""),
        "{}",
        degraded.plan
    );
    for limit in ["point = \"vm, degraded, \"\niops  = \"150/s\"", "p99  = \"400ms\""] {
        assert!(degraded.campaign.contains(limit), "{limit} in {}", degraded.campaign);
    }
    // A loss follows from the rebuild.
    let loss = of(vec![call(1)]);
    assert!(loss.plan.contains("state = \"rebuild\"") && !loss.plan.contains("in flight"), "{}", loss.plan);
}

#[test]
fn short_simulations_beside_a_rebuild_of_a_fast_array_differ_from_long_ones_by_little() {
    let text = "name = \"fast\"\n[space]\narray = \"sas-ssd-24\"\nraid = [5, 10]\ndisks = [6, 8]\n[[workload]]\n\
                name = \"oltp\"\nsize = \"8KiB\"\nreads = \"70%\"\ndepth = 64\n[[requirement]]\nstate = \"rebuilding\"\n\
                meet = \"iops >= 20k at p99 < 10ms\"\n";
    let design =
        Design::parse("d.toml", text, &Shipped).unwrap_or_else(|errors| panic!("{}", errors.plain()));
    let margins = answer(&design, options(2)).margins;
    // A single request in a window that fell into a step of the rebuild had made it thousands.
    assert!(margins.rate < 10.0 && margins.time < 10.0, "{margins:?}");
}

/// 1,920 designs, impossible ones among them: minutes of processor time, so only where it is asked for.
#[test]
#[ignore = "minutes of processor time; cargo test --release -p fathom-explore -- --ignored"]
fn of_two_thousand_designs_the_front_is_that_of_simulating_each_in_99_of_100_members() {
    let text = include_str!("two-thousand.toml");
    let design = Design::parse("two-thousand.toml", text, &Shipped)
        .unwrap_or_else(|errors| panic!("{}", errors.plain()));
    let threads = conduct::processors();
    let mut known: BTreeMap<String, Outcome> = BTreeMap::new();
    let mut keep = |heard: Heard<'_>| {
        if let Heard::Ended(one) = heard {
            known.insert(one.key.into(), one.outcome.clone());
        }
        true
    };
    let found = search(&design, &Shipped, options(threads), &BTreeMap::new(), &mut keep).unwrap();
    let all = search(&design, &Shipped, Options { threads, brute: true }, &known, &mut |_| true).unwrap();
    let addresses = |answer: &Exploration| -> std::collections::BTreeSet<String> {
        answer.front.iter().map(|row| row.address.clone()).collect()
    };
    let (found_front, whole) = (addresses(&found), addresses(&all));
    let same = found_front.intersection(&whole).count();
    eprintln!(
        "{} designs, front of {} and {}, {same} in both; simulated {:?}, and {:?} more for all; margins {:?}",
        found.counts.designs,
        found_front.len(),
        whole.len(),
        found.counts.simulated,
        all.counts.simulated,
        found.margins
    );
    let of = found_front.len().max(whole.len());
    assert!(same as f64 >= 0.99 * of as f64, "{same} of {of}");
    assert_eq!(found.front[0].address, all.front[0].address);
}

#[test]
fn designs_that_share_a_simulation_have_the_same_figure_whichever_of_them_asks() {
    use explore::evaluate::{Depth, Evaluator, Task};
    use explore::{Local, WorkItem, exact};
    use modelled::lab::spot::State;
    let text = "name = \"x\"\nseed = 86\n[space]\narray = \"md3000\"\nraid = 5\ndisks = 6\nspares = [0, 1]\n[[workload]]\n\
                name = \"w\"\nsize = \"8KiB\"\nreads = \"70%\"\ndepth = 8\n[[requirement]]\nstate = \"rebuilding\"\n\
                meet = \"iops >= 500 at p99 < 50ms\"\n";
    let design =
        Design::parse("d.toml", text, &Shipped).unwrap_or_else(|errors| panic!("{}", errors.plain()));
    let known = BTreeMap::new();
    let evaluator = Evaluator::new(&design, &Shipped, &Local(1), &known);
    let of = |number: u64| {
        let key = exact::candidate(&design, number, &Shipped).unwrap().rebuilding_key;
        let task = Task::Load { key, workload: 0, depth: 8, state: State::Rebuilding };
        (key, evaluator.execute(&WorkItem { depth: Depth::Coarse, task, number }))
    };
    assert_eq!(of(0), of(1), "with a hot spare and without");
}

#[test]
fn a_rate_into_a_write_cache_too_large_to_fill_in_a_moment_does_not_count_as_one_that_lasts() {
    let text = "name = \"x\"\nseed = 43\n[space]\narray = \"px6-300d\"\nraid = 10\ndisks = 4\n\
                \"cache.size\" = [\"256MiB\", \"64GiB\"]\n[[workload]]\nname = \"w0\"\nsize = \"64KiB\"\nreads = \"0%\"\ndepth = 4\n\
                [[requirement]]\nworkload = \"w0\"\nmeet = \"iops >= 100\"\n";
    let design =
        Design::parse("d.toml", text, &Shipped).unwrap_or_else(|errors| panic!("{}", errors.plain()));
    let found = answer(&design, options(2));
    let first = &found.front[0];
    assert!(first.address.contains("64GiB"), "{first:?}");
    assert_eq!(first.unsustained, ["w0 iops"], "{first:?}");
    assert!(found.requirements[0].shown.ends_with("(not sustained)"), "{:?}", found.requirements);
    assert!(found.close_calls.iter().any(|call| call.address == first.address), "the long run decides it");
    assert_eq!(first.half_widths.len(), found.figures.len());
    assert!(first.half_widths.iter().flatten().next().is_some(), "its interval is told: {first:?}");
    let filled =
        Design::parse("d.toml", &text.replace("\"256MiB\", \"64GiB\"", "\"2GiB\", \"4GiB\""), &Shipped);
    let filled = filled.unwrap_or_else(|errors| panic!("{}", errors.plain()));
    let filled = answer(&filled, options(2));
    let [media, cache] = [&filled.front[0], first].map(|design| design.values[1]);
    assert!(media < 0.5 * cache, "the warm-up fills it, and disks do the rest: {media} of {cache}");
}

#[test]
fn what_another_seed_changes_is_told_and_is_no_reason_for_a_design_to_be_beaten() {
    let spread = found().spread.unwrap();
    assert!(spread.rate > 1.0 && spread.time > 1.0 && spread.rate < 1.5, "{spread:?}");
}
