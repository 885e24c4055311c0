//! The built page, which is part of the program.

use std::hash::{DefaultHasher, Hasher};
use std::sync::OnceLock;

use axum::body::Body;
use hyper::header::{self, HeaderMap, HeaderValue};
use hyper::{Response, StatusCode};

use crate::desk::Refusal;
use crate::gate::is_data;
use crate::reply;

/// Names and contents of the files; none where the page was not built.
static FILES: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/page.rs"));

/// In place of a page that was not built.
const UNBUILT: &str = include_str!("unbuilt.html");

/// In this folder names change with contents.
const HASHED: &str = "assets/";

/// What stands at `path` of the address, as it was sent. A path that names no file is one of the page's own views.
pub fn at(path: &str, headers: &HeaderMap) -> Response<Body> {
    let missing =
        |error: String| reply::refused(Refusal { status: 404, error, help: Some("the page is at /".into()) });
    let Some(name) = decoded(path) else {
        return missing(format!("{path} is no path of this server"));
    };
    if is_data(&name) {
        return missing(format!("{name} is no question of this server"));
    }
    let name = name.trim_start_matches('/');
    match FILES.iter().find(|(own, _)| *own == name && !own.is_empty()) {
        Some((name, bytes)) => file(name, bytes, headers),
        None if name.contains('.') => missing(format!("there is no file /{name}")),
        None => match FILES.iter().find(|(own, _)| *own == "index.html") {
            Some((name, bytes)) => file(name, bytes, headers),
            None => file("index.html", UNBUILT.as_bytes(), headers),
        },
    }
}

/// The path with its `%2f` and the like read; `None` where it is none, or leads upwards.
fn decoded(path: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'%' => {
                let digits = [rest.next()?, rest.next()?];
                u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?
            }
            other => other,
        });
    }
    let text = String::from_utf8(bytes).ok()?;
    let is_plain = !text.chars().any(|one| one == '\\' || one.is_control());
    (is_plain && text.starts_with('/') && !text.split('/').any(|part| part == ".." || part == "."))
        .then_some(text)
}

fn file(name: &str, bytes: &'static [u8], headers: &HeaderMap) -> Response<Body> {
    let tag = tag(name, bytes);
    let is_known = headers.get(header::IF_NONE_MATCH).and_then(|known| known.to_str().ok());
    let is_known =
        is_known.is_some_and(|known| known.split(',').any(|one| one.trim().trim_start_matches("W/") == tag));
    let mut response = reply::content(200, kind(name), bytes);
    if is_known {
        *response.status_mut() = StatusCode::NOT_MODIFIED;
        *response.body_mut() = Body::empty();
    }
    let keep = if name.starts_with(HASHED) { "public, max-age=31536000, immutable" } else { "no-cache" };
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static(keep));
    if let Ok(tag) = HeaderValue::try_from(tag) {
        response.headers_mut().insert(header::ETAG, tag);
    }
    response
}

/// Another for other contents. Computed once for each file.
fn tag(name: &str, bytes: &[u8]) -> String {
    static TAGS: OnceLock<Vec<(&'static str, String)>> = OnceLock::new();
    let of = |bytes: &[u8]| {
        let mut hasher = DefaultHasher::new();
        hasher.write(bytes);
        format!("\"{:016x}\"", hasher.finish())
    };
    let tags = TAGS.get_or_init(|| FILES.iter().map(|(name, bytes)| (*name, of(bytes))).collect());
    tags.iter().find(|(own, _)| *own == name).map_or_else(|| of(bytes), |(_, tag)| tag.clone())
}

fn kind(name: &str) -> &'static str {
    match name.rsplit('.').next().unwrap_or_default() {
        "html" => "text/html; charset=utf-8",
        "js" | "mjs" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "json" | "map" => reply::JSON,
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "ico" => "image/x-icon",
        "woff2" => "font/woff2",
        "txt" => "text/plain; charset=utf-8",
        "webmanifest" => "application/manifest+json",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_that_leads_upwards_or_is_no_text_names_nothing() {
        for wrong in [
            "/../x",
            "/a/../../x",
            "/%2e%2e/x",
            "/%2E%2e%2fx",
            "/a\\..\\x",
            "/%5c",
            "/%00",
            "/%zz",
            "/%",
            "x",
            "/./x",
        ] {
            assert_eq!(decoded(wrong), None, "{wrong}");
        }
        assert_eq!(decoded("/runs/last~1").as_deref(), Some("/runs/last~1"));
        assert_eq!(decoded("/campaigns/a%20b").as_deref(), Some("/campaigns/a b"));
    }

    #[test]
    fn views_of_the_page_have_its_first_file_and_what_has_a_dot_must_be_there() {
        let status = |path: &str| at(path, &HeaderMap::new()).status().as_u16();
        for view in ["/", "/runs", "/runs/last~1", "/lab"] {
            assert_eq!(status(view), 200, "{view}");
        }
        for missing in [
            "/favicon.none",
            "/api",
            "/api/nothing",
            "/etc/passwd.txt",
            "/..%2f..%2fetc/passwd",
            "//api/../x",
        ] {
            assert_eq!(status(missing), 404, "{missing}");
        }
    }

    #[test]
    fn who_has_a_file_is_told_so_in_place_of_getting_it_again() {
        let first = at("/", &HeaderMap::new());
        let mut headers = HeaderMap::new();
        headers.insert(header::IF_NONE_MATCH, first.headers()[header::ETAG].clone());
        assert_eq!(at("/", &headers).status().as_u16(), 304);
        headers.insert(header::IF_NONE_MATCH, HeaderValue::from_static("\"other\""));
        assert_eq!(at("/", &headers).status().as_u16(), 200);
    }
}
