//! The guests of a rig, what each has, and the links between them.

use std::time::Duration;

use lab::rig::{Description, GuestRole, Link};
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
    let role = |name: &str, disks_bytes: &[u64]| GuestRole {
        name: name.to_owned(),
        memory_bytes: MEMORY_BYTES + content_bytes * 3 / 2 + files_bytes,
        disks_bytes: disks_bytes.iter().map(|bytes| bytes.next_multiple_of(1 << 20)).collect(),
        load: vec!["virtio-blk".to_owned()],
    };
    let client = |link| Client { role: network_guest::client(link), link };
    let clients: Vec<Client> = (0..plan.clients()).map(client).collect();
    let cache_bytes = plan.cache_bytes.unwrap_or(disk_bytes);
    let caches: Vec<u64> = [cache_bytes].into_iter().chain(plan.small_cache_bytes()).collect();
    let of_clients = clients.iter().map(|client| role(&client.role, &caches));
    let link =
        |client: &Client| Link { ends: [SERVER.to_owned(), client.role.clone()], shape: plan.link };
    let description = Description {
        roles: std::iter::once(role(SERVER, &[disk_bytes])).chain(of_clients).collect(),
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
    one.saturating_mul(u32::try_from(plan.clients()).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::NetworkBenchmark;
    use crate::plan::tests::plan;

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
