//! Answers as HTTP: JSON, refusals, files, and the headers that every one has.

use axum::body::Body;
use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};
use hyper::{Response, StatusCode};
use serde_json::{Value, json};

use crate::desk::{Answer, Download, Refusal};

/// JSON, as `Content-Type` has it.
pub const JSON: &str = "application/json";

/// What every answer says to a browser: nothing but this server's own files, in no frame, never guessed, never told on.
const SAFETY: [(HeaderName, &str); 6] = [
    (
        header::CONTENT_SECURITY_POLICY,
        "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self'; \
         connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    ),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
];

/// Adds those headers. What is not said to be kept is not kept.
pub fn secure(headers: &mut HeaderMap) {
    for (name, value) in SAFETY {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
}

/// An answer with a body of that kind.
pub fn content(status: u16, kind: &'static str, body: impl Into<Body>) -> Response<Body> {
    let mut response = Response::new(body.into());
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}

/// JSON with that status.
pub fn json(status: u16, value: &Value) -> Response<Body> {
    content(status, JSON, value.to_string())
}

/// What a desk has answered.
pub fn answer(answer: Answer) -> Response<Body> {
    answer.map_or_else(refused, |value| json(200, &value))
}

/// Why not.
pub fn refused(refusal: Refusal) -> Response<Body> {
    let mut body = json!({ "error": refusal.error });
    if let Some(help) = refusal.help {
        body["help"] = help.into();
    }
    let mut response = json(refusal.status, &body);
    let more = match refusal.status {
        401 => Some((header::WWW_AUTHENTICATE, "Bearer")),
        405 => Some((header::ALLOW, "GET, HEAD, POST")),
        // The body was not read: what follows on the connection is no request.
        408 | 413 | 503 => Some((header::CONNECTION, "close")),
        _ => None,
    };
    if let Some((name, value)) = more {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}

/// A file to be kept.
pub fn download(found: Result<Download, Refusal>) -> Response<Body> {
    match found {
        Err(refusal) => refused(refusal),
        Ok(Download { name, kind, bytes }) => {
            let plain =
                |one: char| if one.is_ascii_alphanumeric() || "-_.".contains(one) { one } else { '-' };
            let name: String = name.chars().map(plain).collect();
            let mut response = content(200, kind, bytes);
            if let Ok(value) = HeaderValue::try_from(format!("attachment; filename=\"{name}\"")) {
                response.headers_mut().insert(header::CONTENT_DISPOSITION, value);
            }
            response
        }
    }
}
