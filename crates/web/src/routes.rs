//! Which question has which path.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{Path, Query, Request, State};
use axum::middleware::{self, Next};
use axum::routing::{get, post};
use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};
use hyper::{Method, Response, Uri};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

use crate::desk::{Answer, CampaignAsked, Check, Desk, Refusal, RunsWanted, Start};
use crate::gate::{Gate, is_data};
use crate::job::{Jobs, Order, Source};
use crate::reply::{answer, content, download, refused, secure};
use crate::{events, page, reply};

/// No body is longer.
const BODY_MOST: usize = 1 << 20;
/// A body has come within this time.
const BODY_TIME: Duration = Duration::from_secs(10);
/// So many follow runs at once.
const READERS_MOST: usize = 64;
/// Runs that are listed where nobody says how many, and at most.
const RUNS: usize = 200;
const RUNS_MOST: usize = 10_000;
/// Runs that one report or comparison may name.
const NAMED_MOST: usize = 200;

/// What every answer needs.
pub struct Shared {
    pub desk: Box<dyn Desk>,
    pub gate: Gate,
    pub jobs: Jobs,
    readers: Arc<Semaphore>,
}

impl Shared {
    pub fn new(desk: Box<dyn Desk>, gate: Gate, jobs: Jobs) -> Shared {
        Shared { desk, gate, jobs, readers: Arc::new(Semaphore::new(READERS_MOST)) }
    }
}

type Here = State<Arc<Shared>>;

/// Whether the request has shown the token.
#[derive(Clone, Copy)]
struct Trusted(bool);

/// All of them.
pub fn router(shared: Arc<Shared>) -> Router {
    Router::new()
        .route("/api/about", get(|here: Here| ask(here, |shared| shared.desk.about())))
        .route("/api/runs", get(runs))
        .route("/api/runs/{selector}", get(record))
        .route("/api/runs/{selector}/report", get(report))
        .route("/api/report.html", get(report_html))
        .route("/api/report.xlsx", get(report_xlsx))
        .route("/api/compare", get(compare))
        .route("/api/campaigns", get(|here: Here| ask(here, |shared| shared.desk.campaigns())))
        .route("/api/campaigns/{name}", get(campaign))
        .route("/api/campaign/ready", get(|here: Here| ask(here, |shared| shared.desk.ready_campaigns())))
        .route("/api/campaign/ready/{name}", get(ready_campaign))
        .route("/api/campaign/check", post(check_campaign))
        .route("/api/campaign/start", post(start_campaign))
        .route("/api/campaign/events", get(campaign_events))
        .route("/api/plans", get(|here: Here| ask(here, |shared| shared.desk.plans())))
        .route("/api/plans/{name}", get(plan))
        .route("/api/plans/check", post(check))
        .route("/api/plan-keys", get(|here: Here| ask(here, |shared| shared.desk.plan_keys())))
        .route("/api/arrays", get(|here: Here| ask(here, |shared| shared.desk.arrays())))
        .route("/api/arrays/{name}", get(array))
        .route("/api/served", get(|here: Here| ask(here, |shared| shared.desk.served())))
        .route("/api/schema", get(|here: Here| ask(here, |shared| shared.desk.schema())))
        .route("/api/lab", post(lab))
        .route("/api/lab/rebuild", post(lab_rebuild))
        .route("/api/lab/arrays", get(|here: Here| ask(here, |shared| shared.desk.lab_arrays())))
        .route("/api/start", post(start))
        .route("/api/jobs", get(|here: Here| ask(here, |shared| Ok(shared.jobs.list()))))
        .route("/api/jobs/{job}", get(job))
        .route("/api/jobs/{job}/events", get(job_events))
        .route("/api/jobs/{job}/stop", post(stop))
        .fallback(unrouted)
        .method_not_allowed_fallback(|uri: Uri| async move { refused(wrong_method(&uri)) })
        .layer(middleware::from_fn_with_state(shared.clone(), guarded))
        .with_state(shared)
}

/// What is no question: a file of the page, or one of its views.
async fn unrouted(method: Method, uri: Uri, headers: HeaderMap) -> Response<Body> {
    match method == Method::POST && !is_data(uri.path()) {
        true => refused(wrong_method(&uri)),
        false => page::at(uri.path(), &headers),
    }
}

fn wrong_method(uri: &Uri) -> Refusal {
    let error = format!("{} does not take this method; the guide says which", uri.path());
    Refusal::parted(405, &error)
}

/// Hears what may be requested, and adds to every answer what browsers must know, and how long it took.
async fn guarded(State(shared): Here, request: Request, next: Next) -> Response<Body> {
    let began = Instant::now();
    let (mut parts, body) = request.into_parts();
    let mut response = match shared.gate.check(&parts) {
        Err(refusal) => refused(refusal),
        Ok(()) => {
            parts.extensions.insert(Trusted(shared.gate.is_trusted(&parts)));
            next.run(Request::from_parts(parts, body)).await
        }
    };
    secure(response.headers_mut());
    let took = format!("app;dur={:.1}", began.elapsed().as_secs_f64() * 1e3);
    if let Ok(took) = HeaderValue::try_from(took) {
        response.headers_mut().insert(HeaderName::from_static("server-timing"), took);
    }
    response
}

/// What a question gives that may take its time, on a thread for such.
async fn waited<T: Send + 'static>(
    shared: Arc<Shared>,
    question: impl FnOnce(&Shared) -> T + Send + 'static,
) -> Result<T, Refusal> {
    let answered = tokio::task::spawn_blocking(move || question(&shared)).await;
    answered.map_err(|_| Refusal {
        status: 500,
        error: "internal error; what happened is on stderr of `fathom ui`".into(),
        help: None,
    })
}

async fn ask(
    State(shared): Here,
    question: impl FnOnce(&Shared) -> Answer + Send + 'static,
) -> Response<Body> {
    answer(waited(shared, question).await.flatten())
}

/// What stands behind the `?`, each pair.
fn pairs(uri: &Uri) -> Vec<(String, String)> {
    Query::<Vec<(String, String)>>::try_from_uri(uri).map(|Query(pairs)| pairs).unwrap_or_default()
}

fn unread(what: impl std::fmt::Display) -> Refusal {
    Refusal { status: 400, error: what.to_string(), help: None }
}

async fn runs(here: Here, uri: Uri) -> Response<Body> {
    let mut wanted = RunsWanted { limit: RUNS, ..RunsWanted::default() };
    for (key, value) in pairs(&uri) {
        match key.as_str() {
            "search" => wanted.search = value,
            "tag" => wanted.tags.push(value),
            "published" => wanted.published = value != "0",
            "limit" => match value.parse::<usize>() {
                Ok(limit) => wanted.limit = limit.min(RUNS_MOST),
                Err(_) => return refused(unread(format!("limit={value}: no number of runs"))),
            },
            _ => {}
        }
    }
    ask(here, move |shared| shared.desk.runs(&wanted)).await
}

async fn record(State(shared): Here, Path(selector): Path<String>) -> Response<Body> {
    let found = waited(shared, move |shared| shared.desk.record(&selector)).await.flatten();
    found.map_or_else(refused, |text| content(200, reply::JSON, text))
}

async fn report(here: Here, Path(selector): Path<String>) -> Response<Body> {
    ask(here, move |shared| shared.desk.report(&selector)).await
}

async fn report_html(here: Here, uri: Uri) -> Response<Body> {
    report_file(here, &uri, "html").await
}

async fn report_xlsx(here: Here, uri: Uri) -> Response<Body> {
    report_file(here, &uri, "xlsx").await
}

async fn report_file(State(shared): Here, uri: &Uri, ending: &'static str) -> Response<Body> {
    match named(uri) {
        Err(refusal) => refused(refusal),
        Ok(runs) => {
            download(waited(shared, move |shared| shared.desk.report_file(&runs, ending)).await.flatten())
        }
    }
}

/// What `runs=` names, apart by commas.
fn named(uri: &Uri) -> Result<Vec<String>, Refusal> {
    let pairs = pairs(uri);
    let all = pairs.iter().filter(|(key, _)| key == "runs").flat_map(|(_, value)| value.split(','));
    let runs: Vec<String> = all.map(|run| run.trim().to_owned()).filter(|run| !run.is_empty()).collect();
    match runs.len() {
        0 => Err(Refusal::parted(400, "no run is named; add ?runs=ID,ID")),
        count if count > NAMED_MOST => {
            Err(unread(format!("{count} runs are named; at most {NAMED_MOST} at once")))
        }
        _ => Ok(runs),
    }
}

async fn compare(here: Here, uri: Uri) -> Response<Body> {
    let runs = match named(&uri) {
        Err(refusal) => return refused(refusal),
        Ok(runs) => runs,
    };
    let margin = pairs(&uri).into_iter().find(|(key, _)| key == "margin");
    let margin = margin.map_or(Ok(5.0), |(_, value)| {
        let number = value.parse::<f64>().ok().filter(|number| (0.0..=100.0).contains(number));
        number.ok_or_else(|| unread(format!("margin={value}: no percentage from 0 to 100")))
    });
    match margin {
        Err(refusal) => refused(refusal),
        Ok(margin) => ask(here, move |shared| shared.desk.compare(&runs, margin)).await,
    }
}

async fn campaign(here: Here, Path(name): Path<String>) -> Response<Body> {
    ask(here, move |shared| shared.desk.campaign(&name, shared.jobs.campaign(&name).as_ref())).await
}

async fn ready_campaign(here: Here, Path(name): Path<String>) -> Response<Body> {
    ask(here, move |shared| shared.desk.ready_campaign(&name)).await
}

async fn plan(here: Here, Path(name): Path<String>) -> Response<Body> {
    ask(here, move |shared| shared.desk.plan(&name)).await
}

async fn array(here: Here, Path(name): Path<String>) -> Response<Body> {
    ask(here, move |shared| shared.desk.array(&name)).await
}

/// The body as JSON, and whether it came with the token.
async fn body<T: DeserializeOwned>(request: Request) -> Result<(T, bool), Refusal> {
    let (parts, body) = request.into_parts();
    let trusted = parts.extensions.get::<Trusted>().is_some_and(|trusted| trusted.0);
    let large = || Refusal {
        status: 413,
        error: "the body is larger than 1 MiB".into(),
        help: Some("send less".into()),
    };
    let declared =
        parts.headers.get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
    if declared.is_some_and(|length: u64| length > BODY_MOST as u64) {
        return Err(large());
    }
    let read = tokio::time::timeout(BODY_TIME, axum::body::to_bytes(body, BODY_MOST)).await;
    let read = read.map_err(|_| Refusal {
        status: 408,
        error: "the body did not come within 10 seconds".into(),
        help: None,
    })?;
    let bytes = read.map_err(|error| match error.to_string().contains("limit") {
        true => large(),
        false => unread(format!("the body could not be read: {error}")),
    })?;
    let value = serde_json::from_slice(&bytes);
    Ok((
        value
            .map_err(|error| unread(format!("the body is not the JSON that this request takes: {error}")))?,
        trusted,
    ))
}

/// Reads the body and asks.
async fn told<T: DeserializeOwned + Send + 'static>(
    here: Here,
    request: Request,
    question: impl FnOnce(&Shared, T, bool) -> Answer + Send + 'static,
) -> Response<Body> {
    match body::<T>(request).await {
        Err(refusal) => refused(refusal),
        Ok((value, trusted)) => ask(here, move |shared| question(shared, value, trusted)).await,
    }
}

async fn check(here: Here, request: Request) -> Response<Body> {
    told(here, request, |shared, check: Check, trusted| shared.desk.check(&check, trusted)).await
}

async fn lab(here: Here, request: Request) -> Response<Body> {
    told(here, request, |shared, body: Value, trusted| shared.desk.lab(body, trusted)).await
}

async fn lab_rebuild(here: Here, request: Request) -> Response<Body> {
    told(here, request, |shared, body: Value, trusted| shared.desk.lab_rebuild(body, trusted)).await
}

async fn check_campaign(here: Here, request: Request) -> Response<Body> {
    let check = |shared: &Shared, asked: CampaignAsked, trusted| shared.desk.check_campaign(&asked, trusted);
    told(here, request, check).await
}

async fn start(here: Here, request: Request) -> Response<Body> {
    started(here, request, |desk, start: Start| {
        let source = Source::new("plan", start.plan.as_ref(), start.toml.as_ref())?;
        let arguments = desk.arguments(&start, &source.file)?;
        let name = desk.plan_name(&start);
        Ok(Order { name, source, on: start.on.list(), campaign: None, arguments })
    })
    .await
}

async fn start_campaign(here: Here, request: Request) -> Response<Body> {
    started(here, request, |desk, asked: CampaignAsked| {
        let source = Source::new("campaign", asked.campaign.as_ref(), asked.toml.as_ref())?;
        let command = desk.campaign_command(&asked, &source.file)?;
        let on = asked.on.list();
        let (name, arguments) = (command.name, command.arguments);
        Ok(Order { name: name.clone(), source, on, campaign: Some((name, asked)), arguments })
    })
    .await
}

/// Starts what the body orders.
async fn started<T: DeserializeOwned + Send + 'static>(
    State(shared): Here,
    request: Request,
    order: impl FnOnce(&dyn Desk, T) -> Result<Order, Refusal> + Send + 'static,
) -> Response<Body> {
    let wanted = match body::<T>(request).await {
        Err(refusal) => return refused(refusal),
        Ok((wanted, _)) => wanted,
    };
    let started = waited(shared, move |shared| {
        shared.desk.may_start()?;
        let order = order(shared.desk.as_ref(), wanted)?;
        shared.jobs.start(order, shared.desk.now())
    });
    started.await.flatten().map_or_else(refused, |job| reply::json(202, &json!({ "job": job })))
}

async fn job(here: Here, Path(name): Path<String>) -> Response<Body> {
    ask(here, move |shared| Ok(shared.jobs.find(&name)?.json())).await
}

async fn stop(here: Here, Path(name): Path<String>) -> Response<Body> {
    ask(here, move |shared| {
        let job = shared.jobs.find(&name)?;
        job.stop()?;
        Ok(job.json())
    })
    .await
}

async fn job_events(State(shared): Here, Path(name): Path<String>, headers: HeaderMap) -> Response<Body> {
    let known = headers.get("last-event-id").and_then(|known| known.to_str().ok()?.trim().parse().ok());
    match shared.jobs.find(&name) {
        Err(refusal) => refused(refusal),
        Ok(job) => followed(&shared, |permit| events::of(job, known.unwrap_or(0), permit)),
    }
}

/// Campaigns and what was started of them, whenever either changes.
async fn campaign_events(State(shared): Here) -> Response<Body> {
    let own = shared.clone();
    let look = move || {
        let mut told = own.desk.campaigns()?;
        told["jobs"] = own.jobs.list()["jobs"].take();
        Ok(told)
    };
    followed(&shared, |permit| events::changes("campaigns", look, permit))
}

/// A stream of events, where there is a place for one more reader.
fn followed(shared: &Shared, events: impl FnOnce(OwnedSemaphorePermit) -> Body) -> Response<Body> {
    match shared.readers.clone().try_acquire_owned() {
        Ok(permit) => content(200, "text/event-stream", events(permit)),
        Err(_) => refused(Refusal::parted(
            503,
            &format!("{READERS_MOST} readers follow runs already; close one of them"),
        )),
    }
}
