//! The rig that calls use which name none: one for the process.

use std::fmt;
use std::sync::{Mutex, OnceLock, PoisonError};

use super::Rig;
use crate::error::Result;

/// The process has a default rig already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AlreadyInstalled;

/// Makes a rig the process default.
///
/// # Errors
///
/// When there is one already, installed or built by an earlier call.
pub fn install(rig: Rig) -> Result<(), AlreadyInstalled> {
    DEFAULT.set(rig).map_err(|_| AlreadyInstalled)
}

/// Returns the process default; the first call builds it from the environment.
pub(crate) fn process_default() -> Result<Rig> {
    static BUILDING: Mutex<()> = Mutex::new(());
    if let Some(rig) = DEFAULT.get() {
        return Ok(rig.clone());
    }
    // Two first calls must not open the store twice.
    let _turn = BUILDING.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(rig) = DEFAULT.get() {
        return Ok(rig.clone());
    }
    let rig = Rig::builder().build()?;
    Ok(DEFAULT.get_or_init(|| rig).clone())
}

pub(super) static DEFAULT: OnceLock<Rig> = OnceLock::new();

impl fmt::Display for AlreadyInstalled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the process has a default rig already; install one before the first call")
    }
}

impl std::error::Error for AlreadyInstalled {}
