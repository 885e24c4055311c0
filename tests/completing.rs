//! Completion at the prompt: by the scripts of `fathom completions`, in the shells themselves.

use std::io::{Read, Write};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::support::{SMALL, User, lacks};

/// A user with a plan, a directory, and one run with a label.
fn user() -> User {
    let user = User::with_plan(SMALL);
    user.directory("disk");
    user.fathom("run plan.toml --on null: --tag room=3").done();
    user.directory("bin");
    symlink(env!("CARGO_BIN_EXE_fathom"), user.path("bin/fathom")).unwrap();
    user
}

/// `program`, as the user would start it, with `fathom` in the path; `None` where it is missing.
fn shell(user: &User, program: &str) -> Option<Command> {
    let path = std::env::var("PATH").unwrap_or_default();
    if !path.split(':').any(|folder| Path::new(folder).join(program).exists()) {
        lacks(program, &format!("needs {program}"));
        return None;
    }
    let model = user.command("");
    let mut command = Command::new(program);
    command.current_dir(user.path("")).env_clear();
    command.envs(model.get_envs().filter_map(|(key, value)| Some((key, value?))));
    command.env("PATH", format!("{}:{path}", user.path("bin").display())).env("TERM", "dumb");
    Some(command)
}

fn script(user: &User, name: &str) -> PathBuf {
    user.write("script", user.fathom(&format!("completions {name}")).done().out)
}

#[test]
fn there_is_a_script_for_every_shell() {
    let user = User::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = user.fathom(&format!("completions {shell}")).done().out;
        assert!(script.contains("FATHOM_COMPLETE"), "{shell}");
    }
    user.fathom("completions tcsh").with(2);
    assert_eq!(user.files(), Vec::<String>::new());
}

/// What bash offers for `line` with the cursor at its end.
fn offered(user: &User, line: &str) -> Vec<String> {
    let mut bash = shell(user, "bash").unwrap();
    let program =
        "source ./script; COMP_LINE=$1 COMP_POINT=${#1}; _fathom; printf '%s\\n' \"${COMPREPLY[@]}\"";
    let ended = bash.args(["--norc", "-c", program, "bash", line]).output().unwrap();
    let text = String::from_utf8(ended.stdout).unwrap();
    text.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect()
}

#[test]
fn plans_arrays_devices_runs_and_labels_are_offered_in_bash() {
    let user = user();
    if shell(&user, "bash").is_none() {
        return;
    }
    script(&user, "bash");
    let id = user.last()["id"].as_str().unwrap().to_owned();
    let offers = |line: &str| offered(&user, line);
    assert_eq!(offers("fathom run cor"), ["corners"]);
    assert_eq!(offers("fathom run pl"), ["plan.toml"]);
    assert_eq!(offers("fathom search corners --on array:md30"), ["md3000"], "bash has cut at the colon");
    assert_eq!(offers("fathom search corners --on=array:md30"), ["md3000"]);
    assert_eq!(offers("fathom array show md30"), ["md3000"]);
    assert_eq!(offers("fathom run quick --on di"), ["disk/"]);
    assert_eq!(offers("fathom run quick --on nu"), ["null:"]);
    assert_eq!(offers("fathom show la"), ["last"]);
    assert_eq!(offers(&format!("fathom export {}", &id[..12])), [id.as_str()]);
    assert_eq!(offers("fathom ls --tag ro"), ["room=3"]);
    assert_eq!(offers("fathom compare --by ro"), ["room"]);
    assert_eq!(offers("fathom run quick --set dept"), ["depth="]);
    assert_eq!(offers("fathom show last --format fio-"), ["fio-terse", "fio-text"]);
    assert_eq!(offers("fathom as sq"), ["sqlio"]);
    for disk in std::fs::read_dir("/dev/disk/by-id").into_iter().flatten().filter_map(Result::ok) {
        let path = disk.path().display().to_string();
        assert!(offers(&format!("fathom run quick --on {path}")).contains(&path));
    }
}

#[test]
fn what_is_offered_is_of_the_library_that_the_line_names_and_none_is_made() {
    let user = user();
    if shell(&user, "bash").is_none() {
        return;
    }
    script(&user, "bash");
    assert_eq!(offered(&user, "fathom --store other.sqlite show la"), Vec::<String>::new());
    assert!(!user.path("other.sqlite").exists());
    user.fathom("--store other.sqlite run plan.toml --on null: --tag rack=7").done();
    let before = user.files();
    assert_eq!(offered(&user, "fathom --store other.sqlite ls --tag r"), ["rack=7"]);
    assert_eq!(offered(&user, "fathom ls --tag r"), ["room=3"]);
    assert_eq!(user.files(), before, "nothing is left beside the library");
}

/// Starts `program` on a terminal of its own, by script(1), types `lines`, each once the prompt is there, and returns
/// what was shown. `None` where script is missing.
fn typed(user: &User, program: &str, lines: &[&str]) -> Option<String> {
    let mut command = shell(user, "script")?;
    command.args(["--quiet", "--return", "--command", program, "/dev/null"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let (mut keys, mut screen) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let (mut shown, mut prompts) = (String::new(), 0);
    let mut lines = lines.iter();
    let mut piece = [0; 4096];
    loop {
        let length = screen.read(&mut piece).unwrap();
        if length == 0 {
            break;
        }
        shown += &String::from_utf8_lossy(&piece[..length]);
        while shown.matches("ready> ").count() > prompts {
            prompts += 1;
            let line = lines.next().copied().unwrap_or("exit\n");
            keys.write_all(line.as_bytes()).unwrap();
            keys.flush().unwrap();
        }
    }
    child.wait().unwrap();
    Some(shown)
}

#[test]
fn the_tab_key_completes_a_word_with_a_colon_in_bash() {
    let user = user();
    user.write("rc", format!("{}\nPS1='ready> '\n", user.fathom("completions bash").done().out));
    let line = "fathom run quick --dry-run --on array:md30\t\n";
    let Some(shown) = typed(&user, "bash --noprofile --rcfile rc -i", &[line]) else { return };
    assert!(shown.contains("target array:md3000: "), "{shown}");
}

#[test]
fn the_tab_key_completes_a_word_with_a_colon_in_zsh() {
    let user = user();
    if shell(&user, "zsh").is_none() {
        return;
    }
    let completions = user.fathom("completions zsh").done().out;
    user.write(".zshrc", format!("autoload -U compinit; compinit -u\n{completions}\nPS1='ready> '\nunsetopt zle_bracketed_paste 2>/dev/null\n"));
    let line = "fathom run quick --dry-run --on array:md30\t\n";
    let Some(shown) = typed(&user, "zsh -d -i", &[line]) else { return };
    assert!(shown.contains("target array:md3000: "), "{shown}");
}

#[test]
fn fish_offers_the_same() {
    let user = user();
    let Some(mut fish) = shell(&user, "fish") else { return };
    script(&user, "fish");
    let program = "source ./script; complete -C 'fathom run cor'; complete -C 'fathom run quick --on array:md30'; \
                   complete -C 'fathom ls --tag ro'";
    let ended = fish.args(["--no-config", "-c", program]).output().unwrap();
    let text = String::from_utf8_lossy(&ended.stdout);
    let words: Vec<&str> = text.lines().filter_map(|line| line.split('\t').next()).collect();
    assert_eq!(words, ["corners", "array:md3000", "room=3"], "{text}");
}
