//! The classic tools' command lines, each read back by a parser that is written from the tool's own documents,
//! not from what writes it here.

mod bonnie;
mod dd;
mod diskspd;
mod fio;
mod fio_data;
mod fio_details;
mod fio_latency;
mod fio_layout;
mod fio_report;
mod fio_zones;
mod hdparm;
mod iometer;
mod ior;
mod iozone;
mod mdtest;
mod orion;
mod refusals;
mod seeker;
mod sqlio;
mod wrappers;

use std::process::Command;

use crate::support::User;

/// `text` with every figure as `#`, and with it the blanks that fill its field.
fn masked(text: &str) -> String {
    let is_figure = |letter: char| letter.is_ascii_digit() || letter == '.';
    let mut masked = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(|letter: char| letter.is_ascii_digit()) {
        masked += rest[..at].trim_end_matches(' ');
        masked += if rest[..at].ends_with(' ') { " #" } else { "#" };
        rest = rest[at..].trim_start_matches(is_figure);
    }
    masked + rest
}

/// What a program that is installed prints to stdout and stderr in the user's home; `None` where it is not there.
fn original(user: &User, program: &str, arguments: &[&str]) -> Option<[String; 2]> {
    let path = format!("{}:/usr/sbin:/sbin", std::env::var("PATH").unwrap_or_default());
    let mut command = Command::new(program);
    let output =
        command.args(arguments).current_dir(user.path(".")).env("PATH", path).env("LC_ALL", "C").output();
    Some(
        output
            .ok()
            .map(|output| [output.stdout, output.stderr])?
            .map(|text| String::from_utf8_lossy(&text).into_owned()),
    )
}

#[test]
fn figures_are_masked_and_nothing_else() {
    assert_eq!(masked("  64 MB in  0.04 seconds = 1585.18 MB/sec\n"), " # MB in # seconds = # MB/sec\n");
    assert_eq!(masked("1000+0 records in"), "#+# records in");
    assert_eq!(masked("no figure"), "no figure");
}
