//! Where does a type need a pointer?
//!
//! Where it would hold itself, and where one branch of a union would make every other one as large.

use super::{Def, Shape, Ty, Types};

/// Clippy finds a variant large that exceeds the next one by 200 bytes; sizes are guessed here, so stay well below.
const LARGE: usize = 120;

/// What is larger than this is behind a pointer where another type holds it: types that hold the next one twice, and so
/// on, would be larger than memory.
const LARGEST: usize = 2_048;

impl Types {
    /// Boxes what would hold itself, and what would swell a union.
    pub(super) fn lay_out(&mut self) {
        let components = components(&self.defs);
        let mut component_of = vec![0; self.defs.len()];
        for (number, component) in components.iter().enumerate() {
            component.iter().for_each(|def| component_of[*def] = number);
        }
        for (owner, def) in self.defs.iter_mut().enumerate() {
            let own = component_of[owner];
            for ty in held_mut(def) {
                ty.put_in_box(&|target| component_of[target] == own);
            }
        }
        // What a type holds comes in an earlier component, or is behind a pointer by now.
        let mut sizes = vec![8; self.defs.len()];
        for index in components.into_iter().flatten() {
            for ty in held_mut(&mut self.defs[index]) {
                ty.put_in_box(&|target| sizes[target] > LARGEST);
            }
            if let Shape::Union(union) = &mut self.defs[index].shape {
                loop {
                    let mut order: Vec<_> =
                        union.branches.iter().map(|b| size(&b.ty, &sizes)).collect();
                    let largest = order.iter().copied().max().unwrap_or(0);
                    let at = order.iter().position(|size| *size == largest);
                    order.sort_unstable();
                    let second = order.iter().rev().nth(1).copied().unwrap_or(largest);
                    match at.map(|at| &mut union.branches[at].ty) {
                        Some(ty) if largest - second > LARGE => {
                            *ty = Ty::Boxed(Box::new(ty.clone()));
                        }
                        _ => break,
                    }
                }
            }
            sizes[index] = size_of(&self.defs[index], &sizes);
        }
    }
}

impl Ty {
    /// Boxes the named types that this one holds without a pointer between, where `is_cyclic` says so.
    fn put_in_box(&mut self, is_cyclic: &impl Fn(usize) -> bool) {
        match self {
            Self::Named(index) if is_cyclic(*index) => *self = Self::Boxed(Box::new(self.clone())),
            Self::Nullable(inner) => inner.put_in_box(is_cyclic),
            Self::Tuple(items) => items.iter_mut().for_each(|item| item.put_in_box(is_cyclic)),
            _ => {}
        }
    }

    /// Collects the named types that this one holds without a pointer between.
    fn direct(&self, out: &mut Vec<usize>) {
        match self {
            Self::Named(index) => out.push(*index),
            Self::Nullable(inner) => inner.direct(out),
            Self::Tuple(items) => items.iter().for_each(|item| item.direct(out)),
            _ => {}
        }
    }
}

/// Guesses the bytes of a type on the stack.
fn size(ty: &Ty, sizes: &[usize]) -> usize {
    match ty {
        Ty::Null => 0,
        Ty::Boolean => 1,
        Ty::Integer | Ty::Unsigned | Ty::Number | Ty::Boxed(_) => 8,
        Ty::String | Ty::List(_) | Ty::Map(_) => 24,
        Ty::Value => 32,
        Ty::Nullable(inner) => match inner.as_ref() {
            Ty::Integer | Ty::Unsigned | Ty::Number => 16,
            inner => size(inner, sizes),
        },
        Ty::Tuple(items) => items.iter().map(|item| size(item, sizes)).sum(),
        Ty::Named(index) => sizes[*index],
    }
}

fn size_of(def: &Def, sizes: &[usize]) -> usize {
    let parts = def.types().into_iter().map(|ty| size(ty, sizes).max(8));
    match &def.shape {
        Shape::Enum(_) | Shape::Open => 1,
        Shape::Union(_) => parts.max().unwrap_or(0) + 8,
        // The properties that are not listed are a map, the items behind the others a list.
        Shape::Struct { .. } | Shape::Items { .. } | Shape::Newtype(_) => {
            parts.fold(0, usize::saturating_add)
        }
    }
}

/// Returns the groups of types that hold each other without a pointer between; what a group holds comes before it.
///
/// This is Tarjan's algorithm with a stack of its own: a chain of types can be longer than the thread's stack.
fn components(defs: &[Def]) -> Vec<Vec<usize>> {
    let edges: Vec<Vec<usize>> = defs.iter().map(held).collect();
    let mut found = Vec::new();
    let mut order = vec![None; defs.len()];
    let mut low = vec![0; defs.len()];
    let mut is_open = vec![false; defs.len()];
    let (mut open, mut next) = (Vec::new(), 0);
    for root in 0..defs.len() {
        let mut path = vec![(root, 0)];
        while let Some((def, edge)) = path.pop() {
            if edge == 0 {
                if order[def].is_some() {
                    continue;
                }
                (order[def], low[def]) = (Some(next), next);
                next += 1;
                open.push(def);
                is_open[def] = true;
            }
            if let Some(target) = edges[def].get(edge).copied() {
                path.push((def, edge + 1));
                if order[target].is_none() {
                    path.push((target, 0));
                }
                continue;
            }
            for target in &edges[def] {
                if is_open[*target] {
                    low[def] = low[def].min(low[*target]);
                }
            }
            if order[def] == Some(low[def]) {
                let start = open.iter().rposition(|other| *other == def).unwrap_or(0);
                let component = open.split_off(start);
                component.iter().for_each(|def| is_open[*def] = false);
                found.push(component);
            }
        }
    }
    found
}

/// Returns the named types that a type holds without a pointer between.
fn held(def: &Def) -> Vec<usize> {
    let mut out = Vec::new();
    let types = def.types();
    let count = types.len() - usize::from(has_rest(def));
    types[..count].iter().for_each(|ty| ty.direct(&mut out));
    out
}

fn held_mut(def: &mut Def) -> Vec<&mut Ty> {
    let has_rest = has_rest(def);
    let mut types = def.types_mut();
    types.truncate(types.len() - usize::from(has_rest));
    types
}

/// Returns whether the last of a type's types is that of a map or a list, which are pointers.
fn has_rest(def: &Def) -> bool {
    match &def.shape {
        Shape::Struct { rest, .. } => rest.is_some(),
        Shape::Items { rest, .. } => rest.is_some(),
        _ => false,
    }
}
