//! What ranks say of themselves before anything is done, and whether they fit together.

use std::collections::BTreeMap;

use crate::error::{ClusterError, Refused};
use crate::heard::WAIT;
use crate::link::Link;
use crate::message::{Hello, Message};

/// What all ranks say of themselves, in order, once all have; or why they do not fit together.
pub(crate) fn greeted(link: &Link, own: &Hello) -> Result<Vec<Hello>, Refused> {
    let mut hellos: BTreeMap<usize, Hello> = BTreeMap::from([(0, own.clone())]);
    while hellos.len() < link.size() {
        match link.receive(WAIT) {
            Ok(Some((from, Message::Hello(hello)))) => {
                link.is_on(from, &hello.host);
                hellos.insert(from, hello);
            }
            Ok(Some(_)) => {}
            Ok(None) => {
                if let Some((rank, millis)) = link.silent() {
                    link.forget(rank);
                    let why = ClusterError::Silent { rank, host: link.host(rank), millis }.to_string();
                    return Err(Refused { code: 7, why });
                }
            }
            // Of another version, perhaps, which speaks otherwise.
            Err(error) => return Err(Refused { code: 2, why: error.to_string() }),
        }
    }
    hellos.iter().try_for_each(|(rank, hello)| fits(*rank, hello, own))?;
    Ok(hellos.into_values().collect())
}

fn fits(rank: usize, hello: &Hello, own: &Hello) -> Result<(), Refused> {
    let Hello { version, plan, host, refused, .. } = hello;
    if let Some(Refused { code, why }) = refused {
        return Err(Refused { code: *code, why: format!("rank {rank} on {host}: {why}") });
    }
    let differ = |what: &str, theirs: &str, ours: &str, remedy: &str| {
        let why = format!(
            "the ranks do not fit together: rank {rank} on {host} has {what} {theirs}, rank 0 has {ours}; {remedy}"
        );
        Err(Refused { code: 2, why })
    };
    if *version != own.version {
        return differ("version", version, &own.version, "install the same version of Fathom on all hosts");
    }
    if *plan != own.plan {
        return differ(
            "plan",
            plan,
            &own.plan,
            "give all ranks the same plan, `--set`, `--scratch` and `--output`",
        );
    }
    Ok(())
}
