//! Records of older versions, brought to the present shape before they are read.
//!
//! **Invariant:** what a version called by another name keeps its value; nothing is made up, and nothing is left out.
//! That version 1 wrote all that was asked as text needs nothing here: a specification reads its numbers from texts too.

use serde_json::{Map, Value};

type Object = Map<String, Value>;

/// Names of version 1 and what they are now.
const TARGET: [(&str, &str); 1] = [("asked", "address")];
const POINT: [(&str, &str); 1] = [("client_limited", "generator_saturated")];
const WORKLOAD: [(&str, &str); 3] =
    [("settled", "completed"), ("unserved", "not_issued"), ("silences", "stalls")];
const SPEC: [(&str, &str); 5] = [
    ("same_place", "repeat_offset"),
    ("passes", "loops"),
    ("first_ends", "exit_all"),
    ("branch", "fanout"),
    ("own_trees", "unique_dirs"),
];
const SEARCH: [(&str, &str); 5] = [
    ("promises", "slos"),
    ("within", "tolerance"),
    ("kept_per_s", "met_per_s"),
    ("broken_per_s", "violated_per_s"),
    ("broken_by", "violated_by"),
];
/// Codes of findings.
const CODES: [(&str, &str); 13] = [
    ("conservation", "accounting"),
    ("silence", "stall"),
    ("client-limited", "generator-saturated"),
    ("cpu-stolen", "cpu-steal"),
    ("neighbours", "external-io"),
    ("never-issued", "not-issued"),
    ("limit", "bottleneck"),
    ("limit-unseen", "bottleneck-uncounted"),
    ("limit-imposed", "rate-limited"),
    ("cache-answered", "cache-hits"),
    ("limit-open", "bottleneck-undetermined"),
    ("slo-edge", "slo-maximum"),
    ("slo-unkept", "slo-violated"),
];
/// Checks that a grade follows from.
const CHECKS: [(&str, &str); 2] = [("client", "generator"), ("neighbours", "external-io")];
/// Words of a search: why a rate was tried, and why it failed.
const WORDS: [(&str, &str); 3] = [
    ("halving", "bisection"),
    ("requests never issued", "requests not issued"),
    ("client limited", "load generator saturated"),
];

/// A run of version 1.
pub(crate) fn run(run: &mut Value) {
    let Some(run) = run.as_object_mut() else { return };
    run.insert("schema_version".into(), crate::SCHEMA_VERSION.into());
    each(run, "targets", |target| rename(target, &TARGET));
    each(run, "points", of_point);
    each(run, "findings", of_finding);
    each(run, "grading", of_grading);
    if let Some(search) = run.get_mut("search").and_then(Value::as_object_mut) {
        of_search(search);
    }
}

/// Brings a point of version 1, or what is kept of it apart, to the present shape. Anything else stays as it is.
pub fn point(point: &mut Value) {
    if let Some(point) = point.as_object_mut() {
        of_point(point);
    }
}

fn of_point(point: &mut Object) {
    rename(point, &POINT);
    each(point, "grading", of_grading);
    each(point, "workloads", |workload| {
        rename(workload, &WORKLOAD);
        each(workload, "spec", |spec| rename(spec, &SPEC));
    });
}

fn of_finding(finding: &mut Object) {
    translate(finding.get_mut("code"), &CODES);
    if let Some(numbers) = finding.get_mut("numbers").and_then(Value::as_object_mut) {
        rename(numbers, &WORKLOAD);
        rename(numbers, &SEARCH);
    }
}

fn of_grading(grading: &mut Object) {
    each(grading, "checks", |check| {
        translate(check.get_mut("name"), &CHECKS);
        let codes = check.get_mut("codes").and_then(Value::as_array_mut);
        codes.into_iter().flatten().for_each(|code| translate(Some(code), &CODES));
    });
}

fn of_search(search: &mut Object) {
    rename(search, &SEARCH);
    translate(search.get_mut("violated_by"), &WORDS);
    each(search, "ladder", |rung| {
        translate(rung.get_mut("purpose"), &WORDS);
        translate(rung.get_mut("cause"), &WORDS);
    });
}

/// Gives keys their present names.
fn rename(object: &mut Object, names: &[(&str, &str)]) {
    for (old, new) in names {
        if let Some(value) = object.remove(*old) {
            object.insert((*new).into(), value);
        }
    }
}

/// Gives a text its present word, if it is one that has changed.
fn translate(text: Option<&mut Value>, words: &[(&str, &str)]) {
    let Some(text) = text else { return };
    if let Some((_, new)) = words.iter().find(|(old, _)| text.as_str() == Some(old)) {
        *text = (*new).into();
    }
}

/// Does something with the object below `key`, or with each of a list of them.
fn each(object: &mut Object, key: &str, change: impl Fn(&mut Object)) {
    match object.get_mut(key) {
        Some(Value::Array(all)) => all.iter_mut().filter_map(Value::as_object_mut).for_each(change),
        Some(Value::Object(one)) => change(one),
        _ => {}
    }
}
