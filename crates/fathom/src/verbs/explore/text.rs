//! The answer of a study on one screen: the design, what each requirement costs, the front, why not a neighbour.

use explore::Design;
use explore::answer::{Answer, CloseCall, Neighbour, RequirementCost, Row};
use report::counted;

/// Rows of the front, neighbours and close calls that one screen has room for.
const FRONT: usize = 8;
const NEIGHBOURS: usize = 12;
const CLOSE: usize = 3;

/// The answer in lines of `width` columns; all of it where `full`.
pub fn text(design: &Design, answer: &Answer, width: usize, full: bool) -> String {
    let most = |of: usize| if full { usize::MAX } else { of };
    let mut text = headline(answer, width);
    text += &requirements(answer);
    text += &front(answer, most(FRONT), width);
    text += &neighbours(&answer.neighbours, most(NEIGHBOURS), width);
    text += &close_calls(&answer.close_calls, most(CLOSE), width);
    text + &closing(design, answer, width)
}

fn wrapped(text: &str, width: usize, first: &str) -> String {
    let rest = " ".repeat(first.len());
    report::wrap(text, width, first, &rest).join("\n") + "\n"
}

fn headline(answer: &Answer, width: usize) -> String {
    let Some(first) = answer.front.first() else {
        return format!("{}: no design meets every requirement\n\n", answer.name);
    };
    let price = amount(answer, first.values[0]);
    let many = if answer.requirements.len() == 1 { "the requirement" } else { "every requirement" };
    wrapped(&format!("{price}  {} is the cheapest design that meets {many}", first.address), width, "") + "\n"
}

/// A price with its unit.
fn amount(answer: &Answer, price: f64) -> String {
    format!("{} {}", answer.figures[0].figure.shown(price), answer.price_unit)
}

fn requirements(answer: &Answer) -> String {
    if answer.requirements.is_empty() {
        return String::new();
    }
    let has_one = !answer.front.is_empty();
    let without = |requirement: &RequirementCost| match &requirement.without {
        Some(cheaper) => match cheaper.saves {
            Some(saves) => format!("{} less ({})", amount(answer, saves), cheaper.shown),
            None => format!("{} ({})", amount(answer, cheaper.price), cheaper.shown),
        },
        None if has_one => "costs nothing".into(),
        None => "no design either".into(),
    };
    let mut rows = vec![[
        "requirement".to_owned(),
        if has_one { "has".into() } else { String::new() },
        "best found".to_owned(),
        "without it".to_owned(),
    ]];
    for requirement in &answer.requirements {
        rows.push([
            requirement.requirement.clone(),
            requirement.shown.clone(),
            requirement.best.clone(),
            without(requirement),
        ]);
    }
    table(&rows, &[false, true, true, false]) + "\n"
}

fn front(answer: &Answer, most: usize, width: usize) -> String {
    if answer.front.is_empty() {
        return String::new();
    }
    let (shown, letters) = (answer.front.len().min(most), 'a'..='z');
    let names: Vec<String> = letters
        .zip(&answer.figures)
        .map(|(letter, column)| match letter {
            'a' => format!("{letter} {} in {}", column.name, answer.price_unit),
            _ => format!("{letter} {}", column.name),
        })
        .collect();
    let of = if shown < answer.front.len() { format!(", {shown} shown") } else { String::new() };
    let said = format!("front: {}{of}. {}", counted(answer.front.len(), "design"), names.join(", "));
    let varied = varied(&answer.front);
    let mut heading: Vec<String> = ('a'..='z').take(answer.figures.len()).map(String::from).collect();
    heading.push(String::new());
    let mut rows = vec![heading];
    for row in &answer.front[..shown] {
        let values = answer.figures.iter().zip(&row.values);
        let mut cells: Vec<String> = values.map(|(column, value)| column.figure.shown(*value)).collect();
        let levels = row.levels.iter().filter(|(name, _)| varied.contains(&name.as_str()));
        let levels: Vec<String> = levels.map(|(name, level)| format!("{name}={level}")).collect();
        let alike = if row.alike > 0 { format!("  (and {} alike)", row.alike) } else { String::new() };
        cells.push(levels.join(" ") + &alike);
        rows.push(cells);
    }
    let mut right = vec![true; answer.figures.len()];
    right.push(false);
    wrapped(&said, width, "") + &table(&rows, &right) + "\n"
}

/// Factors in which the designs of the front differ.
fn varied(front: &[Row]) -> Vec<&str> {
    let Some(first) = front.first() else { return Vec::new() };
    let differs = |name: &str, level: &str| {
        front.iter().any(|row| !row.levels.iter().any(|(own, other)| own == name && other == level))
    };
    let names = front.iter().flat_map(|row| &row.levels).map(|(name, _)| name.as_str());
    let mut found: Vec<&str> = Vec::new();
    for name in names {
        let level = first.levels.iter().find(|(own, _)| own == name).map_or("", |(_, level)| level.as_str());
        if !found.contains(&name) && differs(name, level) {
            found.push(name);
        }
    }
    found
}

fn neighbours(all: &[Neighbour], most: usize, width: usize) -> String {
    if all.is_empty() {
        return String::new();
    }
    let names: Vec<String> = all.iter().map(|one| format!("{}={}", one.factor, one.level)).collect();
    let widest = names.iter().take(most).map(String::len).max().unwrap_or(0);
    let mut text = String::from("why not with one factor changed\n");
    for (name, one) in names.iter().zip(all).take(most) {
        text += &wrapped(&one.rejected, width, &format!("  {name:<widest$}  "));
    }
    if all.len() > most {
        text += &format!("  and {} more, with --full\n", all.len() - most);
    }
    text + "\n"
}

fn close_calls(calls: &[CloseCall], most: usize, width: usize) -> String {
    if calls.is_empty() {
        return String::new();
    }
    let mut text = String::from("closer than the models can tell\n");
    for call in calls.iter().take(most) {
        let side = if call.ahead >= 0.0 { "inside" } else { "outside" };
        let off = call.ahead.abs() * 100.0;
        text += &wrapped(&format!("{}: {off:.1} % {side}, {}", call.requirement, call.address), width, "  ");
    }
    if calls.len() > most {
        text += &format!("  and {} more, with --full\n", calls.len() - most);
    }
    text + "\n"
}

fn closing(design: &Design, answer: &Answer, width: usize) -> String {
    let counts = &answer.counts;
    let mut said = counted(counts.designs, "design");
    if let Some((reason, most)) = counts.reasons.first() {
        let impossible = counts.impossible;
        said += &format!("; {impossible} impossible, {most} of them: {reason}");
    }
    let [short, long] = counts.simulated;
    said += &format!(". {} and {}", counted(short, "short simulation"), counted(long, "long one"));
    if counts.known > 0 {
        said += &format!(", {} known before", counts.known);
    }
    if counts.left_out > 0 {
        let percent = |margin: f64| format!("{:.0} %", (margin - 1.0) * 100.0);
        said += &format!(
            ". {} not simulated at length: they miss two requirements or are beaten even if a long simulation differed from \
             the short one by {} in rates, {} in times and {} in rebuilds",
            counts.left_out,
            percent(answer.margins.rate),
            percent(answer.margins.time),
            percent(answer.margins.hours)
        );
    }
    said += &format!(
        ". Simulated figures are models': half of what they foretell is within {:.0} % of what was measured; figures within \
         {:.0} % count as the same",
        answer.model_error * 100.0,
        answer.resolution * 100.0
    );
    let reliability = &design.reliability;
    let about_loss = design
        .requirements
        .iter()
        .any(|requirement| requirement.figure == explore::requirement::Figure::Loss);
    if about_loss {
        said += &format!(
            ". Loss: disks fail independently, MTTF {:.0} h, {:e} unreadable bits, replaced after {:.0} h where no hot spare \
             is; a lower bound",
            reliability.mttf_h, reliability.unreadable, reliability.replace_h
        );
        if let Some(chance) = answer.front.first().and_then(|row| row.loss_simulated) {
            let closed = answer.front[0].loss;
            said += &format!(
                "; of the cheapest {closed:.1e} in closed form, {:.1e} ({:.1e} to {:.1e}) in simulated first years of disks that \
                 wear out",
                chance.value, chance.low, chance.high
            );
        }
    }
    wrapped(&(said + "."), width, "")
}

/// Columns as wide as they need, the last one as it is; `right` says which stand on the right.
fn table<R: AsRef<[String]>>(rows: &[R], right: &[bool]) -> String {
    let width =
        |column: usize| rows.iter().map(|row| row.as_ref()[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..right.len()).map(width).collect();
    let mut text = String::new();
    for row in rows {
        let cells = row.as_ref().iter().zip(&widths).zip(right).map(|((cell, width), right)| {
            if *right { format!("{cell:>width$}") } else { format!("{cell:<width$}") }
        });
        text += format!("  {}", cells.collect::<Vec<_>>().join("  ")).trim_end();
        text.push('\n');
    }
    text
}
