//! TLS by rustls for both sides: certificates and keys from PEM files, the check of a server's
//! certificate as the topology file asks for it, and the upgrade of a connection.

use std::path::Path;
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring};
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, ServerConfig, SignatureScheme};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use tokio_rustls::{TlsAcceptor, TlsConnector, TlsStream};

use crate::config::BackendTls;
use crate::error::{Blame, Error, Result, code};
use crate::protocol::payload::malformed;
use crate::wire::framed::{Framed, Peer};
use crate::wire::stream::Stream;

/// What clients are shown.
#[derive(Clone)]
pub struct Acceptor(TlsAcceptor);

impl Acceptor {
    /// From the PEM files of a certificate chain and its private key.
    pub fn load(cert: &Path, key: &Path) -> Result<Self> {
        let chain = certificates(cert)?;
        let key_der =
            PrivateKeyDer::from_pem_file(key).map_err(|error| unreadable("private key", key).because(error))?;
        let config = ServerConfig::builder_with_provider(provider())
            .with_safe_default_protocol_versions()
            .map(|builder| builder.with_no_client_auth())
            .and_then(|builder| builder.with_single_cert(chain, key_der))
            .map_err(|error| unusable(cert, key).because(error))?;
        Ok(Acceptor(TlsAcceptor::from(Arc::new(config))))
    }
}

/// How servers are spoken to.
#[derive(Clone)]
pub struct Connector {
    mode: Mode,
}

#[derive(Clone)]
enum Mode {
    Off,
    Preferred(TlsConnector),
    Required(TlsConnector),
}

impl Connector {
    pub fn new(tls: &BackendTls) -> Result<Self> {
        let mode = match tls {
            BackendTls::Off => Mode::Off,
            BackendTls::Preferred => Mode::Preferred(unchecked()?),
            BackendTls::Required => Mode::Required(unchecked()?),
            BackendTls::Verify { ca } => Mode::Required(checked(ca)?),
        };
        Ok(Connector { mode })
    }

    /// The connector to use with a server that offers TLS or doesn't; None: go on without.
    pub(crate) fn choose(&self, offered: bool) -> Result<Option<&TlsConnector>> {
        match &self.mode {
            Mode::Preferred(tls) | Mode::Required(tls) if offered => Ok(Some(tls)),
            Mode::Off | Mode::Preferred(_) => Ok(None),
            Mode::Required(_) => {
                let text = "A server offers no TLS, and the topology file demands it.";
                Err(Error::new(Blame::Operator, code::HANDSHAKE, text))
            }
        }
    }
}

impl Framed {
    /// After a client's SSLRequest. Bytes that came behind it would have been sent without TLS
    /// and taken as if under it: such a client is turned away.
    pub(crate) async fn accept_tls(self, acceptor: &Acceptor) -> Result<Self> {
        let (tcp, shell) = self.into_plain()?;
        let tls = acceptor.0.accept(tcp).await.map_err(|error| handshake_failed(Blame::Client).because(error))?;
        Ok(shell.with_stream(Stream::Tls(Box::new(TlsStream::Server(tls)))))
    }

    /// After an SSLRequest to a server. `host`: whom the certificate must name.
    pub(crate) async fn connect_tls(self, connector: &TlsConnector, host: &str) -> Result<Self> {
        let name = ServerName::try_from(host.to_owned())
            .map_err(|error| Error::operator(format!("{host} can't be the name in a certificate.")).because(error))?;
        let (tcp, shell) = self.into_plain()?;
        let tls = connector
            .connect(name, tcp)
            .await
            .map_err(|error| handshake_failed(Blame::Shard).because(error).retryable())?;
        Ok(shell.with_stream(Stream::Tls(Box::new(TlsStream::Client(tls)))))
    }

    fn into_plain(self) -> Result<(tokio::net::TcpStream, Shell)> {
        let quiet = self.buffered().is_empty() && self.queued() == 0;
        let shell = Shell { peer: self.peer, sequence: self.sequence(), max_packet: self.max_packet() };
        match self.stream {
            Stream::Plain(tcp) if quiet => Ok((tcp, shell)),
            Stream::Plain(_) | Stream::Tls(_) | Stream::Compressed(_) => Err(malformed()),
        }
    }
}

/// A connection without its stream.
struct Shell {
    peer: Peer,
    sequence: u8,
    max_packet: usize,
}

impl Shell {
    fn with_stream(self, stream: Stream) -> Framed {
        let mut framed = Framed::over(stream, self.peer, self.max_packet);
        framed.set_sequence(self.sequence);
        framed
    }
}

fn provider() -> Arc<CryptoProvider> {
    Arc::new(ring::default_provider())
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>> {
    let chain: std::result::Result<Vec<_>, _> =
        CertificateDer::pem_file_iter(path).and_then(|certificates| certificates.collect());
    let chain = chain.map_err(|error| unreadable("certificate", path).because(error))?;
    if chain.is_empty() {
        return Err(unreadable("certificate", path).because("no certificate in it"));
    }
    Ok(chain)
}

fn checked(ca: &Path) -> Result<TlsConnector> {
    let mut roots = RootCertStore::empty();
    for certificate in certificates(ca)? {
        roots.add(certificate).map_err(|error| unreadable("certificate", ca).because(error))?;
    }
    let config = ClientConfig::builder_with_provider(provider())
        .with_safe_default_protocol_versions()
        .map_err(|error| Error::proxy("TLS can't be set up.").because(error))?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(TlsConnector::from(Arc::new(config)))
}

fn unchecked() -> Result<TlsConnector> {
    let provider = provider();
    let schemes = provider.signature_verification_algorithms.supported_schemes();
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| Error::proxy("TLS can't be set up.").because(error))?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(Anyone(schemes)))
        .with_no_client_auth();
    Ok(TlsConnector::from(Arc::new(config)))
}

/// Takes any certificate: the modes `preferred` and `required` keep listeners out, not impostors.
#[derive(Debug)]
struct Anyone(Vec<SignatureScheme>);

impl ServerCertVerifier for Anyone {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> std::result::Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.clone()
    }
}

fn unreadable(what: &str, path: &Path) -> Error {
    Error::operator(format!("{}: no {what} can be read from this PEM file.", path.display()))
}

fn unusable(cert: &Path, key: &Path) -> Error {
    Error::operator(format!("{} and {} are no certificate and its private key.", cert.display(), key.display()))
}

fn handshake_failed(blame: Blame) -> Error {
    Error::new(blame, code::HANDSHAKE, "The TLS handshake failed.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_cannot_be_read_is_named() {
        let folder = tempfile::tempdir().expect("a folder");
        let cert = folder.path().join("cert.pem");
        let text = |result: Result<Acceptor>| result.err().expect("refused").to_string();
        assert!(text(Acceptor::load(&cert, &cert)).contains("cert.pem"));
        std::fs::write(&cert, "nothing of the kind").expect("written");
        assert!(text(Acceptor::load(&cert, &cert)).contains("no certificate in it"));
        let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).expect("a certificate");
        std::fs::write(&cert, made.cert.pem()).expect("written");
        let key = folder.path().join("key.pem");
        assert!(text(Acceptor::load(&cert, &key)).contains("key.pem"));
        std::fs::write(&key, made.signing_key.serialize_pem()).expect("written");
        assert!(Acceptor::load(&cert, &key).is_ok());
        let ca = folder.path().join("nowhere.pem");
        let error = Connector::new(&BackendTls::Verify { ca }).err().expect("refused");
        assert!(error.to_string().contains("nowhere.pem"));
    }
}
