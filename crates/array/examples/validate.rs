//! Prints published figures against modelled ones, case by case.
//!
//! `cargo run --release -p fathom-array --example validate [PART OF AN ID OR FILE NAME | FILE OF CASES]`

use array::spec::{Shipped, case};
use array::validate::{Ruling, judge, measure, summarise};

#[expect(clippy::print_stdout, reason = "an example prints")]
fn main() {
    let wanted = std::env::args().nth(1).unwrap_or_default();
    let mut verdicts = Vec::new();
    let own = std::fs::read_to_string(&wanted).unwrap_or_default();
    let shipped = case::shipped().iter().filter(|_| own.is_empty());
    let given = (!own.is_empty()).then_some(("", wanted.as_str(), own.as_str()));
    for (name, label, text) in shipped.copied().chain(given) {
        let file = case::cases(label, text).unwrap_or_else(|error| panic!("{error}"));
        for case in file
            .cases
            .iter()
            .filter(|case| name.is_empty() || name.contains(&wanted) || case.id.contains(&wanted))
        {
            let verdict = judge(case, |subject, metric| measure(&Shipped, subject, metric, 1));
            let number = |value: Option<f64>| value.map_or(String::new(), |value| format!("{value:.4}"));
            let error = verdict.error.map_or(String::new(), |error| format!("{:+.1} %", error * 100.0));
            let ruling = match &verdict.ruling {
                Ruling::Passes => "ok".to_string(),
                Ruling::Fails => "FAILS".to_string(),
                Ruling::Impossible(why) => format!("IMPOSSIBLE {why}"),
            };
            let counts = if verdict.counts { ' ' } else { '-' };
            let (published, value) = (number(verdict.published), number(verdict.value));
            let all = verdict.modelled.iter().map(|value| format!(" {value:.1}")).collect::<String>();
            println!(
                "{counts} {name:<16} {:<28} {published:>14} {value:>14} {error:>10} {ruling}{all}",
                case.id
            );
            verdicts.push(verdict);
        }
    }
    println!("{:#?}", summarise(&verdicts));
}
