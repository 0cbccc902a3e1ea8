//! Is what is on disk what happened, wherever it is cut off?

use super::*;

pub(crate) fn header(variants: &[&str], captures: usize) -> Header {
    Header {
        schema: SCHEMA,
        id: "b1".to_owned(),
        route: "r".to_owned(),
        route_version: 1,
        fingerprint: "f".to_owned(),
        variants: variants.iter().map(|name| (*name).to_owned()).collect(),
        captures: (0..captures).map(|number| format!("c{number}")).collect(),
        cap_nanousd: 10,
        started_ms: 5,
    }
}

pub(crate) fn pair(variant: &str, capture: usize) -> Pair {
    Pair {
        variant: variant.to_owned(),
        capture: format!("c{capture}"),
    }
}

pub(crate) fn sample(pair: Pair, ended: Ended, cost_nanousd: u64, latency_ms: u64) -> Sample {
    let failure_class = match &ended {
        Ended::Failed(class) => Some(class.clone()),
        _ => None,
    };
    Sample {
        output: (ended == Ended::Output).then(|| serde_json::json!({ "n": 1 })),
        pair,
        ended,
        run_id: Some("r1".to_owned()),
        message: None,
        latency_ms,
        attempts: vec![Attempt {
            id: "a1".to_owned(),
            provider: "north".to_owned(),
            model: "n1".to_owned(),
            failure_class,
            cost_nanousd,
            pricing_missing: false,
            latency_ms,
            tokens_in: Some(1),
            tokens_out: None,
            repaired_by: None,
        }],
    }
}

/// W4: what is on disk when a process is cut off at any byte is what the next one goes on with, and nothing that may
/// have been paid for is left to be asked.
#[test]
fn wherever_the_file_is_cut_off_nothing_is_asked_twice() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("deep/er/b1.jsonl");
    let mut artifact = Artifact::create(&path, header(&["a", "b"], 3)).unwrap();
    let lines = [
        Line::Started(pair("a", 0)),
        Line::Started(pair("b", 0)),
        Line::Sample(sample(pair("a", 0), Ended::Output, 3, 7)),
        Line::Refused(pair("b", 0)),
        Line::Stopped {
            variant: "b".to_owned(),
            message: "spent".to_owned(),
        },
        Line::Started(pair("a", 1)),
    ];
    for line in lines {
        artifact.add(line).unwrap();
    }
    let log = artifact.log.clone();
    assert_eq!(log.left(), [pair("a", 2)]);
    assert_eq!(log.open, BTreeSet::from([pair("a", 1)]));
    assert!(Artifact::open(&path).is_err(), "it is at work");
    drop(artifact);
    assert_eq!(newest(path.parent().unwrap(), "r"), Some(path.clone()));
    assert_eq!(newest(path.parent().unwrap(), "other"), None);

    let whole = fs::read(&path).unwrap();
    let first = whole.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    for cut in first..=whole.len() {
        fs::write(&path, &whole[..cut]).unwrap();
        let mut artifact = Artifact::open(&path).unwrap();
        let begun = whole[..cut].split(|byte| *byte == b'\n').rev().skip(1);
        let begun: BTreeSet<_> = begun
            .filter_map(|line| match serde_json::from_slice(line) {
                Ok(Line::Started(pair)) if pair.variant == "a" => Some(pair),
                _ => None,
            })
            .collect();
        assert!(
            artifact.log.left().iter().all(|pair| !begun.contains(pair)),
            "at {cut}"
        );
        // Whatever comes next is a line of its own.
        artifact.add(Line::Started(pair("a", 2))).unwrap();
        drop(artifact);
        assert!(
            Artifact::open(&path)
                .unwrap()
                .log
                .open
                .contains(&pair("a", 2)),
            "at {cut}"
        );
    }
    fs::write(&path, "{}\n").unwrap();
    assert!(Artifact::open(&path).is_err());
}
