//! A process that trusts a server of this binary.
//!
//! Whom a process trusts is set before it starts, as behind the proxy of a company: a certificate of its own among those
//! of the system. So a test of TLS runs itself once more, as a child that trusts the certificate.

use std::env;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;

use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

/// Tells the child where the certificate is that its servers show, and its key.
const CHILD: &str = "LOOPBACK_TRUSTED_CHILD";

/// Runs a test of this binary in a process that trusts the servers it starts, and returns what that says.
pub(crate) fn in_child(test: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let host = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
    let file = |name: &str, text: String| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    let trusted = file("host.pem", host.cert.pem());
    file("key.pem", host.signing_key.serialize_pem());
    let child = Command::new(env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture"])
        .env(CHILD, folder.path())
        .env("SSL_CERT_FILE", trusted)
        .env_remove("SSL_CERT_DIR")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&child.stderr).into_owned();
    assert!(child.status.success(), "{said}");
    said
}

/// Returns what a server of the child shows; `None` in a process that is no child.
pub(crate) fn child_tls() -> Option<Arc<ServerConfig>> {
    let folder = env::var_os(CHILD).map(PathBuf::from)?;
    let chain = CertificateDer::pem_file_iter(folder.join("host.pem")).unwrap();
    let key = PrivateKeyDer::from_pem_file(folder.join("key.pem")).unwrap();
    let crypto = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ServerConfig::builder_with_provider(crypto)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(chain.map(Result::unwrap).collect(), key)
        .unwrap();
    config.alpn_protocols = vec![b"h2".to_vec()];
    Some(Arc::new(config))
}
