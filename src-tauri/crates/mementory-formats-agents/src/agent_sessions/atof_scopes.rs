//! Finds the run of each scope in a log in ATOF. Scopes name their parents, and events may be in any order.
use std::collections::HashMap;

/// The scopes of a log, by the positions at which their ids first occur.
#[derive(Debug, Default)]
pub(super) struct Scopes {
    scopes: Vec<Scope>,
    positions: HashMap<String, usize>,
}

#[derive(Debug, Default)]
struct Scope {
    id: String,
    parent: Option<usize>,
    is_agent: bool,
    /// False if the log begins inside the scope, which is then known only from the scopes in it.
    has_events: bool,
    /// True if a scope in it is not an agent.
    has_steps: bool,
    /// The scope that is the run, once it is known.
    root: Option<usize>,
}

impl Scopes {
    /// Adds the scope of an event. Later events of the same scope may leave out its parent.
    pub(super) fn add(&mut self, id: String, parent: Option<String>, is_agent: bool) {
        let parent = parent.filter(|parent| *parent != id).map(|parent| self.position(parent));
        if let Some(parent) = parent {
            self.scopes[parent].has_steps |= !is_agent;
        }
        let position = self.position(id);
        let scope = &mut self.scopes[position];
        scope.parent = scope.parent.or(parent);
        scope.is_agent |= is_agent;
        scope.has_events = true;
    }

    fn position(&mut self, id: String) -> usize {
        *self.positions.entry(id).or_insert_with_key(|id| {
            self.scopes.push(Scope { id: id.clone(), ..Scope::default() });
            self.scopes.len() - 1
        })
    }

    /// The id of the scope at a position.
    pub(super) fn id(&self, position: usize) -> &str {
        &self.scopes[position].id
    }

    /// The position of the outermost scope around a scope. None if no scope has this id.
    pub(super) fn root_of(&mut self, id: &str) -> Option<usize> {
        let mut at = *self.positions.get(id)?;
        let mut path = Vec::new();
        let root = loop {
            let scope = &self.scopes[at];
            if let Some(root) = scope.root {
                break root;
            }
            let next = scope.parent.filter(|parent| scope.is_in(&self.scopes[*parent]));
            // Parents that form a cycle end at the scope that is reached a second time.
            self.scopes[at].root = Some(at);
            path.push(at);
            match next {
                Some(next) => at = next,
                None => break at,
            }
        };
        for position in path {
            self.scopes[position].root = Some(root);
        }
        Some(root)
    }
}

impl Scope {
    /// True if the scope belongs to the run of its parent. An agent is a run of its own if nothing else is known of its
    /// parent.
    fn is_in(&self, parent: &Self) -> bool {
        !self.is_agent || parent.has_events || parent.has_steps
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn roots(scopes: &mut Scopes, ids: &[&str]) -> Vec<Option<String>> {
        ids.iter().map(|id| scopes.root_of(id).map(|root| scopes.id(root).to_owned())).collect()
    }

    #[test]
    fn the_order_of_events_does_not_matter() {
        let mut scopes = Scopes::default();
        for (id, parent) in [("c", Some("b")), ("b", Some("a")), ("a", None), ("d", Some("c")), ("c", None)] {
            scopes.add(id.to_owned(), parent.map(str::to_owned), false);
        }
        let a = Some("a".to_owned());
        assert_eq!(roots(&mut scopes, &["d", "c", "b", "a", "x"]), [a.clone(), a.clone(), a.clone(), a, None]);
    }

    #[test]
    fn scopes_of_an_unseen_parent_are_one_run_and_an_agent_alone_is_its_own() {
        let mut scopes = Scopes::default();
        scopes.add("a".to_owned(), Some("p".to_owned()), false);
        scopes.add("b".to_owned(), Some("p".to_owned()), false);
        scopes.add("agent".to_owned(), Some("q".to_owned()), true);
        let [p, agent] = ["p", "agent"].map(|id| Some(id.to_owned()));
        assert_eq!(roots(&mut scopes, &["a", "b", "agent"]), [p.clone(), p, agent]);
    }

    #[test]
    fn a_cycle_of_parents_is_one_run() {
        let mut scopes = Scopes::default();
        for (id, parent) in [("a", "b"), ("b", "a"), ("c", "a"), ("d", "d")] {
            scopes.add(id.to_owned(), Some(parent.to_owned()), false);
        }
        let found = roots(&mut scopes, &["c", "a", "b", "d"]);
        assert_eq!(found[0], found[1]);
        assert_eq!(found[1], found[2]);
        assert_eq!(found[3].as_deref(), Some("d"));
    }
}
