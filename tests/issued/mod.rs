//! What is issued is what was asked: plans on a loop device, with the kernel's trace and counters as witnesses.

mod trace;

use serde_json::Value;
use units::convert::narrow;

use self::trace::{Asked, Trace};
use crate::support::{Loop, User};

/// What one point of a plan asks for.
struct Expected {
    /// In bytes, with weights.
    sizes: &'static [(u64, f64)],
    /// The part that reads.
    reads: f64,
    /// Every offset is a multiple of it.
    align: u64,
    order: Order,
}

#[derive(PartialEq)]
enum Order {
    /// Each begins where the one before ended, but for the passage from the end to the start.
    Stream,
    /// Taken together they make streams; their turns may be changed by who comes first.
    Streams,
    /// Anywhere, each block once before any comes again.
    Permutation,
    /// Anywhere.
    Anywhere,
}

const IMAGE: u64 = 64 << 20;

/// Runs `arguments` on a loop device and holds each of its points against what it should have asked for.
fn hold(arguments: &str, points: &[Expected]) {
    let user = User::new();
    let Some(device) = Loop::make(&user, IMAGE) else { return };
    let Some(trace) = Trace::of(&device) else { return };
    let line = format!("run {arguments} --on {} --destroy={}", device.node, device.consent());
    user.fathom(&line).done();
    let asked = trace.read();
    let run = user.last();
    let measured: Vec<&Value> =
        run["points"].as_array().unwrap().iter().filter(|point| point["kind"] == "load").collect();
    assert_eq!(measured.len(), points.len());
    let counts: Vec<usize> =
        measured.iter().map(|point| narrow::<usize>(total(point, None, "ops"))).collect();
    // Before it writes, Fathom looks for signatures, which takes some reads.
    let looked = asked.len().checked_sub(counts.iter().sum()).expect("nothing was asked twice of the kernel");
    assert!(looked < 200, "{looked} requests more than the record has");
    assert!(asked[..looked].iter().all(|one| !one.writes));
    let mut rest = &asked[looked..];
    for ((point, expected), count) in measured.iter().zip(points).zip(counts) {
        let (of_point, later) = rest.split_at(count);
        rest = later;
        let name = format!("{arguments}: {}", point["name"]);
        counters(point, of_point, &name);
        sizes(of_point, expected, &name);
        order(of_point, expected, &name);
    }
}

/// The record's own count: of one operation or of all.
fn total(point: &Value, op: Option<&str>, key: &str) -> u64 {
    let workloads = point["workloads"].as_array().unwrap();
    let totals = workloads.iter().flat_map(|workload| workload["totals"].as_array().unwrap());
    totals
        .filter(|total| op.is_none_or(|op| total["op"] == op))
        .map(|total| total[key].as_u64().unwrap())
        .sum()
}

/// Record, trace and the counters of the device agree: the first two to the last request, the third within 0.5 %.
fn counters(point: &Value, asked: &[Asked], name: &str) {
    for (op, writes) in [("read", false), ("write", true)] {
        let bytes: u64 = asked.iter().filter(|one| one.writes == writes).map(|one| one.len).sum();
        let count = asked.iter().filter(|one| one.writes == writes).count() as u64;
        assert_eq!(
            (count, bytes),
            (total(point, Some(op), "ops"), total(point, Some(op), "bytes")),
            "{name}: {op}"
        );
        let sectors = point["devices"][0][format!("{op}_sectors")].as_u64().unwrap();
        let apart = sectors.abs_diff(bytes / 512) as f64;
        assert!(
            apart <= 0.005 * bytes as f64 / 512.0,
            "{name}: {op}: the device counted {sectors} sectors of {bytes} bytes"
        );
    }
}

/// Shares of sizes and of reads, within five standard deviations of drawing so many; alignment of all.
fn sizes(asked: &[Asked], expected: &Expected, name: &str) {
    let count = asked.len() as f64;
    let weights: f64 = expected.sizes.iter().map(|(_, weight)| weight).sum();
    let near = |seen: f64, part: f64, what: &str| {
        let slack = 5.0 * (part * (1.0 - part) / count).sqrt() + 1e-9;
        assert!((seen / count - part).abs() <= slack, "{name}: {what}: {} in place of {part}", seen / count);
    };
    for (size, weight) in expected.sizes {
        let seen = asked.iter().filter(|one| one.len == *size).count() as f64;
        near(seen, weight / weights, &format!("{size} bytes"));
    }
    let known = |one: &Asked| expected.sizes.iter().any(|(size, _)| *size == one.len);
    assert!(asked.iter().all(known), "{name}: a size that nobody asked for");
    near(asked.iter().filter(|one| !one.writes).count() as f64, expected.reads, "reads");
    assert!(asked.iter().all(|one| one.offset.is_multiple_of(expected.align)), "{name}: not aligned");
    assert!(asked.iter().all(|one| one.end() <= IMAGE), "{name}: beyond the end");
}

fn order(asked: &[Asked], expected: &Expected, name: &str) {
    let follows = asked.windows(2).filter(|pair| pair[0].end() == pair[1].offset).count();
    let part = follows as f64 / (asked.len() - 1) as f64;
    match expected.order {
        Order::Stream => {
            let passes = asked.iter().map(|one| one.len).sum::<u64>() / IMAGE + 1;
            let breaks = asked.len() - 1 - follows;
            assert!(breaks as u64 <= passes, "{name}: the stream breaks {breaks} times");
        }
        Order::Streams => {
            let mut sorted = asked.to_vec();
            sorted.sort_by_key(|one| one.offset);
            let gaps = sorted.windows(2).filter(|pair| pair[0].end() != pair[1].offset).count();
            assert_eq!(gaps, 0, "{name}: the streams have gaps");
        }
        Order::Permutation | Order::Anywhere => {
            assert!(part < 0.05, "{name}: {part} of the requests go on where the last ended");
            anywhere(asked, name);
        }
    }
    if expected.order == Order::Permutation {
        let mut offsets: Vec<u64> = asked.iter().map(|one| one.offset).collect();
        offsets.sort_unstable();
        offsets.dedup();
        assert_eq!(offsets.len(), asked.len(), "{name}: a block was asked for twice in one pass");
    }
}

/// Each eighth of the device has its part of the requests, within five standard deviations.
fn anywhere(asked: &[Asked], name: &str) {
    let mut eighths = [0u32; 8];
    for one in asked {
        eighths[(one.offset * 8 / IMAGE) as usize] += 1;
    }
    let (mean, slack) = (asked.len() as f64 / 8.0, 5.0 * (asked.len() as f64 * 7.0 / 64.0).sqrt());
    assert!(eighths.iter().all(|seen| (f64::from(*seen) - mean).abs() <= slack), "{name}: {eighths:?}");
}

const KIB: u64 = 1024;

fn one(size: &'static [(u64, f64)], reads: f64, order: Order) -> Expected {
    Expected { sizes: size, reads, align: size[0].0, order }
}

#[test]
fn the_corners_issue_their_sizes_in_their_order() {
    hold(
        "corners --set run=none --set warmup=0s --set ops=240 --set span=100%",
        &[
            one(&[(512, 1.0)], 1.0, Order::Stream),
            one(&[(4 * KIB, 1.0)], 1.0, Order::Permutation),
            one(&[(4 * KIB, 1.0)], 0.0, Order::Permutation),
            one(&[(512 * KIB, 1.0)], 0.0, Order::Stream),
            one(&[(512 * KIB, 1.0)], 1.0, Order::Stream),
        ],
    );
}

#[test]
fn oltp_issues_two_reads_to_a_write_anywhere() {
    hold(
        "oltp --set run=none --set warmup=0s --set ops=6000 --set span=100% --set workers=4 --set until=none",
        &[one(&[(8 * KIB, 1.0)], 2.0 / 3.0, Order::Permutation)],
    );
}

#[test]
fn the_file_server_issues_its_eight_sizes_at_any_sector() {
    let sizes: &[(u64, f64)] = &[
        (512, 10.0),
        (KIB, 5.0),
        (2 * KIB, 5.0),
        (4 * KIB, 60.0),
        (8 * KIB, 2.0),
        (16 * KIB, 4.0),
        (32 * KIB, 4.0),
        (64 * KIB, 10.0),
    ];
    hold(
        "fileserver --set run=none --set warmup=0s --set ops=6000 --set span=100% --set depth=16",
        &[Expected { sizes, reads: 0.8, align: 512, order: Order::Anywhere }],
    );
}

#[test]
fn orion_issues_small_and_large_reads_anywhere() {
    hold(
        "orion-simple --set run=none --set warmup=0s --set ops=400 --set span=100% --set depth=4",
        &[one(&[(8 * KIB, 1.0)], 1.0, Order::Anywhere), one(&[(1024 * KIB, 1.0)], 1.0, Order::Anywhere)],
    );
}

#[test]
fn sqlio_issues_pages_extents_scans_and_a_log() {
    hold(
        "sqlio --set run=none --set warmup=0s --set ops=240 --set span=100%",
        &[
            one(&[(8 * KIB, 1.0)], 1.0, Order::Anywhere),
            one(&[(8 * KIB, 1.0)], 0.0, Order::Anywhere),
            one(&[(64 * KIB, 1.0)], 1.0, Order::Anywhere),
            one(&[(256 * KIB, 1.0)], 1.0, Order::Streams),
            one(&[(60 * KIB, 1.0)], 0.0, Order::Stream),
        ],
    );
}

/// The requests of a trace, in its order, are the requests that the block layer sees.
#[test]
fn a_trace_is_issued_as_it_was_recorded() {
    let user = User::new();
    let Some(device) = Loop::make(&user, IMAGE) else { return };
    let mut text = "op,offset_bytes,size_bytes\n".to_owned();
    let mut wanted = Vec::new();
    for number in 0..400u64 {
        let (writes, len) = (number % 3 == 0, 512 << (number % 8));
        let offset = number * 104_729 % (IMAGE / 512 - 128) * 512;
        text += &format!("{},{offset},{len}\n", if writes { "write" } else { "read" });
        wanted.push(Asked { writes, offset, len });
    }
    user.write("t.csv", text);
    user.write("plan.toml", "[[phase]]\npattern = \"trace\"\ntrace = \"t.csv\"\n");
    let Some(trace) = Trace::of(&device) else { return };
    user.fathom(&format!("run plan.toml --on {} --destroy={}", device.node, device.consent())).done();
    let asked = trace.read();
    let looked = asked.len().checked_sub(wanted.len()).expect("every request of the trace was asked");
    assert!(looked < 200 && asked[..looked].iter().all(|one| !one.writes), "{looked} requests before it");
    assert_eq!(asked[looked..], wanted);
    counters(&user.last()["points"][0], &asked[looked..], "trace");
}
