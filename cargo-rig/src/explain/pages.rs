//! What does a finding, or a failure class, mean? The pages are in the program.

use rig_build::CODES;
use rig_spec::FailureClass;

use crate::output::{STRONG, paint};

/// `docs/checks.md`, which is printed from the compiler's own table.
const CHECKS: &str = include_str!("../../checks.md");

/// The names that have a page.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    let codes = CODES.iter().map(|code| code.code);
    codes.chain(FailureClass::ALL.into_iter().map(FailureClass::name))
}

/// Returns the page of a check's code or of a failure class.
pub(super) fn page(name: &str) -> Option<String> {
    check(name).or_else(|| FailureClass::from_name(name).map(class))
}

fn check(name: &str) -> Option<String> {
    let heading = format!("\n## {name}\n");
    let (_, rest) = CHECKS.split_once(&heading)?;
    let body = rest.split("\n## ").next().unwrap_or(rest);
    // A terminal shows the example as it is.
    let lines = body.trim().lines().filter(|line| !line.starts_with("```"));
    let body: String = lines.map(|line| format!("{line}\n")).collect();
    Some(format!("{}\n\n{body}", paint(STRONG, name)))
}

fn class(class: FailureClass) -> String {
    let spec = class.spec();
    format!(
        "{}\n\n{}\n\n**Fix.** {}\n\nsee: {}\n",
        paint(STRONG, spec.name),
        spec.meaning,
        spec.fix,
        class.docs_url()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every code and every class has its page, and none has its neighbour's.
    #[test]
    fn every_name_has_its_own_page() {
        for code in CODES {
            let page = page(code.code).unwrap();
            assert!(
                page.contains(code.what) && page.contains(code.fix),
                "{page}"
            );
            assert!(page.contains(&format!("[{}]: ", code.code)), "{page}");
            assert_eq!(page.matches("**Fix.**").count(), 1, "{page}");
        }
        for class in FailureClass::ALL {
            assert!(page(class.name()).unwrap().contains(class.spec().fix));
        }
        assert_eq!(page("no-such-check"), None);
        assert!(names().count() > 60);
    }
}
