//! Which files fio's jobs find written, and which only with room for what they write.

use super::original;
use crate::support::User;

/// Blocks of 4 KiB of the file that hold something.
fn written(user: &User, name: &str) -> usize {
    let content = std::fs::read(user.path(name)).unwrap();
    content.chunks(4096).filter(|block| block.iter().any(|byte| *byte != 0)).count()
}

#[test]
fn a_file_that_is_only_written_holds_what_was_written_and_no_more() {
    let user = User::new();
    let run = |name: &str, more: &str| {
        let line = format!("as fio --name={name} --filename={name} --bs=4k --size=1m --number_ios=4 {more}");
        user.fathom(&line).done();
        (std::fs::metadata(user.path(name)).unwrap().len(), written(&user, name))
    };
    assert_eq!(run("room", "--rw=randwrite"), (1 << 20, 4));
    assert_eq!(run("hole", "--rw=write --fallocate=truncate"), (1 << 20, 4));
    assert_eq!(run("grown", "--rw=write --fallocate=none"), (16 << 10, 4));
    assert_eq!(run("kept", "--rw=write --fallocate=keep"), (16 << 10, 4));
    assert_eq!(run("over", "--rw=randwrite --overwrite=1"), (1 << 20, 256));
    assert_eq!(run("mixed", "--rw=randrw"), (1 << 20, 256));
    assert_eq!(run("mapped", "--rw=write --ioengine=mmap"), (1 << 20, 256));
}

#[test]
fn jobs_say_that_they_lay_files_out_and_the_report_begins_on_the_line_of_fios() {
    let user = User::new();
    let words = ["--name=x", "--rw=write", "--bs=4k", "--size=2m", "--nrfiles=2", "--numjobs=2"];
    let line = format!("as fio {}", words.join(" "));
    let head = |text: &str| -> Vec<String> {
        let word = |line: &str| line.split("err=").next().unwrap_or_default().to_owned();
        text.lines().take(8).map(word).filter(|line| !line.starts_with("fio-")).collect()
    };
    let said = user.fathom(&line).done().out;
    assert_eq!(said.matches("x: Laying out IO files (2 files / total 2MiB)\n").count(), 2, "{said}");
    let again = user.fathom(&line).done().out;
    assert!(!again.contains("Laying out"), "they are there: {again}");
    let terse = user.fathom("as fio --minimal --name=z --rw=read --size=1m").done().out;
    assert!(!terse.contains("Laying out"), "{terse}");
    for name in ["x.0.0", "x.0.1", "x.1.0", "x.1.1"] {
        std::fs::remove_file(user.path(name)).unwrap();
    }
    if let Some([real, _]) = original(&user, "fio", &words) {
        assert_eq!(head(&said), head(&real));
    }
}
