//! How are the types of the standard library read?

use std::borrow::Cow;
use std::collections::BTreeMap;

use rig_spec::Number;
use serde_json::Value;

use super::{Entry, Fields, ItemShape, Place, ReadJson, Shape};
use crate::json::{Fault, Token};

impl ReadJson for String {
    fn read_json(place: Place<'_, '_>) -> Result<Self, Fault> {
        place.text().map(Cow::into_owned)
    }

    fn shape() -> &'static Shape {
        const { &Shape::scalar(|token| matches!(token, Token::Text(_))) }
    }
}

impl ReadJson for bool {
    fn read_json(place: Place<'_, '_>) -> Result<Self, Fault> {
        match place.scalar()? {
            Token::Bool(value) => Ok(value),
            _ => Err(Fault::Unfit("a boolean")),
        }
    }

    fn shape() -> &'static Shape {
        const { &Shape::scalar(|token| matches!(token, Token::Bool(_))) }
    }
}

impl ReadJson for i64 {
    fn read_json(place: Place<'_, '_>) -> Result<Self, Fault> {
        integer(place, "an integer of 64 bits")
    }

    fn shape() -> &'static Shape {
        const { &Shape::scalar(is_integer::<Self>) }
    }
}

impl ReadJson for u64 {
    fn read_json(place: Place<'_, '_>) -> Result<Self, Fault> {
        integer(place, "an unsigned integer of 64 bits")
    }

    fn shape() -> &'static Shape {
        const { &Shape::scalar(is_integer::<Self>) }
    }
}

fn is_integer<T: TryFrom<i128>>(token: &Token<'_>) -> bool {
    matches!(token, Token::Number(Number::Integer(integer), _) if T::try_from(*integer).is_ok())
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

    fn shape() -> &'static Shape {
        const { &Shape::scalar(|token| matches!(token, Token::Number(..))) }
    }
}

impl ReadJson for () {
    fn read_json(mut place: Place<'_, '_>) -> Result<Self, Fault> {
        match place.null()? {
            true => Ok(()),
            false => Err(Fault::Unfit("null")),
        }
    }

    fn shape() -> &'static Shape {
        const { &Shape::scalar(|token| matches!(token, Token::Null)) }
    }
}

impl ReadJson for Value {
    fn read_json(place: Place<'_, '_>) -> Result<Self, Fault> {
        place.value()
    }

    fn shape() -> &'static Shape {
        &Shape::ANY
    }
}

impl<T: ReadJson> ReadJson for Option<T> {
    fn read_json(mut place: Place<'_, '_>) -> Result<Self, Fault> {
        match place.null()? {
            true => Ok(None),
            false => T::read_json(place).map(Some),
        }
    }

    fn shape() -> &'static Shape {
        const { &Shape::nullable(T::shape) }
    }
}

impl<T: ReadJson> ReadJson for Box<T> {
    fn read_json(place: Place<'_, '_>) -> Result<Self, Fault> {
        T::read_json(place).map(Self::new)
    }

    fn shape() -> &'static Shape {
        T::shape()
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

    fn shape() -> &'static Shape {
        const { &Shape::list(const { &[ItemShape::Rest(T::shape)] }) }
    }
}

const NO_FIELDS: &Fields = &Fields::new(&[], &[]);

impl<T: ReadJson> ReadJson for BTreeMap<String, T> {
    fn read_json(place: Place<'_, '_>) -> Result<Self, Fault> {
        let mut object = place.object(NO_FIELDS)?;
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

    fn shape() -> &'static Shape {
        const { &Shape::object(NO_FIELDS, &[], Some(T::shape)) }
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

            fn shape() -> &'static Shape {
                const {
                    &Shape::list(const {
                        &[
                            ItemShape::Required($first::shape),
                            $(ItemShape::Required($more::shape)),*
                        ]
                    })
                }
            }
        })+
    };
}

// As many as the traits of the standard library take.
tuples!(
    A, A B, A B C, A B C D, A B C D E, A B C D E F, A B C D E F G, A B C D E F G H, A B C D E F G H I,
    A B C D E F G H I J, A B C D E F G H I J K, A B C D E F G H I J K L
);
