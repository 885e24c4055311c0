//! Orion's files of any run that has small or large requests.

use record::Run;

use super::figures::{Clash, Figures};
use super::options::Shape;
use super::summary::{Test, loads, summary};
use super::{histogram, tables};
use crate::{NoFigures, Output};

/// The summary.
pub const SUMMARY: Output = Output {
    name: "orion",
    ending: "orion.txt",
    about: "the best MB/s, IOPS and latency with their loads, as Orion's summary",
    write: |run| {
        let figures = figures(run, "orion")?;
        let luns: Vec<(String, u64)> =
            run.targets.iter().map(|target| (target.address.clone(), target.size_bytes)).collect();
        Ok(summary(&Test::of_run(run, &figures), &luns, &figures, Shape::V11))
    },
};

/// The table of MB/s.
pub const MBPS: Output = Output {
    name: "orion-mbps",
    ending: "orion-mbps.csv",
    about: "MB/s of large requests by load, as Orion's table",
    write: |run| {
        let figures = figures(run, "orion-mbps")?;
        match figures.cells().any(|(_, cell)| cell.large.is_some()) {
            true => Ok(table(&figures, tables::mbps)),
            false => Err(NoFigures {
                format: "orion-mbps",
                why: "no point has requests of 128 KiB or more; `fathom run orion-dss` has such points"
                    .into(),
            }),
        }
    },
};

/// The table of IOPS.
pub const IOPS: Output = Output {
    name: "orion-iops",
    ending: "orion-iops.csv",
    about: "IOPS of small requests by load, as Orion's table",
    write: |run| small(run, "orion-iops", tables::iops),
};

/// The table of latencies.
pub const LATENCIES: Output = Output {
    name: "orion-lat",
    ending: "orion-lat.csv",
    about: "mean latency of small requests by load in ms, as Orion's table",
    write: |run| small(run, "orion-lat", tables::latencies),
};

/// The histograms.
pub const HISTOGRAMS: Output = Output {
    name: "orion-hist",
    ending: "orion-hist.txt",
    about: "histograms of latencies by load, as Orion's",
    write: |run| Ok(histogram::histograms(&figures(run, "orion-hist")?)),
};

type Write = fn(&Figures, &[u32], &[u32], Shape) -> String;

fn table(figures: &Figures, write: Write) -> String {
    write(figures, &loads(figures, |load| load.small), &loads(figures, |load| load.large), Shape::V11)
}

fn small(run: &Run, format: &'static str, write: Write) -> Result<String, NoFigures> {
    let figures = figures(run, format)?;
    match figures.cells().any(|(_, cell)| cell.small.is_some()) {
        true => Ok(table(&figures, write)),
        false => Err(NoFigures {
            format,
            why: "no point has requests of less than 128 KiB; `fathom run orion-oltp` has such points".into(),
        }),
    }
}

fn figures(run: &Run, format: &'static str) -> Result<Figures, NoFigures> {
    let figures = Figures::of(&run.points);
    NoFigures::when(
        figures.is_empty(),
        format,
        "no point reads or writes; `fathom run orion-simple` has such points",
    )?;
    match figures.clash() {
        None => Ok(figures),
        Some(Clash { load, points: [one, other] }) => Err(NoFigures {
            format,
            why: format!(
                "Orion has one figure of Small={} and Large={}, and `{one}` and `{other}` both are that with different \
                 requests; export a run of points that differ in how many requests are in flight, such as `fathom run \
                 orion-simple`",
                load.small, load.large
            ),
        }),
    }
}

#[cfg(test)]
mod tests {
    use record::sample::{Stream, point, run, workload};

    use super::*;

    fn of(size_bytes: u64) -> Run {
        let stream = Stream { op: "read", size_bytes, per_s: 1000, median_ns: 1_000_000, spread: 0.1 };
        run("random", vec![point(0, "one", vec![workload("reads", &[stream])])])
    }

    #[test]
    fn points_that_are_one_to_orion_and_no_repeats_are_refused_by_name() {
        let both = ["read", "write"].map(|op| {
            let stream = Stream { op, size_bytes: 4096, per_s: 1000, median_ns: 1_000_000, spread: 0.1 };
            point(0, &format!("random {op}"), vec![workload("main", &[stream])])
        });
        let why = (SUMMARY.write)(&run("quick", both.into())).unwrap_err().to_string();
        assert!(why.contains("Small=1 and Large=0, and `random read` and `random write`"), "{why}");
    }

    #[test]
    fn any_run_has_the_tables_of_the_requests_it_made() {
        let random = of(4096);
        assert_eq!((IOPS.write)(&random).unwrap(), "Large/Small,      1\n          0,   1000\n");
        assert!((MBPS.write)(&random).unwrap_err().to_string().contains("orion-dss"));
        let large = of(1 << 20);
        assert_eq!((MBPS.write)(&large).unwrap(), "Large/Small,      0\n          1,1000.00\n");
        assert!((LATENCIES.write)(&large).unwrap_err().to_string().contains("orion-oltp"));
        assert!(
            (SUMMARY.write)(&large).unwrap().contains("Maximum Large MBPS=1000.00 @ Small=0 and Large=1\n")
        );
        assert!((SUMMARY.write)(&run("states", Vec::new())).is_err());
        assert!((HISTOGRAMS.write)(&random).unwrap().starts_with("Small Read / Write Latency Histogram"));
    }
}
