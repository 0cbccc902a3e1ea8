//! How is a value written as a Rust expression?

use std::fmt::Display;

use rig_spec::{Capabilities, Capability, Limits, Price, Rates, Tier, UsdPerMtok};

/// Writes an integer in groups of three digits: `60_000`.
pub(super) fn integer(value: impl Display) -> String {
    let text = value.to_string();
    let digits = text.trim_start_matches('-');
    let sign = &text[..text.len() - digits.len()];
    format!("{sign}{}", grouped(digits, 3))
}

/// Writes a duration in the largest unit that it is a whole number of.
pub(super) fn duration(ms: u64) -> String {
    let units = [
        (3_600_000, "hours"),
        (60_000, "mins"),
        (1_000, "secs"),
        (1, "millis"),
    ];
    let fits = |(length, _): &(u64, &str)| ms > 0 && ms.is_multiple_of(*length);
    let (length, unit) = units.into_iter().find(fits).unwrap_or((1, "millis"));
    format!(
        "::core::time::Duration::from_{unit}({})",
        integer(ms / length)
    )
}

/// Writes a hash in groups of four digits: `0x67b8_129e_ae59_436d`.
pub(super) fn hash(value: u64) -> String {
    format!("0x{}", grouped(&format!("{value:016x}"), 4))
}

fn grouped(digits: &str, group: usize) -> String {
    let mut out = String::new();
    for (at, digit) in digits.char_indices() {
        if at > 0 && (digits.len() - at).is_multiple_of(group) {
            out.push('_');
        }
        out.push(digit);
    }
    out
}

/// Writes an option of what is written already.
pub(super) fn optional(value: Option<String>) -> String {
    match value {
        Some(value) => format!("::core::option::Option::Some({value})"),
        None => "::core::option::Option::None".to_owned(),
    }
}

/// Writes a price.
pub(super) fn price(price: &Price) -> String {
    let flat = format!("__rig::Price::flat({})", rates(&price.rates));
    match &price.long {
        None => flat,
        Some(long) => format!(
            "{flat}.above({}, {})",
            integer(long.over),
            rates(&long.rates)
        ),
    }
}

fn rates(rates: &Rates) -> String {
    let nanos = |price: UsdPerMtok| integer(price.as_nanos());
    let part = |name: &str, price: Option<UsdPerMtok>| match price {
        Some(price) => format!(".{name}({})", nanos(price)),
        None => String::new(),
    };
    format!(
        "__rig::Rates::nanos({}, {}){}{}",
        nanos(rates.input),
        nanos(rates.output),
        part("cached", rates.cached_input),
        part("written", rates.cache_write),
    )
}

/// Writes the limits of a candidate.
pub(super) fn limits(limits: &Limits) -> String {
    let part = |name: &str, value: Option<String>| match value {
        Some(value) => format!(".{name}({value})"),
        None => String::new(),
    };
    let tiers = Tier::ALL.into_iter().zip(limits.tiers);
    let tiers = tiers.filter_map(|(tier, price)| Some((tier, price?)));
    let tiers = tiers.map(|(of, at)| format!(".tier({}, {})", tier(of), price(&at)));
    format!(
        "__rig::Limits::UNKNOWN{}{}{}",
        part("context", limits.context_window.map(integer)),
        part("output", limits.max_output.map(integer)),
        tiers.collect::<String>(),
    )
}

/// Writes a tier.
pub(super) fn tier(tier: Tier) -> &'static str {
    match tier {
        Tier::Standard => "__rig::Tier::Standard",
        Tier::Flex => "__rig::Tier::Flex",
        Tier::Priority => "__rig::Tier::Priority",
    }
}

/// Writes a set of flags.
pub(super) fn capabilities(flags: Capabilities) -> String {
    let named = |flag| match flag {
        Capability::StructuredNative => "__rig::Capability::StructuredNative",
        Capability::JsonMode => "__rig::Capability::JsonMode",
        Capability::GroundedNative => "__rig::Capability::GroundedNative",
        Capability::TraceVisible => "__rig::Capability::TraceVisible",
        Capability::ZeroRetention => "__rig::Capability::ZeroRetention",
    };
    let flags: Vec<_> = flags.iter().map(named).collect();
    format!("__rig::Capabilities::of(&[{}])", flags.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_numbers_are_written_in_groups() {
        let integers = [0, 7, 500, 1_000, 60_000, -1_234_567].map(integer);
        assert_eq!(integers, ["0", "7", "500", "1_000", "60_000", "-1_234_567"]);
        assert_eq!(hash(0x1f_7643_327b_5355), "0x001f_7643_327b_5355");
    }
}
