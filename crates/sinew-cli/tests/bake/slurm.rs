//! A Slurm cluster of one node, which a test starts on this machine: munge, slurmctld and slurmd in a folder of their own.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use common::command::{stderr, stdout};

/// The programs of a cluster: Debian's packages munge, slurmctld, slurmd and slurm-client.
const PROGRAMS: [&str; 9] = [
    "mungekey",
    "munged",
    "slurmctld",
    "slurmd",
    "sbatch",
    "scancel",
    "scontrol",
    "sinfo",
    "squeue",
];

/// Why no cluster can be started here; `None` if one can.
pub fn is_missing() -> Option<String> {
    let missing: Vec<&str> = PROGRAMS
        .into_iter()
        .filter(|name| program(name).is_none())
        .collect();
    (!missing.is_empty()).then(|| format!("needs Slurm: {}", missing.join(", ")))
}

/// A program, also of the folders that only root has in its path.
fn program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    folders.extend(["/usr/sbin", "/sbin"].map(PathBuf::from));
    folders.iter().map(|f| f.join(name)).find(|f| f.is_file())
}

fn command(name: &str) -> Command {
    Command::new(program(name).unwrap())
}

fn good(output: Output) -> String {
    assert!(
        output.status.success(),
        "{}{}",
        stdout(&output),
        stderr(&output)
    );
    stdout(&output).trim().to_owned()
}

/// What a command prints that must succeed.
fn printed(command: &mut Command) -> String {
    good(command.output().unwrap())
}

/// Waits until something is there; it panics with the text after ten minutes.
pub fn wait_for<T>(what: &str, mut is_there: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(found) = is_there() {
            return found;
        }
        assert!(start.elapsed() < Duration::from_secs(600), "no {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// The cluster. It ends with its jobs when it is dropped.
pub struct Cluster {
    folder: TempDir,
    daemons: Vec<Child>,
}

impl Cluster {
    /// Starts a cluster whose node has so many CPUs, whatever the machine has.
    pub fn start(cpus: usize) -> Self {
        let mut reasons = Vec::new();
        // Another process may take a port between its choice and its use.
        for _ in 0..3 {
            match Self::try_start(cpus) {
                Ok(cluster) => return cluster,
                Err(reason) => reasons.push(reason),
            }
        }
        panic!("no cluster: {}", reasons.join("\n\n"));
    }

    /// Starts a cluster, or says what its daemons said if one of them ended.
    fn try_start(cpus: usize) -> Result<Self, String> {
        let mut cluster = Self {
            folder: tempfile::tempdir().unwrap(),
            daemons: Vec::new(),
        };
        for folder in ["spool", "state"] {
            std::fs::create_dir(cluster.path(folder)).unwrap();
        }
        let at = |name: &str, option: &str| format!("--{option}={}", cluster.path(name).display());
        printed(command("mungekey").args(["--create", &at("munge.key", "keyfile")]));
        std::fs::write(cluster.path("slurm.conf"), cluster.conf(cpus)).unwrap();
        let munged = [
            "--foreground",
            // The folder of temporary files is everybody's.
            "--force",
            &at("munge.sock", "socket"),
            &at("munge.key", "key-file"),
            &at("munged.pid", "pid-file"),
            &at("munged.log", "log-file"),
            &at("munge.seed", "seed-file"),
        ];
        cluster.daemon("munged", &munged);
        let socket = cluster.path("munge.sock");
        wait_for("munge", || socket.exists().then_some(()));
        cluster.daemon("slurmctld", &["-D", "-i"]);
        cluster.daemon("slurmd", &["-D"]);
        let start = Instant::now();
        loop {
            let state = cluster.command("sinfo").args(["-h", "-o", "%t"]).output();
            if stdout(&state.unwrap()).trim() == "idle" {
                return Ok(cluster);
            }
            let ended = |daemon: &mut Child| !matches!(daemon.try_wait(), Ok(None));
            let is_late = start.elapsed() > Duration::from_secs(300);
            if is_late || cluster.daemons.iter_mut().any(ended) {
                return Err(cluster.logs());
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// The last lines of what the daemons wrote.
    fn logs(&self) -> String {
        let last = |name: &&str| {
            let text = std::fs::read_to_string(self.path(name)).unwrap_or_default();
            let lines: Vec<&str> = text.lines().collect();
            let lines = lines[lines.len().saturating_sub(10)..].join("\n");
            format!("{name}:\n{lines}")
        };
        let names = ["munged.out", "slurmctld.log", "slurmctld.out", "slurmd.log"];
        names.iter().map(last).collect::<Vec<_>>().join("\n")
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The configuration: nothing of a system's is used, and jobs begin at once.
    fn conf(&self, cpus: usize) -> String {
        let host = printed(Command::new("hostname").arg("-s"));
        let user = printed(Command::new("id").arg("-un"));
        // Ports that are free now.
        let ports = [(); 2].map(|()| TcpListener::bind("127.0.0.1:0").unwrap());
        let [controller, node] = ports.map(|p| p.local_addr().unwrap().port());
        let folder = self.folder.path().display();
        // Without cgroups, which a container does not have. A task that is queued again begins when its old credential has
        // expired.
        format!(
            "ClusterName=sinew
SlurmctldHost={host}(127.0.0.1)
SlurmUser={user}
SlurmdUser={user}
SlurmctldPort={controller}
SlurmdPort={node}
AuthInfo=socket={folder}/munge.sock,cred_expire=5
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
SchedulerType=sched/builtin
SchedulerParameters=batch_sched_delay=0,sched_interval=1
MpiDefault=none
KillWait=2
SlurmdParameters=config_overrides
NodeName={host} NodeAddr=127.0.0.1 CPUs={cpus} RealMemory=65536
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"
        )
    }

    fn daemon(&mut self, name: &str, args: &[&str]) {
        let output = std::fs::File::create(self.path(&format!("{name}.out"))).unwrap();
        let child = self
            .command(name)
            .args(args)
            .stdin(Stdio::null())
            .stdout(output.try_clone().unwrap())
            .stderr(output)
            .spawn();
        self.daemons.push(child.unwrap());
    }

    /// A program that knows this cluster.
    pub fn command(&self, name: &str) -> Command {
        let mut command = command(name);
        command.env("SLURM_CONF", self.path("slurm.conf"));
        command
    }

    /// Submits a job; its number.
    pub fn submit(&self, chdir: &Path, change: impl FnOnce(&mut Command)) -> String {
        let mut sbatch = self.command("sbatch");
        sbatch.arg("--parsable").arg("--chdir").arg(chdir);
        change(&mut sbatch);
        printed(&mut sbatch)
    }

    /// The state of a job or task, such as `RUNNING`.
    pub fn state(&self, job: &str) -> String {
        let mut squeue = self.command("squeue");
        printed(squeue.args(["-h", "-t", "all", "-o", "%T", "-j", job]))
    }

    /// Cancels a task that runs, and queues it again.
    pub fn requeue(&self, task: &str) {
        printed(self.command("scontrol").args(["requeue", task]));
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        let user = Command::new("id").arg("-un").output();
        let user = user.map(|o| stdout(&o).trim().to_owned());
        let mut scancel = self.command("scancel");
        let _ = scancel
            .args(["-f", "-u"])
            .arg(user.unwrap_or_default())
            .output();
        let mut squeue = self.command("squeue");
        let until = Instant::now() + Duration::from_secs(10);
        while Instant::now() < until
            && squeue
                .arg("-h")
                .output()
                .is_ok_and(|o| !o.stdout.is_empty())
        {
            std::thread::sleep(Duration::from_millis(50));
        }
        for daemon in self.daemons.iter_mut().rev() {
            let id = daemon.id().to_string();
            let _ = Command::new("kill").args(["-TERM", &id]).status();
            let until = Instant::now() + Duration::from_secs(5);
            while Instant::now() < until && !matches!(daemon.try_wait(), Ok(Some(_))) {
                std::thread::sleep(Duration::from_millis(20));
            }
            let _ = daemon.kill();
            let _ = daemon.wait();
        }
    }
}
