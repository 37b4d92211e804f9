//! Jobs that end when they are steady.

use crate::{directory, done};

#[test]
fn jobs_that_are_reported_together_have_one_state() {
    let place = directory();
    let options = "--ioengine=null --size=1g --rw=read --time_based --runtime=5 --numjobs=2 \
                   --group_reporting --steadystate=iops:90% --steadystate_duration=2";
    let job = done(place.path(), options).job();
    assert_eq!(job["steadystate"]["attained"], 1, "{job}");
    let seconds = job["steadystate"]["data"]["iops"].as_array().map(Vec::len);
    assert_eq!(seconds, Some(2));
}
