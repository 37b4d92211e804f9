//! `fsprism lab`: guest machines.

use std::io::Write;
use std::path::PathBuf;

use ::lab::command::Command;
use ::lab::densefs::{self, DenseFsModule};
use ::lab::kernel::{self, Request, SourceRequest};
use ::lab::{Boot, BootError, Image, ImageParts, Kernel, Lab, image};
use serde::Serialize;

use crate::arguments::lab::{BuildOptions, LabCommand, LabRunOptions, StatusOptions};
use crate::exit::{InterruptedEarly, OrInputError, Outcome};
use crate::output;
use crate::session::start::{self, this_program};

/// Size of a DenseFS that `fsprism lab run` loads.
const DENSEFS_BYTES: u64 = 64 << 20;

/// Runs a subcommand of `fsprism lab`.
pub(crate) fn lab(command: &LabCommand) -> anyhow::Result<Outcome> {
    let lab = Lab::for_user().or_input_error()?;
    match command {
        LabCommand::Build(options) => build(&lab, options),
        LabCommand::Run(options) => run(&lab, options),
        LabCommand::Status(options) => status(&lab, options),
    }
}

/// What was built.
#[derive(Debug, Serialize)]
struct BuildAnswer {
    kernel: Kernel,
    image: Image,
    #[serde(skip_serializing_if = "Option::is_none")]
    densefs: Option<DenseFsModule>,
}

fn build(lab: &Lab, options: &BuildOptions) -> anyhow::Result<Outcome> {
    let request = request(options).or_input_error()?;
    let made = || {
        let plan = kernel::plan(lab, &request)?;
        plan.sentence().iter().for_each(|sentence| output::say(sentence));
        kernel::build(lab, &plan, &output::say)
    };
    let kernel = if let Request::Files(_) = request { made().or_input_error()? } else { made()? };
    let image =
        image::build(lab, ImageParts { kernel: &kernel, program: &this_program()?, further: &[] })?;
    let densefs = if options.densefs { Some(build_densefs(lab, &kernel, options)?) } else { None };
    let built = BuildAnswer { kernel, image, densefs };
    output::print_answer(options.output.format, &built, |_| {
        let BuildAnswer { kernel, image, densefs } = &built;
        let module = |module: &DenseFsModule| format!("densefs {}\n", module.file.display());
        format!(
            "kernel  {}\nimage   {}\n{}",
            kernel.directory.display(),
            image.file.display(),
            densefs.as_ref().map(module).unwrap_or_default()
        )
    })
}

fn build_densefs(
    lab: &Lab,
    kernel: &Kernel,
    options: &BuildOptions,
) -> anyhow::Result<DenseFsModule> {
    let plan = densefs::plan(lab, kernel, options.densefs_layout).or_input_error()?;
    plan.sentence().iter().for_each(|sentence| output::say(sentence));
    Ok(densefs::build(lab, &plan)?)
}

/// Which kernel was asked for. Words that end in `.deb` are package files.
fn request(options: &BuildOptions) -> anyhow::Result<Request> {
    let is_file = |word: &String| word.ends_with(".deb");
    match (&options.kernel[..], &options.from_source) {
        ([], Some(version)) => Ok(Request::Source(SourceRequest {
            version: (!version.is_empty()).then(|| version.clone()),
            checks: options.checks,
        })),
        ([], None) => Ok(Request::Newest),
        (files, _) if files.iter().all(is_file) => {
            Ok(Request::Files(files.iter().map(PathBuf::from).collect()))
        }
        ([release], _) if !release.contains('/') => Ok(Request::Release(release.clone())),
        (words, _) => anyhow::bail!(
            "--kernel {}: name one release, as uname -r prints it, or packages whose names end in \
             .deb",
            words.join(" ")
        ),
    }
}

fn status(lab: &Lab, options: &StatusOptions) -> anyhow::Result<Outcome> {
    let status = ::lab::status::status(lab)?;
    output::print_answer(options.output.format, &status, |_| status.text())
}

fn run(lab: &Lab, options: &LabRunOptions) -> anyhow::Result<Outcome> {
    let stop = start::flag_of_signals()?;
    let kernel = kernel::find(lab, options.kernel.as_deref()).or_input_error()?;
    let image =
        image::build(lab, ImageParts { kernel: &kernel, program: &this_program()?, further: &[] })?;
    let (mut job, mut arguments) = (Vec::new(), options.arguments.clone());
    if options.load.iter().any(|name| name == "densefs") {
        job.push(densefs::find(lab, &kernel).or_input_error()?.job_file()?);
        arguments.extend(DenseFsModule::arguments(DENSEFS_BYTES));
    }
    let boot = Boot {
        job,
        memory_bytes: options.memory,
        time_limit: options.time_limit,
        console: options.console.clone(),
        arguments,
        stop: Some(stop),
        ..Boot::new(kernel, image)
    };
    let command = Command { load: options.load.clone(), ..Command::from_words(&options.command) };
    match command.run(boot) {
        Ok(ran) => {
            let mut stdout = std::io::stdout().lock();
            let _reader_has_gone = stdout.write_all(&ran.output).and_then(|()| stdout.flush());
            Ok(Outcome::ExitStatus(ran.status))
        }
        Err(BootError::Stopped) => Err(InterruptedEarly.into()),
        Err(error) => Err(error.into()),
    }
}
