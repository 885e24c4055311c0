//! What theory gives a cell: its disks × one disk, less what redundancy costs a write.

use document::Fields;
use record::Metric;
use units::{BytesPerSecond, OpsPerSecond, Share};

use crate::file::Claim;

/// A figure of one disk, and what follows from it.
#[derive(Clone, Debug, PartialEq)]
pub struct Theory {
    /// What it is about; its value is that of one disk.
    pub claim: Claim,
    /// The share of reads; that of each point where absent.
    pub reads: Option<f64>,
    /// Disks, where no factor says so.
    pub disks: Option<u32>,
    /// RAID level, where no factor says so.
    pub raid: Option<String>,
}

impl Theory {
    pub(crate) fn read(fields: &Fields<'_>) -> Option<Theory> {
        let iops = fields.get::<OpsPerSecond>("iops").map(|rate| (Metric::Iops, rate.get()));
        let throughput =
            fields.get::<BytesPerSecond>("throughput").map(|rate| (Metric::Throughput, rate.get()));
        let one = iops.or(throughput);
        fields.check(
            &["iops", "throughput"],
            iops.is_some() != throughput.is_some() && one.is_some_and(|(_, value)| value > 0.0),
            "theory is about one disk; give its iops or its throughput, above zero",
        );
        let theory = Theory {
            claim: Claim {
                by: fields.or("by", "disks × one disk".to_owned()),
                point: fields.or("point", String::new()),
                metric: one.map_or(Metric::Iops, |(metric, _)| metric),
                value: one.map_or(0.0, |(_, value)| value),
                levels: crate::file::where_of(fields),
            },
            reads: fields.get::<Share>("reads").map(Share::get),
            disks: fields.get::<u32>("disks"),
            raid: fields.get::<u32>("raid").map(|raid| raid.to_string()),
        };
        fields.finish();
        one.map(|_| theory)
    }

    /// The mixes of a cell's points that it says something of: the one it names, else all of `mixes`.
    pub fn mixes(&self, mixes: &[f64]) -> Vec<f64> {
        self.reads.map_or_else(|| mixes.to_vec(), |reads| vec![reads])
    }

    /// The figure of a cell whose factors have the levels that `level` tells, for points of which `reads` are reads; `None`
    /// where its disks or what a write costs on its level are not known.
    pub fn value(&self, level: impl Fn(&str) -> Option<String>, reads: f64) -> Option<f64> {
        debug_assert!((0.0..=1.0).contains(&reads), "a share");
        let disks = level("disks").and_then(|disks| disks.parse().ok()).or(self.disks)?;
        let write = || self.cost_of_write(level("raid").or(self.raid.clone()), disks);
        let each = if reads >= 1.0 { 1.0 } else { reads + (1.0 - reads) * write()? };
        Some(f64::from(disks) * self.claim.value / each)
    }

    /// Accesses of disks for one write of the host. Of requests: data and its copy, or reading and writing data and each
    /// parity (Patterson, Gibson, Katz, 1988); of throughput whole stripes, which need read nothing.
    fn cost_of_write(&self, raid: Option<String>, disks: u32) -> Option<f64> {
        let whole_stripes = |parities: u32| {
            let data = disks.checked_sub(parities).filter(|data| *data > 0)?;
            Some(f64::from(disks) / f64::from(data))
        };
        let is_stripes = self.claim.metric == Metric::Throughput;
        match raid.as_deref() {
            Some("0") => Some(1.0),
            Some("1" | "10") => Some(2.0),
            Some("5") if is_stripes => whole_stripes(1),
            Some("6") if is_stripes => whole_stripes(2),
            Some("5") => Some(4.0),
            Some("6") => Some(6.0),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Campaign;

    fn theory(rest: &str) -> Theory {
        let text = format!(
            "name = \"x\"\nplans = \"quick\"\n[factors]\nraid = [5, 10]\ndisks = [4, 8]\n[[theory]]\n{rest}"
        );
        Campaign::parse("file", &text).expect("it can be read").theories[0].clone()
    }

    fn at(theory: &Theory, raid: &str, disks: &str, reads: f64) -> Option<f64> {
        let level = |factor: &str| match factor {
            "raid" => Some(raid.to_owned()),
            "disks" => Some(disks.to_owned()),
            _ => None,
        };
        theory.value(level, reads)
    }

    #[test]
    fn reads_use_every_disk_and_a_write_costs_what_its_level_asks_for() {
        let rate = theory("iops = \"100/s\"");
        assert_eq!((at(&rate, "5", "8", 1.0), at(&rate, "10", "4", 1.0)), (Some(800.0), Some(400.0)));
        let all = ["0", "10", "5", "6", "Z"].map(|raid| at(&rate, raid, "8", 0.0));
        assert_eq!(all, [Some(800.0), Some(400.0), Some(200.0), Some(800.0 / 6.0), None]);
        assert_eq!(at(&rate, "10", "6", 0.5), Some(400.0));
        let stripes = theory("throughput = \"50MB/s\"");
        assert_eq!((at(&stripes, "5", "5", 0.0), at(&stripes, "6", "2", 0.0)), (Some(200e6), None));
    }

    #[test]
    fn theory_takes_the_mix_of_each_point_unless_it_names_one() {
        assert_eq!(theory("iops = \"100/s\"").mixes(&[1.0, 0.0]), [1.0, 0.0]);
        assert_eq!(theory("iops = \"100/s\"\nreads = \"0%\"").mixes(&[1.0, 0.5]), [0.0]);
    }

    #[test]
    fn disks_that_no_factor_tells_are_those_of_the_file() {
        let fixed = theory("iops = \"100/s\"\ndisks = 12\nby = \"12 disks\"");
        assert_eq!(fixed.value(|_| None, 1.0), Some(1_200.0));
        assert_eq!(theory("iops = \"100/s\"").value(|_| None, 1.0), None);
        assert_eq!((fixed.claim.by.as_str(), fixed.claim.metric), ("12 disks", Metric::Iops));
    }

    #[test]
    fn theory_is_about_one_figure_of_one_disk() {
        for wrong in [
            "",
            "iops = \"1/s\"\nthroughput = \"1MB/s\"",
            "iops = \"0/s\"",
            "iops = \"1/s\"\nwhere = { riad = 5 }",
        ] {
            let text =
                format!("name = \"x\"\nplans = \"quick\"\n[factors]\nraid = [5, 10]\n[[theory]]\n{wrong}");
            assert!(Campaign::parse("file", &text).is_err(), "{wrong}");
        }
    }
}
