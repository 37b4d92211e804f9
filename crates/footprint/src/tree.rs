//! Trees of weighted frames, from which flame graphs are drawn.

use std::collections::HashMap;

/// A tree of frames. The root is node 0 and its own parent; parents precede their children.
#[derive(Clone, Debug, PartialEq)]
pub struct FlameTree {
    /// The distinct names of frames.
    pub names: Vec<String>,
    /// For each node, the node that called it.
    pub parent: Vec<u32>,
    /// For each node, its index in `names`.
    pub name: Vec<u32>,
    /// For each node, its weight without its callees. May be negative in a difference.
    pub own: Vec<f64>,
}

/// Builds a tree, path by path.
#[derive(Clone, Debug)]
pub struct TreeBuilder {
    tree: FlameTree,
    names: HashMap<String, u32>,
    nodes: HashMap<(u32, u32), u32>,
}

impl TreeBuilder {
    /// A tree that consists of a root with this name.
    #[must_use]
    pub fn new(root: &str) -> Self {
        let tree = FlameTree {
            names: vec![root.to_owned()],
            parent: vec![0],
            name: vec![0],
            own: vec![0.0],
        };
        Self { tree, names: HashMap::from([(root.to_owned(), 0)]), nodes: HashMap::new() }
    }

    /// The node of a frame called from `parent`; the root is 0.
    pub fn child(&mut self, parent: u32, name: &str) -> u32 {
        let name = self.name(name);
        let tree = &mut self.tree;
        *self.nodes.entry((parent, name)).or_insert_with(|| {
            tree.parent.push(parent);
            tree.name.push(name);
            tree.own.push(0.0);
            u32::try_from(tree.own.len() - 1).expect("fewer nodes than 2^32")
        })
    }

    /// Adds to a node's own weight.
    pub fn add(&mut self, node: u32, weight: f64) {
        self.tree.own[node as usize] += weight;
    }

    /// The tree.
    #[must_use]
    pub fn build(self) -> FlameTree {
        self.tree
    }

    fn name(&mut self, name: &str) -> u32 {
        if let Some(&number) = self.names.get(name) {
            return number;
        }
        let number = u32::try_from(self.tree.names.len()).expect("fewer names than 2^32");
        self.tree.names.push(name.to_owned());
        self.names.insert(name.to_owned(), number);
        number
    }

    fn take(&mut self, tree: &FlameTree, factor: f64) {
        let mut nodes = vec![0_u32];
        for node in 0..tree.own.len() {
            if node > 0 {
                let parent = nodes[tree.parent[node] as usize];
                nodes.push(self.child(parent, &tree.names[tree.name[node] as usize]));
            }
            self.add(nodes[node], factor * tree.own[node]);
        }
    }
}

impl FlameTree {
    /// The weights in `after` minus those in `before`, node by node. Nodes are matched by the names
    /// on their path.
    #[must_use]
    pub fn difference(before: &Self, after: &Self) -> Self {
        let mut builder = TreeBuilder::new(&after.names[after.name[0] as usize]);
        builder.take(after, 1.0);
        builder.take(before, -1.0);
        builder.build()
    }

    /// The sum of all weights.
    #[must_use]
    pub fn total(&self) -> f64 {
        self.own.iter().sum()
    }

    /// A node's path of names from below the root, joined by `;` as in folded stacks.
    #[must_use]
    pub fn path(&self, node: u32) -> String {
        let mut names = Vec::new();
        let mut node = node as usize;
        while node != 0 {
            names.push(self.names[self.name[node] as usize].as_str());
            node = self.parent[node] as usize;
        }
        names.reverse();
        names.join(";")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(paths: &[(&[&str], f64)]) -> FlameTree {
        let mut builder = TreeBuilder::new("all");
        for (path, weight) in paths {
            let node = path.iter().fold(0, |node, name| builder.child(node, name));
            builder.add(node, *weight);
        }
        builder.build()
    }

    #[test]
    fn a_difference_has_the_paths_of_both() {
        let before = tree(&[(&["vfs"], 3.0), (&["vfs", "ext4"], 5.0), (&["time"], 1.0)]);
        let after = tree(&[(&["vfs", "ext4"], 7.0), (&["vfs"], 3.0), (&["ext4"], 2.0)]);
        let found = FlameTree::difference(&before, &after);
        let of = |path: &str| {
            let node = (0..6_u32).find(|&node| found.path(node) == path).expect("a path");
            found.own[node as usize]
        };
        assert_eq!((of("vfs"), of("vfs;ext4"), of("time"), of("ext4")), (0.0, 2.0, -1.0, 2.0));
        assert_eq!(found.total(), after.total() - before.total());
        assert!(found.parent.iter().enumerate().skip(1).all(|(node, &of)| (of as usize) < node));
    }
}
