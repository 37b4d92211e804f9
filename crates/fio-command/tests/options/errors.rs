//! Errors that do not end a job.

use std::path::Path;

use super::done;

#[test]
fn a_job_that_goes_on_is_shown_with_its_first_error() {
    // Nothing can be written to this device.
    let options = "--filename=dev/full --rw=write --size=16k --ignore_error=,ENOSPC";
    for (dumps, told) in [(0, 0), (1, 4)] {
        let done = done(Path::new("/"), &format!("{options} --error_dump={dumps}"));
        let job = done.job();
        assert_eq!((&job["error"], &job["total_err"]), (&28.into(), &4.into()));
        let text = "fio: io_u error on file /dev/full: No space left on device: write offset=";
        assert_eq!(done.err.matches(text).count(), told, "{}", done.err);
    }
}

#[test]
fn why_a_job_failed_is_said_beside_what_programs_read() {
    let place = crate::directory();
    std::fs::write(place.path().join("job.0.0"), vec![1; 8192]).expect("the place is ours");
    let done = done(place.path(), "--rw=read --size=8k --verify=md5");
    assert_eq!((done.status, &done.shown()["error"]), (1, &84.into()));
    assert_eq!(done.err.matches("fsprism fio: job: func=verify: ").count(), 1, "{}", done.err);
}
