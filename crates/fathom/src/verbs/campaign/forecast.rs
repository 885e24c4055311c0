//! What a campaign would take, and what it could see: before anything is measured.

use stats::difference::POWER;
use stats::factorial::{self, Noise, Term};
use units::Nanos;
use workload::plan::Plan;

use super::CampaignArgs;
use super::kept::Kept;
use super::subject::Subject;
use crate::ending::{Ending, Failure};
use crate::output;
use crate::session::store::Store;
use crate::terminal;

/// How many runs of the schedule `--dry-run` prints without `--order`; of the rest it prints the number.
const TURNS: usize = 12;
/// Fewer blocks show no error.
const BLOCKS_LEAST: u32 = 2;
/// A change this large or larger is printed as a ratio, a smaller one in percent.
const TIMES: f64 = 3.0;
/// One cell of so many is tried where time is short.
const FRACTIONS: [u32; 5] = [1, 2, 3, 4, 8];

const _: () = {
    let mut at = 1;
    while at < FRACTIONS.len() {
        assert!(FRACTIONS[at - 1] < FRACTIONS[at], "the largest part of the cells is tried first");
        at += 1;
    }
};

/// Reads the campaign with so many blocks and one cell of so many.
type Read<'a> = dyn Fn(Option<u32>, Option<u32>) -> Result<Subject, Failure> + 'a;

/// The campaign within `time`: with fewer blocks, then with a fraction of its cells. An error where nothing fits.
pub fn fitted(subject: Subject, time: Nanos, read: &Read<'_>) -> Result<Subject, Failure> {
    let wanted = subject.campaign.repeats;
    let mut shortest = None;
    for fraction in FRACTIONS.into_iter().filter(|fraction| *fraction >= subject.campaign.fraction) {
        let Ok(tried) = read(Some(wanted), Some(fraction)) else { continue };
        let Some(block) = of_a_block(&tried)? else {
            return Err(Failure::Usage(
                "--within: how long the runs take is not known beforehand, as of virtual arrays and of plans that end \
                 by their own rules; start the campaign, and interrupt it when the time is over"
                    .into(),
            ));
        };
        let fit = u32::try_from(time.get() / block.get().max(1)).unwrap_or(u32::MAX).min(wanted);
        if fit >= BLOCKS_LEAST.min(wanted) {
            if (fit, fraction) != (wanted, subject.campaign.fraction) {
                let cells = if fraction > 1 { format!(" of one cell of {fraction}") } else { String::new() };
                terminal::say_sentence(&format!("--within {time}: {fit} of {wanted} blocks{cells}"));
            }
            return read(Some(fit), Some(fraction));
        }
        shortest = Some(block);
    }
    let least = shortest.map(|block| Nanos::new(block.get().saturating_mul(BLOCKS_LEAST.into())));
    let least = least.map(|time| format!("; the smallest takes {time}")).unwrap_or_default();
    Err(Failure::Usage(format!(
        "--within {time}: not even a fraction of the cells in two blocks fits{least}"
    )))
}

/// What a block takes by the times in its plans; `None` where they do not say.
fn of_a_block(subject: &Subject) -> Result<Option<Nanos>, Failure> {
    let mut sum = Nanos::ZERO;
    for turn in subject.schedule().into_iter().filter(|turn| turn.block == 1) {
        let request = subject.request(&turn, &[])?;
        let estimate = request.planned.plan.estimate();
        if estimate.untimed_points > 0 || request.targets.iter().any(|target| target.starts_with("array:")) {
            return Ok(None);
        }
        sum = Nanos::new(sum.get().saturating_add(estimate.time.get()));
    }
    Ok(Some(sum))
}

/// Prints the runs in their order, what they take, and the smallest effect that would be seen.
pub fn dry_run(subject: &Subject, arguments: &CampaignArgs, store: &Store) -> Result<Ending, Failure> {
    debug_assert!(arguments.dry_run, "nothing is measured");
    let kept = Kept::of(subject, store)?;
    kept.say_others();
    let most = if arguments.order { usize::MAX } else { TURNS };
    let mut text = foreseen(subject, &kept, most)?;
    let more = subject.schedule().len().saturating_sub(most);
    if more > 0 {
        text += &format!("  … and {more} more; --order prints all\n");
    }
    output::print_wrapped(&text)?;
    Ok(Ending::done())
}

/// The same as text, of a campaign of which `kept` is there already, with at most so many of its runs.
pub fn foreseen(subject: &Subject, kept: &Kept, most: usize) -> Result<String, Failure> {
    let campaign = &subject.campaign;
    let turns = subject.schedule();
    let mut text = format!(
        "{}: {} × {} × {}, {}\n",
        report::harmless(&campaign.name),
        report::counted(subject.cells().len(), "cell"),
        report::counted(campaign.plans.len(), "plan"),
        report::counted(campaign.repeats as usize, "block"),
        report::counted(turns.len(), "run")
    );
    // Published figures are runs of the campaign too, and of no turn.
    let left = kept.left(subject).len();
    debug_assert!(left <= turns.len(), "turns that are left are some of all");
    if left < turns.len() {
        text += &format!("{} are in the library, {left} are left\n", turns.len() - left);
    }
    text += &match of_a_block(subject)? {
        Some(block) => format!(
            "time         {} in all, {block} a block; laying out scratch files, commands and people come on top\n",
            Nanos::new(block.get().saturating_mul(campaign.repeats.into()))
        ),
        None => "time         known after the first run: virtual time passes as fast as it can be computed\n"
            .into(),
    };
    text += &seen(subject, kept)?;
    text += &given_up(subject);
    text += &means(subject);
    text += &unheld(subject)?;
    text += "order\n";
    for turn in turns.iter().take(most) {
        text += &format!("  {:>4}  {}\n", turn.number, report::harmless(&subject.label(turn)));
    }
    Ok(text)
}

/// The smallest effect of each factor that is found nine times of ten.
fn seen(subject: &Subject, kept: &Kept) -> Result<String, Failure> {
    let Some(design) = &subject.design else { return Ok(String::new()) };
    let blocks = subject.campaign.repeats as usize;
    if blocks < 2 {
        return Ok(
            "effects      none: with one block nothing tells them from chance; give two at least\n".into()
        );
    }
    let (noise, basis) = noise(subject, kept);
    let (terms, figures) = (design.terms(), figures(subject)?);
    // Each effect is tested in each figure.
    debug_assert!(!terms.is_empty(), "a design tests some effect");
    let alpha = campaign::FALSE_EFFECTS / (terms.len() * figures.max(1)) as f64;
    let mut text = format!(
        "effects      the smallest change of {} that is found with {:.0} % probability, {basis}:\n",
        if figures == 1 { "the figure".into() } else { format!("one figure of {figures}") },
        POWER * 100.0
    );
    for term in terms {
        let ratio = factorial::smallest(design, term, blocks, noise, alpha, POWER);
        let shown = match ratio {
            Ok(ratio) if ratio <= TIMES => format!("{:.1} %", (ratio - 1.0) * 100.0),
            Ok(ratio) if ratio.is_finite() => format!("×{ratio:.0}: too few blocks for anything smaller"),
            Ok(_) => "none, however large: too few blocks".into(),
            Err(refusal) => format!("none: {refusal}"),
        };
        text += &format!("  {:<20}  {shown}\n", report::harmless(&term_name(subject, term)));
    }
    Ok(text)
}

/// The figures of all plans that effects are tested in.
fn figures(subject: &Subject) -> Result<usize, Failure> {
    Ok(each_plan(subject, campaign::figures_of)?.into_iter().sum())
}

/// What is claimed of points that no plan has.
fn unheld(subject: &Subject) -> Result<String, Failure> {
    let titles = each_plan(subject, campaign::titles_of)?.into_iter().flatten().collect();
    let notes = campaign::claims_of_no_point(&subject.campaign.claims, &titles);
    Ok(notes.iter().map(|note| format!("claim        {}\n", report::harmless(note))).collect())
}

/// `of` each plan, as its first run has it.
fn each_plan<T>(subject: &Subject, of: fn(&Plan) -> T) -> Result<Vec<T>, Failure> {
    let schedule = subject.schedule();
    let first_of = |plan: usize| schedule.iter().find(|turn| turn.plan == plan);
    let firsts = (0..subject.campaign.plans.len()).filter_map(first_of);
    firsts.map(|turn| Ok(of(&subject.request(turn, &[])?.planned.plan))).collect()
}

fn term_name(subject: &Subject, term: Term) -> String {
    let names: Vec<&str> =
        term.factors().into_iter().map(|place| subject.campaign.factors[place].name.as_str()).collect();
    names.join(" × ")
}

/// The deviation from run to run, and what it rests on.
fn noise(subject: &Subject, kept: &Kept) -> (Noise, String) {
    let measured = campaign::effects(&kept.runs);
    let median = |mut values: Vec<f64>| {
        values.sort_by(f64::total_cmp);
        values.get(values.len() / 2).copied()
    };
    let within = median(measured.figures.iter().filter_map(|figure| figure.within).collect());
    let plots = median(measured.figures.iter().filter_map(|figure| figure.whole_plots).collect());
    if let Some(within) = within {
        let noise = Noise { within, whole_plot: plots.unwrap_or(0.0) };
        return (noise, format!("runs deviate by {:.1} % as those in the library do", within * 100.0));
    }
    if let Some(given) = subject.campaign.noise {
        let noise = Noise { within: given, whole_plot: given };
        return (noise, format!("if runs deviate by {:.1} %, as the file says", given * 100.0));
    }
    let usual = record::RUN_TO_RUN;
    let noise = Noise { within: usual, whole_plot: usual };
    (
        noise,
        format!(
            "if runs deviate by {:.1} %, as those of one disk did; `noise` in the file says otherwise",
            usual * 100.0
        ),
    )
}

/// What a fraction of the cells cannot tell.
fn given_up(subject: &Subject) -> String {
    let Some(design) = &subject.design else { return String::new() };
    let aliases = campaign::aliases_told(design, |term| term_name(subject, term));
    debug_assert!(aliases.is_empty() || subject.campaign.fraction > 1, "only a fraction gives something up");
    if aliases.is_empty() {
        return String::new();
    }
    let all: usize = subject.campaign.cells();
    let mut text = format!("given up     with {} of {all} cells measured:\n", subject.cells().len());
    for alias in aliases {
        text += &format!("  {}\n", report::harmless(&alias));
    }
    text
}

/// How each factor is changed and read back.
fn means(subject: &Subject) -> String {
    let mut text = String::new();
    for factor in &subject.campaign.factors {
        let by = match (&factor.means, &factor.option) {
            (Some(campaign::Means::Set(command)), _) => format!("set by: {command}"),
            (Some(campaign::Means::Ask(words)), _) => format!("operator: {words}"),
            (Some(campaign::Means::PlanKey(key)), _) => format!("key `{key}` of the plan"),
            (Some(campaign::Means::Target(template)), _) => format!("target {template}"),
            (Some(campaign::Means::Health), _) => "states before the plan".into(),
            (None, Some(option)) => format!("option `{option}` of the virtual array"),
            (None, None) => String::new(),
        };
        let hard = if factor.is_hard() { "; hard to change: once for a whole plot" } else { "" };
        let check = match &factor.check {
            Some(check) => format!("; read back by: {}", check.command),
            None => String::new(),
        };
        let line = format!("{} ({}): {by}{hard}{check}", factor.name, factor.levels.join(", "));
        text += &format!("factor       {}\n", report::harmless(&line));
    }
    text
}
