//! What tools answer without measuring anything: their version, and which of their options there are here.

use crate::{bonnie, dd, diskspd, hdparm, iometer, ior, iozone, mdtest, seeker, sqlio};

/// One tool.
struct ToolAnswers {
    names: &'static [&'static str],
    /// Words that ask for help.
    help: &'static [&'static str],
    /// A word that asks for the version, and what is printed then: the version whose output is printed here.
    version: Option<(&'static str, &'static str)>,
    options: fn() -> String,
}

const fn asked(
    names: &'static [&'static str],
    help: &'static [&'static str],
    version: Option<(&'static str, &'static str)>,
    options: fn() -> String,
) -> ToolAnswers {
    ToolAnswers { names, help, version, options }
}

const DD: &str = "dd (coreutils) 9.1\n";
const HDPARM: &str = "hdparm v9.65\n";
const IOR: &str = "IOR-4.1.0: MPI Coordinated Test of Parallel I/O\n";
const IOZONE: &str = "        'Iozone' Filesystem Benchmark Program\n\n        Version $Revision: 3.508 $\n";
const IOMETER: &[&str] = &["iometer", "Iometer", "IOmeter"];

const ASKED: &[ToolAnswers] = &[
    asked(&["dd"], &["--help"], Some(("--version", DD)), || dd::SYNTAX.help()),
    asked(&["hdparm"], &["-h", "--help"], Some(("-V", HDPARM)), || hdparm::SYNTAX.help()),
    asked(&["ior"], &["-h", "--help", "-?"], Some(("--version", IOR)), || ior::SYNTAX.help()),
    asked(&["mdtest"], &["-h", "--help"], None, || mdtest::SYNTAX.help()),
    asked(&["iozone"], &["-h", "--help"], Some(("-v", IOZONE)), || iozone::SYNTAX.help()),
    asked(&["bonnie++"], &["-h", "--help", "-?"], None, || bonnie::Generation::V200.syntax().help()),
    asked(&["bonnie"], &["-h", "--help", "-?"], None, || bonnie::Generation::V103.syntax().help()),
    asked(&["diskspd"], &["-?", "/?", "--help"], None, || diskspd::SYNTAX.help()),
    asked(&["sqlio"], &["-?", "/?", "--help"], None, || sqlio::SYNTAX.help()),
    asked(IOMETER, &["/?", "-?", "--help"], None, || iometer::SYNTAX.help()),
    asked(&["seeker"], &["-h", "--help"], None, || format!("{}\n", seeker::USAGE)),
];

/// What `tool` prints where `arguments` ask for its help or its version and for nothing else; `None` otherwise.
pub fn answer(tool: &str, arguments: &[String]) -> Option<String> {
    let [word] = arguments else { return None };
    let asked = ASKED.iter().find(|asked| asked.names.contains(&tool))?;
    let is_help = asked.help.contains(&word.as_str());
    let version = asked.version.filter(|(asks, _)| asks == word).map(|(_, text)| text.to_owned());
    version.or_else(|| is_help.then(|| format!("fathom as {tool} [OPTION]...\n{}", (asked.options)())))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(tool: &str, words: &[&str]) -> Option<String> {
        answer(tool, &words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn every_tool_answers_its_own_words_for_help_and_version() {
        for asked in ASKED {
            for word in asked.help {
                assert!(
                    said(asked.names[0], &[word]).unwrap().lines().count() > 1,
                    "{} {word}",
                    asked.names[0]
                );
            }
            if let Some((word, text)) = asked.version {
                assert_eq!(said(asked.names[0], &[word]).unwrap(), text);
            }
        }
    }

    #[test]
    fn a_word_beside_others_is_an_option_like_any() {
        assert_eq!(said("diskspd", &["-h", "file"]), None);
        assert_eq!(said("iozone", &["-v", "-a"]), None);
        assert_eq!(said("dd", &[]), None);
    }
}
