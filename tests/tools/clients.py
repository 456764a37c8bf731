"""clients.py DRIVER PORT: what an application does by PyMySQL or mysql-connector-python."""

import datetime
import decimal
import sys

sys.path.insert(0, "target/python")


def connect(driver, port):
    account = dict(host="127.0.0.1", port=port, user="app", password="app-secret", database="mall")
    if driver == "pymysql":
        import pymysql

        return pymysql.connect(charset="utf8mb4", **account)
    import mysql.connector

    # The C extension and the Python code are two clients; the first is not to be had everywhere.
    pure = driver != "connector" or not mysql.connector.HAVE_CEXT
    return mysql.connector.connect(use_pure=pure, charset="utf8mb4", **account)


def main(driver, port):
    con = connect(driver, port)
    cur = con.cursor(prepared=True) if driver.endswith("prepared") else con.cursor()
    cur.execute("DELETE FROM coin_record WHERE uid = 990042")
    con.commit()

    cur.execute(
        "INSERT INTO coin_record (uid, amount, reason, price, created_at) VALUES (%s, %s, %s, %s, %s)",
        (990042, 5, "geburtstag 🎂 it's", decimal.Decimal("12.50"), datetime.datetime(2026, 2, 3, 4, 5, 6)),
    )
    first = cur.lastrowid
    assert first > 1 << 40, first
    con.commit()

    cur.execute("SELECT id, amount, reason, price, created_at FROM coin_record WHERE uid = %s", (990042,))
    rows = cur.fetchall()
    assert len(rows) == 1, rows
    row = rows[0]
    assert (row[0], row[1], row[2]) == (first, 5, "geburtstag 🎂 it's"), row
    assert decimal.Decimal(str(row[3])) == decimal.Decimal("12.50"), row
    assert row[4] == datetime.datetime(2026, 2, 3, 4, 5, 6), row

    cur.execute("UPDATE coin_record SET amount = amount + 1 WHERE uid = %s", (990042,))
    assert cur.rowcount == 1, cur.rowcount
    con.rollback()
    cur.execute("SELECT amount FROM coin_record WHERE uid = %s", (990042,))
    assert cur.fetchall()[0][0] == 5

    rows = [(990042, n, "many") for n in range(50)]
    cur.executemany("INSERT INTO coin_record (uid, amount, reason) VALUES (%s, %s, %s)", rows)
    con.commit()
    cur.execute("SELECT COUNT(*), SUM(amount) FROM coin_record WHERE uid = %s AND reason = 'many'", (990042,))
    count, total = cur.fetchall()[0]
    assert (count, int(total)) == (50, 1225), (count, total)

    try:
        cur.execute("SELECT * FROM no_such_table WHERE a = %s", (1,))
        raise SystemExit("a missing table went unnoticed")
    except Exception as error:  # each driver has its own class
        assert "1146" in str(error) and "mall.no_such_table" in str(error), error
    con.close()

    again = connect(driver, port)
    again.ping()
    again.close()
    print("fine")


main(sys.argv[1], int(sys.argv[2]))
