//! Words of each style, and what they come to.

use super::*;

#[derive(Debug, Default, PartialEq)]
struct Seen {
    quiet: bool,
    count: u32,
    names: Vec<String>,
    notes: Vec<String>,
}

const OPTIONS: &[Opt<Seen>] = &[
    flag("-q --quiet", "says less", |seen| seen.quiet = true),
    number("-n --count count", "how many", 1..=9, |seen, count| seen.count = count),
    several("-F", "FILE...", "the files", |seen, name| seen.names.push(name.into())),
    one_of(
        "-k",
        "what",
        &[flag("R r", "reads", |seen| seen.count = 1), unsupported("W", "nothing is written")],
    ),
    some_of("conv", "how", &[flag("fsync", "", |seen| seen.count += 1), ignored("sync", "no padding")]),
    optional("-f", "MB", "fast", |seen, given| {
        seen.count = if given.value.is_empty() { 7 } else { given.number(1..=9)? };
        Ok(())
    }),
    ignored("-P", "no dots are printed"),
    unsupported("-+m -64", "one machine measures"),
];

fn read(style: Style, line: &str) -> Result<Seen, String> {
    let operand: fn(&mut Seen, &str) -> Result<(), Refusal> = |seen, word| {
        seen.names.push(word.into());
        Ok(())
    };
    let syntax = Syntax {
        tool: "tool",
        style,
        any_case: style == Style::Words,
        notes: |seen: &mut Seen| &mut seen.notes,
        options: &[OPTIONS],
        operand,
    };
    let mut seen = Seen::default();
    syntax.read(&mut seen, &crate::testing::words(line)).map_err(|refusal| refusal.to_string())?;
    Ok(seen)
}

#[test]
fn each_style_cuts_words_in_its_own_way() {
    let expected = Seen { quiet: true, count: 4, names: vec!["x".into()], notes: Vec::new() };
    for (style, line) in [
        (Style::Letters, "-qn4 x"),
        (Style::Letters, "-q -n 4 x"),
        (Style::Letters, "--quiet --count=4 x"),
        (Style::Letters, "--count 4 x -q"),
        (Style::Glued, "-q -n4 x"),
        (Style::Words, "-N 4 x -Q"),
    ] {
        assert_eq!(read(style, line).as_ref(), Ok(&expected), "{line}");
    }
    assert_eq!(read(Style::Assignments, "count=4 conv=fsync,sync").map(|seen| seen.count), Ok(5));
    assert_eq!(read(Style::Letters, "-Fa b -q c").unwrap().names, ["a", "b", "c"]);
    assert_eq!(read(Style::Letters, "-f2").unwrap().count, 2);
    assert_eq!(read(Style::Letters, "-f 2").unwrap().names, ["2"], "a value must be attached");
}

#[test]
fn a_mistake_names_the_option_and_what_would_be_right() {
    for (style, line, message) in [
        (Style::Letters, "-qx", "tool: there is no option `-x`"),
        (Style::Letters, "-+x", "tool: there is no option `-+x`"),
        (Style::Letters, "--quite", "tool: there is no option `--quite`; did you mean `--quiet`?"),
        (Style::Letters, "-n", "tool: `-n` needs a value: how many"),
        (Style::Letters, "--quiet=1", "tool: `--quiet` takes no value"),
        (Style::Letters, "-n10", "tool: `-n` does not take `10`: a whole number from 1 to 9"),
        (Style::Letters, "-+m hosts", "tool: `-+m` is not supported: one machine measures"),
        (Style::Letters, "-k W", "tool: `-k W` is not supported: nothing is written"),
        (
            Style::Glued,
            "-n 4",
            "tool: `-n` does not take ``: a whole number from 1 to 9, without a blank before it",
        ),
        (Style::Glued, "-qx", "tool: there is no option `-qx`; did you mean `-q`?"),
        (Style::Glued, "-64x", "tool: `-64x` is not supported: one machine measures"),
        (Style::Glued, "-kX", "tool: `-k` does not take `X`: `R`"),
        (Style::Assignments, "conv=fsnyc", "tool: there is no option `fsnyc`; did you mean `fsync`?"),
        (Style::Assignments, "count", "tool: `count` needs a value: how many"),
    ] {
        assert_eq!(read(style, line), Err(message.into()), "{line}");
    }
}

#[test]
fn what_changes_nothing_is_noted_as_it_was_typed() {
    assert_eq!(read(Style::Glued, "-P").unwrap().notes, ["`-P` changes nothing: no dots are printed"]);
    let notes = read(Style::Assignments, "conv=sync").unwrap().notes;
    assert_eq!(notes, ["`conv=sync` changes nothing: no padding"]);
}

#[test]
fn help_shows_spellings_and_values() {
    let shown: Vec<String> = OPTIONS.iter().take(4).map(Opt::shown).collect();
    assert_eq!(shown, ["-q, --quiet", "-n, --count, count N", "-F FILE...", "-k R"]);
}
