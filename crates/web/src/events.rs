//! Server-sent events: of a run each line of its output once, with a number by which a reader goes on; of what changes
//! in the library the whole, whenever it does.

use std::convert::Infallible;
use std::fs::File;
use std::io::Read;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::Body;
use hyper::body::{Bytes, Frame};
use serde::Deserialize;
use tokio::sync::OwnedSemaphorePermit;
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::time::Instant;

use crate::desk::Answer;
use crate::job::Job;

/// How often a run is looked at.
const LOOK: Duration = Duration::from_millis(100);
/// What changes in the library is looked at so often.
const CHANGES: Duration = Duration::from_secs(1);
/// A reader hears something so often, also where nothing happens.
const HEARTBEAT: Duration = Duration::from_secs(10);
/// Read at a time.
const PIECE: u64 = 1 << 20;

/// The events of `job` that come after the first `known`, and its end.
pub fn of(job: Arc<Job>, known: u64, permit: OwnedSemaphorePermit) -> Body {
    let (send, receive) = channel(16);
    tokio::spawn(async move {
        tell(job, known, send).await;
        drop(permit);
    });
    Body::new(Frames(receive))
}

/// What `look` answers, under `name`, whenever it differs from what was told before.
pub fn changes(
    name: &'static str,
    look: impl Fn() -> Answer + Send + Sync + 'static,
    permit: OwnedSemaphorePermit,
) -> Body {
    let (send, receive) = channel(16);
    tokio::spawn(async move {
        retell(name, Arc::new(look), send).await;
        drop(permit);
    });
    Body::new(Frames(receive))
}

async fn retell(name: &str, look: Arc<impl Fn() -> Answer + Send + Sync + 'static>, send: Sender<Bytes>) {
    let (mut known, mut number, mut heard) = (String::new(), 0, Instant::now());
    loop {
        let (own, began) = (look.clone(), Instant::now());
        let Ok(found) = tokio::task::spawn_blocking(move || own()).await else { return };
        let (pause, found) = (pause(began.elapsed()), found.map(|value| value.to_string()));
        let news = match found {
            Ok(text) if text != known => {
                number += 1;
                known = text;
                Some(format!("id: {number}\nevent: {name}\ndata: {known}\n\n").into())
            }
            // A library that could not be read is there again the next time, or says why to who asks it.
            _ => (heard.elapsed() >= HEARTBEAT).then_some(Bytes::from_static(b":\n\n")),
        };
        if let Some(news) = news {
            heard = Instant::now();
            if send.send(news).await.is_err() {
                return;
            }
        }
        if tokio::time::timeout(pause, send.closed()).await.is_ok() {
            return;
        }
    }
}

/// How long to wait after a look that took so long: a large library costs no more than a twentieth of a processor.
fn pause(took: Duration) -> Duration {
    const { assert!(CHANGES.as_nanos() < HEARTBEAT.as_nanos(), "a beat is rarer than a look") };
    (took * 20).clamp(CHANGES, HEARTBEAT)
}

struct Frames(Receiver<Bytes>);

impl hyper::body::Body for Frames {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.0.poll_recv(context).map(|bytes| bytes.map(|bytes| Ok(Frame::data(bytes))))
    }
}

/// Sends until the run has ended or nobody listens.
async fn tell(job: Arc<Job>, known: u64, send: Sender<Bytes>) {
    let mut tail = Tail { file: File::open(job.events()).ok(), rest: Vec::new(), count: 0, known };
    let mut heard = Instant::now();
    loop {
        let looked = job.clone();
        let step = tokio::task::spawn_blocking(move || {
            // First whether it has ended: what it wrote before is then all there.
            let end = looked.look();
            let (events, is_all) = tail.next();
            (tail, end.filter(|_| is_all), events, is_all)
        });
        let Ok((back, end, events, is_all)) = step.await else { return };
        tail = back;
        for event in events {
            heard = Instant::now();
            if send.send(event).await.is_err() {
                return;
            }
        }
        if let Some(end) = end {
            let _gone = send.send(format!("event: end\ndata: {}\n\n", end.json()).into()).await;
            return;
        }
        if heard.elapsed() >= HEARTBEAT {
            heard = Instant::now();
            if send.send(Bytes::from_static(b":\n\n")).await.is_err() {
                return;
            }
        }
        if is_all && tokio::time::timeout(LOOK, send.closed()).await.is_ok() {
            return;
        }
    }
}

/// What follows in a file of lines.
struct Tail {
    file: Option<File>,
    /// The beginning of a line that is not whole yet.
    rest: Vec<u8>,
    /// Lines so far.
    count: u64,
    /// So many the reader has.
    known: u64,
}

impl Tail {
    /// The events of the next piece, and whether that was all there is.
    fn next(&mut self) -> (Vec<Bytes>, bool) {
        let read = self.file.as_mut().and_then(|file| file.take(PIECE).read_to_end(&mut self.rest).ok());
        let mut events = Vec::new();
        let mut begin = 0;
        while let Some(length) = self.rest[begin..].iter().position(|byte| *byte == b'\n') {
            self.count += 1;
            if self.count > self.known {
                events.push(event(self.count, &self.rest[begin..begin + length]));
            }
            begin += length + 1;
        }
        self.rest.drain(..begin);
        (events, read.unwrap_or(0) == 0)
    }
}

#[derive(Deserialize)]
struct Named {
    event: String,
}

fn event(number: u64, line: &[u8]) -> Bytes {
    let name = serde_json::from_slice::<Named>(line).map(|named| named.event).unwrap_or_default();
    let is_plain = !name.is_empty() && name.chars().all(|one| one.is_ascii_alphanumeric() || one == '-');
    let name = if is_plain { name } else { "message".into() };
    let line = String::from_utf8_lossy(line).replace('\r', "");
    format!("id: {number}\nevent: {name}\ndata: {line}\n\n").into()
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn each_whole_line_is_one_event_and_who_has_some_gets_the_others() {
        let path = tempfile::NamedTempFile::new().unwrap();
        let mut file = path.as_file();
        file.write_all(b"{\"event\":\"live\",\"x\":1}\nno json\n{\"event\":\"a b\"}\n{\"event\":\"half")
            .unwrap();
        let mut tail = Tail { file: File::open(path.path()).ok(), rest: Vec::new(), count: 0, known: 1 };
        let text = |events: Vec<Bytes>| -> Vec<String> {
            events.iter().map(|one| String::from_utf8(one.to_vec()).unwrap()).collect()
        };
        let (events, _) = tail.next();
        let expected = [
            "id: 2\nevent: message\ndata: no json\n\n",
            "id: 3\nevent: message\ndata: {\"event\":\"a b\"}\n\n",
        ];
        assert_eq!(text(events), expected);
        file.write_all(b"\"}\n").unwrap();
        let (events, is_all) = tail.next();
        assert_eq!(
            (text(events), is_all),
            (vec!["id: 4\nevent: half\ndata: {\"event\":\"half\"}\n\n".into()], false)
        );
        assert_eq!(tail.next(), (Vec::new(), true));
    }
}
