//! The texts of the shipped library. One line for each file of `arrays/`, `devices/` and `validation/`; tests
//! compare them.

macro_rules! library {
    ($folder:literal: $($name:literal),* $(,)?) => {
        &[$((
            $name,
            concat!($folder, "/", $name, ".toml"),
            include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../", $folder, "/", $name, ".toml")),
        )),*]
    };
}

pub(super) const ARRAYS: &[(&str, &str, &str)] = library! { "arrays":
    "drobo-pro",
    "drobo-usb",
    "ds2413plus",
    "dsi3500",
    "esds-s24s-g2240",
    "host-linux-server",
    "host-modern",
    "host-windows-pc",
    "ix2-200",
    "ix4-200d",
    "local-sata-raid1",
    "local-ssd-raid0",
    "local-windows",
    "md-linux",
    "md3000",
    "nas-arm",
    "nas-atom",
    "nas-gige",
    "nearline-60",
    "nvme-jbof-8",
    "perc",
    "perc-2-qc",
    "perc-3-qc",
    "px6-300d",
    "queue",
    "sas-ssd-24",
};

pub(super) const DEVICES: &[(&str, &str, &str)] = library! { "devices":
    "atlas-10k",
    "cheetah-18lp",
    "cheetah-36es",
    "cheetah-9lp",
    "cheetah-x15",
    "cheetah-x15-36lp",
    "crucial-m4-128",
    "disk-sata",
    "disk-scsi-10k",
    "fitted",
    "hds722020ala330",
    "hds723020bla642",
    "hua723030ala640",
    "nearline-18tb",
    "nvme-1920",
    "queue-md1",
    "queue-mm1",
    "queue-mm4",
    "ramsan-500",
    "sas-ssd-3840",
    "snv425",
    "st31000333as",
    "st31000520as",
    "st31000542as",
    "st3146854ss",
    "st3146855ss",
    "st31500341as",
    "st32000542as",
    "wd1001fals",
    "wd3200jd",
};

pub(super) const CASES: &[(&str, &str, &str)] = library! { "validation":
    "behaviours",
    "drobo-pro",
    "ds2413plus",
    "dsi3500",
    "esds-s24s-g2240",
    "ix2-200",
    "ix4-200d",
    "local-sata-raid1",
    "local-ssd-raid0",
    "md3000",
    "perc",
    "px6-300d",
};
