//! The kernel's own counters as witness of what was asked.

use std::fs;

use serde_json::Value;

use crate::support::{Loop, User};

const PLAN: &str = r#"
name = "counted"

[[phase]]
name   = "mixed"
reads  = "60%"
size   = { "4KiB" = 70, "32KiB" = 30 }
depth  = 8
warmup = "200ms"
run    = "500ms"
"#;

/// Before it reads from a device, Fathom looks at so many places of it, a request of 4 KiB each: requests and sectors.
const LOOKED_AT: [u64; 2] = [60, 60 * 8];

/// Read requests, read sectors, write requests, write sectors.
/// Source: Documentation/block/stat.rst; merged requests were requests before they were merged.
fn counters(device: &Loop) -> [u64; 4] {
    let text = fs::read_to_string(format!("/sys/block/{}/stat", device.name())).unwrap();
    let fields: Vec<u64> = text.split_whitespace().map(|field| field.parse().unwrap()).collect();
    [fields[0] + fields[1], fields[2], fields[4] + fields[5], fields[6]]
}

fn total(workload: &Value, op: &str, key: &str) -> u64 {
    let totals = workload["totals"].as_array().unwrap();
    totals.iter().find(|total| total["op"] == op).unwrap()[key].as_u64().unwrap()
}

#[test]
fn the_kernel_counts_the_requests_and_sectors_of_the_record() {
    let user = User::with_plan(PLAN);
    let Some(device) = Loop::make(&user, 16 << 20) else { return };
    // One after the other: before it writes, Fathom looks for signatures, which takes some reads.
    for (op, share, first, beside) in [("read", "100%", 0, LOOKED_AT), ("write", "0%", 2, [0, 0])] {
        let before = counters(&device);
        let line = format!("run plan.toml --on {} --destroy={}", device.node, device.consent());
        user.fathom(&format!("{line} --set reads={share}")).done();
        let after = counters(&device);
        let run = user.last();
        let workload = &run["points"][0]["workloads"][0];
        let asked = [total(workload, op, "ops"), total(workload, op, "bytes") / 512];
        for (index, what) in ["requests", "sectors"].iter().enumerate() {
            let (counted, asked) =
                (after[first + index] - before[first + index] - beside[index], asked[index]);
            let share = counted as f64 / asked as f64;
            assert!((share - 1.0).abs() <= 0.005, "{op} {what}: the kernel {counted}, the record {asked}");
        }
        // The record has the kernel's word beside its own.
        let kept = &run["points"][0]["devices"][0];
        assert_eq!(kept["device"], device.name());
        assert_eq!(kept[format!("{op}_sectors")], asked[1]);
    }
}
