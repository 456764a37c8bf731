# The only commands: demo, test, test-clients, check, bench, soak. Each says what it installs before it does.

export PATH := $(HOME)/.cargo/bin:$(PATH)
SHELL := /bin/bash

.PHONY: help demo test test-clients check bench soak

help:
	@echo 'make demo    build, start two servers with 4 x 1024 subtables and the proxy, load sample data'
	@echo 'make test    all tests, on MariaDB and on MySQL'
	@echo 'make test-clients   the test suites of SQLAlchemy and mysqlclient through the proxy (some minutes)'
	@echo 'make check   format, lints, the order of modules, documentation'
	@echo 'make bench   Bifold beside a byte-copying proxy and a direct connection (about 5 minutes)'
	@echo 'make soak    sysbench for SOAK_MINUTES (10), watching memory, descriptors and errors'

demo:
	@scripts/need rust server client
	cargo build --release --locked
	@exec target/release/bifold demo

test:
	@scripts/need rust server mariadb client sysbench python-drivers
	@scripts/test

test-clients:
	@scripts/need rust server mariadb python-suites
	@scripts/test --test suites -- --ignored --nocapture --test-threads=1

check:
	@scripts/need rust
	cargo fmt --check
	cargo clippy --all-targets --locked -- -D warnings
	cargo test --locked --test floors --test papers
	RUSTDOCFLAGS='-D warnings' cargo doc --locked --no-deps --document-private-items

bench:
	@scripts/need rust server sysbench
	cargo bench --locked --bench proxy

soak:
	@scripts/need rust server sysbench
	cargo bench --locked --bench proxy -- soak
