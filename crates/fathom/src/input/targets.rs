//! Targets, before anything is opened on them, and the consent to write to them.

use std::sync::Arc;

use modelled::ModelledWorld;
use real::Consent;
use real::{Look, LookKind};
use units::Bytes;
use workload::plan::{Overrides, Plan};

use crate::ending::Failure;
use crate::input::arrays::{self, LIBRARY};

/// What `--destroy` names, each of it.
pub fn consents(given: &[String]) -> Result<Vec<Consent>, Failure> {
    let parsed = given.iter().map(|text| Consent::parse(text)).collect::<Result<_, _>>();
    parsed.map_err(|error| Failure::Usage(format!("--destroy: {error}")))
}

/// What is known of a target before the plan for it is written. Nothing is opened for writing.
pub fn look(target: &str) -> Result<Look, Failure> {
    if let Some(why) = formats::windows_path(target) {
        return Err(Failure::Usage(why));
    }
    match arrays::address(&[target.to_owned()])? {
        None => Ok(Look::at(target)?),
        Some(address) => {
            let size = luns(address)?.into_iter().sum();
            Ok(Look { kind: LookKind::Device, size, direct_unit: None, remote: false })
        }
    }
}

/// The same for several. A virtual array that is named several times has its LUNs, one after the other.
pub fn look_all(tool: &'static str, names: &[&str]) -> Result<Vec<Look>, Failure> {
    let usage = |what: String| Failure::Tool(formats::Refusal::Usage { tool, what });
    let first = names.first().copied().unwrap_or_default();
    if names.len() > 1 && first.starts_with("array:") && names.iter().all(|name| *name == first) {
        let (sizes, wants) = (luns(first)?, names.len());
        if sizes.len() < wants {
            let has = sizes.len();
            let what =
                format!("{first} is named {wants} times and has {has} LUNs; `?luns={wants}` gives it more");
            return Err(usage(what));
        }
        debug_assert!(sizes.len() >= wants, "each name has a LUN of its own");
        let of_lun = |size| Look { kind: LookKind::Device, size, direct_unit: None, remote: false };
        return Ok(sizes.into_iter().take(wants).map(of_lun).collect());
    }
    let one = |name: &&str| {
        let look = look(name)?;
        match look.kind {
            LookKind::Directory => Err(usage(format!("{name} is a directory; name a file in it"))),
            _ => Ok(look),
        }
    };
    names.iter().map(one).collect()
}

/// The sizes of a virtual array's LUNs.
fn luns(address: &str) -> Result<Vec<Bytes>, Failure> {
    let nothing = Plan::parse("look", "[[phase]]\nrun = \"1s\"\n", &Overrides::default());
    let plan = nothing.expect("a phase with a run is a plan");
    Ok(ModelledWorld::open(&plan, address, &LIBRARY, &real::this_machine(), Arc::default())?
        .lun_sizes()
        .to_vec())
}
