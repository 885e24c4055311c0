//! Verdicts follow from the claim, the tolerance and the modelled values alone.

use units::Share;

use super::*;
use crate::spec::case::cases;

fn case(text: &str) -> Case {
    let text = format!(
        "source = \"s\"\ntolerance = \"10%\"\narray = \"md3000\"\ncase = [{text}]\n\
         [plan.p]\npattern = \"random\"\nsize = \"8KiB\"\nmetric = \"iops\"\n"
    );
    cases("c.toml", &text).unwrap().cases.remove(0)
}

/// The verdict where configuration `x` of the case is modelled as the number in its array's name.
fn verdict(text: &str) -> CaseResult {
    judge(&case(text), |subject, _| {
        subject.array.trim_start_matches('m').parse::<f64>().map_err(|error| error.to_string())
    })
}

#[test]
fn an_absolute_case_passes_within_its_tolerance_on_either_side() {
    let of = |modelled: &str| {
        verdict(&format!("{{ id = \"a\", array = \"m{modelled}\", plan = \"p\", value = 100 }}"))
    };
    assert_eq!((of("109").ruling, of("91").ruling), (Ruling::Passes, Ruling::Passes));
    assert_eq!((of("111").ruling, of("89").ruling), (Ruling::Fails, Ruling::Fails));
    assert!((of("89").error.unwrap() + 0.11).abs() < 1e-12);
}

#[test]
fn a_published_unit_is_what_the_model_is_read_in() {
    let text = "{ id = \"a\", plan = \"p\", metric = \"throughput\", unit = \"MiB/s\", value = 100 }";
    let verdict = judge(&case(text), |_, _| Ok::<f64, String>(100.0 * 1_048_576.0));
    assert_eq!((verdict.value, verdict.error), (Some(100.0), Some(0.0)));
}

#[test]
fn a_ratio_is_the_first_over_the_other() {
    let made = verdict(
        "{ id = \"a\", array = \"m120\", plan = \"p\", value = 1.2, against = { array = \"m100\" } }",
    );
    assert_eq!((made.value, made.ruling), (Some(1.2), Ruling::Passes));
}

#[test]
fn a_bound_is_widened_by_the_tolerance() {
    let of = |modelled: &str| {
        verdict(&format!("{{ id = \"a\", array = \"m{modelled}\", plan = \"p\", least = 50, most = 100 }}"))
            .ruling
    };
    assert_eq!((of("46"), of("109")), (Ruling::Passes, Ruling::Passes));
    assert_eq!((of("44"), of("111")), (Ruling::Fails, Ruling::Fails));
}

#[test]
fn an_ordering_needs_its_factor_at_every_step_and_equal_is_not_more() {
    let of = |factor: &str, values: [&str; 3]| {
        let list = values.map(|value| format!("{{ array = \"m{value}\" }}")).join(", ");
        verdict(&format!("{{ id = \"a\", plan = \"p\", {factor} order = [{list}] }}")).ruling
    };
    assert_eq!(of("", ["3", "2", "1"]), Ruling::Passes);
    assert_eq!(of("", ["3", "3", "1"]), Ruling::Fails);
    assert_eq!(of("factor = 1.4,", ["3", "2", "1"]), Ruling::Passes);
    assert_eq!(of("factor = 1.6,", ["3", "2", "1"]), Ruling::Fails);
}

#[test]
fn equal_things_lie_within_the_tolerance_of_each_other() {
    let of = |other: &str| {
        verdict(&format!(
            "{{ id = \"a\", plan = \"p\", equal = [{{ array = \"m100\" }}, {{ array = \"m{other}\" }}] }}"
        ))
        .ruling
    };
    assert_eq!((of("109"), of("111"), of("92")), (Ruling::Passes, Ruling::Fails, Ruling::Passes));
}

/// Cases of these lines, the model giving each the number in its array's name.
fn judged(lines: &[&str]) -> Vec<(Case, CaseResult)> {
    lines.iter().map(|line| (case(line), verdict(line))).collect()
}

fn scores(judged: &[(Case, CaseResult)]) -> Scores {
    Scores::of(&judged.iter().map(|(case, result)| Judged { case, result }).collect::<Vec<_>>())
}

#[test]
fn what_cannot_be_modelled_says_why_and_counts_as_far_off() {
    let lines = [
        "{ id = \"a\", array = \"md3000\", plan = \"p\", value = 100 }",
        "{ id = \"b\", array = \"m100\", plan = \"p\", value = 100 }",
        "{ id = \"c\", array = \"md3000\", plan = \"p\", least = 100 }",
    ];
    let judged = judged(&lines);
    assert!(matches!(judged[0].1.ruling, Ruling::Impossible(_)));
    let score = scores(&judged).foretold;
    assert_eq!((score.figures, score.within_25, score.median_error), (2, Share::new(0.5), None));
    assert_eq!((score.claims, score.claims_share()), (1, Share::new(0.0)));
}

#[test]
fn fitted_and_foretold_figures_are_scored_apart_and_all_of_them_together() {
    let figure = |modelled: u32, more: &str| {
        format!("{{ id = \"a\", array = \"m{modelled}\", plan = \"p\", value = 100{more} }}")
    };
    let listed = ", score = false, why = \"nobody knows\"";
    let lines = [
        figure(95, ""),
        figure(105, ""),
        figure(130, ""),
        figure(60, ""),
        figure(101, ", fits = \"m link.rate\""),
        figure(900, listed),
    ];
    let scores = scores(&judged(&lines.each_ref().map(String::as_str)));
    assert_eq!((scores.foretold.figures, scores.fitted.figures, scores.all.figures), (4, 1, 6));
    assert!((scores.foretold.median_error.unwrap() - 0.175).abs() < 1e-12);
    assert!((scores.fitted.median_error.unwrap() - 0.01).abs() < 1e-12);
    assert!((scores.all.median_error.unwrap() - 0.175).abs() < 1e-12);
    assert_eq!((scores.foretold.within_25, scores.all.within_25), (Share::new(0.5), Share::new(0.5)));
}

#[test]
fn pairs_of_one_load_that_lie_further_apart_than_their_tolerance_are_ranked() {
    let figure = |published: u32, modelled: u32, more: &str| {
        format!("{{ id = \"a\", array = \"m{modelled}\", plan = \"p\", value = {published}{more} }}")
    };
    // Published 100 and 105 are too near each other; 50 against either of them counts, and once comes out wrong.
    let lines = [
        figure(100, 40, ""),
        figure(105, 90, ""),
        figure(50, 45, ""),
        figure(500, 1, ", score = false, why = \"nobody knows\""),
        figure(500, 1, ", metric = \"latency-mean\", unit = \"ms\""),
    ];
    let cases: Vec<Case> = lines.iter().map(|line| case(line)).collect();
    let results: Vec<CaseResult> = lines.iter().map(|line| verdict(line)).collect();
    let judged: Vec<Judged<'_>> =
        cases.iter().zip(&results).map(|(case, result)| Judged { case, result }).collect();
    let ranking = Ranking::of(&judged, |_| true);
    assert_eq!(ranking, Ranking { pairs: 2, ordered: 1 });
    assert_eq!((ranking.share(), Ranking::default().share()), (Share::new(0.5), None));
    assert_eq!(ranking.and(ranking), Ranking { pairs: 4, ordered: 2 });
    assert_eq!(Ranking::of(&judged, |load| load.depth > 1), Ranking::default());
}

#[test]
fn reads_of_what_the_memory_of_the_array_holds_wait_for_no_disk() {
    let of = |held: &str| {
        let text = format!(
            "source = \"s\"\ntolerance = \"10%\"\narray = \"px6-300d?raid=0\"\n\
             case = [{{ id = \"a\", plan = \"p\", value = 1 }}]\n[plan.p]\npattern = \"random\"\nsize = \"4KiB\"\n\
             span = \"1GiB\"\nmetric = \"iops\"\nwarmup = \"0s\"\nrun = \"2s\"\n{held}"
        );
        let Claim::Absolute { subject, .. } = cases("c.toml", &text).unwrap().cases.remove(0).claim else {
            panic!("absolute")
        };
        measure(&crate::spec::Shipped, &subject, Metric::Iops, 7).unwrap()
    };
    let (nothing, half, all) = (of(""), of("held = \"50%\"\n"), of("held = \"100%\"\n"));
    assert!(half > nothing * 1.6 && half < nothing * 2.4, "{nothing}, {half}");
    assert!(all > nothing * 5.0, "{nothing}, {all}");
}

#[test]
fn what_a_member_has_in_its_memory_waits_for_no_flash() {
    let of = |held: &str| {
        let text = format!(
            "source = \"s\"\ntolerance = \"10%\"\narray = \"dsi3500\"\n\
             case = [{{ id = \"a\", plan = \"p\", value = 1 }}]\n[plan.p]\npattern = \"random\"\nsize = \"8KiB\"\n\
             span = \"1GiB\"\nmetric = \"latency-mean\"\nunit = \"us\"\nwarmup = \"0s\"\nrun = \"0.2s\"\n{held}"
        );
        let Claim::Absolute { subject, .. } = cases("c.toml", &text).unwrap().cases.remove(0).claim else {
            panic!("absolute")
        };
        measure(&crate::spec::Shipped, &subject, Metric::LatencyMean, 7).unwrap()
    };
    let (nothing, all) = (of(""), of("held = \"100%\"\n"));
    assert!(nothing > all * 1.5, "{nothing}, {all}");
}

#[test]
fn a_figure_is_wanted_to_a_tenth_of_its_tolerance_and_a_claim_to_a_twentieth() {
    let precision = |claim: &str| case(&format!("{{ id = \"a\", plan = \"p\", {claim} }}")).precision();
    let order = "order = [{ array = \"md3000\" }, { array = \"px6-300d\" }]";
    for (claim, wanted) in [
        ("array = \"md3000\", value = 1, tolerance = \"20%\"".to_owned(), 0.02),
        ("array = \"md3000\", value = 1, tolerance = \"90%\"".to_owned(), 0.025),
        (format!("factor = 1.01, {order}"), 0.005),
        (format!("factor = 1.2, {order}"), 0.01),
    ] {
        assert!((precision(&claim) - wanted).abs() < 1e-9, "{claim}: {}", precision(&claim));
    }
}

#[test]
fn a_configuration_is_measured_by_the_simulation_and_twice_the_same() {
    let text = "{ id = \"a\", array = \"local-ssd-raid0\", plan = \"p\", value = 1 }";
    let Claim::Absolute { subject, .. } = case(text).claim else { panic!("absolute") };
    let once = || measure(&crate::spec::Shipped, &subject, Metric::Iops, 7).unwrap();
    assert!(once() > 100.0);
    assert_eq!(once().to_bits(), once().to_bits());
}

#[test]
fn more_luns_than_there_are_is_said_with_the_option_that_helps() {
    let text = "{ id = \"a\", array = \"md3000\", plan = \"p\", value = 1 }";
    let Claim::Absolute { mut subject, .. } = case(text).claim else { panic!("absolute") };
    subject.loads[0].luns = 2;
    let error = measure(&crate::spec::Shipped, &subject, Metric::Iops, 7).unwrap_err().to_string();
    assert_eq!(error, "the load `p` uses 2 LUNs, `md3000` has 1; add `luns=2` to the address");
}
