//! The array lab as its page uses it.

use std::sync::Arc;

use array::spec::{self, Shelf, Shipped, Source};
use modelled::ModelledWorld;
use modelled::lab::breakdown::breakdown;
use modelled::lab::curve::{Curve, DepthLoad, curve};
use modelled::lab::knobs::{self, Group, KnobDefault, KnobTakes};
use modelled::lab::plan::{self, Length};
use modelled::lab::published::{self, published};
use modelled::lab::rebuild::rebuild;
use modelled::lab::slots::{SlotState, slots};
use modelled::lab::spot::{State, spot};
use modelled::lab::{Effort, LabPattern, LabWorkload, Setting};
use modelled::what_if::rate_of;
use record::{Point, PointKind};
use units::{Bytes, Nanos};
use workload::plan::{Overrides, Plan};

mod turned;

fn setting(array: &str, reads: &str) -> Setting {
    let workload = LabWorkload { reads: reads.parse().expect("a share"), ..turned::usual() };
    Setting { array: format!("array:{array}"), workload, fail: Vec::new(), seed: 1 }
}

fn answered(setting: &Setting, depths: &[u32]) -> Curve {
    curve(setting, depths, Effort::Full, &Shipped).expect("the library has it")
}

fn rate(load: &DepthLoad) -> f64 {
    rate_of(&load.point).value
}

/// What a run of the same plan records.
fn recorded(plan: &str, array: &str) -> Point {
    let plan = Plan::parse("lab.toml", plan, &Overrides::default()).expect("the lab writes plans");
    let mut world = ModelledWorld::shipped(&plan, array, Arc::default()).expect("the library has it");
    let outcome = conduct::run(&plan, &mut world, &mut |_| ());
    assert!(outcome.error.is_none(), "{:?}", outcome.error);
    outcome.points.into_iter().find(|point| point.kind == PointKind::Load).expect("it has a load")
}

#[test]
fn every_depth_is_what_a_run_of_its_plan_records_to_the_last_bit() {
    for (array, fail) in
        [("md3000?raid=5", vec![3]), ("nvme-jbof-8?raid=5", Vec::new()), ("queue", Vec::new())]
    {
        let setting = Setting { fail, ..setting(array, "70%") };
        for load in answered(&setting, &[1, 16]).loads {
            let run = recorded(&load.plan, &setting.array);
            assert_eq!(load.point.workloads, run.workloads, "{array} at {}", load.depth);
            assert_eq!(load.point.swept, run.swept);
        }
    }
}

#[test]
fn a_spot_says_whether_its_writes_met_free_room_of_a_write_cache() {
    let is_filling = |array: &str, reads: &str, state: State| {
        let setting = setting(array, reads);
        let spec = spec::array(&Shipped, array).expect("the library has it");
        spot(&setting, &spec, state, 16, Effort::Quick).expect("it can be simulated").is_filling
    };
    for state in [State::Healthy, State::Rebuilding] {
        assert!(is_filling("md3000?raid=5", "70%", state), "seconds do not fill its cache: {state:?}");
        assert!(!is_filling("md3000?raid=5", "100%", state), "nothing is written: {state:?}");
    }
    assert!(!is_filling("queue", "70%", State::Healthy), "it has no cache");
}

#[test]
fn buffers_of_flash_drives_are_full_before_the_lab_measures_what_they_sustain() {
    let mut setting = setting("s3500-raid-8?raid=10&disks=4", "70%");
    setting.workload.span = Some(Bytes::new(400_000_000_000));
    let curve = answered(&setting, &[1, 16]);
    assert!(curve.loads.iter().all(|load| !load.point.is_filling()));
    // 45,900/s in half a minute of `fathom run`, and 64,800/s while the buffers fill.
    let sustained = rate(&curve.loads[1]);
    assert!((sustained / 45_900.0 - 1.0).abs() < 0.06, "{sustained}");
    let quick = modelled::lab::curve::curve(&setting, &[16], Effort::Quick, &Shipped).expect("it is there");
    assert!(quick.loads[0].point.is_filling(), "a quick look says that it does not last");
}

#[test]
fn the_answer_is_the_same_every_time_and_another_with_another_seed() {
    let setting = setting("px6-300d", "100%");
    let workloads = |setting: &Setting| {
        answered(setting, &[4, 8]).loads.into_iter().map(|load| load.point.workloads).collect::<Vec<_>>()
    };
    assert_eq!(workloads(&setting), workloads(&setting));
    assert_ne!(workloads(&setting), workloads(&Setting { seed: 2, ..setting.clone() }));
}

#[test]
fn more_disks_never_lower_the_ceiling_of_random_reads() {
    for level in ["0", "10", "5", "6"] {
        let ceiling = |disks: u32| {
            let curve = answered(&setting(&format!("md3000?raid={level}&disks={disks}"), "100%"), &[64]);
            curve.loads.first().map(rate).expect("one depth")
        };
        let ceilings: Vec<f64> = [4, 6, 8, 12, 14].map(ceiling).into();
        assert!(ceilings.windows(2).all(|pair| pair[1] > pair[0]), "RAID {level}: {ceilings:?}");
    }
}

#[test]
fn a_failed_member_shows_in_its_slot_and_makes_reads_slower() {
    let healthy = setting("md3000?raid=5", "100%");
    let degraded = Setting { fail: vec![3], ..healthy.clone() };
    let (one, other) = (answered(&healthy, &[16]), answered(&degraded, &[16]));
    assert!(slots(&one.spec, &healthy.fail).iter().all(|slot| slot.state != SlotState::Failed));
    assert_eq!(slots(&other.spec, &degraded.fail)[3].state, SlotState::Failed);
    let mean = |curve: &Curve| {
        let total = curve.loads[0].point.workloads[0].total().expect("requests ended");
        total.response.as_ref().expect("requests ended").mean_ns
    };
    assert!(mean(&other) > 1.05 * mean(&one), "{} against {}", mean(&other), mean(&one));
}

#[test]
fn the_parts_of_a_depth_add_up_to_its_mean_response_time() {
    for load in answered(&setting("md3000?raid=5", "70%"), &[1, 32]).loads {
        let parts: f64 = breakdown(&load.point).iter().map(|part| part.waiting_us + part.service_us).sum();
        let total = load.point.workloads[0].total().expect("requests ended");
        let mean = total.response.as_ref().expect("requests ended").mean_ns / 1e3;
        assert!((parts / mean - 1.0).abs() < 1e-6, "{parts} against {mean} at {}", load.depth);
    }
}

/// What reads pass is worked on after they have ended: windows that begin or end then are still held to the laws.
#[test]
fn windows_of_any_length_are_answered_where_reads_pass_writes() {
    for size in ["4KiB", "64KiB", "1MiB"] {
        let workload = LabWorkload { size: size.parse().expect("a size"), ..turned::usual() };
        let setting = Setting { workload, ..setting("dsi3500", "50%") };
        for (warmup, run) in [(1, 1), (20, 2), (50, 5), (50, 1), (200, 3), (400, 20)] {
            let [warmup, run] = [warmup, run].map(Nanos::from_millis);
            for depth in [2, 32] {
                let point =
                    recorded(&plan::depth(&setting, depth, Length::Time { warmup, run }), &setting.array);
                assert!(point.breakdown.is_some(), "{size} {warmup} {run} {depth}");
            }
        }
    }
}

#[test]
fn a_quick_look_is_near_the_whole_and_much_shorter() {
    for array in ["md3000?raid=5", "nvme-jbof-8", "px6-300d"] {
        let setting = setting(array, "100%");
        let of = |effort| curve(&setting, &[1, 8, 64], effort, &Shipped).expect("the library has it").loads;
        for (quick, full) in of(Effort::Quick).iter().zip(&of(Effort::Full)) {
            let ratio = rate(quick) / rate(full);
            assert!((0.8..1.25).contains(&ratio), "{array} at {}: {ratio}", full.depth);
            let count = |load: &DepthLoad| load.point.workloads[0].completed;
            assert!(count(quick) <= count(full), "{array} at {}", full.depth);
        }
    }
}

#[test]
fn knobs_turned_at_random_are_answered_or_refused_with_a_reason_and_nothing_panics() {
    let mut answers = 0;
    for setting in turned::settings(200) {
        match curve(&setting, &[2, 32], Effort::Quick, &Shipped) {
            Ok(curve) => {
                answers += 1;
                let is_there = |load: &DepthLoad| rate(load) > 0.0 && !breakdown(&load.point).is_empty();
                assert!(curve.loads.iter().all(is_there), "{setting:?}");
            }
            Err(error) => assert!(error.to_string().len() > 20, "{setting:?}: {error}"),
        }
    }
    assert!(answers > 100, "{answers} of 200");
}

#[test]
fn what_cannot_be_is_refused_with_what_would_be_valid() {
    let refused = |setting: &Setting, depths: &[u32]| {
        curve(setting, depths, Effort::Full, &Shipped).expect_err("it cannot be").to_string()
    };
    let fine = setting("md3000", "70%");
    assert!(refused(&setting("md3000?raid=7", "70%"), &[1]).contains("akes 0, 10, 5, 6"));
    assert!(refused(&setting("md3000?disks=3", "70%"), &[1]).contains("needs at least 4"));
    assert!(refused(&fine, &[]).contains("give 1 to 16"));
    assert!(refused(&fine, &[0]).contains("give 1 to 4096"));
    assert!(refused(&fine, &[8, 4]).contains("must rise"));
    let sized = |size: u64| {
        let workload = LabWorkload { size: Bytes::new(size), ..fine.workload };
        refused(&Setting { workload, ..fine.clone() }, &[1])
    };
    assert!(sized(1000).contains("a multiple of 512 B up to 16 MiB") && sized(1 << 30).contains("512 B"));
    let lost = Setting { fail: vec![99], ..fine.clone() };
    assert!(refused(&lost, &[1]).contains("has no disk 99"));
    let gone = Setting { fail: vec![0, 1], ..setting("md3000?raid=5", "70%") };
    assert!(refused(&gone, &[1]).contains("choose a level that survives them, or fail fewer"));
}

#[test]
fn every_option_of_every_array_is_a_knob_in_path_order_with_a_default_that_it_takes() {
    let arrays = knobs::arrays(&Shipped).expect("the library is sound");
    let names: Vec<String> = Shipped.names(Shelf::Array);
    assert!(arrays.len() > 15 && arrays.iter().all(|array| names.contains(&array.array)));
    for array in &arrays {
        let file = spec::array_file(&Shipped, &array.array).expect("it is shipped");
        let is_knob = |name: &str| array.knobs.iter().any(|knob| knob.key == name);
        let missing: Vec<&str> =
            file.options.iter().map(|option| option.name.as_str()).filter(|name| !is_knob(name)).collect();
        assert!(missing.is_empty() || missing == ["failed"], "{}: {missing:?}", array.array);
        assert!(array.knobs.is_sorted_by_key(|knob| knob.group), "{}", array.array);
        for knob in &array.knobs {
            let takes = match (&knob.takes, &knob.default) {
                (KnobTakes::Choice { values }, Some(KnobDefault::Text(text))) => values.contains(text),
                (KnobTakes::Number { min, max, .. }, Some(KnobDefault::Number(own))) => {
                    (min..=max).contains(&own)
                }
                (KnobTakes::Text, Some(KnobDefault::Text(_))) | (_, None) => true,
                _ => false,
            };
            assert!(takes, "{}: {knob:?}", array.array);
        }
    }
    let md3000 = arrays.iter().find(|array| array.array == "md3000").expect("it is shipped");
    let group = |key: &str| md3000.knobs.iter().find(|knob| knob.key == key).map(|knob| knob.group);
    assert_eq!(group("multipath"), Some(Group::Host));
    assert_eq!(group("hbas"), Some(Group::Links));
    assert_eq!(group("cache.size"), Some(Group::Controllers));
    assert_eq!((group("raid"), group("raid.chunk")), (Some(Group::Raid), Some(Group::Raid)));
    assert_eq!(group("drive"), Some(Group::Disks));
}

#[test]
fn a_published_figure_is_found_by_its_own_array_and_workload_and_by_no_other() {
    let sequential = LabWorkload {
        pattern: LabPattern::Sequential,
        size: Bytes::new(512),
        reads: "100%".parse().expect("a share"),
        span: "2GB".parse().ok(),
    };
    let found = |address: &str, fail: &[u32], workload: &LabWorkload| -> Vec<String> {
        let spec = spec::array(&Shipped, address).expect("the library has it");
        published(&spec, fail, workload).into_iter().map(|figure| figure.label).collect()
    };
    let own = "px6-300d?raid=10&disks=6&protocol=nfs3";
    assert_eq!(found(own, &[], &sequential), ["PX-086"]);
    assert_eq!(
        found("px6-300d?raid=10&protocol=nfs3", &[], &sequential),
        ["PX-086"],
        "six disks are the default"
    );
    assert_eq!(found("px6-300d?raid=10&disks=4&protocol=nfs3", &[], &sequential), [""; 0]);
    assert_eq!(found(own, &[0], &sequential), [""; 0]);
    assert_eq!(found(own, &[], &LabWorkload { span: None, ..sequential }), [""; 0]);
    assert_eq!(found(own, &[], &LabWorkload { size: Bytes::KIB, ..sequential }), [""; 0]);
    assert_eq!(found(&format!("{own}&cache.size=1GiB"), &[], &sequential), [""; 0]);
    let all = published::all();
    assert!(all.len() > 30, "{}", all.len());
    for (address, fail, workload, label) in all {
        assert!(found(&address, &fail, &workload).contains(&label), "{label}");
    }
}

#[test]
fn a_rebuild_that_is_sampled_takes_as_long_as_one_that_is_simulated_to_its_end() {
    // Small enough to be simulated whole.
    let setting = setting("sas-ssd-24?raid=5&disks=5&spares=0&devices.with.capacity=4GB", "70%");
    let sampled = rebuild(&setting, 2, 8, &Shipped).expect("it can be rebuilt");
    let plan = "name = \"whole\"\n[[phase]]\nstate = \"fail disk 2\"\n[[phase]]\nstate = \"rebuild\"\nwait = false\n\
                [[phase]]\nname = \"load\"\ndepth = 8\nsize = \"8KiB\"\npattern = \"random\"\nreads = \"70%\"\nspan = \"auto\"\n";
    let seconds = sampled.seconds().expect("it gets on");
    let plan = format!("{plan}run = \"{}s\"\n", (seconds * 1.5).ceil());
    let whole = recorded(&plan, &setting.array);
    let series =
        whole.series.iter().find(|series| series.name.starts_with("rebuild")).expect("it is told of");
    assert_eq!(series.values.last(), Some(&1.0), "{} s were too short", seconds * 1.5);
    let ended = *series.at_ns.last().expect("it ended") as f64 / 1e9;
    assert!((seconds / ended - 1.0).abs() < 0.1, "{seconds} s sampled, {ended} s simulated");
    assert!(seconds > sampled.alone_s, "{seconds} beside a load, {} alone", sampled.alone_s);
}

#[test]
fn a_rebuild_has_its_percents_in_order_and_costs_the_load_something() {
    let setting = setting("md3000?raid=5", "70%");
    let rebuild = rebuild(&setting, 3, 16, &Shipped).expect("it can be rebuilt");
    let moments = rebuild.moments(200);
    assert!(moments.len() <= 200 && moments.len() > 100, "{}", moments.len());
    assert!(moments.is_sorted_by(|one, next| one.at_s < next.at_s && one.percent < next.percent));
    assert_eq!((moments[0].percent, moments[moments.len() - 1].percent), (0.0, 100.0));
    let healthy = rate_of(&rebuild.healthy).value;
    assert!(moments.iter().all(|moment| moment.iops > 0.0 && moment.iops < healthy), "{healthy}");
    assert!(rebuild.seconds().is_some_and(|seconds| seconds > rebuild.alone_s), "{rebuild:?}");
}

#[test]
fn a_slot_that_cannot_be_rebuilt_is_refused_with_the_reason() {
    let refused = |array: &str, slot: u32| {
        rebuild(&setting(array, "70%"), slot, 8, &Shipped).expect_err("it cannot be").to_string()
    };
    assert!(refused("md3000?raid=5", 15).contains("numbered 0 to 14"));
    assert!(refused("md3000?raid=5", 14).contains("is in no RAID set"), "the spare");
    assert!(refused("md3000?raid=5&failed=3", 3).contains("has failed already"));
    assert!(!refused("md3000?raid=0", 3).is_empty());
}
