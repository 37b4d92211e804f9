//! JSON with the order, the indentation and the numbers of fio.

use std::io::{self, Write};

use crate::numbers::six;

/// A value of a document.
#[derive(Clone, Debug)]
pub(crate) enum Node {
    /// An integer; those above the largest of 64 bits with a sign are printed as negative.
    Integer(u64),
    /// A number with six decimals.
    Float(f64),
    /// Text.
    Text(String),
    /// An object.
    Object(Object),
    /// An array.
    Array(Vec<Node>),
}

/// An object, whose members stay in order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Object(Vec<(String, Node)>);

impl Object {
    pub(crate) fn integer(&mut self, name: &str, number: u64) {
        self.add(name, Node::Integer(number));
    }

    pub(crate) fn float(&mut self, name: &str, number: f64) {
        self.add(name, Node::Float(number));
    }

    /// Adds a text, unless it is empty: then there is no such member.
    pub(crate) fn text(&mut self, name: &str, text: &str) {
        if !text.is_empty() {
            self.add(name, Node::Text(text.to_owned()));
        }
    }

    pub(crate) fn object(&mut self, name: &str, object: Self) {
        self.add(name, Node::Object(object));
    }

    pub(crate) fn array(&mut self, name: &str, array: Vec<Node>) {
        self.add(name, Node::Array(array));
    }

    fn add(&mut self, name: &str, node: Node) {
        self.0.push((name.to_owned(), node));
    }

    /// Writes the object, which is at this level of the document, without a line break at its end.
    pub(crate) fn write(&self, level: usize, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "{{")?;
        for (place, (name, node)) in self.0.iter().enumerate() {
            let separator = if place > 0 { ",\n" } else { "" };
            write!(out, "{separator}{}\"{name}\" : ", indent(level + 1))?;
            node.write(level + 1, out)?;
        }
        write!(out, "\n{}}}", indent(level))
    }
}

impl Node {
    fn write(&self, level: usize, out: &mut dyn Write) -> io::Result<()> {
        match self {
            Self::Integer(number) => write!(out, "{}", number.cast_signed()),
            Self::Float(number) => write!(out, "{}", six(*number)),
            Self::Text(text) => write!(out, "\"{}\"", escaped(text)),
            Self::Object(object) => object.write(level, out),
            Self::Array(nodes) => {
                writeln!(out, "[")?;
                for (place, node) in nodes.iter().enumerate() {
                    let separator = if place > 0 { ",\n" } else { "" };
                    write!(out, "{separator}{}", indent(level + 1))?;
                    node.write(level + 1, out)?;
                }
                write!(out, "\n{}]", indent(level))
            }
        }
    }
}

fn indent(level: usize) -> String {
    "  ".repeat(level)
}

/// Quotation marks and backslashes are escaped, nothing else is.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_look_like_those_of_fio() {
        let mut inner = Object::default();
        inner.float("mean", 0.5);
        inner.text("none", "");
        let mut outer = Object::default();
        outer.integer("eta", u64::MAX);
        outer.text("path", "a\"b\\c");
        outer.object("lat", inner);
        outer.array("jobs", vec![Node::Integer(1), Node::Object(Object::default())]);
        let mut text = Vec::new();
        outer.write(0, &mut text).unwrap();
        let expected = "{\n  \"eta\" : -1,\n  \"path\" : \"a\\\"b\\\\c\",\n  \"lat\" : {\n    \
                        \"mean\" : 0.500000\n  },\n  \"jobs\" : [\n    1,\n    {\n\n    }\n  ]\n}";
        assert_eq!(String::from_utf8(text).unwrap(), expected);
    }
}
