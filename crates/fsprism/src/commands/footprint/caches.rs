//! The hierarchy of caches to simulate: from the command line, or that of this machine.

use ::caches::{CachePolicy, FirstLevel, Geometry, Hierarchy, Inclusion, LowerLevel, Shape};
use record::machine::{Cache, CacheKind};

use crate::arguments::footprint_values::CacheArgument;
use crate::exit::OrInputError;

/// What the command line says about caches.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CacheOptions<'a> {
    /// The caches; if empty, those of this machine.
    pub(crate) caches: &'a [CacheArgument],
    /// Replacement policy of caches that do not specify one.
    pub(crate) policy: CachePolicy,
    /// Inclusion of lower levels that do not specify it.
    pub(crate) inclusion: Inclusion,
    /// Seed of the random policy.
    pub(crate) seed: u64,
}

impl CacheOptions<'_> {
    /// The caches as a hierarchy.
    pub(crate) fn hierarchy(&self) -> anyhow::Result<Hierarchy> {
        if self.caches.is_empty() {
            return hierarchy_of(&caches_of_machine()?, self);
        }
        hierarchy_of(self.caches, self)
    }
}

/// The caches of this machine, as if they had been given on the command line.
fn caches_of_machine() -> anyhow::Result<Vec<CacheArgument>> {
    let caches = ::machine::describe::describe().caches;
    let given: Option<Vec<CacheArgument>> = caches.iter().map(to_given).collect();
    given.filter(|given| !given.is_empty()).ok_or_else(|| {
        anyhow::anyhow!("this machine does not report its caches: give them with --cache")
    })
}

fn to_given(cache: &Cache) -> Option<CacheArgument> {
    let name = match (cache.level, cache.kind) {
        (1, CacheKind::Instruction) => "l1i".to_owned(),
        (1, CacheKind::Data) => "l1d".to_owned(),
        (level, CacheKind::Unified) => format!("l{level}"),
        _ => return None,
    };
    let (size_bytes, line_bytes, ways) = (cache.size_bytes?, cache.line_bytes?, cache.ways?);
    Some(CacheArgument { name, size_bytes, line_bytes, ways, policy: None, inclusion: None })
}

/// Arranges the caches in a hierarchy.
fn hierarchy_of(caches: &[CacheArgument], options: &CacheOptions<'_>) -> anyhow::Result<Hierarchy> {
    let mut left: Vec<&CacheArgument> = caches.iter().collect();
    let mut take = |name: &str| -> anyhow::Result<Option<&CacheArgument>> {
        let Some(at) = left.iter().position(|cache| cache.name == name) else { return Ok(None) };
        let cache = left.remove(at);
        if left.iter().any(|other| other.name == name) {
            return Err(anyhow::anyhow!("{name} is given twice: give each cache once"));
        }
        Ok(Some(cache))
    };
    let instruction = take("l1i").or_input_error()?;
    let (data, both) = (take("l1d").or_input_error()?, take("l1").or_input_error()?);
    let shape = |cache| geometry(cache, options);
    let first = match (instruction, data, both) {
        (Some(instruction), Some(data), None) => {
            FirstLevel::Split { instruction: shape(instruction)?, data: shape(data)? }
        }
        (None, Some(data), None) => FirstLevel::Data(shape(data)?),
        (None, None, Some(both)) => FirstLevel::Unified(shape(both)?),
        _ => {
            let why = "the first level must be l1i and l1d, or l1d alone, or l1 for both";
            return Err(anyhow::anyhow!("{why}: give one of these with --cache")).or_input_error();
        }
    };
    if let Some(inclusive) =
        [instruction, data, both].into_iter().flatten().find(|one| one.inclusion.is_some())
    {
        let name = &inclusive.name;
        let why = anyhow::anyhow!("no level lies above {name}: give it no inclusion");
        return Err(why).or_input_error();
    }
    let mut lower = Vec::new();
    for level in 2.. {
        let Some(cache) = take(&format!("l{level}")).or_input_error()? else { break };
        let inclusion = cache.inclusion.unwrap_or(options.inclusion);
        lower.push(LowerLevel { geometry: shape(cache)?, inclusion });
    }
    if let Some(cache) = left.first() {
        let (name, missing) = (&cache.name, lower.len() + 2);
        let why = anyhow::anyhow!("{name} needs an l{missing} above it: give that too");
        return Err(why).or_input_error();
    }
    Hierarchy::new(first, lower).or_input_error()
}

fn geometry(cache: &CacheArgument, options: &CacheOptions<'_>) -> anyhow::Result<Geometry> {
    let CacheArgument { ref name, size_bytes, line_bytes, ways, .. } = *cache;
    let policy = match cache.policy.unwrap_or(options.policy) {
        CachePolicy::Random { .. } => CachePolicy::Random { seed: options.seed },
        policy @ (CachePolicy::Lru | CachePolicy::TreePlru) => policy,
    };
    let geometry = Geometry::new(Shape { size_bytes, line_bytes, ways, policy });
    geometry.map_err(|error| anyhow::anyhow!("{name}: {error}")).or_input_error()
}
