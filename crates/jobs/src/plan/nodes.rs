//! Nodes of a machine (NUMA): on whose processors a job runs, and in whose memory its pages are.

use std::fs;
use std::path::Path;

use super::given::Values;
use super::schedule::processors;

const NODES: &str = "/sys/devices/system/node";

type Wrong = (&'static str, String);

/// Where a job runs, and where its memory is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NodesPlan {
    /// The processors of the nodes that it runs on; empty for all.
    pub processors: Vec<usize>,
    /// From which nodes its memory is.
    pub memory: MemoryPolicy,
}

/// From which nodes memory is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum MemoryPolicy {
    /// As that of fsprism.
    #[default]
    Default,
    /// From the node that asks for it.
    Local,
    /// From this node, as long as it has any.
    Preferred(usize),
    /// From these, and no others.
    Bound(Vec<usize>),
    /// From each of these in turn.
    Interleaved(Vec<usize>),
}

/// The nodes that there are.
struct Nodes {
    /// Those that are on, with their processors.
    online: Vec<(usize, Vec<usize>)>,
    with_memory: Vec<usize>,
}

impl Nodes {
    /// Those of this machine; none if the kernel does not know any.
    fn of_this_machine() -> Self {
        let list = |path: &Path| {
            fs::read_to_string(path).ok().and_then(|text| processors(text.trim()).ok())
        };
        let root = Path::new(NODES);
        let online = list(&root.join("online")).unwrap_or_default();
        let of = |node: usize| list(&root.join(format!("node{node}/cpulist"))).unwrap_or_default();
        Self {
            online: online.into_iter().map(|node| (node, of(node))).collect(),
            with_memory: list(&root.join("has_memory")).unwrap_or_default(),
        }
    }
}

impl NodesPlan {
    pub(super) fn read(given: Values<'_>) -> Result<Self, Wrong> {
        let (run, memory) = (given.text("numa_cpu_nodes"), given.text("numa_mem_policy"));
        if run.is_none() && memory.is_none() {
            return Ok(Self::default());
        }
        if run.is_some() && (given.is_given("cpus_allowed") || given.is_given("cpumask")) {
            let why = "processors are given as well; only one of the two can count".to_owned();
            return Err(("numa_cpu_nodes", why));
        }
        Self::of(run, memory, &Nodes::of_this_machine())
    }

    fn of(run: Option<&str>, memory: Option<&str>, nodes: &Nodes) -> Result<Self, Wrong> {
        let processors = run.map(|text| processors_of(text, nodes)).transpose();
        let memory = memory.map(|text| policy(text, &nodes.with_memory)).transpose();
        Ok(Self {
            processors: processors.map_err(|why| ("numa_cpu_nodes", why))?.unwrap_or_default(),
            memory: memory.map_err(|why| ("numa_mem_policy", why))?.unwrap_or_default(),
        })
    }
}

fn processors_of(text: &str, nodes: &Nodes) -> Result<Vec<usize>, String> {
    let online: Vec<usize> = nodes.online.iter().map(|(node, _)| *node).collect();
    let chosen = list(text, &online, "")?;
    let own = nodes.online.iter().filter(|(node, _)| chosen.contains(node));
    let all: Vec<usize> = own.flat_map(|(_, processors)| processors.iter().copied()).collect();
    if all.is_empty() {
        return Err(format!("`{text}` has no processors"));
    }
    Ok(all)
}

fn policy(text: &str, with_memory: &[usize]) -> Result<MemoryPolicy, String> {
    let (word, rest) = match text.split_once(':') {
        Some((word, rest)) => (word, Some(rest)),
        None => (text, None),
    };
    let nodes = |text| list(text, with_memory, " with memory");
    match (word, rest) {
        ("default", None) => Ok(MemoryPolicy::Default),
        ("local", None) => Ok(MemoryPolicy::Local),
        ("default" | "local", Some(_)) => Err(format!("no node can follow `{word}`")),
        ("prefer" | "bind", None) => Err(format!("a node has to follow, such as {word}:0")),
        ("prefer", Some(rest)) => match nodes(rest)?.as_slice() {
            [node] => Ok(MemoryPolicy::Preferred(*node)),
            _ => Err("only one node can be preferred".to_owned()),
        },
        ("bind", Some(rest)) => nodes(rest).map(MemoryPolicy::Bound),
        ("interleave", rest) => nodes(rest.unwrap_or("all")).map(MemoryPolicy::Interleaved),
        (_, _) => Err(format!("`{word}` is none of default, prefer, bind, interleave, local")),
    }
}

/// Some of the nodes that are there: `all`, `0-2,5`, or all but those, `!0`.
fn list(text: &str, there: &[usize], what: &str) -> Result<Vec<usize>, String> {
    if there.is_empty() {
        return Err("this kernel knows of no nodes".to_owned());
    }
    let (is_inverted, named) = match text.strip_prefix('!') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let named = match named {
        "all" => there.to_vec(),
        named => processors(named).map_err(|_| format!("`{named}` is no list of nodes"))?,
    };
    if let Some(missing) = named.iter().find(|node| !there.contains(node)) {
        let there = there.iter().map(usize::to_string).collect::<Vec<_>>().join(", ");
        return Err(format!("there is no node {missing}{what}; there is {there}"));
    }
    let is_chosen = |node: &&usize| named.contains(node) != is_inverted;
    let chosen: Vec<usize> = there.iter().filter(is_chosen).copied().collect();
    if chosen.is_empty() { Err(format!("`{text}` is no node")) } else { Ok(chosen) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(run: Option<&str>, memory: Option<&str>) -> Result<NodesPlan, Wrong> {
        let nodes = Nodes {
            online: vec![(0, vec![0, 1]), (1, vec![2, 3]), (3, vec![])],
            with_memory: vec![0, 3],
        };
        NodesPlan::of(run, memory, &nodes)
    }

    #[test]
    fn nodes_stand_for_their_processors() {
        let of = |text| plan(Some(text), None).map(|plan| plan.processors);
        assert_eq!(of("0"), Ok(vec![0, 1]));
        assert_eq!(of("0-1"), Ok(vec![0, 1, 2, 3]));
        assert_eq!(of("all"), Ok(vec![0, 1, 2, 3]));
        assert_eq!(of("!0"), Ok(vec![2, 3]));
        let why = |text| of(text).expect_err(text).1;
        assert_eq!(why("2"), "there is no node 2; there is 0, 1, 3");
        assert_eq!(why("3"), "`3` has no processors");
        assert_eq!(why("!all"), "`!all` is no node");
        assert_eq!(why("x"), "`x` is no list of nodes");
    }

    #[test]
    fn policies_have_the_nodes_that_they_need() {
        let of = |text| plan(None, Some(text)).map(|plan| plan.memory);
        assert_eq!(of("default"), Ok(MemoryPolicy::Default));
        assert_eq!(of("local"), Ok(MemoryPolicy::Local));
        assert_eq!(of("prefer:3"), Ok(MemoryPolicy::Preferred(3)));
        assert_eq!(of("bind:0,3"), Ok(MemoryPolicy::Bound(vec![0, 3])));
        assert_eq!(of("interleave"), Ok(MemoryPolicy::Interleaved(vec![0, 3])));
        assert_eq!(of("interleave:3"), Ok(MemoryPolicy::Interleaved(vec![3])));
        let why = |text| of(text).expect_err(text).1;
        assert_eq!(why("bind:1"), "there is no node 1 with memory; there is 0, 3");
        assert_eq!(why("bind"), "a node has to follow, such as bind:0");
        assert_eq!(why("local:0"), "no node can follow `local`");
        assert_eq!(why("prefer:0,3"), "only one node can be preferred");
        assert!(why("near").starts_with("`near` is none of default, "));
    }

    #[test]
    fn a_kernel_may_know_of_no_nodes() {
        let nodes = Nodes { online: Vec::new(), with_memory: Vec::new() };
        let why = NodesPlan::of(Some("0"), None, &nodes).expect_err("no nodes");
        assert_eq!(why, ("numa_cpu_nodes", "this kernel knows of no nodes".to_owned()));
        assert_eq!(NodesPlan::of(None, Some("local"), &nodes).map(|plan| plan.memory), {
            Ok(MemoryPolicy::Local)
        });
    }
}
