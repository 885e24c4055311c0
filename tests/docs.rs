//! The guide says nothing that the program does not do.

use std::fs;
use std::path::{Path, PathBuf};

use crate::support::{User, repository};

/// README, the architecture, the changes, and every page of the guide.
fn pages() -> Vec<PathBuf> {
    let mut pages: Vec<PathBuf> =
        ["README.md", "ARCHITECTURE.md", "CHANGELOG.md"].map(repository).into_iter().collect();
    pages.extend(guide());
    pages.sort();
    pages
}

/// The pages of the guide; its pictures lie beside them.
fn guide() -> impl Iterator<Item = PathBuf> {
    let all = fs::read_dir(repository("docs/src")).unwrap().map(|entry| entry.unwrap().path());
    all.filter(|path| path.extension().is_some_and(|ending| ending == "md"))
}

/// The `fathom` commands in the shell blocks of a page, without what follows a pipe or a redirection.
fn commands(text: &str) -> Vec<String> {
    let blocks = text.split("```sh\n").skip(1).filter_map(|rest| rest.split("```").next());
    let lines = blocks.flat_map(str::lines).filter(|line| line.starts_with("fathom "));
    lines.map(|line| before_redirection(line).trim().to_owned()).collect()
}

fn before_redirection(line: &str) -> &str {
    let mut quoted = false;
    let ends = |letter: char| {
        quoted ^= letter == '\'';
        !quoted && [';', '|', '>'].contains(&letter)
    };
    line.find(ends).map_or(line, |end| &line[..end])
}

/// Splits as a shell does, as far as the guide needs it: quotes keep words together.
fn words(command: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quoted = false;
    for letter in command.chars() {
        match letter {
            '\'' => quoted = !quoted,
            ' ' if !quoted => words.push(String::new()),
            letter => words.last_mut().unwrap().push(letter),
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

#[test]
fn the_guide_lists_every_address_of_the_page() {
    let routes = fs::read_to_string(repository("ui/src/route.ts")).unwrap();
    let guide = fs::read_to_string(repository("docs/src/page.md")).unwrap();
    let table = guide.split("## Addresses").nth(1).and_then(|rest| rest.split("\n## ").next()).unwrap();
    let of_case = |line: &str| Some(line.trim().strip_prefix("case '")?.strip_suffix("':")?.to_owned());
    let addresses: Vec<String> = routes.lines().filter_map(of_case).collect();
    assert!(addresses.len() > 8, "{addresses:?}");
    for address in addresses {
        let ends: &[char] = if address.ends_with('/') { &['S', 'N', 'J'] } else { &['`', '?'] };
        let is_listed = ends.iter().any(|end| table.contains(&format!("`/{address}{end}")));
        assert!(is_listed, "/{address} is not in {table}");
    }
}

#[test]
fn every_command_of_the_guide_is_understood() {
    let user = User::new();
    let mut seen = 0;
    for page in pages() {
        for command in commands(&fs::read_to_string(&page).unwrap()) {
            // Everything before --help is still read, so a wrong option or value is an error.
            let words = words(&command);
            let ended = user.fathom_of(words[1..].iter().map(String::as_str).chain(["--help"]));
            assert_eq!(ended.code, Some(0), "{}: {command}\n{}", page.display(), ended.err);
            seen += 1;
        }
    }
    assert!(seen > 40, "only {seen} commands were found");
}

#[test]
fn every_run_of_the_guide_has_a_plan_that_can_be_read() {
    let user = User::new();
    for page in pages() {
        for command in commands(&fs::read_to_string(&page).unwrap()) {
            let words = words(&command);
            if words[1] != "run" || words[2].ends_with(".toml") || words[2] == "PLAN" {
                continue;
            }
            // The same plan with the same changes, on a target that every machine has.
            let changes = words.windows(2).filter(|pair| pair[0] == "--set").flatten().map(String::as_str);
            let ended = user.fathom_of(["plan", "check", words[2].as_str()].into_iter().chain(changes));
            assert_eq!(ended.code, Some(0), "{}: {command}\n{}", page.display(), ended.err);
        }
    }
}

#[test]
fn every_link_within_the_repository_leads_somewhere() {
    for page in pages() {
        let text = fs::read_to_string(&page).unwrap();
        for rest in text.split("](").skip(1) {
            let link = rest.split(')').next().unwrap();
            let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
            if path.starts_with("http") {
                continue;
            }
            let target = if path.is_empty() { page.clone() } else { page.parent().unwrap().join(path) };
            assert!(target.exists(), "{}: {link}", page.display());
            let heading = |line: &str| {
                let words = line.trim_start_matches('#').trim().to_lowercase();
                let kept: String =
                    words.chars().filter(|c| c.is_alphanumeric() || " -".contains(*c)).collect();
                kept.replace(' ', "-")
            };
            let text = fs::read_to_string(&target).unwrap();
            let found = text.lines().filter(|line| line.starts_with('#')).any(|line| heading(line) == anchor);
            assert!(anchor.is_empty() || found, "{}: {link}", page.display());
        }
    }
}

#[test]
fn every_page_of_the_guide_is_in_its_summary() {
    let summary = fs::read_to_string(repository("docs/src/SUMMARY.md")).unwrap();
    for page in guide() {
        let name = page.file_name().unwrap().to_str().unwrap();
        assert!(name == "SUMMARY.md" || summary.contains(&format!("]({name})")), "{name}");
    }
}

#[test]
fn the_architecture_names_every_crate() {
    let text = fs::read_to_string(repository("ARCHITECTURE.md")).unwrap();
    for entry in fs::read_dir(repository("crates")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(text.contains(&format!("\n`{name}` ")), "`{name}` has no paragraph");
    }
    // Every file it sends a reader to is there.
    let paths =
        text.split('`').skip(1).step_by(2).filter(|path| path.contains("/src/") && !path.starts_with("docs"));
    for path in paths {
        assert!(Path::new(&repository("crates")).join(path).exists(), "{path}");
    }
}

/// Files and folders that a paragraph names after others, `buffer.rs`, lie in the folder of one before or below it.
#[test]
fn every_path_of_the_architecture_leads_to_a_file_or_a_folder() {
    let text = fs::read_to_string(repository("ARCHITECTURE.md")).unwrap();
    let (_, to_add) = text.split_once("\n## To add").unwrap();
    let mut seen = 0;
    for item in to_add.split("\n- ") {
        let mut folders = vec![repository("."), repository("crates")];
        let ends = |word: &str| [".rs", ".toml", ".md", ".json", "/"].iter().any(|end| word.ends_with(end));
        for word in item.split('`').skip(1).step_by(2).filter(|word| ends(word) && !word.contains(' ')) {
            let found = folders.iter().map(|folder| folder.join(word)).find(|path| path.exists());
            let found = found.unwrap_or_else(|| panic!("{word} is nowhere: {item}"));
            // A file is expected where the name ends as one, a folder where it ends as that.
            assert_eq!(found.is_dir(), word.ends_with('/'), "{word}: {item}");
            let folder = if found.is_dir() { found } else { found.parent().unwrap().to_owned() };
            let above = folder.ancestors().take_while(|above| above.starts_with(repository("crates")));
            folders.extend(above.map(Path::to_owned).collect::<Vec<_>>());
            seen += 1;
        }
    }
    assert!(seen > 50, "{seen}");
}

/// `text` without what differs from run to run: ids, dates and times of day.
fn timeless(text: &str) -> String {
    let shape = |word: &str| word.replace(|letter: char| letter.is_ascii_digit(), "0");
    let is_id = |word: &str| word.len() == 20 && shape(&word[..15]) == "00000000-000000";
    let words =
        text.split_inclusive(|letter: char| !letter.is_ascii_alphanumeric() && !"-:".contains(letter));
    words
        .map(|word| {
            let bare = word.trim_end_matches(|letter: char| !letter.is_ascii_alphanumeric());
            match is_id(bare) || ["0000-00-00", "00:00:00"].contains(&shape(bare).as_str()) {
                true => word.replace(bare, "…"),
                false => word.to_owned(),
            }
        })
        .collect()
}

#[test]
fn what_the_first_page_shows_is_what_its_commands_print() {
    let page = repository("docs/src/getting-started.md");
    let text = fs::read_to_string(&page).unwrap();
    let user = User::new();
    let (mut page_anew, mut shown) = (String::new(), 0);
    let mut blocks = text.split("```");
    while let Some(prose) = blocks.next() {
        page_anew += prose;
        let Some(block) = blocks.next() else { break };
        let (kind, body) = block.split_once('\n').unwrap();
        // Commands on storage of this machine are not run; those on virtual arrays and on runs are.
        let is_run = |line: &&str| line.contains("array:") || line.starts_with("$ ");
        let mut said = String::new();
        for line in body.lines().filter(is_run) {
            let line = line.strip_prefix("$ ").unwrap_or(line);
            if let Some(line) = line.strip_prefix("fathom ") {
                let ended = user.fathom_of(words(line));
                said = ended.out + &ended.err;
            }
        }
        let command = body.lines().next().unwrap();
        let anew = if kind == "console" { format!("{command}\n{said}") } else { body.to_owned() };
        if timeless(&anew) == timeless(body) {
            page_anew += &format!("```{block}```");
        } else {
            page_anew += &format!("```{kind}\n{anew}```");
        }
        shown += usize::from(kind == "console");
    }
    assert!(shown >= 3, "{shown}");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(page, page_anew).unwrap();
    } else {
        assert!(page_anew == text, "the page shows something else; UPDATE_DOCS=1 writes:\n{page_anew}");
    }
}
