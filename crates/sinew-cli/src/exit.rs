//! The exit codes of all commands.

/// How a command ended. The numbers are the process's exit codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Everything that was asked for is done.
    Done = 0,
    /// Nothing new is in OUT, or `check` found errors, or `fix` left some.
    Failed = 1,
    /// The arguments are wrong, or `check` cannot open a file.
    Usage = 2,
    /// OUT lacks a part: prims that failed, or bones that are not recognised.
    Partial = 3,
    /// A bug: the command panicked.
    Panicked = 101,
    /// A signal ended the command: 128 plus the number of SIGINT, as shells report it.
    Interrupted = 130,
}

/// The table of `sinew --help`; docs/README.md has the same rows.
pub const TABLE: &str = "\
Exit codes:
  0    done: everything that was asked for is in OUT
  1    failed: OUT is as it was before; from check and fix: a file has errors (fix writes OUT)
  2    wrong usage; from check also: a file cannot be opened
  3    partial: OUT lacks a part, such as prims that failed; 0 with --allow-partial
  130  interrupted by Ctrl-C, SIGTERM or SIGHUP: OUT is as it was before";

impl Exit {
    /// The number.
    pub fn code(self) -> u8 {
        self as u8
    }

    /// The end of a command that wrote OUT. `failed` says whether some prims failed.
    pub fn of(failed: bool, allow_partial: bool) -> Self {
        match failed && !allow_partial {
            true => Self::Partial,
            false => Self::Done,
        }
    }
}

/// The option of commands that can end with [`Exit::Partial`].
#[derive(clap::Args, Clone, Copy)]
pub struct PartialArgs {
    /// Exit with 0 instead of 3 if OUT lacks a part, such as prims that failed.
    #[arg(long)]
    pub allow_partial: bool,
}

impl PartialArgs {
    /// The end of a command that wrote OUT.
    pub fn exit(self, failed: bool) -> Exit {
        Exit::of(failed, self.allow_partial)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_has_every_code() {
        use Exit::*;
        let all = [Done, Failed, Usage, Partial, Interrupted];
        let rows: Vec<&str> = TABLE.lines().skip(1).collect();
        assert_eq!(rows.len(), all.len());
        for (row, exit) in rows.iter().zip(all) {
            let code = row.split_whitespace().next();
            assert_eq!(code, Some(exit.code().to_string().as_str()));
        }
    }
}
