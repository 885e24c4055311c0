//! Worked examples below each verb's help. Lines of less than 80 columns: clap breaks longer ones without regard to the
//! columns.

use clap::Command;

use crate::emulate;

/// `fathom array` with examples below the help of each of its verbs.
pub fn of_array(verb: Command) -> Command {
    with(&ARRAY, verb)
}

/// The same of `fathom plan`.
pub fn of_plan(verb: Command) -> Command {
    with(&PLAN, verb)
}

fn with(examples: &[(&str, &'static str)], verb: Command) -> Command {
    match examples.iter().find(|(name, _)| *name == verb.get_name()) {
        Some((_, examples)) => verb.after_help(*examples),
        None => verb,
    }
}

/// Examples of `fathom as`, and the tools there are.
pub fn of_tools() -> String {
    format!("{AS}\n\n{}", emulate::list())
}

pub const RUN: &str = "\
Examples:
  fathom run corners --on /mnt/array        on a scratch file, then removed
  fathom run oltp --on /dev/sdb --destroy Z1X2AB34 --set run=60s
                                            writes to the disk with that serial
  fathom run oltp --on /mnt/new --against /mnt/old --fail-on 'p99>10%'
                                            A/B test of two targets, for CI
  fathom run gate.toml --junit gate.xml     its own target, slo and baseline
  fathom run gate.toml --runs 5 --tag release=2.1
                                            five runs that become the baseline";

pub const SEARCH: &str = "\
Examples:
  fathom search oltp --on array:md3000 --slo 'p99<20ms'
  fathom search mixed --load 'oltp alone' --on /mnt/array --slo 'read.p99<5ms'
  fathom search oltp --on /dev/sdb --destroy Z1X2AB34 --slo 'p99.9<50ms' \\
      --to 2k/s                             never offer more than 2,000/s";

pub const CAMPAIGN: &str = "\
Examples:
  fathom campaign raid.toml --dry-run       hours, order, smallest effect
  fathom campaign raid.toml --on /dev/sdb --destroy Z1X2AB34
                                            again after any end: resumes
  fathom report campaign:raid -o raid.html  the write-up";

pub const EXPLORE: &str = "\
Examples:
  fathom explore nas.toml                   after any end: resumes
  fathom explore nas.toml --brute           leave no design out
  fathom explore nas.toml --json            the whole front, for a program";

pub const LS: &str = "\
Examples:
  fathom ls                                 the latest 20 runs
  fathom ls --plan oltp --tag room=3        by plan and label
  fathom ls --check                         verify the checksums of all runs";

pub const SHOW: &str = "\
Examples:
  fathom show                               the last run
  fathom show last~1 --full                 with all findings and checks
  fathom show 7 --format md                 as Markdown, for a ticket";

pub const EXPLAIN: &str = "\
Examples:
  fathom explain                            the last run's bottlenecks
  fathom explain last --what-if             gain of each part 10 % faster
  fathom explain 7 --parts san.toml         with the SAN's ceilings";

pub const COMPARE: &str = "\
Examples:
  fathom compare last~1 last                two runs
  fathom compare 3,4,5 6,7,8 --margin 3%    two groups of repeats
  fathom compare --by firmware --plan oltp --fail-on 'iops<-5%'";

pub const REPORT: &str = "\
Examples:
  fathom report last~1 last -o report.html  compare two runs on one page
  fathom report 3 4 5 -o result.xlsx        a workbook with charts and formulas
  fathom report --chart load                the load curve in the terminal
  fathom report --verify report.html        recompute every number in it";

pub const SERVE: &str = "\
Examples:
  fathom serve md3000 --dir /srv/md3000     its files there, NBD on port 10809
  fathom serve 'md3000?raid=5' --memory --unix /tmp/nbd --pace max
                                            as fast as this machine can
  fathom array fail 3                       a drive fails; a spare takes over
  fathom array status                       sets, drives, progress";

pub const UI: &str = "\
Examples:
  fathom ui                                 on this machine, port 7070
  fathom ui --listen 127.0.0.1:0 --store team.sqlite
                                            a free port, another library
  fathom ui --listen 192.0.2.7:7070 --token 4b1fd7c2a9e05831
                                            for other machines, with a token";

pub const EXPORT: &str = "\
Examples:
  fathom export last -o result.csv          for a spreadsheet
  fathom export 7 -o result.json -o result.md
  fathom export last --format fio           as fio's JSON";

pub const IMPORT: &str = "\
Examples:
  fathom import result.json                 a run of another machine
  fathom import laptop.sqlite last          one run of another library
  fathom --store postgres://anna@host/runs import mine.sqlite
                                            all of them, into a team's";

pub const RM: &str = "\
Examples:
  fathom rm last                            the last run
  fathom rm 3 4 5                           by number of `fathom ls`
  fathom rm 20260131-1200                   by the beginning of the id";

pub const DOCTOR: &str = "\
Examples:
  fathom doctor                             this machine and the tool
  fathom doctor /mnt/array                  the path to its media, ceilings
  fathom doctor /mnt/array --caches         find its caches by reading";

pub const VALIDATE: &str = "\
Examples:
  fathom validate                           all published results
  fathom validate --only md3000             those of one array
  fathom validate --cases mine.toml         your own
  fathom validate --leave-out each          by models fitted without them";

pub const COMPLETIONS: &str = "\
Examples:
  fathom completions bash > ~/.local/share/bash-completion/completions/fathom
  fathom completions zsh > ~/.zfunc/_fathom       (with ~/.zfunc in fpath)
  fathom completions fish > ~/.config/fish/completions/fathom.fish";

pub const MAN: &str = "\
Examples:
  fathom man | man -l -                     read fathom(1)
  fathom man ~/.local/share/man/man1        install; then: man fathom-run
  fathom man > fathom.1                     that page as a file";

pub const FORMATS: &str = "\
Examples:
  fathom formats                            all formats and emulated tools
  fathom formats | grep fio                 what is read and written of fio";

const AS: &str = "\
Examples:
  fathom as fio --name=t --rw=randread --bs=4k --runtime=5 \\
      --time_based --filename=array:md3000  fio's options and output
  fathom as dd if=/dev/zero of=array:md3000 bs=1M count=100
  fathom as --destroy Z1X2AB34 fio --name=t --rw=randwrite --bs=4k \\
      --runtime=60 --filename=/dev/sdb      consent comes before the tool";

const PLAN: [(&str, &str); 5] = [
    (
        "list",
        "\
Examples:
  fathom plan list                          the ready plans, a line each
  fathom plan list | grep pts               those with that word",
    ),
    (
        "show",
        "\
Examples:
  fathom plan show oltp                     its text, with comments
  fathom plan show oltp > mine.toml         a plan of your own to begin with",
    ),
    (
        "check",
        "\
Examples:
  fathom plan check oltp                    points, bytes and time
  fathom plan check mine.toml               every mistake with its line
  fathom plan check random --set run=5s --set reads=100%
                                            with the changes that `run` takes",
    ),
    (
        "help",
        "\
Examples:
  fathom plan help                          all keys, a line each
  fathom plan help depth                    value, default, place, example
  fathom plan help invalidate               the key for a word of fio's",
    ),
    (
        "convert",
        "\
Examples:
  fathom plan convert job.fio > job.toml    a job file of fio's as a plan
  fathom plan convert load.icf              a configuration of Iometer's
  fathom plan convert --from sqlio param.txt
                                            where the file does not say it",
    ),
];

const ARRAY: [(&str, &str); 23] = [
    (
        "list",
        "\
Examples:
  fathom array list                         a line each
  fathom array list | grep -i flash         those with that word
  fathom run quick --on array:md3000        measure one of them",
    ),
    (
        "show",
        "\
Examples:
  fathom array show md3000                  its options, then its figures
  fathom array show 'md3000?raid=10'        with that option set
  fathom array show mine.toml               a file, as `array fit` writes it",
    ),
    (
        "check",
        "\
Examples:
  fathom array check nearline-60            disks, RAID sets, sizes of the LUNs
  fathom array check 'md3000?raid=10&luns=2'
                                            that these options go together
  fathom array check mine.toml              every mistake with its line",
    ),
    (
        "lab",
        "\
Examples:
  fathom array lab md3000                   8 KiB random, 70 % reads
  fathom array lab 'md3000?raid=10' --pattern sequential --size 64KiB \\
      --reads 100% --depths 1,8             streams, at two queue depths
  fathom array lab px6-300d --rebuild 2     what a rebuild of disk 2 costs",
    ),
    (
        "loss",
        "\
Examples:
  fathom array loss nearline-60             as the model rebuilds, over a year
  fathom array loss 'md3000?raid=6' --age 26000h --over 43830h
                                            disks of three years, five more
  fathom array loss 'px6-300d?raid=5' --rebuild 24h --ure 1e-14
                                            slow rebuild, more read errors",
    ),
    (
        "fit",
        "\
Examples:
  fathom array fit array:md3000 -o md3000-fitted.toml
                                            of a model: to see what it gives
  fathom array fit /dev/sdb -o mine.toml    reads alone; writes nothing
  fathom array fit /dev/sdb -o mine.toml --destroy Z1X2AB34
                                            writes too: overwrites the disk",
    ),
    (
        "status",
        "\
Examples:
  fathom array status                       of the only array that is served
  fathom array status --server box          of one of several, by its name
  fathom array status --format json         for a program",
    ),
    (
        "events",
        "\
Examples:
  fathom array events                       the whole log
  fathom array events --after 120           what is new since event 120",
    ),
    (
        "fail",
        "\
Examples:
  fathom array fail 3                       the drive in bay 3, from 0
  fathom array fail 3 --server box          of one of several arrays
  fathom array status                       then: which hot spare took over",
    ),
    (
        "pull",
        "\
Examples:
  fathom array pull 3                       out of bay 3
  fathom array insert 3                     then: back again
  fathom array insert 3 --new               or: an empty drive in its place",
    ),
    (
        "insert",
        "\
Examples:
  fathom array insert 3                     the drive that was pulled last
  fathom array insert 3 --new               an empty drive
  fathom array insert 3 --serial Z1X2AB34   a drive that was pulled before",
    ),
    (
        "clear",
        "\
Examples:
  fathom array clear 3                      the drive in bay 3
  fathom array clear 3 --destroy Z1X2AB34   where a failed set may need it",
    ),
    (
        "spare",
        "\
Examples:
  fathom array spare 3                      the drive in bay 3
  fathom array clear 3                      first, where it was refused",
    ),
    (
        "rebuild",
        "\
Examples:
  fathom array rebuild                      set 0, onto a hot spare
  fathom array rebuild 1 --wait             set 1; returns when it has ended
  fathom array progress                     how far it is, in percent",
    ),
    (
        "progress",
        "\
Examples:
  fathom array progress                     in percent
  fathom array progress --server box        of one of several arrays
  fathom run rebuilding --on /dev/nbd0 --set reads=100% \\
      --progress-cmd 'fathom array progress'
                                            beside a load, into the record",
    ),
    (
        "clone",
        "\
Examples:
  fathom array clone 3                      the drive in bay 3
  fathom array clone 3 --wait               returns when it has ended",
    ),
    (
        "verify",
        "\
Examples:
  fathom array verify                       set 0
  fathom array verify 1 --repair            set 1; rewrites parity that differs
  fathom array verify --wait                exit code 1 if it left errors",
    ),
    (
        "initialise",
        "\
Examples:
  fathom array status                       shows the number of the array
  fathom array initialise 0 --destroy 5f0c2ab9e14d7736.90b1d6e87a20cf43
                                            set 0 of the array with that number
  fathom array progress                     how far it is, in percent",
    ),
    (
        "path",
        "\
Examples:
  fathom array path                         all paths
  fathom array path 2 down                  the link of path 2 goes down
  fathom array path 2 up                    and comes up again",
    ),
    (
        "controller",
        "\
Examples:
  fathom array controller                   all, with the LUNs that they serve
  fathom array controller 0 offline         its partner takes its LUNs over
  fathom array controller 0 online          and gives them back",
    ),
    (
        "firmware",
        "\
Examples:
  fathom array firmware                     the release, and those there are
  fathom array firmware 3.88A.03            of a served esds-s24s-g2240",
    ),
    (
        "cache",
        "\
Examples:
  fathom array cache                        mode, battery, unwritten data
  fathom array cache battery-dead           written out; then writes go through
  fathom array cache flush                  write everything to the drives",
    ),
    (
        "rate",
        "\
Examples:
  fathom array rate 30MB/s                  of each member
  fathom array rate 30%                     of the model's time
  fathom array rate max                     no limit",
    ),
];

#[cfg(test)]
mod tests {
    use clap::{CommandFactory, Parser};

    use crate::cli::Cli;

    /// The commands of `fathom` that have none below them, each with its name in full.
    fn leaves(command: &clap::Command, name: &str, found: &mut Vec<(String, String)>) {
        let verbs: Vec<_> = command.get_subcommands().filter(|verb| verb.get_name() != "help").collect();
        if verbs.is_empty() {
            let below = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            found.push((name.to_owned(), below));
        }
        for verb in command.get_subcommands() {
            if verb.get_name() != "help" || name == "fathom plan" {
                leaves(verb, &format!("{name} {}", verb.get_name()), found);
            }
        }
    }

    /// The commands of worked examples, without their comments and what follows a pipe or a redirection.
    fn commands(below: &str) -> Vec<String> {
        let joined = below.replace("\\\n", "");
        let examples = joined.lines().filter_map(|line| line.strip_prefix("  fathom "));
        examples.map(|line| format!("fathom {}", bare(line))).collect()
    }

    fn bare(line: &str) -> String {
        let line = line.replace("      --", "--");
        let ends = ["  ", " | ", " > "].into_iter().filter_map(|end| line.find(end)).min();
        line[..ends.unwrap_or(line.len())].trim().to_owned()
    }

    #[test]
    fn each_command_has_two_worked_examples_at_least_that_fit_a_terminal() {
        let mut found = Vec::new();
        leaves(&Cli::command(), "fathom", &mut found);
        assert!(found.len() > 45, "{}", found.len());
        for (name, below) in found {
            assert!(commands(&below).len() >= 2, "{name}: {below}");
            let own = commands(&below).iter().filter(|command| command.starts_with(&name)).count();
            assert!(own >= 1, "{name} is not in its own examples: {below}");
            let examples = below.split("\n\n").next().unwrap_or_default();
            assert!(examples.lines().all(|line| line.chars().count() < 80), "{name}: {below}");
        }
    }

    #[test]
    fn each_worked_example_is_a_command_that_is_understood() {
        let mut found = Vec::new();
        leaves(&Cli::command(), "fathom", &mut found);
        for command in found.iter().flat_map(|(_, below)| commands(below)) {
            let (mut words, mut quoted) = (vec![String::new()], false);
            for letter in command.chars() {
                match letter {
                    '\'' => quoted = !quoted,
                    ' ' if !quoted => words.push(String::new()),
                    letter => words.last_mut().unwrap().push(letter),
                }
            }
            words.retain(|word| !word.is_empty());
            let read = Cli::try_parse_from(&words);
            assert!(read.is_ok(), "{command}: {}", read.unwrap_err());
        }
    }
}
