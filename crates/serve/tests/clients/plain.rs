//! A client by hand.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

/// A client by hand: the negotiation of a plain export, and requests with simple replies.
pub struct Plain(pub UnixStream);

impl Plain {
    pub fn connect(socket: &Path) -> Plain {
        let mut stream = UnixStream::connect(socket).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        let mut greeting = [0; 18];
        stream.read_exact(&mut greeting).unwrap();
        stream.write_all(&3_u32.to_be_bytes()).unwrap();
        stream.write_all(b"IHAVEOPT\0\0\0\x01\0\0\0\0").unwrap();
        let mut export = [0; 10];
        stream.read_exact(&mut export).unwrap();
        Plain(stream)
    }

    /// The error of a request, 0 for none; `None` where the server has gone.
    pub fn request(&mut self, command: u16, offset: u64, data: &mut [u8]) -> Option<u32> {
        let len = u32::try_from(data.len()).unwrap();
        let mut header = 0x2560_9513_u32.to_be_bytes().to_vec();
        header.extend([0, 0]);
        header.extend(command.to_be_bytes());
        header.extend(7_u64.to_be_bytes());
        header.extend(offset.to_be_bytes());
        header.extend(len.to_be_bytes());
        self.0.write_all(&header).ok()?;
        if command == 1 {
            self.0.write_all(data).ok()?;
        }
        let mut reply = [0; 16];
        self.0.read_exact(&mut reply).ok()?;
        let error = u32::from_be_bytes(reply[4..8].try_into().unwrap());
        if command == 0 && error == 0 {
            self.0.read_exact(data).ok()?;
        }
        Some(error)
    }
}
