//! `sinew completions`.

use clap::CommandFactory;
use clap_complete::Shell;

use crate::Cli;
use crate::error::Result;
use crate::exit::Exit;
use crate::report::print_result;

/// Print a completion script for a shell.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Shell that the script is for.
    #[arg(value_enum, value_name = "SHELL")]
    shell: Shell,
}

const EXAMPLES: &str = "Examples:
  sinew completions bash > ~/.local/share/bash-completion/completions/sinew
  sinew completions zsh > \"${fpath[1]}/_sinew\"
  sinew completions fish > ~/.config/fish/completions/sinew.fish
  sinew completions powershell >> $PROFILE";

pub fn run(args: &Args) -> Result<Exit> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "sinew", &mut script);
    print_result(&String::from_utf8_lossy(&script))?;
    Ok(Exit::Done)
}
