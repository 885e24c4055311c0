//! A search: what it found, and every rate that it tried.

use record::{Depths, Histogram, Op, Recovery, Run, Rung, Search};
use units::{Nanos, OpsPerSecond};

use crate::style::{Look, Style};
use crate::table::{Cell, Column, Table};
use crate::words::{harmless, thousands, wrap};

/// The answer and the ladder by rising rate; no lines where nothing was searched.
pub(crate) fn lines(run: &Run, style: Style) -> Vec<String> {
    let Some(search) = &run.search else { return Vec::new() };
    let answer = wrap(&style.spell(&answer(search)), style.width, "", "  ");
    let mut lines: Vec<String> = answer.iter().map(|line| style.paint(Look::Headline, line)).collect();
    lines.push(String::new());
    lines.extend(ladder(search).draw(style).lines);
    lines.extend(apart(run, search).iter().flat_map(|told| wrap(told, style.width, "", "  ")));
    let waited_s = search.waited_s();
    if waited_s > 0.0 {
        lines.push(format!(
            "Waited {} in all for the target to recover after rates that failed.",
            Nanos::from_secs_f64(waited_s)
        ));
    }
    if !style.colour && search.met_per_s.is_some() {
        lines.push(match search.depths {
            Some(_) => "*: with the deepest queue that meets it.".into(),
            None => "*: the maximum sustained rate.".into(),
        });
    }
    lines
}

fn answer(search: &Search) -> String {
    let slos = search.slos.iter().map(|one| harmless(one)).collect::<Vec<_>>().join(" and ");
    if let Some(depths) = &search.depths {
        return depths_answer(search, depths, &slos);
    }
    let rate = |per_s: f64| format!("{}/s", OpsPerSecond::new(per_s));
    let Some(kept) = search.met_per_s else {
        return match search.complete {
            _ if search.is_generator_late() => format!(
                "Unknown whether a rate meets {slos}: the load generator was late at every rate that failed{}.",
                if search.complete { String::new() } else { cut_short(search) }
            ),
            true if search.is_undecided() => {
                format!("Unknown whether a rate meets {slos}: no trial decided, each was too short.")
            }
            true => format!("No rate meets {slos}."),
            false if search.out_of_time => {
                format!("No rate was seen to meet {slos}{}.", cut_short(search))
            }
            false => {
                format!("The search for {slos} did not run to its end, and no rate met it.")
            }
        };
    };
    let state = match (search.complete, search.confirmed, search.confirmed_per_s) {
        (_, false, Some(lower)) => format!("{} confirmed", rate(lower)),
        (false, ..) if search.out_of_time => "not confirmed: the search's time was over".into(),
        (false, ..) => "not confirmed: the search did not run to its end".into(),
        (_, true, _) => "confirmed".into(),
        (_, false, None) => "not confirmed".into(),
    };
    let above =
        search.violated_per_s.map(|broken| format!("; violated at {}", rate(broken))).unwrap_or_default();
    let edge = search
        .edge_per_s
        .map(|edge| format!("; the limit is estimated at {}", rate(edge)))
        .unwrap_or_default();
    let after = search.after_overload_per_s.map(|after| match after > 0.0 {
        true => format!("; right after an overload only {}", rate(after)),
        false => "; right after an overload no rate".into(),
    });
    // Where no higher rate failed, or rates between were not tried, there may be a higher one that holds.
    let least = if search.complete && search.violated_per_s.is_some() { "" } else { "at least " };
    let bound = match (search.violated_per_s, search.to_per_s == Some(kept)) {
        (Some(_), _) => "",
        (None, true) => ", the highest rate allowed",
        (None, false) => ", the highest rate tried",
    };
    format!(
        "Maximum sustained rate within {slos}: {least}{} ({state}){bound}{above}{edge}{}.",
        rate(kept),
        after.unwrap_or_default()
    )
}

/// The deepest queue that kept the SLOs, and how far that is known.
fn depths_answer(search: &Search, depths: &Depths, slos: &str) -> String {
    let Some(met) = depths.met else {
        return match search.complete {
            true => format!("No queue depth meets {slos}, not even one request in flight."),
            false => format!("No queue depth was seen to meet {slos}{}.", cut_short(search)),
        };
    };
    let rate = search.met_per_s.map(|rate| format!(" ({}/s)", OpsPerSecond::new(rate))).unwrap_or_default();
    let above = match depths.violated {
        Some(violated) => format!("; violated at {violated}"),
        None if met == depths.most => ", the deepest allowed".into(),
        None => String::new(),
    };
    let (least, cut) = match search.complete {
        true => ("", String::new()),
        false => ("at least ", cut_short(search)),
    };
    format!("Deepest queue within {slos}: {least}{met}{rate}{above}{cut}.")
}

/// Why a search knows no more.
fn cut_short(search: &Search) -> String {
    match search.budget_s.filter(|_| search.out_of_time) {
        Some(budget_s) => {
            format!("; not searched further: its time of {} was over", Nanos::from_secs_f64(budget_s))
        }
        None => "; the search did not run to its end".into(),
    }
}

fn ladder(search: &Search) -> Table {
    let rates = if search.depths.is_some() { "IOPS" } else { "offered IOPS" };
    let mut columns = vec![Column::figures(rates, 0), Column::words("verdict")];
    if search.depths.is_some() {
        columns.insert(0, Column::figures("depth", 0));
    }
    columns.extend(search.slos.iter().map(|slo| Column::figures(&heading(slo), 1)));
    columns.extend([Column::figures("requests", 2), Column::figures("time", 3), Column::words("step")]);
    let recovers = search.ladder.iter().any(|rung| rung.recovery.is_some());
    columns.extend(recovers.then(|| Column::figures("recovered in", 4)));
    let mut rungs: Vec<&Rung> = search.ladder.iter().collect();
    rungs.sort_by(|one, other| one.depth.cmp(&other.depth).then(one.rate_per_s.total_cmp(&other.rate_per_s)));
    let rows = rungs.into_iter().map(|rung| row(search, rung)).collect();
    Table { columns, rows }
}

/// What each operation of a mix got at the maximum rate, where an SLO is about all of them; at the lowest one that was tried where
/// none met it. `None` of one operation alone.
fn apart(run: &Run, search: &Search) -> Option<String> {
    let tried = || search.ladder.iter().filter(|rung| !rung.points.is_empty());
    let lowest = tried().map(|rung| rung.rate_per_s).min_by(f64::total_cmp);
    let rate = search.met_per_s.or(lowest)?;
    let rungs: Vec<&Rung> = tried().filter(|rung| rung.rate_per_s.total_cmp(&rate).is_eq()).collect();
    let is_of_it = |index: &u32| rungs.iter().any(|rung| rung.points.contains(index));
    let points = || run.points.iter().filter(|point| is_of_it(&point.index));
    let times = |op: Op, is_service: bool| {
        let classes = points().flat_map(|point| &point.workloads).flat_map(|workload| &workload.classes);
        let own = classes.filter(|class| class.op == op);
        let of =
            own.filter_map(|class| if is_service { class.service.as_ref() } else { Some(&class.response) });
        stats::Histogram::merged(of.filter_map(Histogram::to_stats))
    };
    let mut told = Vec::new();
    for metric in search.slos.iter().filter_map(|slo| slo.split_once('<')).map(|(metric, _)| metric) {
        let (is_service, name) = metric.strip_prefix("service ").map_or((false, metric), |name| (true, name));
        let figure = |times: stats::Histogram| match name.strip_prefix('p') {
            Some(percent) => times.quantile(percent.parse::<f64>().ok()? / 100.0),
            None => (name == "mean").then(|| times.mean().map(|mean| Nanos::from_secs_f64(mean / 1e9)))?,
        };
        let each = [Op::Read, Op::Write, Op::Trim].into_iter();
        let each =
            each.filter_map(|op| Some(format!("{} {metric} {}", op.name(), figure(times(op, is_service)?)?)));
        let each: Vec<String> = each.collect();
        told.extend((each.len() > 1).then(|| each.join(", ")));
    }
    let of = if search.met_per_s.is_some() { "" } else { ", the lowest tried" };
    (!told.is_empty()).then(|| {
        format!("Each operation by itself at {}/s{of}: {}.", OpsPerSecond::new(rate), told.join("; "))
    })
}

fn row(search: &Search, rung: &Rung) -> Vec<Cell> {
    let kept = rung.verdict == "pass" && Some(rung.rate_per_s) == search.met_per_s;
    let rate = OpsPerSecond::new(rung.rate_per_s).to_string();
    let verdict = match &rung.cause {
        Some(cause) => format!("{}: {}", rung.verdict, harmless(cause)),
        None => rung.verdict.clone(),
    };
    let look = if rung.verdict == "fail" { Look::Wrong } else { Look::Plain };
    let mut row =
        vec![if kept { Cell::of(Look::Headline, rate) } else { Cell::plain(rate) }, Cell::of(look, verdict)];
    let figures = search.slos.iter().zip(&rung.figures);
    row.extend(
        figures.map(|(slo, figure)| Cell::plain(figure.map_or_else(String::new, |it| figure_text(slo, it)))),
    );
    row.resize(2 + search.slos.len(), Cell::default());
    if search.depths.is_some() {
        row.insert(0, Cell::plain(rung.depth.map_or_else(String::new, |depth| depth.to_string())));
    }
    row.extend([
        Cell::plain(thousands(rung.requests)),
        Cell::plain(Nanos::from_secs_f64(rung.seconds).to_string()),
        Cell::plain(harmless(&rung.purpose)),
    ]);
    if search.ladder.iter().any(|rung| rung.recovery.is_some()) {
        row.push(Cell::plain(rung.recovery.map_or_else(String::new, recovery_text)));
    }
    row
}

/// How long it took to come back, or that it took longer than it was waited for.
fn recovery_text(recovery: Recovery) -> String {
    let time = Nanos::from_secs_f64(recovery.seconds);
    match (recovery.complete, recovery.seconds > 0.0) {
        (true, false) => "at once".into(),
        (true, true) => time.to_string(),
        (false, _) => format!("> {time}"),
    }
}

/// What the figures of an SLO are: of `p99<20ms` how many requests were `slower than 20ms`, of `mean<2ms` the `mean`.
fn heading(slo: &str) -> String {
    let (metric, limit) = slo.split_once('<').unwrap_or((slo, ""));
    let is_percentile = |at: &usize| metric[at + 1..].starts_with(|next: char| next.is_ascii_digit());
    match metric.match_indices('p').map(|(at, _)| at).find(is_percentile) {
        // What stands before it says of which requests, or of which time: `read.p99`, `service p99.9`.
        Some(at) => format!("{}slower than {limit}", metric[..at].replace('.', " ")),
        None => metric.replace('.', " "),
    }
}

/// A mean as a time, anything else as a part of the requests.
fn figure_text(slo: &str, figure: f64) -> String {
    if slo.contains("mean") {
        Nanos::from_secs_f64(figure / 1e9).to_string()
    } else {
        format!("{:.3} %", figure * 100.0)
    }
}

#[cfg(test)]
mod tests {
    use record::sample::{self, Stream};

    use super::*;

    #[test]
    fn a_rate_above_which_others_may_hold_is_told_as_the_least() {
        let whole = record::sample::search(Some(100.0), Some(200.0));
        let said = |search: Search| answer(&search);
        assert!(said(whole.clone()).contains(": 100/s (confirmed); violated at 200/s"), "{}", said(whole));
        let cut =
            Search { complete: false, confirmed: false, ..record::sample::search(Some(100.0), Some(200.0)) };
        for (search, state) in [
            (cut.clone(), "(not confirmed: the search did not run to its end)"),
            (Search { out_of_time: true, ..cut.clone() }, "(not confirmed: the search's time was over)"),
            (record::sample::search(Some(100.0), None), "(confirmed), the highest rate tried"),
            (Search { confirmed_per_s: Some(98.0), ..cut.clone() }, "at least 100/s (98.0/s confirmed)"),
        ] {
            let said = said(search);
            assert!(said.contains("at least 100/s") && said.contains(state), "{said}");
        }
    }

    fn rung(rate_per_s: f64, verdict: &str, cause: Option<&str>, waited_s: f64) -> Rung {
        Rung {
            rate_per_s,
            depth: None,
            purpose: "grid".into(),
            verdict: verdict.into(),
            cause: cause.map(str::to_owned),
            seconds: 15.0,
            requests: 100,
            figures: vec![None],
            points: Vec::new(),
            recovery: Some(Recovery { seconds: waited_s, complete: true }),
        }
    }

    #[test]
    fn where_this_machine_was_late_or_nothing_was_decided_the_answer_is_unknown() {
        let of = |rungs: Vec<Rung>| answer(&Search { ladder: rungs, ..record::sample::search(None, None) });
        let late = Some(record::names::search::GENERATOR);
        let both = of(vec![rung(10.0, "fail", late, 0.0), rung(20.0, "fail", late, 0.0)]);
        assert!(
            both.starts_with("Unknown whether a rate meets p99<5ms: the load generator was late"),
            "{both}"
        );
        let one = of(vec![rung(10.0, "fail", Some("p99<5ms"), 0.0), rung(20.0, "fail", late, 0.0)]);
        assert_eq!(one, "No rate meets p99<5ms.");
        let open = of(vec![rung(10.0, "undecided", None, 0.0)]);
        assert!(open.starts_with("Unknown whether a rate meets p99<5ms: no trial decided"), "{open}");
    }

    #[test]
    fn it_is_told_for_how_long_the_target_was_waited_for() {
        let mut run = record::sample::run("p", Vec::new());
        let ladder = vec![rung(10.0, "pass", None, 0.0), rung(20.0, "fail", Some("p99<5ms"), 42.0)];
        run.search = Some(Search { ladder, ..record::sample::search(Some(10.0), Some(20.0)) });
        let style = Style { colour: false, unicode: true, width: 100 };
        let told = lines(&run, style).join("\n");
        assert!(told.contains("Waited 42.0 s in all for the target to recover"), "{told}");
    }

    #[test]
    fn of_a_mix_each_operation_is_told_by_itself_at_the_maximum_rate_or_the_lowest_that_was_tried() {
        let stream = |op, median_ns| Stream { op, size_bytes: 4096, per_s: 1_000, median_ns, spread: 0.1 };
        let told = |streams: &[Stream], met: Option<f64>| {
            let points = vec![sample::point(0, "a look", vec![sample::workload("main", streams)])];
            let mut run = sample::run("p", points);
            let looked = Rung { points: vec![0], ..rung(10.0, "pass", None, 0.0) };
            run.search = Some(Search { ladder: vec![looked], ..sample::search(met, None) });
            let search = run.search.clone().expect("it was just set");
            apart(&run, &search)
        };
        let mix = [stream("read", 4_000_000), stream("write", 100_000)];
        let at_met = told(&mix, Some(10.0)).expect("there are two operations");
        assert!(at_met.starts_with("Each operation by itself at 10.0/s: read p99 "), "{at_met}");
        assert!(at_met.contains(" ms, write p99 ") && at_met.ends_with(" µs."), "{at_met}");
        assert!(told(&mix, None).is_some_and(|told| told.contains(", the lowest tried: read p99 ")));
        assert_eq!(told(&mix[..1], Some(10.0)), None);
    }

    #[test]
    fn a_column_is_called_by_what_its_figures_are() {
        for (slo, title) in [
            ("p99<20ms", "slower than 20ms"),
            ("read.p99.9<5ms", "read slower than 5ms"),
            ("service p99<5ms", "service slower than 5ms"),
            ("service write.mean<2ms", "service write mean"),
            ("errors<0.1%", "errors"),
        ] {
            assert_eq!(heading(slo), title);
        }
    }
}
