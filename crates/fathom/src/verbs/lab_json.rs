//! The array lab as JSON in and out, for whoever serves a page: arrays of the shipped library alone, so that no request
//! names a file.

use array::spec::Shipped;
use modelled::lab::{LabError, knobs};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::verbs::lab::{self, LabRefusal};
use crate::verbs::lab_loads::with_loads;
use crate::verbs::lab_rebuild::rebuild_answer;

/// `POST /api/lab`: the load curve that `body` asks for.
pub fn curve(body: Value) -> Result<Value, LabRefusal> {
    json(&lab::answer(&read(body)?, &Shipped)?)
}

/// `POST /api/lab/rebuild`: what the rebuild that `body` asks for costs.
pub fn rebuild(body: Value) -> Result<Value, LabRefusal> {
    json(&rebuild_answer(&read(body)?, &Shipped)?)
}

/// `GET /api/lab/arrays`: every array of the library with its knobs, and the loads of which figures are published.
pub fn arrays() -> Result<Value, LabRefusal> {
    json(&with_loads(knobs::arrays(&Shipped).map_err(LabError::from)?))
}

fn read<T: for<'de> Deserialize<'de>>(body: Value) -> Result<T, LabRefusal> {
    serde_json::from_value(body).map_err(|error| LabRefusal { error: error.to_string(), help: None })
}

fn json(answer: &impl Serialize) -> Result<Value, LabRefusal> {
    serde_json::to_value(answer).map_err(|error| LabRefusal { error: error.to_string(), help: None })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn body() -> Value {
        json!({
            "array": "array:md3000?raid=5&disks=8",
            "workload": { "pattern": "random", "size": "8KiB", "reads": "70%" },
            "depths": [1, 4, 16, 64],
            "fail": [3],
        })
    }

    #[test]
    fn a_load_curve_has_the_figures_that_a_page_draws() {
        let answer = curve(body()).expect("it is answered");
        let points = answer["points"].as_array().expect("a curve");
        assert_eq!(points.len(), 4);
        assert!(points.iter().all(|point| point["iops"].as_f64() > Some(0.0) && point["p50_us"].is_number()));
        let interval =
            |point: &Value| (point["low"].as_f64(), point["iops"].as_f64(), point["high"].as_f64());
        assert!(points.iter().all(|point| {
            let (low, value, high) = interval(point);
            low.is_none() && point["no_interval"].is_string() || low < value && value < high
        }));
        assert_eq!(answer["limit"]["part"], "disks", "{answer:#}");
        assert!(answer["answer"].as_str().is_some_and(|text| text.contains(" IOPS (")), "{answer:#}");
        assert!(
            answer["reading"].as_str().is_some_and(|text| text.starts_with("At queue depth 64: disks are"))
        );
        assert_eq!(answer["breakdown"][3]["depth"], 64);
        assert_eq!(
            (&answer["slots"][3]["state"], &answer["slots"][8]["state"]),
            (&json!("failed"), &json!("spare"))
        );
        assert_eq!(answer["slots"].as_array().map(Vec::len), Some(15));
        assert!(answer["usable_bytes"].as_u64() > Some(1_000_000_000_000), "seven of 146 GB");
        assert!(answer["took_ms"].as_f64() > Some(0.0));
        assert_eq!(answer["published"], json!([]));
    }

    #[test]
    fn published_figures_come_with_their_source() {
        let body = json!({
            "array": "px6-300d?raid=10&protocol=nfs3",
            "workload": { "pattern": "sequential", "size": "512B", "reads": "100%", "span": "2GB" },
            "depths": [16],
        });
        let answer = curve(body).expect("it is answered");
        let published = &answer["published"][0];
        assert_eq!((&published["label"], &published["kind"]), (&json!("PX-086"), &json!("published")));
        assert_eq!((&published["depth"], &published["iops"]), (&json!(16), &json!(16161.0)));
        assert!(published["source"].is_string() && published["mb_s"].is_null());
    }

    #[test]
    fn a_rebuild_is_thinned_and_says_what_it_costs() {
        let body = json!({ "array": "md3000?raid=5", "workload": body()["workload"], "fail": 3 });
        let answer = rebuild(body).expect("it is answered");
        let points = answer["points"].as_array().expect("a rebuild");
        assert!((2..=200).contains(&points.len()));
        assert_eq!(points.last().map(|last| &last["percent"]), Some(&json!(100.0)));
        assert_eq!(points.last().map(|last| &last["at_s"]), Some(&answer["seconds"]));
        assert!(answer["answer"].as_str().is_some_and(|text| text.contains("he rebuild of disk 3 takes")));
    }

    #[test]
    fn what_is_refused_says_why_and_what_to_do() {
        let refused = |change: fn(&mut Value)| {
            let mut body = body();
            change(&mut body);
            curve(body).expect_err("it cannot be answered")
        };
        let level = refused(|body| body["array"] = json!("md3000?raid=7"));
        assert!(
            level.error.contains("`raid`") && level.help.is_some_and(|help| help.contains("0, 10, 5, 6"))
        );
        assert!(refused(|body| body["workload"]["size"] = json!("8 apples")).error.contains("8 apples"));
        assert!(refused(|body| body["depths"] = json!([])).error.contains("`depths`"));
        assert!(refused(|body| body["depth"] = json!(1)).error.contains("unknown field `depth`"));
        assert!(refused(|body| body["array"] = json!("/etc/passwd")).error.contains("there is no array"));
    }

    #[test]
    fn a_load_that_is_said_to_have_published_figures_is_answered_with_them() {
        let arrays = arrays().expect("the library is sound");
        let px6 = arrays.as_array().and_then(|all| all.iter().find(|array| array["array"] == "px6-300d"));
        let load = &px6.expect("it is shipped")["published"][0];
        let set = load["set"].as_object().expect("what is set");
        let is_key = |key: &String| ["pattern", "size", "span", "reads"].contains(&key.as_str());
        let (workload, options): (Vec<_>, Vec<_>) = set.iter().partition(|(key, _)| is_key(key));
        let options =
            options.into_iter().filter_map(|(key, value)| Some(format!("{key}={}", value.as_str()?)));
        let address = format!("px6-300d?{}", options.collect::<Vec<_>>().join("&"));
        let workload: Value = workload.into_iter().map(|(key, value)| (key.clone(), value.clone())).collect();
        let answer = curve(json!({
            "array": address, "workload": workload, "depths": [4], "fail": load["fail"], "effort": "quick",
        }));
        let answer = answer.expect("it is answered");
        let held = answer["published"].as_array().expect("a list");
        assert_eq!(held.iter().map(|one| one["label"].clone()).collect::<Value>(), load["labels"]);
    }

    #[test]
    fn all_arrays_of_the_library_have_their_knobs() {
        let arrays = arrays().expect("the library is sound");
        let md3000 = arrays.as_array().and_then(|all| all.iter().find(|array| array["array"] == "md3000"));
        let knobs = md3000.and_then(|array| array["knobs"].as_array()).expect("it is shipped");
        let raid = knobs.iter().find(|knob| knob["key"] == "raid").expect("it has a level");
        assert_eq!(
            (&raid["kind"], &raid["group"], &raid["default"]),
            (&json!("choice"), &json!("raid"), &json!("10"))
        );
        let disks = knobs.iter().find(|knob| knob["key"] == "disks").expect("it has disks");
        assert_eq!((&disks["min"], &disks["max"], &disks["default"]), (&json!(2), &json!(14), &json!(14)));
        assert!(disks["source"].as_str().is_some_and(|source| source.contains("write-up")));
    }
}
