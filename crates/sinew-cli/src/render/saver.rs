//! Writes pictures while the next ones are drawn.

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use image::RgbaImage;
use sinew_render::save_png;

use crate::error::{Error, Result};

/// Most bytes of pictures that wait to be written, or are being written.
const MOST_BYTES: u64 = 256 << 20;

/// Threads that write pictures to files.
pub struct Saver {
    pictures: SyncSender<(PathBuf, RgbaImage)>,
    threads: Vec<JoinHandle<Result<()>>>,
}

impl Saver {
    /// Starts threads for `count` pictures of `size` pixels: at most one a core, and fewer if the
    /// pictures are large.
    pub fn new(size: [u32; 2], count: usize) -> Self {
        let bytes = u64::from(size[0]) * u64::from(size[1]) * 4;
        let most = (MOST_BYTES / bytes.max(1)).max(1) as usize;
        let threads = rayon::current_num_threads().min(count).min(most).max(1);
        // A picture is handed over when a thread is free for it.
        let (pictures, waiting) = sync_channel(0);
        let waiting = Arc::new(Mutex::new(waiting));
        let start = |_| {
            let waiting = Arc::clone(&waiting);
            std::thread::spawn(move || save_all(&waiting))
        };
        Self {
            pictures,
            threads: (0..threads).map(start).collect(),
        }
    }

    /// Writes a picture to a file, in another thread. Waits if all threads are busy. If writing
    /// fails, this or a later call says so, or [`Saver::finish`].
    ///
    /// # Errors
    /// A picture cannot be written.
    pub fn save(&mut self, file: PathBuf, picture: RgbaImage) -> Result<()> {
        // A thread ends early only when it failed.
        if self.threads.iter().any(JoinHandle::is_finished) {
            return self.join();
        }
        match self.pictures.send((file, picture)) {
            Ok(()) => Ok(()),
            Err(_) => self.join(),
        }
    }

    /// Waits until all pictures are written.
    ///
    /// # Errors
    /// A picture cannot be written.
    pub fn finish(mut self) -> Result<()> {
        self.join()
    }

    fn join(&mut self) -> Result<()> {
        // Without a sender the threads end when they are done.
        self.pictures = sync_channel(0).0;
        let joined = self.threads.drain(..).map(JoinHandle::join);
        let results: Vec<_> = joined.collect();
        results.into_iter().try_for_each(|result| match result {
            Ok(result) => result,
            Err(panic) => std::panic::resume_unwind(panic),
        })
    }
}

fn save_all(waiting: &Mutex<Receiver<(PathBuf, RgbaImage)>>) -> Result<()> {
    loop {
        let next = {
            let waiting = waiting.lock().unwrap_or_else(PoisonError::into_inner);
            waiting.recv()
        };
        match next {
            Ok((file, picture)) => save_png(file, &picture).map_err(Error::from)?,
            Err(_) => return Ok(()),
        }
    }
}
