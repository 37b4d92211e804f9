//! The guests of a rig, what each has, and the links between them.

use std::time::Duration;

use lab::rig::{Description, Disk, DiskSpeed, GuestRole, Link};
use network_guest::SERVER;

use crate::plan::Plan;

/// Memory of a guest in addition to what it reads.
const MEMORY_BYTES: u64 = 768 << 20;
/// The smallest disk for a cache.
const CACHE_BYTES_MIN: u64 = 512 << 20;
/// How long a guest may take for things that do not depend on the size of the files.
pub(super) const PATIENCE: Duration = Duration::from_secs(120);
/// Bytes that a guest handles per second at the very least.
const BYTES_PER_SECOND_MIN: u64 = 100_000;
/// Files that a guest handles per second at the very least.
const FILES_PER_SECOND_MIN: u64 = 5;

/// Bytes that making a file system writes, at most.
const MKFS_BYTES: u64 = 64 << 20;
/// Bytes that a request to a cache's disk reads or writes at the very least, on average.
const REQUEST_BYTES_MIN: u64 = 16 << 10;
/// Requests to a cache's disk for each file.
const REQUESTS_PER_FILE: u64 = 20;

/// A client of the rig.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Client {
    /// Its role.
    pub(super) role: String,
    /// Its link to the server.
    pub(super) link: usize,
}

impl Client {
    /// The server's address on its link.
    pub(super) fn server_address(&self) -> String {
        Description::address(self.link, 0)
    }

    /// Its own address.
    pub(super) fn address(&self) -> String {
        Description::address(self.link, 1)
    }
}

/// A server, and as many clients as the plan's benchmarks need, each with its own link to the
/// server and its own disks.
pub(super) fn layout(plan: &Plan) -> (Description, Vec<Client>) {
    let content_bytes = plan.content.bytes();
    // File systems need some room for each file, and caches stop when little is left.
    let files_bytes = u64::from(plan.content.tree.files) * 8192;
    let disk_bytes = (2 * content_bytes + files_bytes).max(CACHE_BYTES_MIN);
    let disk = |speed: DiskSpeed| {
        move |bytes: &u64| Disk { bytes: bytes.next_multiple_of(1 << 20), speed }
    };
    let role = |name: &str, disks: Vec<Disk>| GuestRole {
        name: name.to_owned(),
        memory_bytes: MEMORY_BYTES + content_bytes * 3 / 2 + files_bytes,
        disks,
        load: vec!["virtio-blk".to_owned()],
    };
    let client = |link| Client { role: network_guest::client(link), link };
    let clients: Vec<Client> = (0..plan.clients()).map(client).collect();
    let cache_bytes = plan.cache_bytes.unwrap_or(disk_bytes);
    let caches: Vec<u64> = [cache_bytes].into_iter().chain(plan.small_cache_bytes()).collect();
    let caches: Vec<Disk> = caches.iter().map(disk(plan.cache_disk)).collect();
    let of_clients = clients.iter().map(|client| role(&client.role, caches.clone()));
    let of_server = role(SERVER, vec![disk(DiskSpeed::default())(&disk_bytes)]);
    let link =
        |client: &Client| Link { ends: [SERVER.to_owned(), client.role.clone()], shape: plan.link };
    let description = Description {
        roles: std::iter::once(of_server).chain(of_clients).collect(),
        links: clients.iter().map(link).collect(),
    };
    (description, clients)
}

/// How long reading everything may take, with all guests working.
pub(super) fn patience(plan: &Plan) -> Duration {
    let rate = plan.link.rate_bits_per_s.map_or(u64::MAX, |bits| bits / 8);
    let bytes_per_second = rate.clamp(1, BYTES_PER_SECOND_MIN);
    let seconds = plan.content.bytes() / bytes_per_second
        + u64::from(plan.content.tree.files) / FILES_PER_SECOND_MIN;
    // Each file waits for the delay a few times.
    let delays = Duration::from_micros(u64::from(plan.link.delay_us))
        .saturating_mul(plan.content.tree.files.saturating_mul(10));
    let one = PATIENCE + Duration::from_secs(seconds.saturating_mul(2)) + delays;
    let one = one + Duration::from_secs(disk_seconds(plan));
    one.saturating_mul(u32::try_from(plan.clients()).unwrap_or(u32::MAX))
}

/// How long the cache's disk may take to be made, written and read.
fn disk_seconds(plan: &Plan) -> u64 {
    let DiskSpeed { requests_per_s, bytes_per_s } = plan.cache_disk;
    let bytes = MKFS_BYTES + plan.content.bytes().saturating_mul(4);
    let files = u64::from(plan.content.tree.files);
    let requests = (MKFS_BYTES + plan.content.bytes()) / REQUEST_BYTES_MIN
        + files.saturating_mul(REQUESTS_PER_FILE);
    bytes / bytes_per_s.unwrap_or(u64::MAX) + requests / requests_per_s.unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::NetworkBenchmark;
    use crate::plan::tests::plan;

    #[test]
    fn only_caches_have_slow_disks_and_they_may_take_longer() {
        let speed: DiskSpeed = "iops=100".parse().unwrap();
        let slow = Plan { cache_disk: speed, ..plan() };
        let (description, _) = layout(&slow);
        let speeds: Vec<_> = description.roles.iter().map(|role| role.disks[0].speed).collect();
        assert_eq!(speeds, [DiskSpeed::default(), speed]);
        assert!(patience(&slow) > patience(&plan()));
    }

    #[test]
    fn a_second_client_is_there_only_where_a_benchmark_has_one() {
        let (alone, clients) = layout(&plan());
        assert_eq!((alone.roles.len(), alone.links.len(), clients.len()), (2, 1, 1));
        let benchmarks = vec![NetworkBenchmark::File, NetworkBenchmark::TwoClients];
        let (two, clients) = layout(&Plan { benchmarks, ..plan() });
        let names: Vec<&str> = two.roles.iter().map(|role| role.name.as_str()).collect();
        assert_eq!(names, ["server", "client", "client-2"]);
        assert!(two.links.iter().all(|link| link.ends[0] == "server"));
        assert_eq!(two.links[1].ends[1], "client-2");
        let addresses = (clients[1].server_address(), clients[1].address());
        assert_eq!(addresses, ("10.77.1.1".to_owned(), "10.77.1.2".to_owned()));
    }
}
