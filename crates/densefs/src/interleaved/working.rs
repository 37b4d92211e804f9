//! Threads of a process that change its working directory at the same time.

use std::format;
use std::string::String;

use super::{Act, Player, Scene, explore, explore_any};
use crate::errno::Errno;
use crate::member::Member;
use crate::modes::{Caller, DIRECTORY};
use crate::tree::{Follow, PATH_MAX, Remove};

const ROOT: &Caller<'_> = &Caller::ROOT;
/// What all scenes have in common.
const SCENE: Scene<'_> =
    Scene { what: "", scripts: &[], prepare, look, turns: 1, is_torn: false, is_one_process: true };

fn prepare(member: &Player<'_>) -> Result<(), Errno> {
    for name in [b"a", b"b"] {
        member.make_at(ROOT, member.root()?, name, DIRECTORY | 0o700)?;
    }
    Ok(())
}

fn change(member: &Player<'_>, path: &[u8]) -> Result<String, Errno> {
    member.retry(|| {
        let to = member.walk(ROOT, member.working_directory()?, path, Follow::Yes)?;
        member.set_working_directory(ROOT, to)
    })?;
    Ok(String::new())
}

fn here(member: &Player<'_>) -> Result<String, Errno> {
    let mut bytes = [0; PATH_MAX];
    let path = member.retry(|| {
        let here = member.working_directory()?;
        member.path_of(here, &mut bytes).map(|path| String::from_utf8_lossy(path).into_owned())
    })?;
    Ok(path)
}

/// The working directory of the process, and which directories are left.
fn look(member: &Player<'_>) -> String {
    let one = Member::new(*member.arena(), member.seams().clone(), 1, 1);
    let here = one.and_then(|one| here(&one));
    let left = ["a", "b"].map(|name| {
        let found = member.walk(ROOT, member.root()?, name.as_bytes(), Follow::No);
        found.map(drop)
    });
    format!("{here:?} {left:?}")
}

const TO_A: Act = |one| change(one, b"/");
const TO_B: Act = |one| change(one, b"/");
const TO_ROOT: Act = |one| change(one, b"/");
const MAKE_HERE: Act = |one| {
    one.retry(|| one.make_at(ROOT, one.working_directory()?, b"b", DIRECTORY | 0o700))?;
    Ok(String::new())
};
const LOOK_HERE: Act = |one| {
    let stat = |path| {
        one.retry(|| one.stat_path(ROOT, one.working_directory()?, path, Follow::No, |_| {}))
    };
    Ok(format!("{:?}", stat(b"b")))
};
const REMOVE_A: Act = |one| {
    one.retry(|| one.remove_at(ROOT, one.root()?, b"a", Remove::Directory))?;
    Ok(String::new())
};

#[test]
fn a_working_directory_is_changed_in_one_step() {
    let scenes: [(&str, &[&[Act]]); 5] = [
        ("two go elsewhere", &[&[TO_A, here], &[TO_B, here]]),
        ("one goes where the other leaves", &[&[TO_A, TO_B], &[TO_B, TO_ROOT]]),
        ("one goes where nothing is left", &[&[TO_A, TO_B], &[REMOVE_A, here]]),
        ("one makes something where the other leaves", &[&[TO_A, TO_B], &[MAKE_HERE, MAKE_HERE]]),
        ("one looks where the other leaves", &[&[TO_A, TO_B], &[LOOK_HERE, LOOK_HERE]]),
    ];
    for (what, scripts) in scenes {
        explore(&Scene { what, scripts, ..SCENE });
    }
}

#[test]
fn whatever_three_do_with_a_working_directory_is_done_one_after_another() {
    const ACTS: [Act; 7] = [TO_A, TO_B, TO_ROOT, MAKE_HERE, LOOK_HERE, REMOVE_A, here];
    let scene = Scene { what: "any working directory", turns: 0, ..SCENE };
    explore_any(&scene, &ACTS);
}
