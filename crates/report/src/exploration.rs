//! A search over designs on one screen: the design, what each requirement costs, the front, why not a neighbour.

use record::{
    Chance, CloseCall, DesignFigure, DesignReliability, DesignUnit, Exploration, NeighbourDesign,
    RequirementCost, Run,
};

use crate::style::Style;
use crate::words::{counted, harmless, thousands, wrap};

/// Figures of a front that have a letter.
const LETTERS: std::ops::RangeInclusive<char> = 'a'..='z';

/// Rows of the front, neighbours and close calls that one screen has room for.
const FRONT: usize = 8;
const NEIGHBOURS: usize = 12;
const CLOSE: usize = 3;

/// What `found` says, in lines of `width` columns; all of it where `full`, otherwise as much as one screen shows. Ends with a
/// line end.
pub fn exploration(found: &Exploration, width: usize, full: bool) -> String {
    let most = |of: usize| if full { usize::MAX } else { of };
    let mut text = headline(found, width);
    text += &requirements(found);
    text += &front(found, most(FRONT), width);
    text += &neighbours(&found.neighbours, most(NEIGHBOURS), width);
    text += &close_calls(found, most(CLOSE), width);
    harmless_lines(&(text + &closing(found, width)))
}

/// The same of the search that `run` is, in lines; none where it is not one.
pub(crate) fn lines(run: &Run, style: Style, full: bool) -> Vec<String> {
    let Some(found) = &run.exploration else { return Vec::new() };
    let text = style.spell(&exploration(found, style.width, full));
    text.trim_end().lines().map(str::to_owned).collect()
}

/// Names come from files of others.
fn harmless_lines(text: &str) -> String {
    text.lines().map(|line| harmless(line) + "\n").collect()
}

fn wrapped(text: &str, width: usize, first: &str) -> String {
    let rest = " ".repeat(first.len());
    wrap(text, width, first, &rest).join("\n") + "\n"
}

fn headline(found: &Exploration, width: usize) -> String {
    let Some(first) = found.front.first() else {
        return "no design meets every requirement\n\n".into();
    };
    let price = amount(found, first.values.first().copied().unwrap_or(f64::NAN));
    let many = if found.requirements.len() == 1 { "the requirement" } else { "every requirement" };
    // What does not last is not as sure as what does.
    let meets = if first.unsustained.is_empty() { "meets" } else { "may meet" };
    let mut text =
        wrapped(&format!("{price}  {} is the cheapest design that {meets} {many}", first.address), width, "");
    if !first.unsustained.is_empty() {
        let said = format!(
            "Not sustained, the write cache was still filling or the rate was not steady: {}. In the long run the design \
             may miss a requirement; \
             measure it with `fathom run PLAN --on ADDRESS`, with a `warmup` long enough to fill the cache.",
            first.unsustained.join(", ")
        );
        text += &wrapped(&said, width, "! ");
    }
    text + "\n"
}

/// A price with its unit.
fn amount(found: &Exploration, price: f64) -> String {
    format!("{} {}", DesignUnit::Price.shown(price), found.price_unit)
}

fn requirements(found: &Exploration) -> String {
    if found.requirements.is_empty() {
        return String::new();
    }
    let has_one = !found.front.is_empty();
    let without = |requirement: &RequirementCost| match &requirement.without {
        Some(cheaper) => match cheaper.saves {
            Some(saves) => format!("{} less ({})", amount(found, saves), cheaper.shown),
            None => format!("{} ({})", amount(found, cheaper.price), cheaper.shown),
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
    for requirement in &found.requirements {
        rows.push([
            requirement.requirement.clone(),
            requirement.shown.clone(),
            requirement.best.clone(),
            without(requirement),
        ]);
    }
    table(&rows, &[false, true, true, false]) + "\n"
}

fn front(found: &Exploration, most: usize, width: usize) -> String {
    if found.front.is_empty() {
        return String::new();
    }
    let shown = found.front.len().min(most);
    let lettered: Vec<(char, &DesignFigure)> = LETTERS.zip(&found.figures).collect();
    let names: Vec<String> = lettered
        .iter()
        .map(|(letter, column)| match letter {
            'a' => format!("{letter} {} in {}", column.name, found.price_unit),
            _ => format!("{letter} {}", column.name),
        })
        .collect();
    let of = if shown < found.front.len() { format!(", {shown} shown") } else { String::new() };
    let said = format!("front: {}{of}. {}", counted(found.front.len() as u64, "design"), names.join(", "));
    let varied = found.varied();
    let mut heading: Vec<String> = lettered.iter().map(|(letter, _)| letter.to_string()).collect();
    heading.push(String::new());
    let mut rows = vec![heading];
    for row in &found.front[..shown] {
        let cell = |(place, (_, column)): (usize, &(char, &DesignFigure))| {
            let width = row.half_widths.get(place).copied().flatten().filter(|width| *width >= TOLD);
            let width = width.map_or_else(String::new, |width| format!(" ± {:.0} %", width * 100.0));
            let mark = if row.unsustained.contains(&column.name) { "!" } else { "" };
            row.values.get(place).map_or_else(String::new, |value| column.unit.shown(*value) + &width + mark)
        };
        let mut cells: Vec<String> = lettered.iter().enumerate().map(cell).collect();
        let alike = if row.alike > 0 { format!("  (and {} alike)", row.alike) } else { String::new() };
        cells.push(row.words(&varied) + &alike);
        rows.push(cells);
    }
    let mut right = vec![true; lettered.len()];
    right.push(false);
    let is_marked = found.front[..shown].iter().any(|row| !row.unsustained.is_empty());
    let mark = if is_marked { "  !: not sustained, in the long run it may be worse\n" } else { "" };
    wrapped(&said, width, "") + &table(&rows, &right) + mark + "\n"
}

/// Intervals of a rate that are narrower say no more than the figure.
const TOLD: f64 = 0.05;

fn neighbours(all: &[NeighbourDesign], most: usize, width: usize) -> String {
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

fn close_calls(found: &Exploration, most: usize, width: usize) -> String {
    let calls: &[CloseCall] = &found.close_calls;
    let spread = found.spread.map_or(1.0, |spread| spread.rate.max(spread.time).max(spread.hours));
    let models = found.model_error.max(spread - 1.0);
    if calls.is_empty() {
        return String::new();
    }
    let mut text = String::from("closer than the models can tell\n");
    for call in calls.iter().take(most) {
        let side = if call.ahead >= 0.0 { "inside" } else { "outside" };
        let off = call.ahead.abs() * 100.0;
        // What is further inside is open for another reason.
        let window = if call.ahead > models { " in a window that is not sustained" } else { "" };
        text += &wrapped(
            &format!("{}: {off:.1} % {side}{window}, {}", call.requirement, call.address),
            width,
            "  ",
        );
    }
    if calls.len() > most {
        text += &format!("  and {} more, with --full\n", calls.len() - most);
    }
    text + "\n"
}

fn closing(found: &Exploration, width: usize) -> String {
    let counts = &found.counts;
    let mut said = counted(counts.designs, "design");
    if let Some((reason, most)) = counts.reasons.first() {
        let impossible = counts.impossible;
        let of = if *most == impossible { String::new() } else { format!(", {most} of them") };
        said += &format!("; {impossible} impossible{of}: {reason}");
    }
    let [short, long] = counts.simulated;
    said += &format!(". {} and {}", counted(short, "short simulation"), counted(long, "long one"));
    if counts.known > 0 {
        said += &format!(", {} known before", counts.known);
    }
    if counts.left_out > 0 {
        said += &format!(
            ". {} not simulated at length: they miss two requirements or are beaten even if a long simulation differed from \
             the short one by {} in rates, {} in times and {} in rebuilds",
            counts.left_out,
            differing(found.margins.rate),
            differing(found.margins.time),
            differing(found.margins.hours)
        );
    }
    said += &format!(
        ". Simulated figures are models': half of what they foretell is within {:.0} % of what was measured; figures within \
         {:.0} % count as the same",
        found.model_error * 100.0,
        found.resolution * 100.0
    );
    let requests = found.front.iter().filter_map(|design| design.requests).min();
    if let Some(requests) = requests {
        said += &format!(
            ". Times of the front are those of {} requests or more: a run of more, or with another seed, differs by chance",
            thousands(requests)
        );
    }
    if let Some(spread) = &found.spread
        && found.figures.iter().any(|figure| figure.simulated)
    {
        said += &format!(
            ". With another seed the same design differed by up to {} in rates, {} in times and {} in rebuilds: by no more one \
             design is no better than another",
            differing(spread.rate),
            differing(spread.time),
            differing(spread.hours)
        );
    }
    wrapped(&(said + &about_loss(found) + "."), width, "")
}

/// A margin: a share, or where that would be a large one a factor.
fn differing(margin: f64) -> String {
    match margin {
        0.0..2.0 => format!("{:.0} %", (margin - 1.0) * 100.0),
        _ => format!("a factor of {margin:.1}"),
    }
}

/// What is taken of disks, and what becomes of the cheapest design; nothing where the loss of data is not required about.
fn about_loss(found: &Exploration) -> String {
    if !found.figures.iter().any(|figure| figure.unit == DesignUnit::PerYear) {
        return String::new();
    }
    let DesignReliability { mttf_h, unreadable, replace_h } = found.reliability;
    let taken = format!(
        ". Loss: disks fail independently, MTTF {mttf_h:.0} h, {unreadable:e} unreadable bits, replaced after {replace_h:.0} h \
         where no hot spare is; a lower bound"
    );
    let of_cheapest = found.front.first().and_then(|design| Some((design.loss?, design.loss_simulated?)));
    taken + &of_cheapest.map_or_else(String::new, |(closed, Chance { value, low, high })| {
        format!(
            "; of the cheapest {closed:.1e} in closed form, {value:.1e} ({low:.1e} to {high:.1e}) in simulated first years of \
             disks that wear out"
        )
    })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_a_front_are_told_with_the_requests_that_they_are_from() {
        let mut found = record::sample::exploration();
        assert!(!exploration(&found, 400, true).contains("Times of the front"));
        found.front[0].requests = Some(12_800);
        assert!(
            exploration(&found, 400, true)
                .contains("Times of the front are those of 12,800 requests or more")
        );
    }

    #[test]
    fn figures_are_told_with_their_interval_their_mark_and_what_another_seed_changes() {
        let mut found = record::sample::exploration();
        let name = found.figures[1].name.clone();
        found.front[0].half_widths = vec![None, Some(1.42), None];
        found.front[0].unsustained = vec![name];
        found.spread = Some(record::DesignMargins { rate: 1.03, time: 1.25, hours: 1.0 });
        found.close_calls[0].ahead = 9.785;
        let text = exploration(&found, 4_000, true);
        assert!(text.contains("978.5 % inside in a window that is not sustained"), "{text}");
        assert!(text.contains(" ± 142 %!") && text.contains("!: not sustained, in the long run"), "{text}");
        assert!(text.contains("differed by up to 3 % in rates, 25 % in times and 0 % in rebuilds"), "{text}");
    }

    #[test]
    fn a_search_is_told_on_one_screen_and_a_record_that_lacks_figures_is_no_panic() {
        let mut found = record::sample::exploration();
        let text = exploration(&found, 100, false);
        assert!(text.starts_with("1,040 EUR array:px6-300d?raid=5&disks=4 is the cheapest design"), "{text}");
        assert!(text.contains("raid=10 disks=6") && text.contains("110 EUR less (180)"), "{text}");
        assert!(text.lines().count() <= 30 && text.lines().all(|line| line.chars().count() <= 100), "{text}");
        assert!(!text.contains("sustained"), "{text}");
        found.front[0].unsustained = vec!["oltp iops".into()];
        let text = exploration(&found, 100, false);
        let told = "! Not sustained, the write cache was still filling or the rate was not steady:";
        let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(flat.contains(told) && flat.contains("oltp iops."), "{text}");
        assert!(text.contains("is the cheapest design that may meet the requirement"), "{text}");
        found.front.iter_mut().for_each(|design| design.values.clear());
        assert!(exploration(&found, 40, true).contains("none EUR"));
        found.front.clear();
        assert!(exploration(&found, 40, true).contains("no design meets every requirement"));
    }
}
