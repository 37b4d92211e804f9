//! The lab shared by the tests, and boots in it.

use std::env;
use std::path::PathBuf;

use lab::kernel::{self, Request};
use lab::{Boot, Image, ImageParts, Kernel, Lab, image};

/// A lab with a kernel, and an image whose program is this test.
pub(crate) struct TestLab {
    /// The lab.
    pub(crate) lab: Lab,
    /// The newest packaged kernel.
    pub(crate) kernel: Kernel,
    image: Image,
}

impl TestLab {
    /// Finds or fetches everything, or says why that is impossible here.
    pub(crate) fn find() -> Result<Self, String> {
        lab::status::can_boot().map_err(|error| error.to_string())?;
        // A lab is worth keeping between tests, so it is next to cargo's build output.
        let built = env::current_exe().map_err(|error| error.to_string())?;
        let beside = built.ancestors().nth(3).map(|target| target.join("lab"));
        let named = env::var_os("FSPRISM_LAB").map(PathBuf::from);
        let lab = Lab::at(named.or(beside).ok_or("there is no place for a lab")?);
        let kernel = kernel_of(&lab).map_err(|error| error.to_string())?;
        let image = image_of(&lab, &kernel).map_err(|error| error.to_string())?;
        Ok(Self { lab, kernel, image })
    }

    /// A boot with a script as its job.
    pub(crate) fn boot(&self, script: &str) -> Boot {
        let mut boot = Boot::new(self.kernel.clone(), self.image.clone());
        boot.job = vec![("/job/run".to_owned(), script.into())];
        boot
    }
}

fn kernel_of(lab: &Lab) -> Result<Kernel, lab::LabError> {
    let plan = kernel::plan(lab, &Request::Newest)?;
    plan.sentence().iter().for_each(|sentence| eprintln!("{sentence}"));
    kernel::build(lab, &plan, &|what| eprintln!("{what}"))
}

/// The image with this program.
pub(crate) fn image_of(lab: &Lab, kernel: &Kernel) -> Result<Image, lab::LabError> {
    let program = env::current_exe().expect("this program has a file");
    image::build(lab, ImageParts { kernel, program: &program, further: &[] })
}
