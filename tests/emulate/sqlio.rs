//! SQLIO, on files that it expands, with a parameter file, and on virtual arrays.

use std::fs;

use serde_json::Value;

use crate::support::{Ended, User};

/// What a reader of SQLIO's output takes from it.
#[derive(Debug)]
struct Results {
    threads: u32,
    ios_per_s: f64,
    mbs_per_s: f64,
    latency_ms: Option<[u64; 3]>,
    histogram: Vec<u64>,
}

impl Results {
    /// Finds each figure by the words before it, as the scripts around SQLIO do.
    fn read(out: &str) -> Results {
        let after = |label: &str| out.lines().find_map(|line| line.strip_prefix(label)).map(str::trim);
        let run = out.lines().find(|line| line.contains(" for ") && line.contains(" secs ")).unwrap();
        let latency = ["Min", "Avg", "Max"].map(|which| after(&format!("{which}_Latency(ms):")));
        // Cells of three characters each, which may touch.
        let bins = out.lines().find_map(|line| line.strip_prefix("%:")).unwrap_or_default();
        let cells =
            bins.as_bytes().chunks(3).map(|cell| std::str::from_utf8(cell).unwrap().trim().parse().unwrap());
        Results {
            threads: run.split_whitespace().next().unwrap().parse().unwrap(),
            ios_per_s: after("IOs/sec:").unwrap().parse().unwrap(),
            mbs_per_s: after("MBs/sec:").unwrap().parse().unwrap(),
            latency_ms: latency[0].map(|_| latency.map(|text| text.unwrap().parse().unwrap())),
            histogram: cells.collect(),
        }
    }
}

fn agrees_with_the_record(run: &Value, ended: &Ended) -> Results {
    let results = Results::read(&ended.out);
    let (mut ios, mut bytes, mut least, mut most, mut sum, mut count) = (0.0, 0.0, u64::MAX, 0, 0, 0);
    for workload in run["points"][0]["workloads"].as_array().unwrap() {
        let seconds = workload["measured_ns"].as_u64().unwrap() as f64 / 1e9;
        for class in workload["classes"].as_array().unwrap() {
            ios += class["ops"].as_u64().unwrap() as f64 / seconds;
            bytes += class["bytes"].as_u64().unwrap() as f64 / seconds;
            least = least.min(class["response"]["min_ns"].as_u64().unwrap());
            most = most.max(class["response"]["max_ns"].as_u64().unwrap());
            sum += class["response"]["sum_ns"].as_u64().unwrap();
            count += class["response"]["count"].as_u64().unwrap();
        }
    }
    assert!((results.ios_per_s - ios).abs() <= 0.005_001, "{} {ios}", results.ios_per_s);
    assert!((results.mbs_per_s - bytes / 1_048_576.0).abs() <= 0.005_001, "{} {bytes}", results.mbs_per_s);
    if let Some(latency) = results.latency_ms {
        assert_eq!(latency, [least, sum / count, most].map(|ns| ns / 1_000_000));
        let total: u64 = results.histogram.iter().sum();
        assert!(results.histogram.len() == 25 && total <= 100 && total > 75, "{:?}", results.histogram);
    }
    results
}

#[test]
fn sqlio_prints_what_the_record_of_a_virtual_array_holds() {
    let user = User::new();
    let ended = user.fathom("as sqlio -kR -s5 -frandom -o8 -b8 -t4 -LS -BH array:md3000").done();
    let run = user.last();
    let results = agrees_with_the_record(&run, &ended);
    assert_eq!(results.threads, 4);
    let lines: Vec<&str> = ended.out.lines().collect();
    assert_eq!(lines[0], "sqlio v1.5.SG");
    assert!(lines[1].starts_with("using system counter for latency timings, "));
    assert_eq!(lines[2], "4 threads reading for 5 secs from file array:md3000");
    assert_eq!(lines[3], "\tusing 8KB random IOs");
    assert_eq!(lines[4], "\tenabling multiple I/Os per thread with 8 outstanding");
    assert_eq!(lines[5], "\tbuffering set to use hardware disk cache (but not file cache)");
    assert!(lines[6].starts_with("using current size: ") && lines[6].ends_with(" MB for file: array:md3000"));
    assert_eq!(lines[7..9], ["initialization done", "CUMULATIVE DATA:"]);
    let spec = &run["points"][0]["workloads"][0]["spec"];
    assert_eq!((&spec["workers"], &spec["depth"]), (&4.into(), &8.into()));
    assert_eq!(
        (&spec["size"], &spec["direct"], &spec["sync"]),
        (&"8KiB".into(), &true.into(), &"none".into())
    );
}

#[test]
fn a_new_file_is_expanded_and_stays() {
    let user = User::new();
    user.write("param.txt", "# one file\ntest.dat 2 0x0 3\n");
    let ended = user.fathom("as sqlio -kW -s1 -frandom -b4 -LS -Fparam.txt").done();
    agrees_with_the_record(&user.last(), &ended);
    for line in [
        "parameter file used: param.txt",
        "\tfile test.dat with 2 threads (0-1) using mask 0x0 (0)",
        "2 threads writing for 1 secs to file test.dat",
        "size of file test.dat needs to be: 3145728 bytes",
        "current file size:\t0 bytes",
        "need to expand by:\t3145728 bytes",
        "expanding test.dat ... done.",
        "using specified size: 3 MB for file: test.dat",
    ] {
        assert!(ended.out.lines().any(|found| found == line), "no `{line}` in:\n{}", ended.out);
    }
    assert_eq!(fs::metadata(user.path("test.dat")).unwrap().len(), 3 << 20);
    // Write-through is asked for by default, and it is Fathom's own file: nobody's consent is needed again.
    assert_eq!(user.last()["points"][0]["workloads"][0]["spec"]["sync"], "dsync");
    let again = user.fathom("as sqlio -kW -s1 -fsequential -b64 test.dat").done();
    assert!(again.out.contains("using current size: 3 MB for file: test.dat\n"), "{}", again.out);
    assert!(!again.out.contains("expanding") && !again.out.contains("Latency"), "{}", again.out);
    assert_eq!(agrees_with_the_record(&user.last(), &again).latency_ms, None);
}

#[test]
fn a_file_of_the_user_is_neither_written_nor_expanded_without_consent() {
    let user = User::new();
    let file = user.write("users.dat", vec![7u8; 1 << 20]);
    user.fathom("as sqlio -kW -s1 -frandom users.dat").with(3);
    user.write("param.txt", "users.dat 1 0 2\n");
    user.fathom("as sqlio -kR -s1 -frandom -Fparam.txt").with(3);
    assert_eq!(fs::read(&file).unwrap(), vec![7u8; 1 << 20]);
    user.fathom("as sqlio -kR -s1 -frandom users.dat").done();
    user.fathom(&format!("as --destroy {} sqlio -kR -s1 -frandom -Fparam.txt", file.display())).done();
    assert_eq!(fs::metadata(&file).unwrap().len(), 2 << 20);
}

#[test]
fn lines_that_name_one_array_have_its_luns() {
    let user = User::new();
    user.write(
        "param.txt",
        "array:md3000?luns=3 2 0x0 100\narray:md3000?luns=3 3 0x0 200\narray:md3000?luns=3 1\n",
    );
    let ended = user.fathom("as sqlio -kR -s2 -frandom -o4 -b64 -LS -Fparam.txt").done();
    let run = user.last();
    assert_eq!(agrees_with_the_record(&run, &ended).threads, 6);
    let workloads = run["points"][0]["workloads"].as_array().unwrap();
    let asked: Vec<(&str, u64)> = workloads
        .iter()
        .map(|each| (each["spec"]["on"].as_str().unwrap(), each["spec"]["workers"].as_u64().unwrap()))
        .collect();
    assert_eq!(asked, [("1", 2), ("2", 3), ("3", 1)]);
    assert_eq!(workloads[1]["span_bytes"], 200 << 20);
    user.fathom("as sqlio -kR -s2 -frandom -Fparam.txt -b99999999").with(2);
    user.write("param.txt", "array:md3000 2\narray:md3000 3\n");
    user.fathom("as sqlio -kR -frandom -Fparam.txt").with(2).saying(&["luns=2"]);
}

#[test]
fn a_parameter_file_is_a_job_file() {
    let user = User::new();
    user.write("param.txt", "a.dat 2 0x0 4\nb.dat 1 0x0 8\n");
    let converted = user.fathom("plan convert param.txt").done().saying(&["a.dat: 2 threads", "8 MB"]);
    assert!(converted.out.contains("[[phase.workload]]"), "{}", converted.out);
    user.fathom("run param.txt --set run=200ms").done();
    let names: Vec<Value> =
        user.last()["targets"].as_array().unwrap().iter().map(|t| t["address"].clone()).collect();
    assert_eq!(names, ["a.dat", "b.dat"]);
    user.write("param.txt", "a.dat 2 0x0 4\nb.dat many\n");
    user.fathom("as sqlio -kR -frandom -Fparam.txt").with(2).saying(&["param.txt:2", "many"]);
}

/// Real parameter files are read, where a folder with some is named.
#[test]
fn sample_parameter_files_convert() {
    let Some(samples) = std::env::var_os("FATHOM_SAMPLES") else {
        return crate::support::skipped("FATHOM_SAMPLES names no folder with sample files");
    };
    let user = User::new();
    let text = fs::read_to_string(std::path::Path::new(&samples).join("sqlio/param_examples.txt")).unwrap();
    user.write("param_examples.txt", text);
    let converted = user.fathom("plan convert param_examples.txt").done().saying(&["150240 MB"]);
    assert_eq!(converted.out.matches("[[phase.workload]]").count(), 7);
}

#[test]
fn what_sqlio_cannot_do_here_is_refused_by_name() {
    let user = User::new();
    for (line, words) in [
        ("-dDEF x.dat", ["-dDEF", "name directories"]),
        ("-LSi x.dat", ["-LSi", "not supported"]),
        ("-t3 x.dat", ["-f", "3 threads do not divide 64 columns"]),
        ("-frandom -Fmissing.txt", ["missing.txt", "No such file"]),
        ("-q x.dat", ["-q", "there is no option"]),
    ] {
        user.fathom(&format!("as sqlio {line}")).with(2).saying(&words);
    }
    assert!(user.files().is_empty());
}
