//! Ready-made plans, part of the program.

use document::nearest;

use super::{Errors, Overrides, Plan};

/// A plan that needs no file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ready {
    /// What it is called on the command line.
    pub name: &'static str,
    /// The TOML, with its comments.
    pub text: &'static str,
}

/// Every ready plan: the one to begin with first.
const READY: &[Ready] = &[
    Ready { name: "corners", text: include_str!("../../../../plans/corners.toml") },
    Ready { name: "quick", text: include_str!("../../../../plans/quick.toml") },
    Ready { name: "oltp", text: include_str!("../../../../plans/oltp.toml") },
    Ready { name: "random", text: include_str!("../../../../plans/random.toml") },
    Ready { name: "sequential", text: include_str!("../../../../plans/sequential.toml") },
    Ready { name: "mixed", text: include_str!("../../../../plans/mixed.toml") },
    Ready { name: "dd-sweep", text: include_str!("../../../../plans/dd-sweep.toml") },
    Ready { name: "diskspd", text: include_str!("../../../../plans/diskspd.toml") },
    Ready { name: "hdparm", text: include_str!("../../../../plans/hdparm.toml") },
    Ready { name: "read-ahead", text: include_str!("../../../../plans/read-ahead.toml") },
    Ready { name: "iozone", text: include_str!("../../../../plans/iozone.toml") },
    Ready { name: "files", text: include_str!("../../../../plans/files.toml") },
    Ready { name: "mdtest", text: include_str!("../../../../plans/mdtest.toml") },
    Ready { name: "bonnie", text: include_str!("../../../../plans/bonnie.toml") },
    Ready { name: "fileserver", text: include_str!("../../../../plans/fileserver.toml") },
    Ready { name: "webserver", text: include_str!("../../../../plans/webserver.toml") },
    Ready { name: "workstation", text: include_str!("../../../../plans/workstation.toml") },
    Ready { name: "streaming", text: include_str!("../../../../plans/streaming.toml") },
    Ready { name: "iometer-default", text: include_str!("../../../../plans/iometer-default.toml") },
    Ready { name: "iometer-all-in-one", text: include_str!("../../../../plans/iometer-all-in-one.toml") },
    Ready { name: "esg-corners", text: include_str!("../../../../plans/esg-corners.toml") },
    Ready { name: "ioanalyzer", text: include_str!("../../../../plans/ioanalyzer.toml") },
    Ready { name: "sqlio", text: include_str!("../../../../plans/sqlio.toml") },
    Ready { name: "sqlio-files", text: include_str!("../../../../plans/sqlio-files.toml") },
    Ready { name: "sqlio-luns", text: include_str!("../../../../plans/sqlio-luns.toml") },
    Ready { name: "orion-simple", text: include_str!("../../../../plans/orion-simple.toml") },
    Ready { name: "orion-normal", text: include_str!("../../../../plans/orion-normal.toml") },
    Ready { name: "orion-oltp", text: include_str!("../../../../plans/orion-oltp.toml") },
    Ready { name: "orion-dss", text: include_str!("../../../../plans/orion-dss.toml") },
    Ready { name: "pts-iops", text: include_str!("../../../../plans/pts-iops.toml") },
    Ready { name: "pts-throughput", text: include_str!("../../../../plans/pts-throughput.toml") },
    Ready { name: "pts-latency", text: include_str!("../../../../plans/pts-latency.toml") },
    Ready { name: "pts-wsat", text: include_str!("../../../../plans/pts-wsat.toml") },
    Ready { name: "spc1-like", text: include_str!("../../../../plans/spc1-like.toml") },
    Ready { name: "rebuild", text: include_str!("../../../../plans/rebuild.toml") },
    Ready { name: "rebuilding", text: include_str!("../../../../plans/rebuilding.toml") },
    Ready { name: "calibrate", text: include_str!("../../../../plans/calibrate.toml") },
    Ready { name: "calibrate-writes", text: include_str!("../../../../plans/calibrate-writes.toml") },
];

/// Every ready plan, the one to begin with first.
pub fn all() -> &'static [Ready] {
    READY
}

/// The ready plan of that name.
pub fn find(name: &str) -> Option<&'static Ready> {
    READY.iter().find(|ready| ready.name == name)
}

/// The name of the ready plan that was probably meant, if one is near.
pub fn suggest(name: &str) -> Option<&'static str> {
    nearest(name, READY.iter().map(|ready| ready.name))
}

impl Ready {
    /// The plan itself, changed by `overrides`.
    pub fn plan(&self, overrides: &Overrides) -> Result<Plan, Errors> {
        Plan::parse(&format!("{}.toml", self.name), self.text, overrides)
    }
}

#[cfg(test)]
mod tests {
    use units::Nanos;

    use super::super::Task;
    use super::*;

    fn plan(name: &str) -> Plan {
        let ready = find(name).expect("a ready plan");
        ready.plan(&Overrides::default()).unwrap_or_else(|errors| panic!("{}", errors.plain()))
    }

    #[test]
    fn every_ready_plan_can_be_read_and_speaks_for_itself() {
        for ready in all() {
            let plan = plan(ready.name);
            assert_eq!(plan.name, ready.name);
            assert!(!plan.about.is_empty(), "{} has no about", ready.name);
            assert_eq!(plan.cautions, [], "{}", ready.name);
            assert!(ready.text.starts_with("# "), "{} does not begin with a comment", ready.name);
        }
    }

    const READ_ONLY: [&str; 10] = [
        "calibrate",
        "hdparm",
        "read-ahead",
        "webserver",
        "sqlio-files",
        "sqlio-luns",
        "orion-simple",
        "orion-normal",
        "orion-oltp",
        "orion-dss",
    ];

    /// What the comments, the page about plans and `make demo` SLO.
    #[test]
    fn ready_plans_take_the_time_they_promise() {
        let promised = [
            ("corners", 5, 107),
            ("quick", 5, 20),
            ("oltp", 9, 810),
            ("random", 16, 192),
            ("sequential", 12, 144),
            ("mixed", 3, 105),
            ("dd-sweep", 18, 90),
            ("diskspd", 6, 90),
            ("hdparm", 5, 10),
            ("read-ahead", 21, 55),
            ("fileserver", 5, 125),
            ("webserver", 5, 125),
            ("workstation", 5, 125),
            ("streaming", 4, 100),
            ("iometer-default", 1, 35),
            ("iometer-all-in-one", 2, 70),
            ("esg-corners", 5, 300),
            ("ioanalyzer", 16, 1920),
            ("sqlio", 5, 85),
            ("sqlio-files", 12, 132),
            ("sqlio-luns", 11, 121),
            ("orion-simple", 28, 1680),
            ("orion-normal", 188, 11_280),
            ("orion-oltp", 20, 1200),
            ("orion-dss", 15, 900),
        ];
        for (name, points, secs) in promised {
            let estimate = plan(name).estimate();
            assert_eq!((estimate.points, estimate.time), (points, Nanos::from_secs(secs)), "{name}");
            // How long it takes to empty caches is not known beforehand.
            let prepares =
                plan(name).points().iter().filter(|point| matches!(point.task, Task::State(_))).count();
            assert_eq!(estimate.untimed_points, prepares, "{name}");
            assert_eq!(estimate.changes_data, !READ_ONLY.contains(&name), "{name}");
        }
        let untimed = [("iozone", 49), ("files", 6), ("mdtest", 12), ("bonnie", 10)];
        for (name, points) in untimed {
            let estimate = plan(name).estimate();
            assert_eq!((estimate.points, estimate.untimed_points), (points, points), "{name}");
            assert!(estimate.changes_data, "{name}");
        }
        // Points, seconds, and how many take as long as the target needs: states that wait for their end.
        let long = [
            ("pts-iops", 1401, 84_000, 1),
            ("pts-throughput", 102, 6_000, 2),
            ("pts-latency", 227, 14_700, 1),
            ("pts-wsat", 12, 20_460, 1),
            ("spc1-like", 6, 4_680, 0),
            ("rebuild", 7, 500, 1),
            ("rebuilding", 4, 370, 1),
        ];
        for (name, points, secs, untimed) in long {
            let estimate = plan(name).estimate();
            let expected = (points, Nanos::from_secs(secs), untimed);
            assert_eq!((estimate.points, estimate.time, estimate.untimed_points), expected, "{name}");
            assert!(estimate.changes_data, "{name}");
            assert_eq!(estimate.may_end_early, name.starts_with("pts-"), "{name}");
        }
        // Half seconds of warm-up, and reading in of what a cache may hold.
        let calibrating = [("calibrate", 168, 408_500, 5), ("calibrate-writes", 18, 599_000, 0)];
        for (name, points, millis, untimed) in calibrating {
            let estimate = plan(name).estimate();
            let expected = (points, Nanos::from_millis(millis), untimed);
            assert_eq!((estimate.points, estimate.time, estimate.untimed_points), expected, "{name}");
            assert_eq!(estimate.changes_data, !READ_ONLY.contains(&name), "{name}");
        }
        assert_eq!(all().len(), promised.len() + untimed.len() + long.len() + calibrating.len());
    }

    /// The sums that a published generator's streams come to: 39.44 % reads, 38.6 % in streams, 8.0144 KiB on average.
    #[test]
    fn the_eight_streams_have_the_shares_of_their_original() {
        let plan = plan("spc1-like");
        let Task::Load(load) = &plan.points()[0].task else { panic!("a load") };
        let (mut rate, mut reads, mut streams, mut kib) = (0.0, 0.0, 0.0, 0.0);
        for workload in &load.workloads {
            let crate::spec::Pace::Open(schedule) = workload.pace else { panic!("{:?}", workload.pace) };
            let part = schedule.rate.get() / 1000.0;
            let weights: f64 = workload.sizes.0.iter().map(|(_, weight)| weight).sum();
            let sizes =
                workload.sizes.0.iter().map(|(size, weight)| size.as_f64() / 1024.0 * weight / weights);
            rate += part;
            reads += part * workload.mix.reads.get();
            streams += if workload.pattern == crate::spec::Pattern::Sequential { part } else { 0.0 };
            kib += part * sizes.sum::<f64>();
        }
        let near = |found: f64, wanted: f64| assert!((found - wanted).abs() < 1e-6, "{found} for {wanted}");
        near(rate, 1.0);
        near(reads, 0.3944);
        near(streams, 0.386);
        near(kib, 8.0144);
        assert_eq!(load.workloads.len(), 8);
    }

    #[test]
    fn the_corners_are_the_five_of_the_published_tables() {
        let plan = plan("corners");
        let corners: Vec<String> = plan
            .points()
            .iter()
            .map(|point| {
                let Task::Load(load) = &point.task else { panic!("a corner is a load") };
                let one = &load.workloads[0];
                let reads = one.mix.reads;
                assert_eq!((one.workers, one.depth, one.direct), (1, 1, true));
                format!("{} {} {reads} {}", one.sizes, one.pattern, load.headlines[0])
            })
            .collect();
        let expected = [
            "512B sequential 100 % iops",
            "4KiB random 100 % iops",
            "4KiB random 0 % iops",
            "512KiB sequential 0 % mb_per_s",
            "512KiB sequential 100 % mb_per_s",
        ];
        assert_eq!(corners, expected);
    }

    #[test]
    fn a_mistyped_ready_plan_is_recognised() {
        assert_eq!(suggest("coners"), Some("corners"));
        assert_eq!(suggest("backup"), None);
    }
}
