//! Logging in: each plugin, each refusal, as on one MySQL.

use crate::common::{Answer, Both, Caps, Client, Login, Protocol, ServerError, on_each_server_by};

fn enter(port: u16, login: &Login) -> Client {
    enter_or(port, login).unwrap_or_else(|error| panic!("{login:?}: {error:?}"))
}

fn enter_or(port: u16, login: &Login) -> Result<Client, ServerError> {
    Client::login(port, login).unwrap_or_else(|lost| panic!("port {port}: {lost}"))
}

fn at_both(test: impl Fn(&mut Both)) {
    on_each_server_by(&[Protocol::Text], "", test);
}

/// The refusal of each side.
fn refusals(both: &Both, login: &Login) -> (ServerError, ServerError) {
    let refused = |port| enter_error(port, login);
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
                let mut client = enter(both.ports.1, &login);
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

#[test]
fn commands_that_are_for_others_get_the_servers_own_error() {
    at_both(|both| {
        let binlog_dump = [4u32.to_le_bytes().to_vec(), vec![0; 6]].concat();
        let commands: [(u8, &[u8]); 22] = [
            (0x00, b""),
            (0x05, b"x"),
            (0x06, b"x"),
            (0x07, b"\x01"),
            (0x08, b""),
            (0x0B, b""),
            (0x0C, b"\xFF\xFF\xFF\x7F"),
            (0x0D, b""),
            (0x0F, b""),
            (0x10, b""),
            (0x12, &binlog_dump),
            (0x13, b""),
            (0x14, b""),
            (0x15, b""),
            (0x1A, b"\x01\0\0\0"),
            (0x1B, b"\x07\0"),
            (0x1C, b"\x01\0\0\0\x01\0\0\0"),
            (0x1D, b""),
            (0x1E, b""),
            (0x20, b""),
            (0x02, b""),
            (0x50, b""),
        ];
        for (command, body) in commands {
            let (mut plain, mut proxied) = (enter(both.ports.0, &both.login), enter(both.ports.1, &both.login));
            let (plain, proxied) = (plain.simple(command, body), proxied.simple(command, body));
            assert_eq!(plain, proxied, "{} command {command:#04x}", both.flavour);
        }
    });
}

#[test]
fn a_tables_fields_are_listed() {
    on_each_server_by(&[Protocol::Text], "[schema.mall.table.t]\nkey = \"uid\"\ntables = 4\n", |both| {
        both.each("CREATE TABLE t (uid BIGINT NOT NULL PRIMARY KEY, s VARCHAR(20) DEFAULT 'x', n INT)");
        both.each("CREATE TABLE u (a INT, b INT)");
        for remove in [0, Caps::DEPRECATE_EOF] {
            let login = Login { remove, ..both.login.clone() };
            let (mut plain, mut proxied) = (enter(both.ports.0, &login), enter(both.ports.1, &login));
            for (table, pattern) in [("t", ""), ("t", "%s%"), ("u", ""), ("nothing", ""), ("t_0000", "")] {
                assert_eq!(plain.field_list(table, pattern), proxied.field_list(table, pattern), "{table} {pattern}");
            }
        }
    });
}

#[test]
fn another_user_begins_as_after_a_login() {
    at_both(|both| {
        for plugin in ["mysql_native_password", "caching_sha2_password"] {
            both.run("BEGIN");
            both.run("SET @a = 5, SESSION sql_mode = 'ANSI_QUOTES', NAMES latin1");
            both.plain.query("SELECT GET_LOCK('changed_plain', 1)");
            both.proxied.query("SELECT GET_LOCK('changed', 1)");
            // MySQL has no account that proves itself by the native plugin: it asks to switch.
            let login = Login { plugin: plugin.into(), ..both.login.clone() };
            let changed = [&mut both.plain, &mut both.proxied].map(|side| side.change_user(&login).expect("changed"));
            assert_eq!(changed[0], changed[1]);
            both.run("SELECT @a, @@sql_mode = 'ANSI_QUOTES', @@character_set_client, DATABASE(), USER()");
            both.run("SELECT @@autocommit, @@in_transaction + 0");
            let free = both.another().proxied.query("SELECT GET_LOCK('changed', 5) = 1 AS it_is_free");
            assert!(matches!(&free[..], [Answer::Rows(set)] if set.rows[0][0].as_deref() == Some(b"1")), "{free:?}");
            let nowhere = Login { database: None, ..login.clone() };
            let changed = [&mut both.plain, &mut both.proxied].map(|side| side.change_user(&nowhere).expect("changed"));
            assert_eq!(changed[0], changed[1]);
            both.run("SELECT DATABASE()");
            both.run("SELECT * FROM anything");
            both.each("USE mall");
        }
        let wrong = [
            Login { password: "wrong".into(), ..both.login.clone() },
            Login { password: String::new(), ..both.login.clone() },
            Login { database: Some("no_such_schema".into()), ..both.login.clone() },
        ];
        for login in wrong {
            let mut fresh = both.another();
            let refused =
                [&mut fresh.plain, &mut fresh.proxied].map(|side| side.change_user(&login).expect_err("refused"));
            assert_eq!(format!("{:?}", refused[0]), format!("{:?}", refused[1]));
            let after = [&mut fresh.plain, &mut fresh.proxied].map(|side| match side.simple(0x0E, &[]) {
                Answer::Lost(_) => "lost".to_owned(),
                other => format!("{other:?}"),
            });
            assert_eq!(after[0], after[1], "{refused:?}");
        }
    });
}

#[test]
fn guesses_of_a_password_are_slowed_and_right_ones_are_not() {
    at_both(|both| {
        let right = both.login.clone();
        let wrong = Login { password: "wrong".into(), ..right.clone() };
        let guesses = || enter_error(both.ports.1, &wrong);
        for _ in 0..3 {
            assert_eq!(guesses().code, 1045);
        }
        let several: Vec<_> = (0..5)
            .map(|_| {
                let (port, wrong) = (both.ports.1, wrong.clone());
                std::thread::spawn(move || enter_error(port, &wrong).code)
            })
            .collect();
        // In the meantime whoever knows the password gets in.
        drop(enter(both.ports.1, &right));
        let codes: Vec<u16> = several.into_iter().map(|guess| guess.join().expect("an answer")).collect();
        assert!(codes.iter().all(|code| matches!(code, 1045 | 1129)), "{codes:?}");
    });
}

fn enter_error(port: u16, login: &Login) -> ServerError {
    enter_or(port, login).err().unwrap_or_else(|| panic!("{login:?} was let in"))
}
