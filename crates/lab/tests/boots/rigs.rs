//! Real rigs: guests that reach each other, are rebooted, stop early, and never outlive fsprism.

use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use lab::ImageParts;
use lab::inside::rig as inside;
use lab::rig::{
    Description, Disk, DiskSpeed, GuestRole, Link, PROGRAMS, Rig, RigConditions, RigError, Shape,
};

use crate::test_lab::TestLab;

/// The argument that makes this program boot a rig and wait.
pub(crate) const WAIT: &str = "wait-beside-a-rig";
/// The speed of the client's disk.
const SLOW: &str = "iops=50,bps=1m";
const LIMIT: Duration = Duration::from_secs(120);

/// The guest's side: a question is a shell command, the answer its output.
pub(crate) fn serve() -> ! {
    inside::serve(|command: String| {
        let mut shell = Command::new("/bin/sh");
        let output = shell.arg("-c").arg(command).env("PATH", "/bin:/sbin").output();
        let output = output.map_err(|error| error.to_string())?;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        if output.status.success() { Ok(text(&output.stdout)) } else { Err(text(&output.stderr)) }
    })
}

fn rig(place: &TestLab, shape: &str, consoles: Option<PathBuf>) -> Rig {
    let program = std::env::current_exe().expect("this program has a file");
    let parts = ImageParts { kernel: &place.kernel, program: &program, further: &PROGRAMS };
    let image = lab::image::build(&place.lab, parts).unwrap();
    let role = |name: &str, disks: Vec<Disk>| GuestRole {
        name: name.to_owned(),
        memory_bytes: 512 << 20,
        disks,
        load: vec!["virtio-blk".to_owned()],
    };
    let speed = SLOW.parse::<DiskSpeed>().unwrap();
    let disk = Disk { bytes: 1 << 20, speed };
    let description = Description {
        roles: vec![role("server", vec![]), role("client", vec![disk])],
        links: vec![Link {
            ends: ["server".to_owned(), "client".to_owned()],
            shape: shape.parse::<Shape>().unwrap(),
        }],
    };
    let kernel = place.kernel.clone();
    let conditions = RigConditions { kernel, image, boot_limit: LIMIT, consoles, stop: None };
    Rig::new(conditions, description).unwrap()
}

fn ask(rig: &mut Rig, role: &str, command: &str) -> Result<String, RigError> {
    rig.ask(role, &command, LIMIT)
}

const PING: &str = "ping -c 3 10.77.0.1 >/dev/null && echo heard";

pub(crate) fn guests_of_a_rig_reach_each_other(place: &TestLab) {
    let mut rig = rig(place, "8mbit,delay=20ms", None);
    rig.start("server").unwrap();
    rig.start("client").unwrap();
    assert_eq!(rig.wait("server").unwrap(), place.kernel.release);
    rig.wait("client").unwrap();
    assert_eq!(ask(&mut rig, "client", PING).unwrap(), "heard\n");
    let shape = ask(&mut rig, "client", "/sbin/tc qdisc show dev eth0").unwrap();
    assert!(shape.contains("rate 8Mbit") && shape.contains("delay 20ms"), "{shape}");
    rig.reshape(0, "2mbit,loss=1%".parse().unwrap(), LIMIT).unwrap();
    for role in ["server", "client"] {
        let shape = ask(&mut rig, role, "/sbin/tc qdisc show dev eth0").unwrap();
        let is_new = shape.contains("rate 2Mbit") && shape.contains("loss 1%");
        assert!(is_new && !shape.contains("delay"), "{role}: {shape}");
    }
    rig.reshape(0, Shape::default(), LIMIT).unwrap();
    assert!(matches!(rig.reshape(1, Shape::default(), LIMIT), Err(RigError::NoLink(1))));
    // The disk keeps its content, memory does not.
    ask(&mut rig, "client", "echo kept | dd of=/dev/vda conv=notrunc 2>/dev/null; touch /tmp/x")
        .unwrap();
    ask(&mut rig, "server", "touch /tmp/x").unwrap();
    rig.power_off("client", LIMIT).unwrap();
    assert!(matches!(ask(&mut rig, "client", "true"), Err(RigError::NotRunning(_))));
    rig.boot("client").unwrap();
    assert_eq!(ask(&mut rig, "client", "dd if=/dev/vda bs=5 count=1").unwrap(), "kept\n");
    assert!(matches!(ask(&mut rig, "client", "ls /tmp/x"), Err(RigError::Failed { .. })));
    ask(&mut rig, "server", "ls /tmp/x").unwrap();
    assert_eq!(ask(&mut rig, "client", PING).unwrap(), "heard\n");
}

pub(crate) fn a_guest_that_is_gone_is_told(place: &TestLab) {
    let mut rig = rig(place, "1gbit", None);
    rig.boot("server").unwrap();
    let error = ask(&mut rig, "server", "echo farewell >/dev/console; poweroff -f").unwrap_err();
    assert_eq!(error.gone(), Some("server"));
    assert!(error.to_string().contains("farewell"), "{error}");
    rig.boot("server").unwrap();
    let error = rig.ask::<String>("server", &"sleep 1000", Duration::ZERO).unwrap_err();
    assert!(matches!(error, RigError::Late { .. }), "{error}");
    assert!(matches!(ask(&mut rig, "server", "true"), Err(RigError::NotRunning(_))));
    assert!(matches!(rig.boot("third"), Err(RigError::NoRole(_))));
}

/// Boots a rig, prints its process IDs, and waits to be killed.
pub(crate) fn wait() -> ! {
    let place = TestLab::find().unwrap();
    let consoles = std::env::args().nth(2).map(Into::into);
    let mut rig = rig(&place, "1gbit", consoles);
    for role in ["server", "client"] {
        rig.boot(role).unwrap();
        println!("{}", rig.process(role).unwrap());
    }
    loop {
        std::thread::park();
    }
}

pub(crate) fn no_guest_of_a_rig_outlives_fsprism(_: &TestLab) {
    let consoles = tempfile::tempdir().unwrap();
    let pipes = ["server-1.log", "client-1.log"].map(|name| consoles.path().join(name));
    for pipe in &pipes {
        assert!(Command::new("mkfifo").arg(pipe).status().unwrap().success());
    }
    let mut program = Command::new(std::env::current_exe().unwrap());
    program.arg(WAIT).arg(consoles.path()).process_group(0).stdout(Stdio::piped());
    let mut program = program.stderr(Stdio::null()).spawn().unwrap();
    let pipes = pipes.map(|pipe| std::fs::File::open(pipe).unwrap());
    let lines = BufReader::new(program.stdout.take().unwrap()).lines();
    assert_eq!(lines.take(2).filter(Result::is_ok).count(), 2, "both are up");
    program.kill().unwrap();
    program.wait().unwrap();
    // Each guest's QEMU and the process that started it hold a pipe open; it ends when both are
    // gone.
    for mut pipe in pipes {
        std::io::copy(&mut pipe, &mut std::io::sink()).unwrap();
    }
}
