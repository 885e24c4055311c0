//! The shipped library loads whole, and each fault is named with its place and its cure.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use units::{Bytes, Nanos};

use super::*;
use crate::controller::Ownership;
use crate::device::DeviceParams;
use crate::protocol::ProtocolKind;
use crate::topology::BitmapParams;

mod devices;

/// A few files by name, over the shipped ones.
struct Files(BTreeMap<&'static str, &'static str>);

impl Source for Files {
    fn find(&self, shelf: Shelf, name: &str) -> Option<SourceText<'_>> {
        let text = self.0.get(name).filter(|_| shelf == Shelf::Array)?;
        Some(SourceText { label: Cow::Owned(format!("mine/{name}.toml")), text: Cow::Borrowed(text) })
    }

    fn names(&self, _: Shelf) -> Vec<String> {
        self.0.keys().map(|name| (*name).to_string()).collect()
    }
}

fn with(files: &[(&'static str, &'static str)]) -> Layered<Files, Shipped> {
    Layered { first: Files(files.iter().copied().collect()), then: Shipped }
}

/// What is said about a file `x` that inherits `md3000` and adds `text`.
fn complaint(text: &str) -> String {
    let text = format!("name = \"x\"\ninherits = \"perc-3-qc\"\n{text}");
    let address = Address::parse("x").unwrap();
    array_text(&Shipped, "x.toml", &text, &address).unwrap_err().to_string()
}

fn refusal(address: &str) -> String {
    array(&Shipped, address).unwrap_err().to_string()
}

fn whole_arrays() -> Vec<String> {
    Shipped.names(Shelf::Array).into_iter().filter(|name| !array_file(&Shipped, name).unwrap().part).collect()
}

fn values(takes: &Takes) -> Vec<String> {
    match takes {
        Takes::Values(values) => values.clone(),
        Takes::Range(least, most) => {
            vec![least.to_string(), (least + (most - least) / 2).to_string(), most.to_string()]
        }
        Takes::Any => Vec::new(),
    }
}

/// Builds, or says that the set is impossible: a RAID 10 of an odd number of disks is the user's own, and a stripe over
/// more LUNs than there are.
fn builds(address: &str) {
    let Err(error) = array(&Shipped, address) else { return };
    let of_disks = |told: &str| {
        ["`raid.disks`: ", "`raid.sets`: ", "`raid.spares`: "].iter().any(|key| told.starts_with(key))
            && told.contains("disks")
    };
    let is_own =
        |told: &&str| told.starts_with("RAID ") || told.starts_with("a stripe over ") || of_disks(told);
    let told: Vec<&str> = error.iter().map(|mistake| mistake.message()).collect();
    assert!(told.iter().all(is_own), "{address}: {error}");
}

#[test]
fn the_library_holds_every_file_of_its_folders() {
    for (shelf, folder) in [(Shelf::Array, "arrays"), (Shelf::Device, "devices")] {
        let path = format!("{}/../../{folder}", env!("CARGO_MANIFEST_DIR"));
        let mut there: Vec<String> = std::fs::read_dir(path)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter_map(|name| name.strip_suffix(".toml").map(str::to_string))
            .collect();
        there.sort();
        assert_eq!(Shipped.names(shelf), there);
    }
}

#[test]
fn every_array_of_the_design_is_there_and_builds_without_options() {
    let arrays = whole_arrays();
    for name in [
        "md3000",
        "esds-s24s-g2240",
        "dsi3500",
        "ix2-200",
        "ix4-200d",
        "px6-300d",
        "drobo-pro",
        "drobo-usb",
        "ds2413plus",
        "perc-2-qc",
        "perc-3-qc",
        "local-ssd-raid0",
        "local-sata-raid1",
    ] {
        assert!(arrays.iter().any(|known| known == name), "{name}");
    }
    for name in arrays {
        let spec = array(&Shipped, &name).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(spec.name, name);
        assert!(!spec.about.is_empty() && !spec.topology.luns.is_empty(), "{name}");
    }
}

#[test]
fn every_device_that_is_no_part_builds() {
    for model in Shipped.names(Shelf::Device) {
        if model.starts_with("disk-") {
            continue;
        }
        let (spec, _) = device(&Shipped, &model).unwrap_or_else(|error| panic!("{error}"));
        assert!(spec.capacity.0 > 0 && !spec.about.is_empty(), "{model}");
    }
}

#[test]
fn every_pair_of_option_values_builds_or_is_an_impossible_set() {
    for name in whole_arrays() {
        let options = array_file(&Shipped, &name).unwrap().options;
        let settings: Vec<(usize, String)> = options
            .iter()
            .enumerate()
            .flat_map(|(index, option)| {
                values(&option.takes)
                    .into_iter()
                    .map(move |value| (index, format!("{}={value}", option.name)))
            })
            .collect();
        for (at, (option, first)) in settings.iter().enumerate() {
            builds(&format!("{name}?{first}"));
            for (_, second) in settings[at..].iter().filter(|(other, _)| other != option) {
                builds(&format!("{name}?{first}&{second}"));
            }
        }
    }
}

/// Every figure of a file, those of its options too.
fn leaves<'t>(path: &str, table: &'t document::Table, all: &mut Vec<(String, &'t document::Node)>) {
    for (key, node) in table.iter() {
        let path = format!("{path}.{}", key.text);
        match node.table() {
            Some(inner) => leaves(&path, inner, all),
            None => all.push((path, node)),
        }
    }
}

#[test]
fn a_figure_that_rests_on_a_fit_says_what_it_was_fitted_within() {
    let known = fitted(&Shipped, &BTreeSet::new()).unwrap_or_else(|error| panic!("{error}"));
    let mut bare = Vec::new();
    for shelf in [Shelf::Array, Shelf::Device] {
        for name in Shipped.names(shelf) {
            let found = Shipped.find(shelf, &name).unwrap();
            let file = tree::parse(&found.label, &found.text, &Mistakes::default()).unwrap();
            let mut all = Vec::new();
            leaves(&name, &file.table, &mut all);
            for (path, node) in all {
                let source =
                    node.basis.as_deref().and_then(|basis| basis.source.as_deref()).unwrap_or_default();
                let is_number =
                    node.scalar().is_some_and(|text| text.starts_with(|one: char| one.is_ascii_digit()));
                let is_fit = source.starts_with("fit") || source.starts_with("chosen with");
                if is_number && is_fit && !known.iter().any(|figure| figure.is_at(&node.place)) {
                    bare.push(format!("{}: `{path}` ({source})", node.place));
                }
            }
        }
    }
    assert!(bare.is_empty(), "fitted, and without bounds:\n{}", bare.join("\n"));
}

#[test]
fn each_file_says_what_its_figures_rest_on_in_fewer_than_150_lines() {
    let mut bare = Vec::new();
    for shelf in [Shelf::Array, Shelf::Device] {
        for name in Shipped.names(shelf) {
            let found = Shipped.find(shelf, &name).unwrap();
            assert!(found.text.lines().count() < 150, "{} is too long", found.label);
            let file = tree::parse(&found.label, &found.text, &Mistakes::default()).unwrap();
            for figure in figure::collect(&file.table).into_iter().filter(|figure| figure.measured) {
                // Counts of the user's choosing, and names that begin with a digit, are no figures.
                let chosen = ["raid.", "devices.count", "devices.mix", "devices.model"];
                if chosen.iter().any(|prefix| figure.key.starts_with(prefix)) || figure.key.ends_with("count")
                {
                    continue;
                }
                if figure.source.is_none() || figure.confidence.is_none() {
                    bare.push(format!("{}: `{}`", figure.at, figure.key));
                }
            }
        }
    }
    assert!(bare.is_empty(), "without source or confidence:\n{}", bare.join("\n"));
}

#[test]
fn options_change_what_they_name() {
    let spec = array(&Shipped, "array:md3000?raid=5&luns=2&controllers=1").unwrap();
    assert_eq!(spec.topology.sets[0].geometry.spec().level, crate::raid::Level::Raid5);
    assert_eq!(
        (spec.topology.luns.len(), spec.topology.controllers, spec.topology.controller.partner),
        (2, 1, None)
    );
    assert_eq!(spec.topology.luns.iter().map(|lun| lun.owner).collect::<Vec<_>>(), [0, 0]);
    assert!(matches!(spec.topology.controller.ownership, Ownership::Transfer { .. }));
    let both = array(&Shipped, "md3000?luns=2").unwrap();
    assert_eq!(both.topology.luns.iter().map(|lun| lun.owner).collect::<Vec<_>>(), [0, 1]);
    let nas = array(&Shipped, "px6-300d?raid=5&disks=4&protocol=nfs3").unwrap();
    assert_eq!(nas.topology.protocol.kind, ProtocolKind::Nfs3);
    assert_eq!(nas.topology.sets[0].members, [0, 1, 2, 3]);
}

#[test]
fn a_choice_adds_to_the_one_it_inherits() {
    // The request size comes from the choice, the copies from the protocol beside it.
    let spec = array(&Shipped, "ix4-200d?protocol=smb1").unwrap();
    assert_eq!(spec.topology.protocol.read_size, Bytes::KIB * 60);
    assert_eq!(spec.topology.protocol.outstanding, 1);
    assert!(spec.topology.protocol.server_read_copy.is_some());
}

#[test]
fn what_serving_a_protocol_takes_follows_from_the_processor_of_the_box() {
    let of = |options: &str| array(&Shipped, &format!("ix4-200d?{options}")).unwrap().topology;
    let [iscsi, smb] = ["protocol=iscsi", "protocol=smb1"].map(|options| of(options).protocol.server_read);
    assert!(smb < iscsi && smb * 2 > iscsi, "{smb}, {iscsi}");
    let slow = of("protocol=iscsi&processor.clock_mhz=600");
    let half = |time: Nanos| Nanos::new(time.get() / 2);
    assert!(half(slow.protocol.server_read).get().abs_diff(iscsi.get()) <= 1);
    assert!(half(slow.controller.member_command) >= of("protocol=iscsi").controller.member_command);
    let rate = |options: &str| of(options).protocol.server_read_copy.map(|rate| rate.get()).unwrap();
    assert!(rate("jumbo=on") > rate("jumbo=off") * 1.1);
    // A rate of the file's own comes on top of what the processor moves.
    assert!(rate("protocol.server_read_copy=64MB/s") < rate("jumbo=off").min(64e6));
}

#[test]
fn a_figure_can_be_changed_by_its_dotted_name() {
    let spec = array(&Shipped, "md3000?cache.size=1GiB&host.multipath=none").unwrap();
    assert_eq!(spec.topology.controller.cache.map(|cache| cache.size), Some(Bytes::GIB));
    assert_eq!(
        refusal("md3000?cache.sise=1GiB").split(" It takes").next().unwrap(),
        "array:md3000?cache.sise=1GiB: `[cache]` has no key `sise`; did you mean `size`?"
    );
}

#[test]
fn firmware_is_a_named_set_of_overrides() {
    let limit = |address: &str| {
        let spec = array(&Shipped, address).unwrap();
        let rebuild = spec
            .topology
            .background
            .iter()
            .find(|work| work.kind == crate::background::BackgroundKind::Rebuild);
        rebuild.and_then(|work| work.member_limit).map(|rate| rate.mb_per_s())
    };
    assert_eq!(limit("esds-s24s-g2240"), Some(102.0));
    assert_eq!(limit("esds-s24s-g2240?firmware=3.88A.03"), Some(14.3));
}

#[test]
fn a_device_is_read_with_the_arrays_changes_on_top() {
    let spec = array(&Shipped, "local-sata-raid1").unwrap();
    let DeviceParams::Rotating(disk) = &spec.topology.models[0] else { panic!("a disk") };
    assert!(disk.cache.is_some_and(|cache| cache.is_write_back()));
    let off = array(&Shipped, "local-sata-raid1?write_cache=false").unwrap();
    let DeviceParams::Rotating(disk) = &off.topology.models[0] else { panic!("a disk") };
    assert!(disk.cache.is_some_and(|cache| !cache.is_write_back()));
}

#[test]
fn an_unknown_key_is_named_with_its_line_and_the_nearest_key() {
    assert!(
        complaint("[cache]\nsise = \"1MiB\"\n")
            .starts_with("x.toml:4: `[cache]` has no key `sise`; did you mean `size`?")
    );
    assert!(
        complaint("[cahce]\n").starts_with("x.toml:3: `the file` has no key `cahce`; did you mean `cache`?")
    );
}

#[test]
fn a_misspelt_key_is_reported_rather_than_the_absence_of_the_right_one() {
    let text = "[host]\nrequst = \"1us\"\n";
    let error = array_text(&Shipped, "x.toml", text, &Address::parse("x").unwrap()).unwrap_err();
    let told = error.iter().last().unwrap().to_string();
    assert!(told.starts_with("x.toml:2: `[host]` has no key `requst`; did you mean `request`?"), "{told}");
    assert!(!error.plain().contains("needs `request`"), "{}", error.plain());
}

#[test]
fn a_missing_key_says_what_it_would_hold() {
    let error = array_text(&Shipped, "x.toml", "[host]\nprocessors = 1\n", &Address::parse("x").unwrap());
    let told: Vec<String> = error.unwrap_err().iter().map(ToString::to_string).collect();
    assert!(told.contains(&"x.toml:1: `[host]` needs `request`, a duration such as \"8.2ms\"".into()));
    assert!(told.contains(&"x.toml:1: `the file` needs `raid`, a table".into()), "{told:?}");
}

#[test]
fn a_bitmap_has_the_regions_that_are_said_and_no_more_than_it_can() {
    let bitmap = |address: &str| array(&Shipped, address).map(|spec| spec.topology.sets[0].bitmap);
    let mdadms = BitmapParams { region: Bytes::MIB * 64, sleep: Nanos::from_secs(5) };
    assert_eq!(bitmap("md3000").unwrap(), None);
    assert_eq!(bitmap("pm9a3-raid1-2").unwrap(), Some(mdadms));
    assert_eq!(bitmap("pm9a3-raid1-2?raid.bitmap=none").unwrap(), None);
    let finer = bitmap("pm9a3-raid1-2?raid.bitmap.region=1MiB").unwrap();
    assert_eq!(finer, Some(BitmapParams { region: Bytes::MIB, ..mdadms }));
    let error = bitmap("pm9a3-raid1-2?raid.bitmap.region=256KiB").expect_err("that is too many").to_string();
    assert!(error.contains("at most 2,097,152 bits"), "{error}");
    assert!(bitmap("pm9a3-raid1-2?raid.bitmap.sleep=0s").is_err());
}

#[test]
fn an_interrupt_is_a_part_of_a_command() {
    let of = |interrupt: &str| array(&Shipped, &format!("array:perc-3-qc?controller.interrupt={interrupt}"));
    assert!(of("149us").is_ok());
    let told = of("150us").unwrap_err().to_string();
    assert!(
        told.contains("give less than 150us, the shorter of `read_command` and `write_command`"),
        "{told}"
    );
    let shorter = array(&Shipped, "array:perc-3-qc?controller.read_command=60us");
    assert!(shorter.is_err(), "70 us of it are the interrupt");
}

#[test]
fn a_value_of_the_wrong_kind_says_what_would_be_right() {
    assert_eq!(
        complaint("[cache]\nsize = \"64\"\n"),
        "x.toml:4: `cache.size`: `64` has no unit; write a size such as 64B or 64KiB"
    );
    assert_eq!(
        complaint("[cache]\nsize = 64\n"),
        "x.toml:4: `cache.size`: `64` is not a size such as \"64KiB\", in quotes"
    );
    assert!(
        complaint("[channel]\nduplex = \"ful\"\n").contains("did you mean `full`? Write one of half, full")
    );
}

#[test]
fn an_impossible_raid_says_what_the_level_needs() {
    assert_eq!(
        complaint("[raid]\nlevel = \"6\"\ndisks = 3\n"),
        "x.toml:5: RAID 6 of 3 disks is impossible: it needs at least 4; with 3 use RAID 5 or RAID 1E"
    );
    assert_eq!(
        refusal("px6-300d?raid=5&disks=2"),
        "array:px6-300d?raid=5&disks=2: RAID 5 of 2 disks is impossible: it needs at least 3; with 2 use RAID 1"
    );
    assert!(refusal("perc-3-qc?raid=10&disks=5").contains("leaves one without a partner"));
}

#[test]
fn a_chunk_that_is_no_power_of_two_is_refused_where_parity_needs_it() {
    assert_eq!(
        complaint("[raid]\nchunk = \"96KiB\"\n"),
        "x.toml:4: RAID 5 with a chunk of 96 KiB is impossible: levels with parity need a power of two; give 64KiB or 128KiB"
    );
    assert!(array(&Shipped, "px6-300d?raid=0&chunk=96KiB").is_ok());
}

#[test]
fn a_disk_number_out_of_range_says_which_there_are() {
    assert_eq!(
        complaint("[raid]\nfailed = [12]\n"),
        "x.toml:4: there is no disk 12: the array has 12, numbered 0 to 11"
    );
    assert_eq!(
        complaint("[raid]\nmembers = [[0, 1, 12]]\n"),
        "x.toml:4: there is no disk 12: the array has 12, numbered 0 to 11"
    );
    assert!(refusal("md3000?failed=99").ends_with("there is no disk 99: the array has 15, numbered 0 to 14"));
    assert!(complaint("[raid]\nmembers = [[0, 1, 1]]\n").ends_with("disk 1 is in it twice"));
    assert!(complaint("[raid]\ndisks = 13\n").contains("13 disks are more than the 12 the array has"));
}

#[test]
fn devices_that_are_named_in_one_way_replace_those_inherited_in_the_other_and_no_file_names_both() {
    let disks = |text: &str| {
        let text = format!("name = \"x\"\ninherits = \"drobo-pro\"\n{text}");
        let spec = array_text(&Shipped, "x.toml", &text, &Address::parse("x").unwrap());
        spec.map(|spec| spec.topology.disks.len()).map_err(|mistakes| mistakes.to_string())
    };
    assert_eq!(disks("[devices]\nmodel = \"wd3200jd\"\ncount = 8\n"), Ok(8), "its mix is gone");
    let mixed = "mix = [{ model = \"wd3200jd\", count = 3 }, { model = \"wd1001fals\", count = 5 }]\n";
    assert_eq!(disks(&format!("[devices]\n{mixed}")), Ok(8));
    let both = disks(&format!("[devices]\nmodel = \"wd3200jd\"\ncount = 8\n{mixed}")).unwrap_err();
    assert!(both.contains("by `model` and `count`, or by a `mix`"), "{both}");
}

#[test]
fn a_file_that_inherits_itself_shows_the_circle() {
    let files =
        with(&[("a", "name = \"a\"\ninherits = \"b\"\n"), ("b", "name = \"b\"\n\ninherits = \"a\"\n")]);
    assert_eq!(
        array(&files, "a").unwrap_err().to_string(),
        "mine/b.toml:3: `a` inherits itself (a → b → a); remove one `inherits`"
    );
}

#[test]
fn an_unknown_file_option_or_value_names_the_nearest() {
    assert_eq!(refusal("md300"), "array:md300: there is no array `md300`; did you mean `md3000`?");
    assert!(
        complaint("[devices]\nmodel = \"atlas-10\"\n")
            .starts_with("x.toml:4: there is no device `atlas-10`; did you mean `atlas-10k`?")
    );
    assert!(
        refusal("md3000?lun=2")
            .starts_with("array:md3000?lun=2: `md3000` takes no option `lun`; did you mean `luns`?")
    );
    assert_eq!(
        refusal("px6-300d?protocol=iscsy"),
        "array:px6-300d?protocol=iscsy: option `protocol` of `px6-300d` cannot be `iscsy`; did you mean `iscsi`? It takes iscsi, smb1, nfs3"
    );
    assert!(refusal("md3000?luns=4").ends_with("cannot be `4`; it takes 1 to 3"));
    assert!(refusal("nas-arm").contains("is a part for others to inherit"));
}

#[test]
fn a_file_that_is_not_toml_shows_the_line() {
    let error = array_text(&Shipped, "x.toml", "name = \"x\"\nhost = [\n", &Address::parse("x").unwrap());
    assert!(error.unwrap_err().to_string().starts_with("x.toml:"));
}

#[test]
fn a_figure_carries_its_source_and_confidence_or_those_of_its_table() {
    let spec = array(&Shipped, "md3000").unwrap();
    let figure = |key: &str| spec.figures.iter().find(|figure| figure.key == key).unwrap();
    assert_eq!(figure("controller.read_command").confidence, Some(Confidence::Medium));
    assert!(figure("host.request").source.as_deref().unwrap().contains("Linux"));
    assert_eq!(figure("st3146855ss: seek_average").value, "3.5ms");
    assert!(figure("st3146855ss: seek_average").at.to_string().starts_with("devices/st3146855ss.toml:"));
}

#[test]
fn a_confidence_that_is_none_is_refused() {
    let text = "[cache]\nsize = { value = \"1MiB\", confidence = \"sure\" }\n";
    assert_eq!(
        complaint(text),
        "x.toml:4: `confidence`: `sure` is not a confidence; write high, medium or low"
    );
    let text = "[cache]\nsize = { value = \"1MiB\", sorce = \"x\" }\n";
    assert!(complaint(text).starts_with("x.toml:4: `a figure` has no key `sorce`; did you mean `source`?"));
}

#[test]
fn the_example_of_the_documentation_is_a_whole_array() {
    let page = include_str!("../../../../arrays/README.md");
    let example = page.split("```").nth(1).and_then(|block| block.strip_prefix("toml")).unwrap();
    let spec = array_text(&Shipped, "example", example, &Address::parse("shelf?raid=5").unwrap()).unwrap();
    assert_eq!((spec.topology.disks.len(), spec.topology.link.map(|link| link.lanes)), (12, Some(4)));
}

proptest! {
    /// A file in which one line is another file's, or cut short, is read or refused, and never takes the reader down.
    #[test]
    fn no_description_makes_the_reader_panic(
        name in 0usize..25,
        other in 0usize..25,
        line in 0usize..150,
        from in 0usize..150,
        cut in 0usize..80,
    ) {
        let names = Shipped.names(Shelf::Array);
        let (name, other) = (&names[name % names.len()], &names[other % names.len()]);
        let text = |name: &str| Shipped.find(Shelf::Array, name).unwrap().text.into_owned();
        let (mine, theirs) = (text(name), text(other));
        let mut lines: Vec<&str> = mine.lines().collect();
        let theirs: Vec<&str> = theirs.lines().collect();
        let (at, strange) = (line % lines.len(), theirs[from % theirs.len()]);
        lines[at] = strange.get(..cut).unwrap_or(strange);
        let address = Address::parse(name).unwrap();
        if let Err(error) = array_text(&Shipped, "x.toml", &lines.join("\n"), &address) {
            prop_assert!(error.to_string().contains(':'));
        }
    }
}

#[test]
fn a_stripe_over_more_luns_than_there_are_is_refused_with_how_many_it_takes() {
    let error = array(&Shipped, "md3000?stripe=on&luns=1").expect_err("it cannot be");
    let text = error.to_string();
    assert!(text.contains("a stripe over 2 LUNs needs as many, not 1; give luns=2 or more"), "{text}");
    assert!(array(&Shipped, "md3000?stripe=on&luns=2").is_ok());
}

#[test]
fn luns_are_cut_at_whole_stripes_so_that_aligned_requests_are_aligned_on_the_disks() {
    for (options, parts) in
        [("raid=10", 3), ("raid=5", 2), ("raid=0&raid.disks=7", 3), ("raid=5&raid.disks=6", 3)]
    {
        let whole = array(&Shipped, &format!("md3000?{options}&luns=1")).unwrap().topology;
        let cut = array(&Shipped, &format!("md3000?{options}&luns={parts}")).unwrap().topology;
        let geometry = &cut.sets[0].geometry;
        let row = geometry.full_row().0;
        assert_eq!(whole.luns[0].size, geometry.capacity(), "{options}: a LUN of its own is all of the set");
        assert!(cut.luns.iter().all(|lun| lun.start.0.is_multiple_of(row)), "{options}: {:?}", cut.luns);
        let used: u64 = cut.luns.iter().map(|lun| lun.size.0).sum();
        assert!(
            geometry.capacity().0 - used < parts * row,
            "{options}: no more than a row of each is left over"
        );
    }
    // Disks that are joined, or copies of each other, have no stripes.
    let mirror = array(&Shipped, "local-sata-raid1?raid.luns=3").unwrap().topology;
    assert!(mirror.luns.iter().all(|lun| lun.start.0.is_multiple_of(2048)), "{:?}", mirror.luns);
    let joined = array(&Shipped, "x4500").unwrap().topology;
    let disk = joined.sets[0].geometry.spec().member_size.0;
    assert!(joined.luns.iter().all(|lun| lun.size.0.is_multiple_of(disk)), "{:?}", joined.luns);
}

#[test]
fn a_flush_that_ends_at_the_controller_leaves_what_drives_hold_without_protection() {
    let of = |address: &str| array(&Shipped, address).unwrap().topology.volatile_behind_flush();
    let drive = "ssd-1?drive=mx500-500";
    assert_eq!(of(drive), None, "it is passed on");
    let held = of(&format!("{drive}&controller.flush_members=false"));
    assert!(held.is_some_and(|held| !held.is_zero()), "{held:?}");
    assert_eq!(of("ssd-1?drive=p4510-4000&controller.flush_members=false"), None, "its memory is protected");
    assert_eq!(of("md3000?raid=10"), None, "its disks write to their media before they answer");
}

#[test]
fn a_set_of_disks_of_two_sizes_leaves_the_rest_of_the_larger_ones_unused() {
    let mut topology = array(&Shipped, "md3000?raid=5").unwrap().topology;
    assert_eq!(topology.unused_of_members(), [], "all are alike, but for what fills no row");
    let mut larger = topology.models[0].clone();
    let crate::device::DeviceParams::Rotating(drive) = &mut larger else { panic!("its disks rotate") };
    let size = drive.capacity.bytes();
    drive.capacity.0 *= 2;
    topology.models.push(larger);
    topology.disks[2] = 1;
    let [(2, left)] = topology.unused_of_members()[..] else { panic!("{:?}", topology.unused_of_members()) };
    assert!(left.as_f64() / size.as_f64() > 0.99 && left.as_f64() / size.as_f64() < 1.01, "{left} of {size}");
}
