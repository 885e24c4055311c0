//! The path to the media, drawn.

use record::{Ceiling, PathPart};
use report::{Style, path};

fn part(name: &str, kind: &str, below: Vec<PathPart>) -> PathPart {
    PathPart { name: name.into(), kind: kind.into(), below, ..PathPart::default() }
}

fn machine() -> PathPart {
    let ceiling = Ceiling {
        what: "bandwidth".into(),
        value: 600e6,
        unit: "bytes_per_s".into(),
        each_way: false,
        basis: "6 Gb/s, 8b/10b, one way at a time".into(),
        source: "/sys/class/ata_link/link1/sata_spd".into(),
    };
    let mut link = part("ata1", "SATA link", Vec::new());
    link.ceilings.push(ceiling);
    let mut host = part("host0", "SCSI host, ahci", Vec::new());
    host.repeated = true;
    let mut disk = part("sda", "disk", vec![link]);
    disk.facts.insert("scheduler".into(), "none".into());
    disk.unknown.push("rotation rate: nobody tells it".into());
    part("md0", "md raid1", vec![disk, part("sdb", "disk", vec![host])])
}

#[test]
fn every_part_stands_below_the_one_it_serves() {
    let style = Style { colour: false, unicode: true, width: 80 };
    let expected = "\
md0           md raid1
├─ sda        disk
│  │          scheduler none
│  │          not known: rotation rate: nobody tells it
│  └─ ata1    SATA link
│             at most 600 MB/s: 6 Gb/s, 8b/10b, one way at a time
└─ sdb        disk
   └─ host0   SCSI host, ahci, as above
";
    let drawn = path(&machine(), style);
    let squeezed = |text: &str| {
        text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect::<Vec<_>>()
    };
    assert_eq!(squeezed(&drawn), squeezed(expected), "{drawn}");
}

#[test]
fn a_narrow_terminal_without_unicode_gets_shorter_lines_of_ascii() {
    let drawn = path(&machine(), Style { colour: false, unicode: false, width: 44 });
    assert!(drawn.is_ascii(), "{drawn}");
    assert!(drawn.lines().all(|line| line.len() <= 44), "{drawn}");
    assert!(drawn.lines().count() > 8, "{drawn}");
}
