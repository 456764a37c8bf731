//! A session on the plain server and one through the proxy, led side by side.

use bifold::lab::Flavour;

use super::compare::{Mask, differences};
use super::packets::{Answer, Param};
use super::raw::{Client, Login};

/// How statements are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    Text,
    /// COM_STMT_PREPARE and COM_STMT_EXECUTE; what can't be prepared goes as text after that
    /// refusal was compared too.
    Prepared,
}

/// "This command is not supported in the prepared statement protocol yet".
const NOT_PREPARABLE: u16 = 1295;

/// Odd, so that lines are cut anywhere.
const FILE_PACKET: usize = 7919;

pub struct Both {
    pub plain: Client,
    pub proxied: Client,
    pub flavour: Flavour,
    pub protocol: Protocol,
    /// Where further sessions of each side connect.
    pub ports: (u16, u16),
    pub login: Login,
}

impl Both {
    /// Logs in at both with the same account and wishes.
    #[track_caller]
    pub fn new(ports: (u16, u16), login: Login, flavour: Flavour, protocol: Protocol) -> Both {
        let enter = |port, side: &str| {
            Client::login(port, &login)
                .unwrap_or_else(|lost| panic!("{side}: {lost}"))
                .unwrap_or_else(|error| panic!("{side}: {error:?}"))
        };
        Both { plain: enter(ports.0, "plain"), proxied: enter(ports.1, "proxied"), flavour, protocol, ports, login }
    }

    /// Another pair of sessions beside this one.
    #[track_caller]
    pub fn another(&self) -> Both {
        Both::new(self.ports, self.login.clone(), self.flavour, self.protocol)
    }

    /// Runs the statement on both and panics where anything differs; the answers of the proxy.
    #[track_caller]
    pub fn run(&mut self, sql: &str) -> Vec<Answer> {
        self.run_masked(sql, &[], &Mask::default())
    }

    /// With parameters for its `?`; under the text protocol they are put in as literals.
    #[track_caller]
    pub fn run_with(&mut self, sql: &str, params: &[Param]) -> Vec<Answer> {
        self.run_masked(sql, params, &Mask::default())
    }

    #[track_caller]
    pub fn run_masked(&mut self, sql: &str, params: &[Param], mask: &Mask) -> Vec<Answer> {
        let protocol = self.protocol;
        let plain = send(&mut self.plain, protocol, sql, params);
        let proxied = send(&mut self.proxied, protocol, sql, params);
        let mut found = differences(sql, &plain, &proxied, mask);
        if found.is_empty() && plain.iter().any(|answer| answer.warnings() > 0) {
            found = self.different_warnings(mask);
        }
        assert!(
            found.is_empty(),
            "{} {protocol:?}: {sql}\n  {}\nplain: {plain:#?}\nproxied: {proxied:#?}",
            self.flavour,
            found.join("\n  "),
        );
        proxied
    }

    /// LOAD DATA LOCAL of a file in packets of some bytes; panics where anything differs.
    #[track_caller]
    pub fn load(&mut self, sql: &str, file: &[u8]) -> Answer {
        let packets: Vec<&[u8]> = file.chunks(FILE_PACKET).collect();
        let plain = self.plain.load(sql, &packets);
        let proxied = self.proxied.load(sql, &packets);
        let mask = Mask::default();
        let mut found = differences(sql, std::slice::from_ref(&plain), std::slice::from_ref(&proxied), &mask);
        if found.is_empty() && plain.warnings() > 0 {
            found = self.different_warnings(&mask);
        }
        assert!(
            found.is_empty(),
            "{}: {sql}\n  {}\nplain: {plain:#?}\nproxied: {proxied:#?}",
            self.flavour,
            found.join("\n  "),
        );
        proxied
    }

    /// Both must succeed, whatever they answer: for setting things up.
    #[track_caller]
    pub fn each(&mut self, sql: &str) {
        for (side, client) in [("plain", &mut self.plain), ("proxied", &mut self.proxied)] {
            for answer in client.query(sql) {
                assert!(matches!(answer, Answer::Ok(_) | Answer::Rows(_)), "{side}: {sql}: {answer:?}");
            }
        }
    }

    /// The proxy refuses with error 1235 and a sentence that holds `words`, and the session goes on.
    #[track_caller]
    pub fn refused(&mut self, sql: &str, words: &str) {
        let answers = send(&mut self.proxied, self.protocol, sql, &[]);
        match answers.as_slice() {
            [Answer::Err(error)] if error.code == 1235 && error.state == "42000" && error.text.contains(words) => {}
            other => panic!("{}: {sql}: no refusal with {words:?} but {other:#?}", self.flavour),
        }
        let after = self.proxied.query("SELECT 1");
        assert!(matches!(after.as_slice(), [Answer::Rows(_)]), "after the refusal of {sql}: {after:?}");
    }

    /// What each side answers, for comparisons of the test's own.
    pub fn answers(&mut self, sql: &str, params: &[Param]) -> (Vec<Answer>, Vec<Answer>) {
        (send(&mut self.plain, self.protocol, sql, params), send(&mut self.proxied, self.protocol, sql, params))
    }

    /// What each side answers; nothing where the proxy refuses, and then the plain side isn't asked.
    pub fn unless_refused(&mut self, sql: &str, params: &[Param]) -> Option<(Vec<Answer>, Vec<Answer>)> {
        let proxied = send(&mut self.proxied, self.protocol, sql, params);
        let refused =
            matches!(proxied.as_slice(), [Answer::Err(error)] if error.code == 1235 && error.text.contains("Bifold:"));
        (!refused).then(|| (send(&mut self.plain, self.protocol, sql, params), proxied))
    }

    fn different_warnings(&mut self, mask: &Mask) -> Vec<String> {
        let plain = self.plain.query("SHOW WARNINGS");
        let proxied = self.proxied.query("SHOW WARNINGS");
        // Their order is the order of discovery: part of the answer.
        differences("SHOW WARNINGS /* ORDER BY */", &plain, &proxied, mask)
    }
}

/// Sends one statement and takes all its answers.
pub(super) fn send(client: &mut Client, protocol: Protocol, sql: &str, params: &[Param]) -> Vec<Answer> {
    if protocol == Protocol::Text {
        return client.query(inlined(sql, params));
    }
    let statement = match client.prepare(sql) {
        Ok(statement) => statement,
        Err(Answer::Err(error)) if error.code == NOT_PREPARABLE => return client.query(inlined(sql, params)),
        Err(answer) => return vec![answer],
    };
    if statement.params.len() != params.len() {
        let text = format!("{} parameters for {} in the statement", params.len(), statement.params.len());
        return vec![Answer::Lost(text)];
    }
    let answers = client.execute(&statement, params);
    client.close(statement);
    answers
}

/// The statement with each `?` replaced; the statements of tests have none within strings.
fn inlined(sql: &str, params: &[Param]) -> String {
    let mut parts = sql.split('?');
    let mut text = parts.next().unwrap_or_default().to_owned();
    let mut params = params.iter();
    for part in parts {
        text += &params.next().map_or("?".to_owned(), Param::literal);
        text += part;
    }
    text
}
