//! Connections: so many at once, none that keeps others waiting, until it is told to end.

use std::fs::File;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpStream;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::desk::Desk;
use crate::gate::Gate;
use crate::job::Jobs;
use crate::patient::Patient;
use crate::routes::{self, Shared};

/// Connections that are held at once; more are told so and closed.
const CONNECTIONS_MOST: usize = 512;
/// The head of a request has come within this time; a connection on which nothing is asked for so long is closed.
const HEAD_TIME: Duration = Duration::from_secs(10);
/// No head of a request is longer.
const HEAD_MOST: usize = 64 << 10;
/// Whoever takes nothing of an answer for so long is given up.
const STALL_TIME: Duration = Duration::from_secs(20);
/// How often it is looked whether to end.
const LOOK: Duration = Duration::from_millis(50);
/// Questions that are answered at once; others wait.
const THREADS: usize = 8;

/// Where a token may stand in the environment. Runs that are started do not see it.
pub const TOKEN_VARIABLE: &str = "FATHOM_TOKEN";

/// A server that listens, and has not begun to answer.
pub struct Server {
    listener: TcpListener,
    token: String,
    program: PathBuf,
}

/// A token that nobody can guess: 32 hexadecimal digits.
pub fn token() -> io::Result<String> {
    let mut bytes = [0; 16];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

impl Server {
    /// Listens on `address`; port 0 is a free one. `program` is what carries runs out that are started.
    pub fn listen(address: SocketAddr, token: String, program: PathBuf) -> io::Result<Server> {
        let listener = TcpListener::bind(address)?;
        listener.set_nonblocking(true)?;
        Ok(Server { listener, token, program })
    }

    /// Where it listens.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Answers until `stop` is set. Returns the names of the runs that were started and go on.
    pub fn serve(self, desk: Box<dyn Desk>, stop: &AtomicBool) -> io::Result<Vec<String>> {
        let gate = Gate::new(self.address()?, self.token);
        let folder = std::env::temp_dir().join(format!("fathom-ui-{}", token()?));
        let jobs = Jobs::new(self.program, desk.environment(), folder);
        let shared = Arc::new(Shared::new(desk, gate, jobs));
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_io()
            .enable_time()
            .max_blocking_threads(THREADS)
            .build()?;
        let router = routes::router(shared.clone());
        let accepted = runtime.block_on(accept(self.listener, router, stop));
        // A question that is being answered is not waited for.
        runtime.shutdown_background();
        accepted.map(|()| shared.jobs.running())
    }
}

async fn accept(listener: TcpListener, router: Router, stop: &AtomicBool) -> io::Result<()> {
    let listener = tokio::net::TcpListener::from_std(listener)?;
    let places = Arc::new(Semaphore::new(CONNECTIONS_MOST));
    while !stop.load(Ordering::Relaxed) {
        let Ok(accepted) = tokio::time::timeout(LOOK, listener.accept()).await else { continue };
        match (accepted, places.clone().try_acquire_owned()) {
            (Ok((stream, _)), Ok(place)) => {
                tokio::spawn(hold(stream, router.clone(), place));
            }
            (Ok((stream, _)), Err(_)) => turn_away(stream),
            // It went away, or there are too many open files: those that end make room.
            (Err(_), _) => tokio::time::sleep(LOOK).await,
        }
    }
    Ok(())
}

async fn hold(stream: TcpStream, router: Router, place: OwnedSemaphorePermit) {
    let _small_pieces = stream.set_nodelay(true);
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIME)
        .max_buf_size(HEAD_MOST)
        .serve_connection(TokioIo::new(Patient::new(stream, STALL_TIME)), TowerToHyperService::new(router));
    // Whoever asked has gone, or was too slow.
    let _gone = connection.await;
    drop(place);
}

/// Says that there is no place. It fits the buffer of any connection.
fn turn_away(stream: TcpStream) {
    let body =
        format!("{{\"error\":\"{CONNECTIONS_MOST} connections are open already\",\"help\":\"close some\"}}");
    let head = "HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\nConnection: close";
    let text = format!("{head}\r\nContent-Length: {}\r\n\r\n{body}", body.len());
    let _gone = stream.into_std().and_then(|mut stream| stream.write_all(text.as_bytes()));
}
