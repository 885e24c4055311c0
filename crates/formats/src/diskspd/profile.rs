//! diskspd's XML profiles (`-X FILE`): the command line that asks for the same.
//!
//! A profile may say more than a command line: several time spans, targets that differ. What no command line can say is
//! refused with its line.

use roxmltree::{Document, Node};

use crate::Refusal;

/// What has an option, where it stands, and what asks for nothing.
const SPAN: &[(&str, &str, &str)] = &[
    ("Duration", "-d", ""),
    ("Warmup", "-W", ""),
    ("Cooldown", "-C", "0"),
    ("ThreadCount", "-F", "0"),
    ("RandSeed", "-z", "0"),
];

/// The same of a target.
const TARGET: &[(&str, &str, &str)] = &[
    ("BlockSize", "-b", ""),
    ("BaseFileOffset", "-B", "0"),
    ("FileSize", "-c", "0"),
    ("MaxFileSize", "-f", "0"),
    ("RequestCount", "-o", "0"),
    ("WriteRatio", "-w", "0"),
    ("Throughput", "-g", "0"),
    ("ThreadStride", "-T", "0"),
    ("BurstSize", "-i", "0"),
    ("ThinkTime", "-j", "0"),
    ("IOPriority", "-I", "3"),
];

/// Elements that say yes by an option of their own.
const SWITCHES: &[(&str, &str)] = &[
    ("MeasureLatency", "-L"),
    ("CalculateIopsStdDev", "-D"),
    ("DisableAffinity", "-n"),
    ("CompletionRoutines", "-x"),
    ("UseLargePages", "-l"),
    ("ParallelAsyncIO", "-p"),
    ("SequentialScan", "-fs"),
    ("RandomAccess", "-fr"),
    ("TemporaryFile", "-ft"),
];

/// The arguments that ask for what the profile `text` of the file `name` does.
pub fn arguments(name: &str, text: &str) -> Result<Vec<String>, Refusal> {
    let document = Document::parse(text).map_err(|error| Refusal::Line {
        file: name.into(),
        line: error.pos().row as usize,
        what: format!("this is no XML: {error}"),
    })?;
    Reader { name, document: &document }.profile()
}

struct Reader<'a> {
    name: &'a str,
    document: &'a Document<'a>,
}

impl Reader<'_> {
    fn refuse(&self, node: Node<'_, '_>, what: impl Into<String>) -> Refusal {
        let line = self.document.text_pos_at(node.range().start).row as usize;
        Refusal::Line { file: self.name.into(), line, what: what.into() }
    }

    fn profile(&self) -> Result<Vec<String>, Refusal> {
        let root = self.document.root_element();
        // A result holds the profile it came from.
        let profile = root.descendants().find(|node| node.has_tag_name("Profile"));
        let profile = profile.ok_or_else(|| self.refuse(root, "there is no <Profile>"))?;
        let spans: Vec<Node<'_, '_>> =
            profile.descendants().filter(|node| node.has_tag_name("TimeSpan")).collect();
        let (span, others) =
            spans.split_first().ok_or_else(|| self.refuse(profile, "there is no <TimeSpan>"))?;
        if let Some(second) = others.first() {
            return Err(self.refuse(*second, "one time span is; run a profile of each, one after the other"));
        }
        let mut arguments = Vec::new();
        if let Some(format) = value(profile, "ResultFormat") {
            arguments.push(format!("-R{format}"));
        }
        if is_true(profile, "Verbose") {
            arguments.push("-v".into());
        }
        arguments.extend(values(*span, SPAN));
        arguments.extend(switches(*span));
        let cpus = span.descendants().filter(|node| node.has_tag_name("AffinityGroupAssignment"));
        let cpus: Vec<&str> = cpus.filter_map(|node| node.attribute("Processor")).collect();
        if !cpus.is_empty() {
            arguments.push(format!("-a{}", cpus.join(",")));
        }
        self.targets(*span, &mut arguments)?;
        Ok(arguments)
    }

    fn targets(&self, span: Node<'_, '_>, arguments: &mut Vec<String>) -> Result<(), Refusal> {
        let targets: Vec<Node<'_, '_>> =
            span.descendants().filter(|node| node.has_tag_name("Target")).collect();
        let first = targets.first().ok_or_else(|| self.refuse(span, "there is no <Target>"))?;
        let counts_all = value(span, "ThreadCount").is_some_and(|count| count != "0");
        let asked = target(*first, counts_all);
        if let Some(other) = targets.iter().find(|other| target(**other, counts_all) != asked) {
            return Err(
                self.refuse(*other, "targets that differ are not; run a profile of each, or write a plan")
            );
        }
        if let Some(node) = first.descendants().find(|node| node.has_tag_name("FilePath")) {
            return Err(self.refuse(node, "content is not taken from a file; say a size alone"));
        }
        arguments.extend(asked);
        for target in targets {
            match value(target, "Path") {
                Some(path) if !path.starts_with('-') => arguments.push(path.into()),
                _ => return Err(self.refuse(target, "a target has a <Path>")),
            }
        }
        Ok(())
    }
}

/// The text of the child of that name; `None` where it has none.
fn value<'a>(node: Node<'a, '_>, name: &str) -> Option<&'a str> {
    let child = node.children().find(|child| child.has_tag_name(name))?;
    child.text().map(str::trim).filter(|text| !text.is_empty())
}

fn is_true(node: Node<'_, '_>, name: &str) -> bool {
    value(node, name).is_some_and(|text| matches!(text, "true" | "1"))
}

fn values(node: Node<'_, '_>, options: &[(&str, &str, &str)]) -> Vec<String> {
    let option = |(name, option, idle): &(&str, &str, &str)| {
        value(node, name).filter(|text| text != idle).map(|text| format!("{option}{text}"))
    };
    options.iter().filter_map(option).collect()
}

fn switches(node: Node<'_, '_>) -> Vec<String> {
    SWITCHES.iter().filter(|(name, _)| is_true(node, name)).map(|(_, option)| (*option).to_owned()).collect()
}

/// What a target asks for, its path apart.
fn target(node: Node<'_, '_>, counts_all: bool) -> Vec<String> {
    let mut arguments = values(node, TARGET);
    arguments.extend(switches(node));
    if !counts_all && let Some(threads) = value(node, "ThreadsPerFile") {
        arguments.push(format!("-t{threads}"));
    }
    arguments.push(
        match (value(node, "Random"), is_true(node, "InterlockedSequential"), value(node, "StrideSize")) {
            (Some(align), ..) => format!("-r{align}"),
            (None, true, _) => "-si".into(),
            (None, false, Some(stride)) => format!("-s{stride}"),
            (None, false, None) => "-s".into(),
        },
    );
    arguments.push(match (is_true(node, "DisableOSCache"), is_true(node, "WriteThrough")) {
        (true, true) => "-Sh".into(),
        (true, false) => "-Su".into(),
        (false, true) => "-Sw".into(),
        (false, false) => "-Sb".into(),
    });
    let content = node.children().find(|child| child.has_tag_name("WriteBufferContent"));
    let source =
        content.and_then(|content| content.children().find(|child| child.has_tag_name("RandomDataSource")));
    match (
        content.and_then(|content| value(content, "Pattern")),
        source.and_then(|source| value(source, "SizeInBytes")),
    ) {
        (_, Some(size)) => arguments.push(format!("-Z{size}")),
        (Some("zero"), _) => arguments.push("-Z".into()),
        (Some("random"), _) => arguments.push("-Zr".into()),
        _ => {}
    }
    arguments
}

#[cfg(test)]
mod tests {
    use super::super::Command;
    use super::*;

    const SPAN_OF: &str = "<Profile><TimeSpans><TimeSpan><Duration>9</Duration><Warmup>1</Warmup>\
        <MeasureLatency>true</MeasureLatency><Targets>TARGETS</Targets></TimeSpan></TimeSpans></Profile>";

    const TARGET_OF: &str = "<Target><Path>a.dat</Path><BlockSize>8192</BlockSize><Random>4096</Random>\
        <DisableOSCache>true</DisableOSCache><WriteThrough>true</WriteThrough><FileSize>1048576</FileSize>\
        <RequestCount>8</RequestCount><WriteRatio>30</WriteRatio><ThreadsPerFile>2</ThreadsPerFile>\
        <WriteBufferContent><Pattern>random</Pattern></WriteBufferContent><IOPriority>3</IOPriority></Target>";

    fn words(line: &str) -> Vec<String> {
        line.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn a_profile_asks_for_what_its_command_line_would() {
        let read = arguments("p.xml", &SPAN_OF.replace("TARGETS", TARGET_OF)).unwrap();
        let line = "-d9 -W1 -L -b8192 -c1048576 -o8 -w30 -t2 -r4096 -Sh -Zr a.dat";
        assert_eq!(read, words(line));
        let (one, other) = (Command::parse(&read, 1).unwrap(), Command::parse(&words(line), 1).unwrap());
        assert_eq!(one, other);
    }

    #[test]
    fn what_no_command_line_says_is_refused_with_its_line() {
        let refused = |text: &str| arguments("p.xml", text).expect_err(text).to_string();
        let two = format!("{TARGET_OF}\n{}", TARGET_OF.replace("<WriteRatio>30", "<WriteRatio>31"));
        assert!(refused(&SPAN_OF.replace("TARGETS", &two)).starts_with("p.xml:2: targets that differ"));
        let spans = SPAN_OF.replace("<TimeSpans>", "<TimeSpans><TimeSpan/>\n").replace("TARGETS", TARGET_OF);
        assert!(refused(&spans).starts_with("p.xml:2: one time span is"));
        assert!(refused("<Profile>").starts_with("p.xml:1: this is no XML"));
        assert!(refused("<Profile/>").contains("no <TimeSpan>"));
        assert!(refused(&SPAN_OF.replace("TARGETS", "<Target/>")).contains("<Path>"));
    }

    proptest::proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "[<>/a-zA-Z0-9 =\"&;\n]{0,80}") {
            let _any = arguments("p.xml", &text);
        }
    }
}
