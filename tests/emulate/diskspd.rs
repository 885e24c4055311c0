//! diskspd, in text and XML, on files that it creates and on virtual arrays.

use std::fs;

use serde_json::Value;

use crate::support::User;

/// One row of a table: thread, bytes, requests, MiB/s, requests a second, mean latency, and what comes after.
#[derive(Debug)]
struct Row {
    cells: Vec<String>,
}

impl Row {
    fn number(&self, cell: usize) -> f64 {
        self.cells[cell].parse().unwrap()
    }
}

/// The rows of a section and its total, as scripts find them: between the lines of dashes.
fn section(out: &str, title: &str) -> (Vec<Row>, Row) {
    let start = out.find(&format!("\n{title} IO\n")).unwrap();
    let mut lines = out[start..].lines().skip(2);
    assert!(
        lines
            .next()
            .unwrap()
            .starts_with("thread |       bytes     |     I/Os     |    MiB/s   |  I/O per s ")
    );
    assert!(lines.next().unwrap().starts_with("-----"));
    let row = |line: &str| Row { cells: line.split('|').map(|cell| cell.trim().to_owned()).collect() };
    let rows = lines.by_ref().take_while(|line| !line.starts_with("-----")).map(row).collect();
    let total = lines.next().unwrap().strip_prefix("total:").unwrap();
    (rows, row(&format!("total|{total}")))
}

/// Requests, bytes and the sum of response times of some of a run's workloads.
fn recorded(run: &Value, op: Option<&str>, belongs: impl Fn(&str) -> bool) -> (u64, u64, f64) {
    let (mut ios, mut bytes, mut sum_ns, mut count) = (0, 0, 0, 0);
    for workload in run["points"][0]["workloads"].as_array().unwrap() {
        for class in workload["classes"].as_array().unwrap() {
            if belongs(workload["name"].as_str().unwrap()) && op.is_none_or(|op| class["op"] == op) {
                ios += class["ops"].as_u64().unwrap();
                bytes += class["bytes"].as_u64().unwrap();
                sum_ns += class["response"]["sum_ns"].as_u64().unwrap();
                count += class["response"]["count"].as_u64().unwrap();
            }
        }
    }
    (ios, bytes, sum_ns as f64 / f64::from(u32::try_from(count.max(1)).unwrap()) / 1e6)
}

#[test]
fn diskspd_prints_what_the_record_of_a_virtual_array_holds() {
    let user = User::new();
    let ended = user.fathom("as diskspd -b8K -d5 -W1 -o8 -t3 -r -w30 -Sh -L -D array:md3000").done();
    let run = user.last();
    for (title, op) in [("Total", None), ("Read", Some("read")), ("Write", Some("write"))] {
        let (rows, total) = section(&ended.out, title);
        assert_eq!(rows.len(), 3, "{title}");
        for (thread, row) in rows.iter().enumerate() {
            let (ios, bytes, mean) = recorded(&run, op, |name| name == format!("thread {thread} on 1"));
            assert_eq!(
                (row.number(0), row.number(1), row.number(2)),
                (thread as f64, bytes as f64, ios as f64)
            );
            assert!((row.number(3) - bytes as f64 / 1_048_576.0 / 5.0).abs() <= 0.005_001);
            assert!((row.number(4) - ios as f64 / 5.0).abs() <= 0.005_001);
            assert!((row.number(5) - mean).abs() <= 0.000_501, "{row:?} {mean}");
            assert!(row.cells[8].starts_with("array:md3000 ("), "{row:?}");
        }
        let (ios, bytes, _) = recorded(&run, op, |_| true);
        assert_eq!((total.number(1), total.number(2)), (bytes as f64, ios as f64));
    }
    for line in [
        "Command Line: diskspd -b8K -d5 -W1 -o8 -t3 -r -w30 -Sh -L -D array:md3000",
        "\tduration: 5s",
        "\twarm up time: 1s",
        "\tmeasuring latency",
        "\t\tsoftware cache disabled",
        "\t\thardware write cache disabled, writethrough on",
        "\t\tperforming mix test (read/write ratio: 70/30)",
        "\t\tblock size: 8192",
        "\t\tusing random I/O (alignment: 8192)",
        "\t\tnumber of outstanding I/O operations: 8",
        "\t\tthreads per file: 3",
        "actual test time:\t5.00s",
        "thread count:\t\t3",
        "  %-ile |  Read (ms) | Write (ms) | Total (ms)",
    ] {
        assert!(ended.out.lines().any(|found| found == line), "no `{line}` in:\n{}", ended.out);
    }
    let percentile = |name: &str| {
        let line = ended.out.lines().find(|line| line.trim_start().starts_with(name)).unwrap();
        line.split('|').nth(3).unwrap().trim().parse::<f64>().unwrap()
    };
    let ladder = ["min |", "25th", "50th", "75th", "90th", "95th", "99th", "3-nines", "9-nines", "max |"]
        .map(percentile);
    assert!(ladder.windows(2).all(|pair| pair[0] <= pair[1]), "{ladder:?}");
}

#[test]
fn a_file_is_created_and_stays() {
    let user = User::new();
    let ended = user.fathom("as diskspd -c2M -d1 -W0 -b4K -w100 -t2 -T1M -Zr made.dat").done();
    assert!(ended.out.contains("made.dat (2048KiB)\n"), "{}", ended.out);
    assert_eq!(fs::metadata(user.path("made.dat")).unwrap().len(), 2 << 20);
    let workloads = user.last()["points"][0]["workloads"].clone();
    assert_eq!(
        (&workloads[0]["spec"]["direct"], &workloads[0]["spec"]["content"]),
        (&false.into(), &"random".into())
    );
    assert_eq!(
        (&workloads[1]["spec"]["offset"], &workloads[1]["span_bytes"]),
        (&"1MiB".into(), &(1 << 20).into())
    );
    user.fathom("as diskspd -d1 -W0 -b4K -w100 made.dat").done();
    user.fathom("as diskspd -c1M -d1 -W0 -b4K -si -t2 made.dat").done();
    assert_eq!(fs::metadata(user.path("made.dat")).unwrap().len(), 1 << 20);

    let users = user.write("users.dat", vec![7u8; 1 << 20]);
    for line in ["-w1 users.dat", "-c2M users.dat", "-c512K users.dat"] {
        user.fathom(&format!("as diskspd -d1 -W0 -b4K {line}")).with(3);
    }
    assert_eq!(fs::read(users).unwrap(), vec![7u8; 1 << 20]);
}

/// The text of the first element of that name after `start`.
fn element<'a>(xml: &'a str, name: &str) -> &'a str {
    let rest = xml.split_once(&format!("<{name}>")).unwrap_or_else(|| panic!("no {name}")).1;
    rest.split_once(&format!("</{name}>")).unwrap().0
}

/// Every element that is opened is closed, in order.
fn is_well_formed(xml: &str) -> bool {
    let mut open: Vec<&str> = Vec::new();
    for tag in xml.split('<').skip(1).map(|rest| rest.split_once('>').unwrap().0) {
        match tag.strip_prefix('/') {
            Some(name) => {
                if open.pop() != Some(name) {
                    return false;
                }
            }
            None if tag.ends_with('/') => {}
            None => open.push(tag.split_whitespace().next().unwrap()),
        }
    }
    open.is_empty()
}

#[test]
fn the_xml_holds_what_the_record_holds() {
    let user = User::new();
    let line = "as diskspd -Rxml -b64K -d3 -W0 -t2 -w50 -L -D -Su array:md3000?luns=2 array:md3000?luns=2";
    let ended = user.fathom(line).done();
    let (xml, run) = (ended.out.as_str(), user.last());
    assert!(is_well_formed(xml), "{xml}");
    assert!(xml.starts_with("<Results>\n<System>\n<ComputerName>"), "{xml}");
    assert_eq!((element(xml, "BlockSize"), element(xml, "WriteRatio")), ("65536", "50"));
    let threads: Vec<&str> = xml.split("<Thread>\n").skip(1).collect();
    assert_eq!(threads.len(), 4);
    for (number, thread) in threads.iter().enumerate() {
        let name = format!("thread {number} on {}", number / 2 + 1);
        let (ios, bytes, mean) = recorded(&run, None, |found| found == name);
        assert_eq!(element(thread, "Id"), number.to_string());
        assert_eq!(
            (element(thread, "IOCount"), element(thread, "BytesCount")),
            (ios.to_string().as_str(), bytes.to_string().as_str())
        );
        let printed: f64 = element(thread, "AverageLatencyMilliseconds").parse().unwrap();
        assert!((printed - mean).abs() <= 0.000_501, "{printed} {mean}");
    }
    let (_, _, mean) = recorded(&run, Some("write"), |_| true);
    let printed: f64 = element(xml, "AverageWriteMilliseconds").parse().unwrap();
    assert!((printed - mean).abs() <= 0.000_501, "{printed} {mean}");
    assert_eq!(xml.matches("<Percentile>").count(), 100 + 7 + 1);
    assert!(is_well_formed(&user.fathom("show last --format diskspd-xml").done().out));
    assert!(user.fathom("show last --format diskspd").done().out.contains("Results for timespan 1:"));
}

#[test]
fn what_diskspd_cannot_do_here_is_refused_by_name() {
    let user = User::new();
    for (line, words) in [
        ("-d1 missing.dat", ["missing.dat", "-c"]),
        ("-Sr x.dat", ["-Sr", "-Su"]),
        ("-N x.dat", ["-N", "not supported"]),
        ("-c1G array:md3000", ["array:md3000", "-c"]),
        ("-o8", ["at least one", "file"]),
        ("-b8K -q x.dat", ["-q", "there is no option"]),
    ] {
        user.fathom(&format!("as diskspd {line}")).with(2).saying(&words);
    }
    assert!(user.files().is_empty());
}

#[test]
fn a_result_holds_a_profile_that_asks_for_the_same_again() {
    let user = User::new();
    let line = "as diskspd -b8K -d2 -W0 -o4 -t2 -r -w30 -Sh -L -Rxml array:md3000";
    let result = user.fathom(line).done().out;
    user.write("p.xml", &result);
    let again = user.fathom("as diskspd -Xp.xml").done().out;
    let profile =
        |text: &str| text.split("</Profile>").next().unwrap().split("<Profile>").nth(1).unwrap().to_owned();
    assert_eq!(profile(&again), profile(&result));
    user.fathom("as diskspd -Xp.xml -d5").with(2).saying(&["-Xp.xml", "takes no other options"]);
    user.fathom("as diskspd -Xnone.xml").with(2).saying(&["none.xml", "cannot be read"]);
}
