//! A web server of static files, for one browser.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Component, Path, PathBuf};

pub struct Server {
    /// Ends with a slash.
    pub address: String,
}

impl Server {
    /// Serves the files of folders, each under its name, as long as the process lives. The one without a name is the
    /// page's.
    pub fn start(folders: Vec<(&'static str, PathBuf)>) -> Result<Self, String> {
        let text = |e: std::io::Error| e.to_string();
        let listener = TcpListener::bind("127.0.0.1:0").map_err(text)?;
        let address = format!("http://{}/", listener.local_addr().map_err(text)?);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let folders = folders.clone();
                // A browser may hang up.
                std::thread::spawn(move || answer(stream, &folders).unwrap_or_default());
            }
        });
        Ok(Self { address })
    }
}

type Folders = [(&'static str, PathBuf)];

fn answer(mut stream: TcpStream, folders: &Folders) -> std::io::Result<()> {
    let mut line = String::new();
    let mut lines = BufReader::new(stream.try_clone()?);
    lines.read_line(&mut line)?;
    let path = line.split(' ').nth(1).unwrap_or_default();
    let path = path.split('?').next().unwrap_or_default();
    // A browser that sent all of its request may not be reset.
    while lines.read_line(&mut String::new())? > 2 {}
    let (kind, bytes) = match read(path.trim_start_matches('/'), folders) {
        Some(found) => found,
        None => {
            return stream.write_all(
                b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
            );
        }
    };
    let length = bytes.len();
    write!(
        stream,
        "HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
    )?;
    stream.write_all(&bytes)
}

/// The kind and the bytes of a file.
fn read(path: &str, folders: &Folders) -> Option<(&'static str, Vec<u8>)> {
    let path = if path.is_empty() { "index.html" } else { path };
    let (name, rest) = path.split_once('/').unwrap_or(("", path));
    let (_, folder) = folders.iter().find(|(n, _)| *n == name)?;
    let rest = Path::new(rest);
    let stays = rest.components().all(|c| matches!(c, Component::Normal(_)));
    let kind = match rest.extension()?.to_str()? {
        "html" => "text/html",
        "js" => "text/javascript",
        "wasm" => "application/wasm",
        _ => "application/octet-stream",
    };
    let bytes = stays.then(|| std::fs::read(folder.join(rest)).ok())??;
    Some((kind, bytes))
}
