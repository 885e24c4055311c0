//! Who may ask what: the name by which the server is called, the origin of a page, and the token.

use std::net::SocketAddr;

use hyper::Method;
use hyper::header::{self, HeaderMap, HeaderName};
use hyper::http::request::Parts;
use hyper::http::uri::Authority;

use crate::desk::Refusal;

/// What is computed and changes nothing: on a loopback address it takes no token.
const COMPUTED: [&str; 4] = ["/api/plans/check", "/api/campaign/check", "/api/lab", "/api/lab/rebuild"];

/// Whether what stands at `path` is data, not the page.
pub fn is_data(path: &str) -> bool {
    path == "/api" || path.starts_with("/api/")
}

/// What decides whether a request is heard.
#[derive(Clone, Debug)]
pub struct Gate {
    address: SocketAddr,
    token: String,
}

impl Gate {
    /// Of a server that listens on `address`.
    pub fn new(address: SocketAddr, token: String) -> Gate {
        Gate { address, token }
    }

    /// Whether only this machine can ask, and so may read without a token.
    fn is_loopback(&self) -> bool {
        self.address.ip().is_loopback()
    }

    /// Why the request is not heard, before anything of its body is read.
    pub fn check(&self, request: &Parts) -> Result<(), Refusal> {
        if self.is_loopback() {
            self.check_name(request)?;
        }
        let path = request.uri.path();
        let is_change = match request.method {
            Method::GET | Method::HEAD => false,
            Method::POST => true,
            _ => return Err(unknown_method(request)),
        };
        if is_change {
            self.check_origin(&request.headers)?;
            check_kind(&request.headers)?;
        }
        let is_open = self.is_loopback() && (!is_change || COMPUTED.contains(&path));
        if is_open || (!is_change && !is_data(path)) { Ok(()) } else { self.check_token(request) }
    }

    /// Whether the request has shown the token.
    pub fn is_trusted(&self, request: &Parts) -> bool {
        self.check_token(request).is_ok()
    }

    /// That the server is called by a name of its own: a page whose name leads here by a trick of its name server calls it
    /// by that name.
    fn check_name(&self, request: &Parts) -> Result<(), Refusal> {
        let told = |name: &str| Refusal {
            status: 421,
            error: format!("the request is for `{name}`, and this server is {}", self.address),
            help: Some(format!("open http://{}/", self.address)),
        };
        let name = one(&request.headers, header::HOST).map_err(|found| told(&found))?;
        let names = [name].into_iter().chain(request.uri.authority().map(Authority::as_str));
        for name in names {
            let called = name.parse::<Authority>().map_err(|_| told(name))?;
            let is_port = called.port_u16().unwrap_or(80) == self.address.port();
            if !is_port || called.as_str().contains('@') || !self.is_own(called.host()) {
                return Err(told(name));
            }
        }
        Ok(())
    }

    fn is_own(&self, host: &str) -> bool {
        let host = host.trim_start_matches('[').trim_end_matches(']').to_ascii_lowercase();
        ["localhost", "127.0.0.1", "::1"].contains(&host.as_str()) || host == self.address.ip().to_string()
    }

    /// That no page of another origin asks.
    fn check_origin(&self, headers: &HeaderMap) -> Result<(), Refusal> {
        let told = |from: &str| Refusal {
            status: 403,
            error: format!(
                "the request comes from a page of `{from}`, and only this server's own may change anything"
            ),
            help: Some(format!("use the page at http://{}/, or send no `Origin`", self.address)),
        };
        let site = HeaderName::from_static("sec-fetch-site");
        if let Some(site) =
            headers.get(site).filter(|site| !["same-origin", "none"].iter().any(|own| site == own))
        {
            return Err(told(site.to_str().unwrap_or("elsewhere")));
        }
        if !headers.contains_key(header::ORIGIN) {
            return Ok(());
        }
        let origin = one(headers, header::ORIGIN).map_err(|found| told(&found))?;
        let host = one(headers, header::HOST).map_err(|_| told(origin))?;
        // Behind a server that adds TLS it is the same name.
        let behind = origin
            .strip_prefix("http://")
            .or_else(|| origin.strip_prefix("https://").filter(|_| !self.is_loopback()));
        if behind.is_some_and(|behind| behind.eq_ignore_ascii_case(host)) {
            Ok(())
        } else {
            Err(told(origin))
        }
    }

    fn check_token(&self, request: &Parts) -> Result<(), Refusal> {
        let told = |error: &str| Refusal {
            status: 401,
            error: error.into(),
            help: Some("open the address that `fathom ui` printed when it started: it has the token".into()),
        };
        let shown = match one(&request.headers, header::AUTHORIZATION) {
            Ok(value) => value.strip_prefix("Bearer ").map(str::trim),
            Err(_) => in_address(request),
        };
        match shown {
            None => Err(told("the request needs the token (`Authorization: Bearer TOKEN`), and has none")),
            Some(shown) if is_same(shown.as_bytes(), self.token.as_bytes()) => Ok(()),
            Some(_) => Err(told("the token is not the one of this server")),
        }
    }
}

/// The token behind `?token=`, for events alone: whoever reads those in a browser can set no header.
fn in_address(request: &Parts) -> Option<&str> {
    let is_events = request.method == Method::GET && request.uri.path().ends_with("/events");
    let query = request.uri.query().filter(|_| is_events)?;
    query.split('&').find_map(|pair| pair.strip_prefix("token="))
}

/// Whether they are equal, in a time that does not tell how far.
fn is_same(one: &[u8], other: &[u8]) -> bool {
    let differs = one.iter().zip(other).fold(0, |differs, (one, other)| differs | (one ^ other));
    one.len() == other.len() && std::hint::black_box(differs) == 0
}

/// The value of a header that stands there once; what was found instead.
fn one(headers: &HeaderMap, name: HeaderName) -> Result<&str, String> {
    let mut values = headers.get_all(&name).iter();
    match (values.next(), values.next()) {
        (Some(value), None) => value.to_str().map_err(|_| "no text".into()),
        (None, _) => Err("nobody".into()),
        (Some(_), Some(_)) => Err("several".into()),
    }
}

/// That a body is said to be JSON: what a form of a page can send is not.
fn check_kind(headers: &HeaderMap) -> Result<(), Refusal> {
    let kind = one(headers, header::CONTENT_TYPE).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    match kind.eq_ignore_ascii_case(crate::reply::JSON) {
        true => Ok(()),
        false => Err(Refusal {
            status: 415,
            error: format!("a body of type `{kind}` is not read"),
            help: Some("send JSON with `Content-Type: application/json`".into()),
        }),
    }
}

fn unknown_method(request: &Parts) -> Refusal {
    Refusal {
        status: 405,
        error: format!("{} is no method of {}", request.method, request.uri.path()),
        help: Some("use GET, or POST where the guide says so".into()),
    }
}

#[cfg(test)]
mod tests {
    use hyper::Request;

    use super::*;

    const OWN: &str = "127.0.0.1:7070";

    fn asked(gate: &str, method: &str, path: &str, headers: &[(&str, &str)]) -> u16 {
        refusal(gate, method, path, headers).map_or(200, |refusal| refusal.status)
    }

    fn refusal(gate: &str, method: &str, path: &str, headers: &[(&str, &str)]) -> Option<Refusal> {
        let gate = Gate::new(gate.parse().unwrap(), "sesame".into());
        let mut request = Request::builder().method(method).uri(path);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let parts = request.body(()).unwrap().into_parts().0;
        gate.check(&parts).err()
    }

    const HOST: (&str, &str) = ("host", OWN);
    const KIND: (&str, &str) = ("content-type", "application/json; charset=utf-8");
    const TOKEN: (&str, &str) = ("authorization", "Bearer sesame");

    #[test]
    fn a_server_on_a_loopback_address_answers_to_names_of_its_own_alone() {
        for own in [OWN, "localhost:7070", "LOCALHOST:7070", "[::1]:7070"] {
            assert_eq!(asked(OWN, "GET", "/api/runs", &[("host", own)]), 200, "{own}");
        }
        for other in [
            "evil.example:7070",
            "127.0.0.1",
            "127.0.0.1:7071",
            "127.0.0.1.evil.example:7070",
            "localhost:7070@evil.example",
            "user@localhost:7070",
            "",
            "a b",
        ] {
            assert_eq!(asked(OWN, "GET", "/", &[("host", other)]), 421, "{other}");
        }
        assert_eq!(asked(OWN, "GET", "/", &[]), 421);
        assert_eq!(asked(OWN, "GET", "/", &[HOST, ("host", "evil.example")]), 421);
        assert_eq!(asked(OWN, "GET", "http://evil.example/api/runs", &[HOST]), 421);
    }

    #[test]
    fn nothing_is_changed_without_the_token_or_for_a_page_of_another_origin() {
        let start = |headers: &[(&str, &str)]| asked(OWN, "POST", "/api/start", headers);
        assert_eq!(start(&[HOST, KIND, TOKEN]), 200);
        assert_eq!(start(&[HOST, KIND, TOKEN, ("origin", "http://127.0.0.1:7070")]), 200);
        assert_eq!(start(&[HOST, KIND]), 401);
        for wrong in ["Bearer sesam", "Bearer sesame1", "Bearer ", "Basic sesame", "sesame"] {
            assert_eq!(start(&[HOST, KIND, ("authorization", wrong)]), 401, "{wrong}");
        }
        for origin in ["http://evil.example", "null", "http://127.0.0.1:7071", "https://127.0.0.1:7070", ""] {
            assert_eq!(start(&[HOST, KIND, TOKEN, ("origin", origin)]), 403, "{origin}");
        }
        assert_eq!(start(&[HOST, KIND, TOKEN, ("sec-fetch-site", "cross-site")]), 403);
        assert_eq!(start(&[HOST, TOKEN]), 415);
        assert_eq!(start(&[HOST, TOKEN, ("content-type", "text/plain")]), 415);
        assert_eq!(asked(OWN, "POST", "/api/start?token=sesame", &[HOST, KIND]), 401);
        assert_eq!(asked(OWN, "DELETE", "/api/runs/1", &[HOST, TOKEN]), 405);
    }

    #[test]
    fn every_refusal_says_what_to_do() {
        for headers in [
            &[HOST, KIND, TOKEN, ("origin", "http://evil.example")][..],
            &[HOST, KIND, TOKEN, ("sec-fetch-site", "cross-site")],
            &[HOST, KIND],
            &[HOST, TOKEN],
            &[],
        ] {
            let refused = refusal(OWN, "POST", "/api/start", headers).expect("it is refused");
            assert!(refused.help.is_some_and(|help| !help.is_empty()), "{headers:?}");
        }
    }

    #[test]
    fn what_is_computed_takes_no_token_here_and_everything_does_from_elsewhere() {
        let open = "192.0.2.7:7070";
        for path in COMPUTED {
            assert_eq!(asked(OWN, "POST", path, &[HOST, KIND]), 200, "{path}");
            assert_eq!(asked(open, "POST", path, &[HOST, KIND]), 401, "{path}");
        }
        assert_eq!(asked(open, "GET", "/assets/page.js", &[]), 200);
        assert_eq!(asked(open, "GET", "/api/runs", &[]), 401);
        assert_eq!(asked(open, "GET", "/api/runs?token=sesame", &[]), 401);
        assert_eq!(asked(open, "GET", "/api/runs", &[TOKEN]), 200);
        assert_eq!(asked(open, "GET", "/api/jobs/j1/events?token=sesame", &[]), 200);
        assert_eq!(asked(open, "GET", "/api/jobs/j1/events?token=other", &[]), 401);
    }
}
