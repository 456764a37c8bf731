"""suites.py SUITE PORT: the tests that a driver's or a library's own authors wrote, run through the
proxy. Fails where a test fails that tests/tools/suites.expected does not list with a reason."""

import glob
import os
import re
import subprocess
import sys

FOLDER = os.path.abspath("target/suites")
PYTHON = os.path.join(FOLDER, "venv/bin/python")
# A hung suite is a failed one.
SECONDS = 900


def sqlalchemy(port):
    url = f"mysql+pymysql://suites:suites-secret@127.0.0.1:{port}/test?charset=utf8mb4"
    tests = ["test/dialect/test_suite.py", "test/dialect/mysql"]
    return "sqlalchemy-*", tests, ["--dburi", url, "-p", "no:logging", "--maxfail=10000"], {}


def mysqlclient(port):
    config = os.path.join(FOLDER, "mysqlclient.cnf")
    account = f"host=127.0.0.1\nport={port}\nuser=suites\npassword=suites-secret\ndatabase=test\n"
    with open(config, "w") as file:
        file.write(f"[MySQLdb-tests]\n{account}default-character-set=utf8mb4\n")
    return "mysqlclient-*", ["tests"], [], {"TESTDB": config}


def run(suite, port):
    """What failed, by names that say nothing of the server, and pytest's last line."""
    pattern, tests, options, more = {"sqlalchemy": sqlalchemy, "mysqlclient": mysqlclient}[suite](port)
    [folder] = [path for path in glob.glob(os.path.join(FOLDER, pattern)) if os.path.isdir(path)]
    command = [PYTHON, "-m", "pytest", "-q", "-rfE", "--tb=line", "-p", "no:cacheprovider", *options, *tests]
    ran = subprocess.run(
        command, cwd=folder, env={**os.environ, **more}, timeout=SECONDS, text=True, errors="replace",
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )
    lines = ran.stdout.rstrip().splitlines()
    # 0 and 1: the tests ran, and all or some of them passed.
    if ran.returncode not in (0, 1):
        sys.exit("\n".join(lines[-40:]))
    failed = [line.split(" - ")[0].split(" ", 1)[1] for line in lines if line.startswith(("FAILED ", "ERROR "))]
    return {re.sub(r"_(mysql|mariadb)\+[^:]*", "", name) for name in failed}, lines


def expected(suite):
    with open("tests/tools/suites.expected") as file:
        lines = [line.split() for line in file if line.strip() and not line.startswith("#")]
    return {line[1] for line in lines if line[0] == suite}


def main(suite, port):
    failed, lines = run(suite, port)
    listed = expected(suite)
    print(f"{suite}: {lines[-1].strip('= ')}")
    for name in sorted(listed - failed):
        print(f"{suite}: {name} is listed and did not fail")
    if failed - listed:
        print("\n".join(line for line in lines if "rror" in line)[-6000:])
        sys.exit("not expected:\n" + "\n".join(sorted(failed - listed)))


main(*sys.argv[1:])
