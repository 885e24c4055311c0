use super::*;
use record::sample::{self, Stream};
use record::{FactorLevel, Point};

/// A run of a cell at 1,000 requests a second times `factor`.
fn run(block: u32, raid: u32, disks: u32, factor: f64) -> Run {
    let stream = Stream {
        op: "read",
        size_bytes: 4096,
        per_s: units::convert::truncated(1000.0 * factor),
        median_ns: 100_000,
        spread: 0.2,
    };
    let mut run =
        sample::run("oltp", vec![sample::point(0, "8 KiB", vec![sample::workload("load", &[stream])])]);
    let level =
        |factor: &str, names: [&str; 2], place: u32| sample::level(factor, names[place as usize], place);
    let levels = vec![level("raid", ["5", "10"], raid), level("disks", ["4", "8"], disks)];
    run.cell = Some(CampaignCell { block, ..sample::cell(levels) });
    run
}

/// RAID 10 is twice as fast; more disks change nothing; measurements deviate by some parts in a thousand.
fn runs(blocks: u32) -> Vec<Run> {
    let noise = [1.0, 1.004, 0.997, 1.002, 0.999, 1.006, 0.995, 1.001, 1.003, 0.998, 1.005, 0.996];
    let mut noise = noise.iter().cycle();
    let mut runs = Vec::new();
    for block in 1..=blocks {
        for raid in 0..2 {
            for disks in 0..2 {
                let factor = if raid == 1 { 2.0 } else { 1.0 };
                runs.push(run(block, raid, disks, factor * noise.next().unwrap_or(&1.0)));
            }
        }
    }
    runs
}

#[test]
fn the_figures_of_each_run_are_those_that_effects_count() {
    let runs = runs(1);
    let effects = effects(&runs);
    for figure in &effects.figures {
        let values: Vec<f64> = figure.cells.iter().flat_map(|cell| cell.values.clone()).collect();
        let own = |run: &Run| {
            let is_it = |one: &RunFigure| one.point == figure.point && one.metric.name() == figure.metric;
            figures(run).into_iter().find(is_it).map(|one| one.value)
        };
        assert_eq!(runs.iter().filter_map(own).collect::<Vec<_>>(), values, "{}", figure.metric);
    }
    assert!(!figures(&runs[0]).is_empty());
    assert_eq!(figures(&Run { cell: None, ..runs[0].clone() }), Vec::new());
}

#[test]
fn the_figures_of_a_plan_are_as_many_as_those_of_its_runs() {
    let plan = |text: &str| {
        let plan = workload::plan::Plan::parse("plan", text, &workload::plan::Overrides::default());
        plan.unwrap_or_else(|errors| panic!("{}", errors.plain()))
    };
    // A rate with its p99; repeats add none.
    let one = "name = \"x\"\n[[phase]]\nname = \"reads\"\nrun = \"1s\"\nrepeat = 3\n";
    assert_eq!(figures_of(&plan(one)), 2);
    // A latency by itself.
    assert_eq!(figures_of(&plan(&format!("{one}headline = \"p99\"\n"))), 1);
    // The best of a sweep of the load, for each size.
    let swept = "name = \"x\"\n[[phase]]\nname = \"{size} {depth}\"\nrun = \"1s\"\nsize = { sweep = [\"4KiB\", \"8KiB\"] }\n";
    assert_eq!(figures_of(&plan(&swept.replace(" {depth}", ""))), 4);
    assert_eq!(figures_of(&plan(&format!("{swept}depth = {{ sweep = [1, 2, 4] }}\n"))), 2);
    // As many as are found in a run that was measured.
    assert_eq!(figures(&runs(1)[0]).len(), 2);
}

fn of_rate(effects: &Effects) -> &FigureEffects {
    effects.figures.iter().find(|figure| figure.metric == "iops").expect("a rate was measured")
}

#[test]
fn a_factor_that_doubles_the_rate_is_found_and_one_that_does_nothing_is_not() {
    let effects = effects(&runs(3));
    assert_eq!((effects.campaign.as_str(), effects.blocks), ("levels", 3));
    let names: Vec<&str> = effects.factors.iter().map(|factor| factor.name.as_str()).collect();
    assert_eq!(names, ["raid", "disks"]);
    let rate = of_rate(&effects);
    let told: Vec<(Vec<String>, bool)> =
        rate.effects.iter().map(|effect| (effect.factors.clone(), effect.found)).collect();
    let name = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    assert_eq!(told, [(name(&["raid"]), true), (name(&["disks"]), false), (name(&["raid", "disks"]), false)]);
    let change = &rate.effects[0].changes[0];
    assert_eq!((change.levels.clone(), change.from.clone()), (name(&["10"]), name(&["5"])));
    assert!(change.low < 2.0 && 2.0 < change.high && change.high / change.low < 1.02, "{change:?}");
    assert_eq!(rate.whole_blocks, 3);
    assert!(rate.within.is_some_and(|deviation| (0.001..0.01).contains(&deviation)));
    assert!(rate.whole_plots.is_none() && rate.refused.is_none());
}

#[test]
fn probabilities_are_raised_for_all_tests_of_the_campaign() {
    let effects = effects(&runs(3));
    // The rate and the 99th percentile, three effects each.
    assert_eq!(effects.tests, 6);
    let raid = &of_rate(&effects).effects[0];
    assert!((raid.adjusted - 6.0 * raid.p_value).abs() < 1e-12, "{raid:?}");
}

#[test]
fn a_cell_has_its_mean_and_an_interval_once_it_is_repeated() {
    let effects = effects(&runs(3));
    let cells = &of_rate(&effects).cells;
    assert_eq!(cells.len(), 4);
    assert_eq!(cells[0].levels, ["5", "4"]);
    assert_eq!(cells[0].values.len(), 3);
    let product: f64 = cells[0].values.iter().product();
    assert!((cells[0].mean - product.cbrt()).abs() < 1e-6);
    assert!(cells[0].low < Some(cells[0].mean) && Some(cells[0].mean) < cells[0].high);
    let once = super::effects(&runs(1));
    assert_eq!((of_rate(&once).cells[0].low, of_rate(&once).cells[0].high), (None, None));
}

#[test]
fn a_cell_that_never_differs_has_no_share_in_what_another_deviates_by() {
    let runs = (1..=3).flat_map(|block| {
        let off = [1.0, 1.1, 0.9][block as usize - 1];
        [(0, 0), (0, 1), (1, 0), (1, 1)]
            .map(|(raid, disks)| run(block, raid, disks, if raid == 1 { off } else { 1.0 }))
    });
    let effects = effects(&runs.collect::<Vec<_>>());
    let width = |cell: &CellFigure| cell.high.unwrap() / cell.low.unwrap();
    for cell in &of_rate(&effects).cells {
        let is_quiet = cell.levels[0] == "5";
        assert!(if is_quiet { width(cell) == 1.0 } else { width(cell) > 1.5 }, "{cell:?}");
    }
}

#[test]
fn a_claim_is_held_against_the_cell_and_the_point_that_it_is_about() {
    let mut all = runs(2);
    for run in &mut all {
        let claim = |by: &str, point: &str| record::FigureClaim {
            by: by.into(),
            point: point.into(),
            metric: "iops".into(),
            value: 4000.0,
            reads: None,
            case: None,
        };
        let cell = run.cell.as_mut().expect("each has one");
        if cell.places() == [1, 0] {
            cell.claims = vec![claim("vendor", "8 K"), claim("theory", ""), claim("nobody", "16 KiB")];
        }
    }
    let claims = effects(&all).claims;
    let by: Vec<(&str, &str)> = claims.iter().map(|one| (one.by.as_str(), one.point.as_str())).collect();
    assert_eq!(by, [("vendor", "8 KiB"), ("theory", "8 KiB")]);
    assert_eq!(claims[0].levels, ["10", "4"]);
    assert!((claims[0].measured / claims[0].claimed - 0.5).abs() < 0.01, "{:?}", claims[0]);
}

#[test]
fn a_claim_of_a_figure_in_which_no_effect_is_tested_is_held_too() {
    let mut all = runs(2);
    for run in &mut all {
        let of = |metric: &str| record::FigureClaim {
            by: format!("vendor of {metric}"),
            point: "8 K".into(),
            metric: metric.into(),
            value: 1e6,
            reads: None,
            case: None,
        };
        let cell = run.cell.as_mut().expect("each has one");
        if cell.places() == [1, 0] {
            cell.claims = vec![of("mb_per_s"), of("iops"), of("p12.5")];
        }
    }
    let effects = effects(&all);
    assert!(effects.figures.iter().all(|figure| figure.metric != "mb_per_s"), "nothing more is tested");
    let held: Vec<&str> = effects.claims.iter().map(|one| one.metric.as_str()).collect();
    assert_eq!(held, ["mb_per_s", "iops"]);
    let [rate, ops] = [0, 1].map(|place: usize| effects.claims[place].measured);
    // The requests of the sample are of 4 KiB, whatever its point is called.
    assert!((rate / ops / 4096.0 - 1.0).abs() < 0.01, "{rate} bytes, {ops} requests");
    let unheld: Vec<&String> =
        effects.notes.iter().filter(|note| note.contains("is about no figure")).collect();
    assert!(unheld.len() == 1 && unheld[0].contains("p12.5"), "{unheld:?}");
}

#[test]
fn theory_of_another_mix_is_not_held_against_a_point() {
    let mut all = runs(2);
    let reads = super::claims::mix(&all[0].points[0]).expect("one workload has one mix");
    for run in &mut all {
        let of = |reads| record::FigureClaim {
            by: "theory".into(),
            point: "8 K".into(),
            metric: "iops".into(),
            value: 4000.0,
            reads: Some(reads),
            case: None,
        };
        run.cell.as_mut().expect("each has one").claims = vec![of(reads), of(1.0 - reads)];
    }
    let effects = effects(&all);
    assert_eq!(effects.claims.len(), 4, "one for each cell: {:?}", effects.claims);
    assert!(effects.notes.iter().all(|note| !note.contains("is about no figure")), "{:?}", effects.notes);
}

#[test]
fn a_run_that_does_not_count_is_named_with_its_reason_and_changes_no_figure() {
    let mut all = runs(2);
    let whole = effects(&all);
    let mut lacking = all[0].clone();
    let cell = lacking.cell.as_mut().expect("it has one");
    cell.block = 3;
    cell.lack = Some(record::CellLack { kind: record::LackKind::Skipped, why: "no licence".into() });
    all.push(lacking);
    let with = effects(&all);
    assert_eq!((&with.figures, with.blocks), (&whole.figures, whole.blocks));
    assert_eq!(with.notes[0], "1 run skipped (RAID 5, disks 4, block 3): no licence.");
}

/// The first so many runs of a campaign of 12 in three blocks.
fn begun(measured: usize) -> Effects {
    let mut some = runs(3);
    some.truncate(measured);
    for cell in some.iter_mut().filter_map(|run| run.cell.as_mut()) {
        (cell.runs, cell.blocks) = (12, 3);
    }
    effects(&some)
}

#[test]
fn of_a_campaign_that_is_not_finished_whole_blocks_have_effects_and_what_is_missing_is_counted() {
    let first = begun(3);
    assert_eq!(
        first.notes[..2],
        [
            "Not finished: 3 of 12 runs were measured; none of 3 blocks has every cell yet, and effects need two.",
            "3 of 4 cells were measured."
        ]
    );
    assert_eq!(first.notes.len(), 2, "nothing cannot be told that will be: {:?}", first.notes);
    let refused = of_rate(&first).refused.clone().unwrap_or_default();
    assert_eq!(refused, "none of 3 blocks has every cell yet, and effects need two");

    let second = begun(6);
    assert_eq!(second.tests, 0);
    assert!(
        second.notes[0].ends_with("1 of 3 blocks has every cell, and effects need two."),
        "{:?}",
        second.notes
    );

    let third = begun(9);
    assert_eq!(third.notes, ["Not finished: 9 of 12 runs were measured; effects are of 2 of 3 blocks."]);
    let rate = of_rate(&third);
    assert_eq!((rate.whole_blocks, rate.effects[0].found, &rate.refused), (2, true, &None));

    let all = begun(12);
    assert_eq!((all.unfinished, all.notes), (None, Vec::new()));
}

#[test]
fn a_cell_that_is_void_in_every_block_keeps_the_others_from_no_effect() {
    let mut all = runs(2);
    for run in &mut all {
        let cell = run.cell.as_mut().expect("each has one");
        (cell.runs, cell.blocks) = (8, 2);
        if cell.places()[0] == 1 {
            cell.lack = Some(record::CellLack { kind: record::LackKind::Void, why: "it lies".into() });
        }
    }
    let effects = effects(&all);
    let told = effects.unfinished.as_ref().map(ToString::to_string).unwrap_or_default();
    assert_eq!(
        told,
        "Not finished: 4 of 8 runs were measured; 2 cells have no run in any block; effects are of the other 2 cells, in 2 \
         of 2 blocks."
    );
    let rate = of_rate(&effects);
    assert_eq!((rate.effects.len(), &rate.effects[0].factors[..]), (1, &["disks".to_owned()][..]));
}

#[test]
fn a_block_that_lacks_a_cell_that_no_other_has_is_not_said_to_have_every_one() {
    // RAID 10 on 8 disks ends the campaign in its first block.
    let mut all = runs(1);
    for run in &mut all {
        let cell = run.cell.as_mut().expect("each has one");
        (cell.runs, cell.blocks) = (8, 2);
        if cell.places() == [1, 1] {
            cell.lack = Some(record::CellLack { kind: record::LackKind::Void, why: "it lies".into() });
        }
    }
    let effects = effects(&all);
    let told = effects.unfinished.as_ref().map(ToString::to_string).unwrap_or_default();
    assert_eq!(
        told,
        "Not finished: 3 of 8 runs were measured; 1 cell has no run in any block, 1 of 2 blocks has all others, and effects \
         need two."
    );
    // Of what was varied one level alone is there: that is not that nothing was varied.
    let one: Vec<Run> = runs(2)
        .into_iter()
        .filter(|run| run.cell.as_ref().is_some_and(|cell| cell.places() == [0, 0]))
        .collect();
    let refused = of_rate(&super::effects(&one)).refused.clone().unwrap_or_default();
    assert_eq!(refused, "only one level of each factor was measured");
}

/// The same runs as those of virtual arrays with the seeds that `seed` gives for the block and the cell.
fn simulated(mut runs: Vec<Run>, seed: impl Fn(u32, &[u32]) -> u64) -> Vec<Run> {
    for run in &mut runs {
        run.world = record::World::Array;
        let cell = run.cell.as_ref().expect("each has one");
        let seed = seed(cell.block, &cell.places());
        run.points[0].workloads.iter_mut().for_each(|one| one.spec.seed = seed);
    }
    runs
}

#[test]
fn runs_of_one_seed_are_no_repeats_of_each_other() {
    // Disks change nothing, and with one seed a block its two runs are one.
    let noise = [1.0, 1.05, 0.98];
    let mut all = Vec::new();
    for block in 1..=3u32 {
        for (raid, disks) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            let chance = if raid == 1 { noise[block as usize - 1] } else { 1.0 };
            all.push(run(block, raid, disks, 1.03 * chance));
        }
    }
    let shared = effects(&simulated(all.clone(), |block, _| u64::from(block)));
    let width = |effects: &Effects| {
        let change = &of_rate(effects).effects[0].changes[0];
        (change.high / change.low).ln()
    };
    let one_each: Vec<Run> = all
        .iter()
        .filter(|run| run.cell.as_ref().is_some_and(|cell| cell.places()[1] == 0))
        .cloned()
        .collect();
    // As wide as without the copies.
    assert!((width(&shared) / width(&effects(&one_each)) - 1.0).abs() < 1e-6);
    let own = effects(&simulated(all, |block, places| u64::from(100 * block + 10 * places[0] + places[1])));
    assert!(width(&own) < 0.6 * width(&shared), "counted as repeats: {} {}", width(&own), width(&shared));
    assert!(shared.notes.iter().any(|note| note.contains("between 3 blocks")), "{:?}", shared.notes);
    assert!(own.notes.is_empty(), "{:?}", own.notes);
}

#[test]
fn blocks_that_differ_are_not_said_to_be_the_same_because_their_cells_are() {
    let mut all = Vec::new();
    for block in 1..=2u32 {
        for (raid, disks) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            all.push(run(block, raid, disks, if block == 1 { 1.243 } else { 1.249 }));
        }
    }
    let effects = effects(&simulated(all, |block, _| u64::from(block)));
    let cell = &of_rate(&effects).cells[0];
    let (low, high) = (cell.low.unwrap_or(f64::NAN), cell.high.unwrap_or(f64::NAN));
    assert!(low < 1243.0 && 1249.0 < high, "{low} to {high}");
    assert!(of_rate(&effects).effects.iter().all(|effect| !effect.found), "nothing differs");
}

#[test]
fn of_a_sweep_of_the_load_the_best_point_counts() {
    let mut all = runs(2);
    for run in &mut all {
        let peak = Point { ..run.points[0].clone() };
        let mut low = Point { name: "8 KiB, 1".into(), phase: "8 KiB, {depth}".into(), ..peak.clone() };
        low.swept.insert("depth".into(), "1".into());
        low.workloads[0].summary[0].ops_per_s.value /= 3.0;
        let mut high = Point { name: "8 KiB, 8".into(), phase: "8 KiB, {depth}".into(), ..peak };
        high.swept.insert("depth".into(), "8".into());
        run.points = vec![low, high];
    }
    let effects = effects(&all);
    assert_eq!(effects.figures.len(), 1, "{:?}", effects.figures);
    assert_eq!(effects.figures[0].point, "8 KiB, …, best of the sweep");
    assert_eq!(effects.figures[0].cells[0].values[0], of_rate(&super::effects(&runs(2))).cells[0].values[0]);
}

#[test]
fn an_interaction_tells_the_step_of_the_one_factor_at_both_levels_of_the_other() {
    let mut all = runs(2);
    for run in &mut all {
        let doubled = run.cell.as_ref().is_some_and(|cell| cell.places() == [1, 1]);
        run.points[0].workloads[0].summary[0].ops_per_s.value *= if doubled { 3.0 } else { 1.0 };
    }
    let effects = effects(&all);
    let both = &of_rate(&effects).effects[2].changes[0];
    let [first, level] = both.steps.expect("it is of two factors");
    assert!((first - 1.0).abs() < 0.02 && (level - 3.0).abs() < 0.05, "{both:?}");
    assert!((both.ratio - level / first).abs() < 1e-9);
    assert_eq!(of_rate(&effects).effects[0].changes[0].steps, None);
}

#[test]
fn without_replication_effects_are_refused() {
    let once = effects(&runs(1));
    let rate = of_rate(&once);
    assert!(rate.effects.is_empty() && rate.within.is_none());
    assert!(rate.refused.as_ref().is_some_and(|why| why.contains("measure two blocks at least")), "{rate:?}");
    assert_eq!(once.tests, 0);
}

#[test]
fn a_block_that_lacks_a_cell_does_not_count_and_a_cell_that_is_there_twice_counts_with_the_last() {
    let mut some = runs(3);
    some.pop();
    let lacking = effects(&some);
    assert_eq!((of_rate(&lacking).whole_blocks, of_rate(&lacking).cells[3].values.len()), (2, 2));
    let mut twice = runs(3);
    twice.push(run(1, 0, 0, 1.5));
    assert_eq!(of_rate(&effects(&twice)).cells[0].values[0], 1500.0);
    some.truncate(6);
    let told = effects(&some);
    let refused = of_rate(&told).refused.clone().unwrap_or_default();
    assert!(refused.starts_with("one block has every cell"), "{refused}");
}

#[test]
fn a_run_with_too_few_requests_for_a_percentile_is_not_said_to_be_missing() {
    let p99 = |told: &Effects| {
        let own = told.figures.iter().find(|figure| figure.metric == "p99").cloned();
        own.unwrap_or_else(|| panic!("{:?}", told.figures))
    };
    let mut some = runs(2);
    some[0] = run(1, 0, 0, 0.02);
    let told = effects(&some);
    assert!(of_rate(&told).refused.is_none(), "{told:?}");
    let refused = p99(&told).refused.unwrap_or_default();
    let why = "in block 1, RAID 5, disks 4 has too few requests for a p99: set a longer `run`";
    assert!(refused.ends_with(why) && !refused.contains("what is missing"), "{refused}");
    some[5] = run(2, 0, 1, 0.02);
    some.remove(6);
    let refused = p99(&effects(&some)).refused.unwrap_or_default();
    assert!(
        refused.contains("no block has every cell") && refused.contains("block 2 lacks RAID 10, disks 4"),
        "{refused}"
    );
    assert_eq!(told.refusals().len(), 1);
    // Of a cell that has it in no block, and where no run has it at all.
    some = runs(2);
    (some[0], some[4]) = (run(1, 0, 0, 0.02), run(2, 0, 0, 0.02));
    let refused = p99(&effects(&some)).refused.unwrap_or_default();
    assert!(refused.ends_with("too few requests for a p99, which a longer `run` has"), "{refused}");
    let short: Vec<Run> = (0..8).map(|at| run(at / 4 + 1, at / 2 % 2, at % 2, 0.02)).collect();
    let note = "No run has p99 of oltp, 8 KiB: too few requests";
    assert!(effects(&short).notes.iter().any(|own| own.starts_with(note)), "{:?}", effects(&short).notes);
}

#[test]
fn a_factor_with_one_level_is_no_factor_and_runs_of_no_campaign_are_left_out() {
    let mut one_level: Vec<Run> = runs(2)
        .into_iter()
        .filter(|run| run.cell.as_ref().is_some_and(|cell| cell.levels[0].place == 0))
        .collect();
    one_level.push(Run { cell: None, ..run(1, 0, 0, 1.0) });
    let effects = effects(&one_level);
    let rate = of_rate(&effects);
    assert_eq!(rate.effects.len(), 1);
    assert_eq!(rate.effects[0].factors, ["disks"]);
    assert_eq!(super::effects(&[]).figures, []);
}

#[test]
fn a_point_that_was_repeated_counts_with_its_geometric_mean_and_one_cut_short_not() {
    let mut all = runs(2);
    let again = Point { repeat: 2, ..run(1, 0, 0, 4.0).points[0].clone() };
    all[0].points.push(again);
    let value = of_rate(&effects(&all)).cells[0].values[0];
    assert!((value - 2000.0).abs() < 1.0, "{value}");
    // Of the cell there is nothing at all.
    let mut none = runs(2);
    for run in none.iter_mut().filter(|run| run.cell.as_ref().is_some_and(|cell| cell.places() == [0, 0])) {
        run.points.clear();
    }
    let refused = of_rate(&effects(&none)).refused.clone().unwrap_or_default();
    assert!(refused.starts_with("1 of 4 cells have no iops"), "{refused}");
    all[0].points.iter_mut().for_each(|point| point.complete = false);
    assert_eq!(of_rate(&effects(&all)).whole_blocks, 1);
}

#[test]
fn effects_that_are_one_difference_are_told_together() {
    let mut half = runs(2);
    half.retain(|run| run.cell.as_ref().is_some_and(|cell| cell.levels[0].place == cell.levels[1].place));
    for cell in half.iter_mut().filter_map(|run| run.cell.as_mut()) {
        let third = FactorLevel { factor: "host".into(), ..cell.levels[0].clone() };
        cell.levels.push(third);
    }
    let told = [
        "2 of 8 cells were measured.",
        "raid, disks, host cannot be told from each other.",
        "raid × disks, raid × host, disks × host cannot be told from each other.",
    ];
    assert_eq!(effects(&half).notes, told);
}

#[test]
fn cells_of_a_low_grade_and_caches_that_were_filling_are_told_beside_the_effects_that_rest_on_them() {
    let mut runs = runs(2);
    for run in &mut runs {
        let is_ten = run.cell.as_ref().is_some_and(|cell| cell.levels[0].level == "10");
        let grade = if is_ten { record::Grade::C } else { record::Grade::B };
        run.points[0].grading = Some(record::Grading { grade, checks: Vec::new() });
    }
    let effects = effects(&runs);
    let figure = of_rate(&effects);
    let raid = figure.effects.iter().find(|one| one.factors == ["raid"]).expect("it was varied");
    let doubt = effects.in_doubt(figure, &raid.factors, &raid.changes[0]);
    assert_eq!(doubt.as_deref(), Some("2 of the 4 cells: grade C"));
    let sound = effects.figures.iter().flat_map(|figure| &figure.cells).filter(|cell| cell.doubt.is_none());
    assert!(sound.into_iter().all(|cell| cell.levels[0] == "5"), "{effects:#?}");
    let change = &raid.changes[0];
    let within_five = Change { levels: change.from.clone(), ..change.clone() };
    assert_eq!(effects.in_doubt(figure, &raid.factors, &within_five), None, "none of these is in doubt");
}
