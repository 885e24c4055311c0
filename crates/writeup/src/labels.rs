//! What runs are called in charts and tables: by what they do not have in common.

use record::Run;

/// A label for each of `runs`, all different: by the options of their targets, by their tags, or by their ids.
pub(crate) fn labels(runs: &[Run]) -> Vec<String> {
    let mut labels = distinct(&without_usual(runs.iter().map(words).collect()));
    for index in 0..labels.len() {
        let before = labels[..index].iter().filter(|label| **label == labels[index]).count();
        let same = runs[..index].iter().filter(|run| words(run) == words(&runs[index])).count();
        if before > 0 || labels[index].is_empty() {
            let turn = if same > 0 { format!("run {}", same + 1) } else { runs[index].id.clone() };
            labels[index] = format!("{} {turn}", labels[index]).trim().to_owned();
        }
    }
    labels
}

/// The same of the runs of a campaign: their cells, their plans where there are several, and their blocks.
pub(crate) fn cells(runs: &[Run]) -> Vec<String> {
    let several = runs.iter().any(|run| run.plan.name != runs[0].plan.name);
    let label = |run: &Run| {
        let cell = run.cell.as_ref()?;
        let plan = if several { format!("{}, ", run.plan.name) } else { String::new() };
        Some(format!("{plan}{}, block {}", cell.label(), cell.block))
    };
    runs.iter().map(|run| label(run).unwrap_or_default()).collect()
}

/// What a run is told apart by, in words that can each be left out: tags, parts of the addresses, the plan.
fn words(run: &Run) -> Vec<String> {
    let parts: Vec<String> = run.targets.iter().flat_map(|target| parts(&target.address)).collect();
    // A tag that repeats what the address says, as `raid=5` does, tells nothing more.
    let said = |tag: &String| parts.iter().any(|part| part.eq_ignore_ascii_case(tag));
    let tags = run.tags.iter().map(|(key, value)| format!("{key} {value}"));
    let tags: Vec<String> = tags.filter(|tag| !said(tag)).collect();
    let overrides = run.plan.overrides.iter().map(|change| change.replace('=', " "));
    tags.into_iter().chain(parts).chain(overrides).chain([run.plan.name.clone()]).collect()
}

/// `array:md3000?raid=5&disks=8` is `md3000`, `RAID 5`, `disks 8`; other addresses are one word.
fn parts(address: &str) -> Vec<String> {
    let Some(array) = address.strip_prefix("array:") else { return vec![address.to_owned()] };
    let word = |part: &str| match part.strip_prefix("raid=") {
        Some(level) => format!("RAID {level}"),
        None => part.replacen('=', " ", 1),
    };
    array.split(['?', '&']).map(word).collect()
}

/// Runs beside each other from which on a label has to be short.
const MANY: usize = 6;

/// Of many lists, without what all but one have, as far as they still differ: the one is named by what it has of its own.
fn without_usual(lists: Vec<Vec<String>>) -> Vec<Vec<String>> {
    if lists.len() < MANY {
        return lists;
    }
    let usual = |word: &String| lists.iter().filter(|list| list.contains(word)).count() + 1 == lists.len();
    let short: Vec<Vec<String>> =
        lists.iter().map(|list| list.iter().filter(|word| !usual(word)).cloned().collect()).collect();
    let told = distinct(&short);
    let differ = (1..told.len()).all(|at| !told[..at].contains(&told[at]));
    if differ && told.iter().all(|label| !label.is_empty()) { short } else { lists }
}

/// Of each list what not all of them have; where nothing is left, the first word.
fn distinct(lists: &[Vec<String>]) -> Vec<String> {
    let common = |word: &String| lists.iter().all(|list| list.contains(word));
    lists
        .iter()
        .map(|list| {
            let own: Vec<&str> = list.iter().filter(|word| !common(word)).map(String::as_str).collect();
            let first = || list.first().cloned().unwrap_or_default();
            if own.is_empty() { first() } else { own.join(", ") }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::sample;

    fn on(addresses: &[&str]) -> Vec<String> {
        let runs: Vec<Run> = addresses
            .iter()
            .map(|address| {
                let mut run = sample::run("random", Vec::new());
                run.targets[0].address = (*address).to_owned();
                run
            })
            .collect();
        labels(&runs)
    }

    #[test]
    fn runs_are_called_by_what_they_do_not_have_in_common() {
        assert_eq!(on(&["array:md3000?raid=5", "array:md3000?raid=10"]), ["RAID 5", "RAID 10"]);
        assert_eq!(on(&["array:md3000", "array:px6?raid=5"]), ["md3000", "px6, RAID 5"]);
        assert_eq!(on(&["array:md3000", "array:md3000?raid=5"]), ["md3000", "RAID 5"]);
        assert_eq!(on(&["/dev/sda"]), ["/dev/sda"]);
    }

    #[test]
    fn a_tag_that_repeats_the_address_is_not_told_twice() {
        let runs = ["5", "10"].map(|raid| {
            let mut run = sample::run("random", Vec::new());
            run.targets[0].address = format!("array:md3000?raid={raid}");
            run.tags = [("raid".to_owned(), raid.to_owned()), ("room".to_owned(), format!("r{raid}"))].into();
            run
        });
        assert_eq!(labels(&runs), ["room r5, RAID 5", "room r10, RAID 10"]);
    }

    #[test]
    fn of_many_runs_what_all_but_one_have_in_common_is_not_told_of_each() {
        let levels =
            ["raid=5&disks=4", "raid=5&disks=8", "raid=6&disks=4", "raid=10&disks=4", "raid=10&disks=8"];
        let mut addresses: Vec<String> =
            levels.map(|level| format!("array:md3000?cache=1GiB&{level}")).into();
        addresses.push("/mnt/a".into());
        let addresses: Vec<&str> = addresses.iter().map(String::as_str).collect();
        let told =
            ["RAID 5, disks 4", "RAID 5, disks 8", "RAID 6, disks 4", "RAID 10, disks 4", "RAID 10, disks 8"];
        assert_eq!(on(&addresses), [&told[..], &["/mnt/a"]].concat());
    }

    #[test]
    fn equal_runs_are_numbered() {
        assert_eq!(on(&["/mnt/a", "/mnt/a", "/mnt/b"]), ["/mnt/a", "/mnt/a run 2", "/mnt/b"]);
    }
}
