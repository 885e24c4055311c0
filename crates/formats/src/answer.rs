//! What tools answer without measuring anything: their version, and which of their options there are here.

use crate::{bonnie, dd, diskspd, hdparm, iometer, ior, iozone, mdtest, seeker, sqlio};

/// One tool.
struct Asked {
    names: &'static [&'static str],
    /// Words that ask for help.
    help: &'static [&'static str],
    /// Words that ask for the version, and what is printed then: the version whose output is printed here.
    version: &'static [&'static str],
    version_text: &'static str,
    options: fn() -> String,
}

const ASKED: &[Asked] = &[
    Asked {
        names: &["dd"],
        help: &["--help"],
        version: &["--version"],
        version_text: "dd (coreutils) 9.1\n",
        options: || dd::SYNTAX.help(),
    },
    Asked {
        names: &["hdparm"],
        help: &["-h", "--help"],
        version: &["-V"],
        version_text: "hdparm v9.65\n",
        options: || hdparm::SYNTAX.help(),
    },
    Asked {
        names: &["ior"],
        help: &["-h", "--help", "-?"],
        version: &["--version"],
        version_text: "IOR-4.1.0: MPI Coordinated Test of Parallel I/O\n",
        options: || ior::SYNTAX.help(),
    },
    Asked {
        names: &["mdtest"],
        help: &["-h", "--help"],
        version: &[],
        version_text: "",
        options: || mdtest::SYNTAX.help(),
    },
    Asked {
        names: &["iozone"],
        help: &["-h", "--help"],
        version: &["-v"],
        version_text: "        'Iozone' Filesystem Benchmark Program\n\n        Version $Revision: 3.508 $\n",
        options: || iozone::SYNTAX.help(),
    },
    Asked {
        names: &["bonnie++"],
        help: &["-h", "--help", "-?"],
        version: &[],
        version_text: "",
        options: || bonnie::Generation::V200.syntax().help(),
    },
    Asked {
        names: &["bonnie"],
        help: &["-h", "--help", "-?"],
        version: &[],
        version_text: "",
        options: || bonnie::Generation::V103.syntax().help(),
    },
    Asked {
        names: &["diskspd"],
        help: &["-?", "/?", "--help"],
        version: &[],
        version_text: "",
        options: || diskspd::SYNTAX.help(),
    },
    Asked {
        names: &["sqlio"],
        help: &["-?", "/?", "--help"],
        version: &[],
        version_text: "",
        options: || sqlio::SYNTAX.help(),
    },
    Asked {
        names: &["iometer", "Iometer", "IOmeter"],
        help: &["/?", "-?", "--help"],
        version: &[],
        version_text: "",
        options: || iometer::SYNTAX.help(),
    },
    Asked {
        names: &["seeker"],
        help: &["-h", "--help"],
        version: &[],
        version_text: "",
        options: || format!("{}\n", seeker::USAGE),
    },
];

/// What `tool` prints where `arguments` ask for its help or its version and for nothing else; `None` otherwise.
pub fn answer(tool: &str, arguments: &[String]) -> Option<String> {
    let [word] = arguments else { return None };
    let asked = ASKED.iter().find(|asked| asked.names.contains(&tool))?;
    if asked.version.contains(&word.as_str()) {
        return Some(asked.version_text.to_owned());
    }
    asked
        .help
        .contains(&word.as_str())
        .then(|| format!("fathom as {tool} [OPTION]...\n{}", (asked.options)()))
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
            for word in asked.version {
                assert_eq!(said(asked.names[0], &[word]).unwrap(), asked.version_text);
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
