//! C1, C2, C5: every finding stands at the name of its route, and the rest of the crate is still checked.

#[rig::route("no-candidates")]
pub async fn no_candidates(input: NoCandidatesInput) -> rig::Result<Answer>;

#[rig::route("only-trial")]
pub async fn only_trial(input: OnlyTrialInput) -> rig::Result<self::Answer>;

#[rig::route("repair-elsewhere")]
pub async fn repair_elsewhere(input: RepairElsewhereInput) -> rig::Result<self::Answer>;

#[rig::route("repair-nobody")]
pub async fn repair_nobody(input: RepairNobodyInput) -> rig::Result<self::Answer>;

#[rig::route("repair-trial")]
pub async fn repair_trial(input: RepairTrialInput) -> rig::Result<self::Answer>;

#[rig::route("typo")]
pub async fn typo(input: TypoInput) -> rig::Result<self::Answer>;

/// The types of a broken route are there, so that its callers do not add errors of their own.
pub async fn caller(question: String, reader: String) -> rig::Result<bool> {
    let input = OnlyTrialInput { question, reader };
    Ok(only_trial(input).tag("customer", "acme").await?.sure)
}

fn main() {}
