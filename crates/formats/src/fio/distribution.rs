//! Where random requests go: laws, zones, sequences, and the pass that ages a flash device.

use crate::Refusal;

use super::access::{Rw, figure, uniform};
use super::section::Setting;
use super::settings::Options;
use super::value;

pub(super) fn distribution(options: &Options, setting: &Setting) -> Result<String, Refusal> {
    let text = setting.value.as_str();
    let (name, figures) = text.split_once(':').unwrap_or((text, ""));
    let number = |text: &str| {
        let number = text.trim().parse::<f64>().ok().filter(|number| *number > 0.0);
        number.ok_or_else(|| setting.wrong(format!("`{text}` is not a number above 0")))
    };
    // A centre only turns the scattered blocks round.
    let figures = match (name, figures.split_once(':')) {
        ("zipf" | "pareto" | "normal", Some((figures, centre))) => {
            let centre = centre.trim().parse::<f64>().ok();
            if !centre.is_some_and(|centre| (0.0..=1.0).contains(&centre) || centre == -1.0) {
                return Err(setting.wrong("a centre from 0 to 1, or -1 for any"));
            }
            figures
        }
        _ => figures,
    };
    match name {
        "random" => Ok(uniform(options)?.into()),
        // fio's own figures where none is said.
        "zipf" if figures.is_empty() => Ok("zipf(1.1)".into()),
        "pareto" if figures.is_empty() => Ok("pareto(0.2)".into()),
        "zipf" => Ok(format!("zipf({})", number(figures)?)),
        "pareto" => Ok(format!("pareto({})", number(figures)?)),
        // Scattered as the others are, whatever the manual's picture of a bell: seen in logs of fio 3.33.
        "normal" => Ok(format!("normal({}%, scattered)", number(figures)?)),
        "zoned" => zones(figures).map_err(|want| setting.wrong(want)),
        "zoned_abs" => zones_in_bytes(options, figures).map_err(|want| setting.wrong(want)),
        "sequence" => sequence(options, figures).map_err(|want| setting.wrong(want)),
        _ => {
            Err(setting.unsupported("random, zipf:θ, pareto:h, normal:σ, zoned, zoned_abs and sequence are"))
        }
    }
}

/// `sequence:2,0,1`: blocks by their numbers, and with a stride each round as many further.
fn sequence(options: &Options, text: &str) -> Result<String, String> {
    let blocks: Vec<u64> =
        text.split(',').map(|block| value::count(block.trim())).collect::<Result<_, _>>()?;
    let moves = options.flag("random_sequence_stride").ok().flatten() == Some(true);
    let listed: Vec<String> = blocks.iter().map(u64::to_string).collect();
    Ok(format!("sequence({}{})", listed.join(", "), if moves { ", moving" } else { "" }))
}

/// Whether a job brings a flash device to its steady state in one pass.
pub(super) fn is_aged(options: &Options) -> Result<bool, Refusal> {
    Ok(options.flag("sprandom")? == Some(true))
}

/// What a device has beyond its capacity, as a part of it.
pub(super) fn spare(options: &Options) -> Result<f64, Refusal> {
    let read = |text: &str| text.parse::<f64>().map_err(|_| format!("`{text}` is not a part such as 0.15"));
    Ok(options.read("spr_op", read)?.unwrap_or(0.15))
}

/// The pass of `sprandom=1`.
pub(super) fn aged(options: &Options, rw: Rw) -> Result<String, Refusal> {
    let setting = options.get("sprandom").expect("it is set");
    if rw.has != [false, true, false] || options.count("numjobs")?.unwrap_or(1) > 1 {
        return Err(setting.wrong("one job with rw=randwrite and one file, as in fio"));
    }
    let (spare, parts) = (spare(options)?, options.count("spr_num_regions")?.unwrap_or(100));
    if !(0.01..=0.38).contains(&spare) {
        return Err(options.get("spr_op").unwrap_or(setting).unsupported(
            "in one pass a device of 1 % to 38 % of spare room comes to its steady state; fill it twice otherwise",
        ));
    }
    match parts {
        2..=65_536 => Ok(format!("aged({}%, {parts})", figure(spare * 100.0))),
        _ => Err(options.get("spr_num_regions").unwrap_or(setting).wrong("2 to 65536")),
    }
}

/// Words on a centre of the distribution, where there is one.
pub(super) fn centre_note(options: &Options, rw: Rw) -> Option<String> {
    let setting = options.get("random_distribution").filter(|_| rw.random)?;
    let has_centre = setting.value.matches(':').count() == 2 && !setting.value.starts_with("zoned");
    has_centre.then(|| {
        "the centre of random_distribution says where the most wanted block lies; all others are scattered over the \
         region, as fio scatters them, and here that one is too"
            .into()
    })
}

/// `50/5:30/15:20/` as zones of a plan; what is blank divides the rest.
fn zones(text: &str) -> Result<String, String> {
    if text.contains(',') {
        return Err("zones hold for reads and writes alike; write two jobs".into());
    }
    let mut zones: Vec<(f64, Option<f64>)> = Vec::new();
    for part in text.split(':') {
        let (requests, span) = part.split_once('/').unwrap_or((part, ""));
        let span = match span.trim() {
            "" => None,
            span => Some(value::share(span)?),
        };
        zones.push((value::share(requests)?, span));
    }
    let requests: f64 = zones.iter().map(|(requests, _)| requests).sum();
    if (requests - 100.0).abs() > 1e-6 {
        return Err(format!("the zones get {requests} % of the requests, not 100 %"));
    }
    let said: f64 = zones.iter().filter_map(|(_, span)| *span).sum();
    if said > 100.0 + 1e-6 {
        return Err(format!("the zones are {said} % of the region"));
    }
    let blank = zones.iter().filter(|(_, span)| span.is_none()).count().max(1);
    let each = (100.0 - said).max(0.0) / blank as f64;
    let zone = |(requests, span): &(f64, Option<f64>)| {
        format!("{}% in {}%", figure(*requests), figure(span.unwrap_or(each)))
    };
    Ok(format!("hot({})", zones.iter().map(zone).collect::<Vec<_>>().join(", ")))
}

/// `60/16m:40/48m`: zones whose sizes are said, one after the other.
fn zones_in_bytes(options: &Options, text: &str) -> Result<String, String> {
    let zone = |part: &str| {
        let Some((requests, span)) = part.split_once('/') else {
            return Err(format!("`{part}` is not a zone such as 60/10g"));
        };
        let span = units::Bytes::new(options.base.size(span)?);
        Ok(format!("{}% in {}", figure(value::share(requests)?), span.exact()))
    };
    let zones: Vec<String> = text.split(':').map(zone).collect::<Result<_, _>>()?;
    Ok(format!("hot({})", zones.join(", ")))
}
