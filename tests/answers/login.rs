//! Logging in: each plugin, each refusal, as on one MySQL.

use crate::common::{Answer, Both, Caps, Client, Login, Protocol, ServerError, on_each_server_by};

fn enter(port: u16, login: &Login) -> Result<Client, ServerError> {
    Client::login(port, login).unwrap_or_else(|lost| panic!("port {port}: {lost}"))
}

fn at_both(test: impl Fn(&mut Both)) {
    on_each_server_by(&[Protocol::Text], "", test);
}

/// The refusal of each side.
fn refusals(both: &Both, login: &Login) -> (ServerError, ServerError) {
    let refused = |port| enter(port, login).err().unwrap_or_else(|| panic!("{login:?} was let in at {port}"));
    (refused(both.ports.0), refused(both.ports.1))
}

#[test]
fn each_plugin_and_capability_gets_in() {
    at_both(|both| {
        for plugin in ["mysql_native_password", "caching_sha2_password", "some_other_plugin"] {
            for remove in [0, Caps::DEPRECATE_EOF, Caps::PLUGIN_AUTH, Caps::CONNECT_ATTRS] {
                let login = Login { plugin: plugin.to_owned(), remove, ..both.login.clone() };
                if remove == Caps::PLUGIN_AUTH && plugin != "mysql_native_password" {
                    continue;
                }
                let mut client = enter(both.ports.1, &login).unwrap_or_else(|error| panic!("{login:?}: {error:?}"));
                assert!(matches!(client.simple(0x0E, &[]), Answer::Ok(_)), "ping after {login:?}");
            }
        }
    });
}

#[test]
fn who_may_not_enter_hears_what_a_server_says() {
    at_both(|both| {
        let right = both.login.clone();
        for wrong in [
            Login { password: "wrong".into(), ..right.clone() },
            Login { password: String::new(), ..right.clone() },
            Login { user: "nobody".into(), ..right.clone() },
            Login { user: String::new(), ..right.clone() },
        ] {
            let (plain, proxied) = refusals(both, &wrong);
            // Of an account that does not exist MariaDB says that no password was used.
            let text = |error: &ServerError| error.text.split(" (using password").next().map(str::to_owned);
            assert_eq!((plain.code, &plain.state, text(&plain)), (proxied.code, &proxied.state, text(&proxied)));
            if wrong.user == right.user {
                assert_eq!(plain, proxied, "{wrong:?}");
            }
        }
        for database in ["mysql", "mall_0", "no_such_schema"] {
            let (plain, proxied) = refusals(both, &Login { database: Some(database.into()), ..right.clone() });
            // A physical database is as good as none: like one that the account has no right to.
            assert_eq!(plain, proxied, "{database}");
        }
    });
}

#[test]
fn what_the_proxy_advertises_is_what_it_takes() {
    at_both(|both| {
        let proxied = Client::connect(both.ports.1).expect("a greeting").greeting;
        let plain = Client::connect(both.ports.0).expect("a greeting").greeting;
        let missing = Caps::MODERN & plain.caps & !proxied.caps;
        assert_eq!(missing, 0, "capabilities that a modern client asks for: {missing:#x}");
        assert_eq!(plain.status, proxied.status);
        assert!(!proxied.version.is_empty());
    });
}

#[test]
fn simple_commands_answer_as_on_a_server() {
    at_both(|both| {
        // PING, INIT_DB, STATISTICS excepted, an unknown command, one that was removed.
        for (command, body) in
            [(0x0E, &b""[..]), (0x02, b"mall"), (0x02, b"no_such_schema"), (0x02, b"mysql"), (0x50, b"")]
        {
            let plain = both.plain.simple(command, body);
            let proxied = both.proxied.simple(command, body);
            assert_eq!(plain, proxied, "command {command:#04x} {:?}", String::from_utf8_lossy(body));
        }
    });
}
