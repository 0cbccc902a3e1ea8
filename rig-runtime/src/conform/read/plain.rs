//! How are the types of the standard library read?

use std::borrow::Cow;
use std::collections::BTreeMap;

use rig_spec::Number;
use serde_json::Value;

use super::{Entry, Fields, Place, ReadJson};
use crate::json::{Fault, Token};

impl ReadJson for String {
    fn read_json(place: Place<'_, '_>) -> Result<Self, Fault> {
        place.text().map(Cow::into_owned)
    }
}

impl ReadJson for bool {
    fn read_json(place: Place<'_, '_>) -> Result<Self, Fault> {
        match place.scalar()? {
            Token::Bool(value) => Ok(value),
            _ => Err(Fault::Unfit("a boolean")),
        }
    }
}

impl ReadJson for i64 {
    fn read_json(place: Place<'_, '_>) -> Result<Self, Fault> {
        integer(place, "an integer of 64 bits")
    }
}

impl ReadJson for u64 {
    fn read_json(place: Place<'_, '_>) -> Result<Self, Fault> {
        integer(place, "an unsigned integer of 64 bits")
    }
}

/// Whole numbers are integers however they are written.
fn integer<T: TryFrom<i128>>(place: Place<'_, '_>, expected: &'static str) -> Result<T, Fault> {
    let integer = match place.number()? {
        Number::Integer(integer) => integer.try_into().ok(),
        Number::Float(_) => None,
    };
    integer.ok_or(Fault::Unfit(expected))
}

impl ReadJson for f64 {
    fn read_json(place: Place<'_, '_>) -> Result<Self, Fault> {
        Ok(match place.number()? {
            Number::Integer(integer) => integer as f64,
            Number::Float(float) => float,
        })
    }
}

impl ReadJson for () {
    fn read_json(mut place: Place<'_, '_>) -> Result<Self, Fault> {
        match place.null()? {
            true => Ok(()),
            false => Err(Fault::Unfit("null")),
        }
    }
}

impl ReadJson for Value {
    fn read_json(place: Place<'_, '_>) -> Result<Self, Fault> {
        place.value()
    }
}

impl<T: ReadJson> ReadJson for Option<T> {
    fn read_json(mut place: Place<'_, '_>) -> Result<Self, Fault> {
        match place.null()? {
            true => Ok(None),
            false => T::read_json(place).map(Some),
        }
    }
}

impl<T: ReadJson> ReadJson for Box<T> {
    fn read_json(place: Place<'_, '_>) -> Result<Self, Fault> {
        T::read_json(place).map(Self::new)
    }
}

impl<T: ReadJson> ReadJson for Vec<T> {
    fn read_json(place: Place<'_, '_>) -> Result<Self, Fault> {
        let mut list = place.list()?;
        let mut items = Self::new();
        while let Some(item) = list.item()? {
            items.push(T::read_json(item)?);
        }
        Ok(items)
    }
}

impl<T: ReadJson> ReadJson for BTreeMap<String, T> {
    fn read_json(place: Place<'_, '_>) -> Result<Self, Fault> {
        let mut object = place.object(const { &Fields::new(&[], &[]) })?;
        let mut entries = Self::new();
        while let Some(entry) = object.entry()? {
            // There are no fields, so every property is another one.
            if entry == Entry::Other {
                let key = object.key();
                entries.insert(key, T::read_json(object.value())?);
            }
        }
        Ok(entries)
    }
}

macro_rules! tuples {
    ($($first:ident $($more:ident)*),+) => {
        $(impl<$first: ReadJson, $($more: ReadJson),*> ReadJson for ($first, $($more,)*) {
            fn read_json(place: Place<'_, '_>) -> Result<Self, Fault> {
                let mut list = place.list()?;
                let too_short = || Fault::Unfit("a longer list");
                let items = (
                    $first::read_json(list.item()?.ok_or_else(too_short)?)?,
                    $($more::read_json(list.item()?.ok_or_else(too_short)?)?,)*
                );
                list.end()?;
                Ok(items)
            }
        })+
    };
}

// As many as the traits of the standard library take.
tuples!(
    A, A B, A B C, A B C D, A B C D E, A B C D E F, A B C D E F G, A B C D E F G H, A B C D E F G H I,
    A B C D E F G H I J, A B C D E F G H I J K, A B C D E F G H I J K L
);
