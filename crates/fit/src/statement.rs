//! The fit as a whole: the model, what each figure rests on, how far the model is off, and where it may be trusted.

use record::{Fitted, ModelComparison, Run};

use crate::identified::{self, Identified};
use crate::lines;
use crate::model::{Level, Model, Words};
use crate::parts::Parts;
use crate::probe::Probe;
use crate::refine::{self, Ask, Source};
use crate::trust;

/// A model with what is known of it.
#[derive(Clone, Debug)]
pub struct Fit {
    /// Its figures.
    pub model: Model,
    /// What of members, chunk and level is identified.
    pub identified: Identified,
    /// The array file.
    pub text: String,
    /// What was fitted, and what was not, from the link down to the members.
    pub lines: Vec<Fitted>,
    /// Every measured point with the model's answer.
    pub residuals: Vec<ModelComparison>,
    /// Where the model may be trusted, in sentences.
    pub trust: Vec<String>,
}

/// Why there is no model.
#[derive(Debug, thiserror::Error)]
pub enum FitError {
    /// The points do not do.
    #[error(
        "the runs have no {0}, without which there is no model; `fathom array fit` on a target measures all that is needed"
    )]
    Missing(&'static str),
    /// The model could not be run.
    #[error("the fitted model could not be run: {0}")]
    Ask(String),
}

fn sources(runs: &[Run]) -> Vec<Source> {
    let of_run = |(run, of): (usize, &Run)| {
        let probes: Vec<Probe> = of.points.iter().filter_map(Probe::of).collect();
        probes.into_iter().map(move |probe| Source { run, probe })
    };
    runs.iter().enumerate().flat_map(of_run).collect()
}

/// What reads alone identify of members and chunk, without a model that answers.
pub fn layout(runs: &[Run]) -> Result<Identified, FitError> {
    let probes: Vec<Probe> = sources(runs).into_iter().map(|source| source.probe).collect();
    Ok(identified::of(&Parts::of(&probes)?, Level::Raid0, &[]))
}

/// The model of what `runs` measured, called `name`.
pub fn fit(runs: &[Run], name: &str, ask: &mut dyn Ask) -> Result<Fit, FitError> {
    let sources = sources(runs);
    let probes: Vec<Probe> = sources.iter().map(|source| source.probe.clone()).collect();
    let parts = Parts::of(&probes)?;
    let capacity =
        runs.iter().flat_map(|run| &run.targets).map(|target| target.size_bytes).max().unwrap_or(0);
    let mut model = parts.model(name, runs, capacity);
    refine::refine_reads(&mut model, &parts.front, &sources, ask).map_err(FitError::Ask)?;
    let tried = refine::refine_writes(&mut model, &sources, ask).map_err(FitError::Ask)?;
    let identified = identified::of(&parts, model.level, &tried);
    let (lines, words) = lines::of(&parts, &model, &identified, &tried);
    let residuals = residuals(&model, &words, &sources, ask)?;
    let trust = trust::of(&sources, &residuals, &parts, &model);
    Ok(Fit { text: model.text(&words), trust, model, identified, lines, residuals })
}

fn residuals(
    model: &Model,
    words: &Words,
    sources: &[Source],
    ask: &mut dyn Ask,
) -> Result<Vec<ModelComparison>, FitError> {
    let answers = refine::check(model, words, sources, ask).map_err(FitError::Ask)?;
    let of = |source: &Source| {
        let same = |(wanted, _): &&(refine::Wanted, f64)| {
            wanted.run == source.run && wanted.index == source.probe.index
        };
        let (_, modelled) = answers.iter().find(same)?;
        Some(source.probe.held(*modelled))
    };
    Ok(sources.iter().filter_map(of).collect())
}
