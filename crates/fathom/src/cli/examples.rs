//! Worked examples below each verb's help. Lines of less than 80 columns: clap breaks longer ones without regard to the
//! columns.

pub const RUN: &str = "\
Examples:
  fathom run corners --on /mnt/array        on a scratch file, removed afterwards
  fathom run oltp --on /dev/sdb --destroy Z1X2AB34 --set run=60s
                                            writes to the disk with that serial
  fathom run oltp --on /mnt/new --against /mnt/old --fail-on 'p99>10%'
                                            A/B test of two targets, for CI
  fathom run gate.toml --junit gate.xml     the plan's own target, slo and baseline
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
  fathom campaign raid.toml --dry-run       hours, order, smallest visible effect
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
  fathom serve md3000 --dir /srv/md3000     member files there, NBD on port 10809
  fathom serve 'md3000?raid=5' --memory --unix /tmp/nbd --pace max
                                            as fast as this machine can
  fathom array fail 3                       a drive fails; a hot spare takes over
  fathom array status                       sets, drives, progress of the rebuild";

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
  fathom validate --leave-out each          by models that were fitted without them";

pub const COMPLETIONS: &str = "\
Examples:
  fathom completions bash > ~/.local/share/bash-completion/completions/fathom
  fathom completions zsh > ~/.zfunc/_fathom       (with ~/.zfunc in fpath)
  fathom completions fish > ~/.config/fish/completions/fathom.fish";

pub const MAN: &str = "\
Examples:
  fathom man | man -l -                     read fathom(1)
  fathom man ~/.local/share/man/man1        install; then: man fathom-run";
