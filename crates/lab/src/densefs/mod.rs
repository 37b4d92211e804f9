//! DenseFS as a module for the kernels of guests, built from the sources that travel in fsprism.
//!
//! rustc compiles the core and its entries, which are linked into one object whose only names are
//! the entries (`core_object`). The kernel's build system links that with the module's C. What it
//! needs besides the kernel is in Debian's packages (`headers`).

mod core_object;
mod headers;
mod layout;
mod relocations;

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::SystemTime;

use ::densefs_module::SOURCES;
use serde::Serialize;

use crate::error::LabError;
use crate::image::MODULES;
use crate::kernel::Kernel;
use crate::place::{Lab, name_of};
use crate::tool;
use core_object::Kind;
use headers::Headers;
pub use layout::Layout;

/// The directory of all modules, within the lab.
const DIRECTORY: &str = "densefs";
/// The module's file.
const FILE: &str = "densefs.ko";
/// Where the module's C is, among the sources.
const OF_C: &str = "densefs-kernel/module";
/// Incremented when modules are to be built again although their sources are the same.
const RECIPE: &str = "1";

/// The module, built for a kernel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DenseFsModule {
    /// Its file.
    pub file: PathBuf,
    /// How its code is laid out.
    pub layout: Layout,
}

impl DenseFsModule {
    /// The module as a file of a guest's job, from where [`crate::inside::load_modules_for`] loads
    /// it as `densefs`.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn job_file(&self) -> Result<(String, Vec<u8>), LabError> {
        let bytes = fs::read(&self.file).map_err(LabError::at(&self.file))?;
        Ok((format!("{MODULES}/{FILE}"), bytes))
    }

    /// The kernel's arguments for a guest that loads the module, with a file system of this size.
    /// Where its names lie does not depend on chance.
    #[must_use]
    pub fn arguments(size_bytes: u64) -> Vec<String> {
        let parameters =
            ["in_lab=1".to_owned(), "secret=1".to_owned(), format!("size={size_bytes}")];
        parameters.map(|parameter| format!("densefs.{parameter}")).to_vec()
    }
}

/// What is needed to build a module, all of it there.
#[derive(Debug)]
pub struct Plan {
    kernel: Kernel,
    layout: Layout,
    directory: PathBuf,
    /// None if the module is there already.
    tools: Option<Tools>,
}

#[derive(Debug)]
struct Tools {
    headers: headers::Plan,
    compiler: core_object::Compiler,
}

impl Plan {
    /// A sentence that says what will be done; `None` if the module is there already.
    #[must_use]
    pub fn sentence(&self) -> Option<String> {
        let Tools { headers, .. } = self.tools.as_ref()?;
        let fetched = headers.sentence().map(|what| format!("fetching {what} and "));
        Some(format!(
            "{}building DenseFS for kernel {}; this takes about a minute",
            fetched.unwrap_or_default(),
            self.kernel.release
        ))
    }
}

/// Determines how the module can be built for a kernel, without changing anything.
///
/// # Errors
/// If something is missing that the user can install.
pub fn plan(lab: &Lab, kernel: &Kernel, layout: Layout) -> Result<Plan, LabError> {
    let directory = directory_of(lab, kernel, layout);
    let tools = if directory.join(FILE).is_file() {
        None
    } else {
        let compiler = core_object::Compiler::find()?;
        for (name, package) in [("make", "make"), ("ld", "binutils"), ("objcopy", "binutils")] {
            tool::command(name, package)?;
        }
        Some(Tools { headers: headers::plan(lab, kernel)?, compiler })
    };
    Ok(Plan { kernel: kernel.clone(), layout, directory, tools })
}

/// Builds the planned module, which is used from now on by those who ask for no layout.
///
/// # Errors
/// If packages cannot be fetched, or a tool fails.
pub fn build(lab: &Lab, plan: &Plan) -> Result<DenseFsModule, LabError> {
    let module = build_beside(lab, plan)?;
    set_asked(&module, SystemTime::now())?;
    Ok(module)
}

/// Builds the planned module without changing which one is used by those who ask for no layout.
///
/// # Errors
/// As [`build`].
pub fn build_beside(lab: &Lab, plan: &Plan) -> Result<DenseFsModule, LabError> {
    let Plan { layout, directory, tools, .. } = plan;
    if let Some(Tools { headers, compiler }) = tools {
        let headers = headers.obtain(lab)?;
        let made = lab.temporary()?;
        let sources = made.path().join("sources");
        write_sources(&sources, *layout)?;
        let c = sources.join(OF_C);
        let is_checked = plan.kernel.checks_memory()?;
        compiler.compile(&sources, &c, Kind { layout: *layout, is_checked })?;
        make(lab, &headers, &c, *layout)?;
        let finished = made.path().join("finished");
        fs::create_dir(&finished).map_err(LabError::at(&finished))?;
        let (from, to) = (c.join(FILE), finished.join(FILE));
        fs::rename(&from, &to).map_err(LabError::at(&from))?;
        lab.within(DIRECTORY)?;
        // If two processes make it at the same time, the first one stays.
        if let Err(error) = fs::rename(&finished, directory)
            && !directory.join(FILE).is_file()
        {
            return Err(LabError::at(directory)(error));
        }
    }
    let module = DenseFsModule { file: directory.join(FILE), layout: *layout };
    if tools.is_some() {
        set_asked(&module, SystemTime::UNIX_EPOCH)?;
    }
    Ok(module)
}

/// Notes when the module was last asked for.
fn set_asked(module: &DenseFsModule, when: SystemTime) -> Result<(), LabError> {
    let noted = File::open(&module.file).and_then(|file| file.set_modified(when));
    noted.map_err(LabError::at(&module.file))
}

/// The module for a kernel that was asked for last, of those that this fsprism has built.
///
/// # Errors
/// [`LabError::NoDenseFs`] if there is none.
pub fn find(lab: &Lab, kernel: &Kernel) -> Result<DenseFsModule, LabError> {
    let none = LabError::NoDenseFs { release: kernel.release.clone(), layout: None };
    built(lab, kernel).into_iter().next().ok_or(none)
}

/// The modules for a kernel that this fsprism has built, the one that was asked for last first.
#[must_use]
pub fn built(lab: &Lab, kernel: &Kernel) -> Vec<DenseFsModule> {
    let built = Layout::ALL.into_iter().filter_map(|layout| {
        let file = directory_of(lab, kernel, layout).join(FILE);
        let asked = file.metadata().and_then(|metadata| metadata.modified()).ok()?;
        Some((asked, DenseFsModule { file, layout }))
    });
    let mut built: Vec<(SystemTime, DenseFsModule)> = built.collect();
    built.sort_by_key(|(asked, _)| std::cmp::Reverse(*asked));
    built.into_iter().map(|(_, module)| module).collect()
}

/// The directory of the module, whose name says what it is made from.
fn directory_of(lab: &Lab, kernel: &Kernel, layout: Layout) -> PathBuf {
    let of_kernel = kernel.directory.file_name().unwrap_or_default().as_encoded_bytes();
    let mut parts = vec![RECIPE.as_bytes(), of_kernel, layout.name().as_bytes()];
    parts.extend(SOURCES.iter().flat_map(|(name, text)| [name.as_bytes(), text.as_bytes()]));
    lab.directory().join(DIRECTORY).join(name_of(&parts))
}

/// Writes the sources; without hints at what is hardly ever executed, if the layout has none.
fn write_sources(into: &Path, layout: Layout) -> Result<(), LabError> {
    for (name, text) in SOURCES {
        let path = into.join(name);
        let directory = path.parent().unwrap_or(into);
        fs::create_dir_all(directory).map_err(LabError::at(directory))?;
        let text =
            if layout < Layout::Hinted { text.replace("#[cold]", "") } else { text.to_string() };
        fs::write(&path, text).map_err(LabError::at(&path))?;
    }
    Ok(())
}

/// Builds the module by the kernel's build system, whose output is kept in the lab.
fn make(lab: &Lab, headers: &Headers, c: &Path, layout: Layout) -> Result<(), LabError> {
    let path = lab.within("logs")?.join("densefs.log");
    let log = File::create(&path).map_err(LabError::at(&path))?;
    let errors = log.try_clone().map_err(LabError::at(&path))?;
    let mut make = tool::command("make", "make")?;
    make.arg("-C").arg(&headers.directory).arg(format!("M={}", c.display())).arg("modules");
    make.args(layout.c_variables()).stdout(Stdio::from(log)).stderr(errors);
    let status = make.status().map_err(LabError::at(&headers.directory))?;
    if status.success() && c.join(FILE).is_file() {
        return Ok(());
    }
    let why = format!("its output is in {}", path.display());
    Err(LabError::Tool { tool: "make".to_owned(), why })
}
