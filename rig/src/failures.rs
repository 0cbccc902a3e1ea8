#![doc = include_str!("../failures.md")]

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;
    use std::{env, fs};

    use rig_spec::{Backoff, ClassSpec, Disposition, FailureClass};

    const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/failures.md");

    const HEAD: &str = "\
What do the failure classes mean?

An attempt that does not end in a conformant output has a *failure class*: on its row, in the history of the
run, and, if it was the last one, as `failure.class` of the error. This page is printed from the table that
the ladder reads.
";

    fn seconds(ms: u64) -> String {
        format!("{} s", ms / 1_000)
    }

    fn backoff(backoff: Backoff) -> String {
        if backoff == Backoff::NONE {
            return "at once".to_owned();
        }
        format!(
            "after {}, then {} times as long each time, at most {}",
            seconds(backoff.first_ms),
            backoff.factor,
            seconds(backoff.cap_ms)
        )
    }

    fn section(spec: &ClassSpec) -> String {
        let reaction = match spec.disposition {
            Disposition::Retry(wait) => format!(
                "The same candidate is asked again while the class's retry budget lasts, {}; then the next candidate.",
                backoff(wait)
            ),
            Disposition::FallThrough => {
                "Never retried: the next candidate is asked at once.".to_owned()
            }
            Disposition::Abort => "Never retried: the run ends.".to_owned(),
        };
        format!(
            "\n## {}\n\n{}\n\n**What the ladder does:** {reaction}\n\n**Fix:** {}\n",
            spec.name, spec.meaning, spec.fix
        )
    }

    // K1: every class has its section, under the heading that its docs URL points at.
    #[test]
    fn the_page_is_printed_from_the_table() {
        let mut page = HEAD.to_owned();
        for class in FailureClass::ALL {
            let _ = write!(page, "{}", section(class.spec()));
            assert!(
                class
                    .docs_url()
                    .ends_with(&format!("/failures/index.html#{}", class.name()))
            );
        }
        #[expect(
            clippy::disallowed_methods,
            reason = "whoever runs the test says so there"
        )]
        let is_blessed = env::var_os("UPDATE_EXPECT").is_some();
        if is_blessed {
            fs::write(PAGE, &page).expect("the page can be written");
        }
        let found = fs::read_to_string(PAGE).expect("the page is there");
        assert_eq!(found, page, "set UPDATE_EXPECT=1 to print the page anew");
    }
}
