//! Files of parts: what they change, and what is wrong with them.

use explain::Parts;
use record::PathPart;

fn path() -> Vec<PathPart> {
    let part = |name: &str, below| PathPart { name: name.into(), below, ..PathPart::default() };
    vec![part("/mnt", vec![part("sda", vec![part("host0", Vec::new())]), part("sdb", Vec::new())])]
}

#[test]
fn ceilings_are_replaced_and_new_parts_hang_below_the_one_named() {
    let text = "[[part]]\nname = \"sda\"\nbandwidth = \"112MB/s\"\neach_way = true\n\n[[part]]\nname = \"box\"\nunder = \"host0\"\n\
                kind = \"controller\"\ncache = \"2GiB\"\nrequests = 90000\nin_flight = 256\nsource = \"data sheet\"\n";
    let mut path = path();
    Parts::read("my.toml", text).unwrap().apply(&mut path).unwrap();
    let all = path[0].all();
    let named = |name: &str| all.iter().find(|part| part.name == name).unwrap();
    assert_eq!(named("sda").ceilings[0].value, 112e6);
    assert!(named("sda").ceilings[0].each_way);
    assert_eq!(named("sda").ceilings[0].source, "my.toml");
    assert_eq!(named("host0").below[0].name, "box");
    assert_eq!(named("box").ceilings.len(), 2);
    assert_eq!(named("box").ceilings[0].source, "data sheet");
    assert_eq!(named("box").kind, "controller");
    let cache = named("box").facts.get(record::names::fact::CACHE).and_then(|text| text.parse().ok());
    assert_eq!(cache, Some(units::Bytes::GIB * 2));
    assert!(named("box").below.is_empty() && !named("box").repeated);
}

#[test]
fn the_memory_of_a_part_is_a_cache_that_is_known() {
    let mut run = crate::reads();
    run.path = path();
    assert!(crate::find(&run, "cache-suspected").is_none());
    let text = "[[part]]\nname = \"host0\"\ncache = \"128GiB\"\n";
    Parts::read("my.toml", text).unwrap().apply(&mut run.path).unwrap();
    let finding = crate::found(&run, "cache-suspected");
    assert!(finding.sentence.contains("128 GiB of the cache of host0"), "{}", finding.sentence);
}

#[test]
fn every_mistake_has_file_and_line_and_changes_nothing() {
    let wrong = [
        ("[[part]]\nname = \"sda\"\nbandwith = \"1MB/s\"\n", 3, "bandwith"),
        ("[[part]]\nname = \"sda\"\nbandwidth = \"112\"\n", 3, "112"),
        ("[[part]]\nname = \"sda\"\n\nrequests = -1\n", 4, "above zero"),
        ("[[part]]\nname = \"sda\"\n", 2, "no ceiling"),
        ("[[part]]\nname = \"sda\"\ncache = \"0B\"\n", 3, "above zero"),
        ("[[part]]\nname = \"a\"\nrequests = 1\n[[part]]\nname = \"a\"\nrequests = 2\n", 5, "duplicate"),
        ("\n\n[[part]\n", 3, ""),
    ];
    for (text, line, word) in wrong {
        let error = Parts::read("my.toml", text).unwrap_err();
        assert!(error.to_string().starts_with(&format!("my.toml:{line}: ")), "{error}");
        assert!(error.to_string().contains(word), "{error}");
    }
    let mut path = path();
    let before = path.clone();
    let parts =
        "[[part]]\nname = \"sda\"\nrequests = 1\n[[part]]\nname = \"box\"\nunder = \"sdz\"\nrequests = 1\n";
    let error = Parts::read("my.toml", parts).unwrap().apply(&mut path).unwrap_err();
    assert!(error.to_string().starts_with("my.toml:6: ") && path == before, "{error}");
    assert!(error.to_string().contains("sda"), "{error}");
}

#[test]
fn of_a_part_only_the_ceilings_that_are_given_are_replaced_and_a_repeated_one_is_left() {
    let ceiling = |what: &str, value: f64| record::Ceiling {
        what: what.into(),
        value,
        unit: "per_s".into(),
        each_way: false,
        basis: "as before".into(),
        source: "before".into(),
    };
    let mut path = path();
    let bus = PathPart { name: "bus".into(), ..PathPart::default() };
    path[0].below[0].below.push(bus.clone());
    path[0].below[1].below.push(PathPart { repeated: true, ..bus });
    path[0].below[0].ceilings =
        vec![ceiling("bandwidth", 5e6), ceiling("requests one at a time", 7.0), ceiling("other", 9.0)];
    let text = "[[part]]\nname = \"sda\"\nbandwidth = \"112MB/s\"\n\n[[part]]\nname = \"bus\"\nrequests = 10\n                each_way = true\nbandwidth = \"1MB/s\"\n";
    Parts::read("my.toml", text).unwrap().apply(&mut path).unwrap();
    let values = |part: &PathPart| part.ceilings.iter().map(|one| one.value).collect::<Vec<_>>();
    assert_eq!(values(&path[0].below[0]), [7.0, 9.0, 112e6]);
    let first = path[0].below[0].below.iter().find(|part| part.name == "bus").unwrap();
    let again = path[0].below[1].below.iter().find(|part| part.name == "bus").unwrap();
    assert_eq!((values(first), values(again)), (vec![1e6, 10.0], Vec::new()));
    assert_eq!(first.ceilings.iter().map(|one| one.each_way).collect::<Vec<_>>(), [true, false]);
    let none = Parts::read("my.toml", "[[part]]\nname = \"sda\"\nrequests = 0\n").unwrap_err();
    assert!(none.to_string().contains("above zero"), "{none}");
    let none = Parts::read("my.toml", "[[part]]\nname = \"sda\"\nrequests = inf\n").unwrap_err();
    assert!(none.to_string().contains("`inf` is not a number"), "{none}");
}
