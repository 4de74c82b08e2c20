"""Changes to a report: to its cells, rows, columns and tables, or to the bytes of its file."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from random import Random

EXTREMES = (
    *(None, -1, 0, 1, 255, 2**15, 2**16, 2**31 - 1, 2**31, -(2**31), 2**32, 2**53, 2**53 + 1, -(2**53), 2**62),
    *(2**63 - 1, -(2**63), 0.5, 1e300, float("inf"), float("-inf"), b"", b"\0\xff", "", "text", "12"),
)
TEXTS = (
    *(
        "",
        " ",
        "a\0b",
        "\x1b[2J\x1b]0;owned\x07",
        "\u202egnp.exe",
        "a\u2028b\r\nc\td",
        "\N{ZERO WIDTH SPACE}",
        "\ufffe",
    ),
    *("=1+1", "@SUM(A1)", "<script>alert(1)</script>", "</svg><b>", "|a|b|\n# c", "[x](javascript:y)", "{{ 7 * 7 }}"),
    *("../../etc/passwd", "/a/b:c", "%s%n", "a / b", "step 99999999999999999999999", "$\\frac{$", b"\xff\xfe\xc3"),
)
_LONG = "long " * 200_000
_HEADER = 100


def mutate_tables(path: Path, random: Random, most: int = 4) -> list[str]:
    """Changes a report by SQL, up to `most` times; says how."""
    done = []
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = OFF")
        connection.execute("PRAGMA synchronous = OFF")
        for _ in range(random.randint(1, most)):
            change = random.choices(list(_CHANGES), list(_CHANGES.values()))[0]
            with suppress(sqlite3.Error):  # some changes do not fit some tables
                done.append(change(connection, random))
    return done


def mutate_bytes(path: Path, random: Random) -> list[str]:
    """Changes the bytes of a file, as a bad disk, a cut download or an attacker would; says how."""
    content = bytearray(path.read_bytes())
    done = [random.choice(_BYTE_CHANGES)(content, random) for _ in range(random.randint(1, 4))]
    path.write_bytes(content)
    return done


# --- tables


def _tables(connection: sqlite3.Connection) -> list[str]:
    return [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")]


def _a_table(connection: sqlite3.Connection, random: Random) -> str:
    """A table, more often one that an analysis reads than a list of names for numbers."""
    tables = _tables(connection)
    events = [table for table in tables if not table.startswith("ENUM_")]
    return random.choice(events or tables)


def _a_column(connection: sqlite3.Connection, table: str, random: Random) -> str:
    return str(random.choice([row[1] for row in connection.execute(f'PRAGMA table_info("{table}")')]))


def _some_rows(random: Random) -> str:
    divisor = random.choice((1, 1, 2, 3, 7, 50, 1000))
    return f"rowid % {divisor} = {random.randrange(divisor)}"


def _cells(connection: sqlite3.Connection, random: Random) -> str:
    table = _a_table(connection, random)
    column, rows = _a_column(connection, table, random), _some_rows(random)
    value = random.choice(EXTREMES if random.randrange(3) else TEXTS)
    connection.execute(f'UPDATE "{table}" SET "{column}" = ? WHERE {rows}', [value])
    return f"{table}.{column} = {value!r} where {rows}"


def _texts(connection: sqlite3.Connection, random: Random) -> str:
    table, column = random.choice(
        (("StringIds", "value"), ("NVTX_EVENTS", "text"), ("PROCESSES", "name"), ("META_DATA_CAPTURE", "value"))
    )
    rows, value = _some_rows(random), _LONG if random.randrange(20) == 0 else random.choice(TEXTS)
    connection.execute(f'UPDATE "{table}" SET "{column}" = CAST(? AS TEXT) WHERE {rows}', [value])
    return f"{table}.{column} = {value[:30]!r} where {rows}"


def _shifted(connection: sqlite3.Connection, random: Random) -> str:
    """Numbers plus or times something, which overflows to floating point at times."""
    table = _a_table(connection, random)
    column, rows = _a_column(connection, table, random), _some_rows(random)
    formula = random.choice(("+ 1", "- 1", "* -1", "+ 4611686018427387904", "* 1000000007", "% 2", "/ 0", "<< 8"))
    connection.execute(f'UPDATE "{table}" SET "{column}" = "{column}" {formula} WHERE {rows}')
    return f"{table}.{column} {formula} where {rows}"


def _reversed(connection: sqlite3.Connection, random: Random) -> str:
    table, rows = _a_table(connection, random), _some_rows(random)
    connection.execute(f'UPDATE "{table}" SET start = end, end = start WHERE {rows}')
    return f"{table} reversed where {rows}"


def _mixed_up(connection: sqlite3.Connection, random: Random) -> str:
    """One column's values in another: ids that point nowhere, times that are names."""
    table, rows = _a_table(connection, random), _some_rows(random)
    one, other = _a_column(connection, table, random), _a_column(connection, table, random)
    connection.execute(f'UPDATE "{table}" SET "{one}" = "{other}" WHERE {rows}')
    return f"{table}.{one} = {other} where {rows}"


def _doubled(connection: sqlite3.Connection, random: Random) -> str:
    table, rows = _a_table(connection, random), _some_rows(random)
    connection.execute(f'INSERT INTO "{table}" SELECT * FROM "{table}" WHERE {rows}')
    return f"{table} doubled where {rows}"


def _deleted(connection: sqlite3.Connection, random: Random) -> str:
    table, rows = _a_table(connection, random), _some_rows(random)
    connection.execute(f'DELETE FROM "{table}" WHERE {rows}')
    return f"{table} deleted where {rows}"


def _without_column(connection: sqlite3.Connection, random: Random) -> str:
    table = _a_table(connection, random)
    column = _a_column(connection, table, random)
    connection.execute(f'ALTER TABLE "{table}" DROP COLUMN "{column}"')
    return f"{table} without {column}"


def _renamed_column(connection: sqlite3.Connection, random: Random) -> str:
    table = _a_table(connection, random)
    column = _a_column(connection, table, random)
    connection.execute(f'ALTER TABLE "{table}" RENAME COLUMN "{column}" TO "{column}_"')
    return f"{table}.{column} renamed"


def _without_table(connection: sqlite3.Connection, random: Random) -> str:
    table = _a_table(connection, random)
    connection.execute(f'DROP TABLE "{table}"')
    return f"without {table}"


def _renamed_table(connection: sqlite3.Connection, random: Random) -> str:
    table = _a_table(connection, random)
    name = f"{table}_V{random.choice((2, 3, 99999999999999999999))}"
    connection.execute(f'ALTER TABLE "{table}" RENAME TO "{name}"')
    return f"{table} renamed to {name}"


def _view(connection: sqlite3.Connection, random: Random) -> str:
    """A view that pretends to be a table, one without an end at times."""
    table = _a_table(connection, random)
    endless = (
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i AS id, i AS start, i AS end FROM n"
    )
    connection.execute(f'ALTER TABLE "{table}" RENAME TO "was {table}"')
    body = random.choice((f'SELECT * FROM "was {table}"', endless))
    connection.execute(f'CREATE VIEW "{table}" AS {body}')
    return f"{table} is a view: {body[:20]}"


def _trigger(connection: sqlite3.Connection, random: Random) -> str:
    table = _a_table(connection, random)
    connection.execute(f'CREATE TRIGGER t AFTER INSERT ON "{table}" BEGIN INSERT INTO "{table}" DEFAULT VALUES; END')
    return f"trigger on {table}"


def _keyed(connection: sqlite3.Connection, random: Random) -> str:
    """A table without rowids."""
    table = _a_table(connection, random)
    columns = [row[1] for row in connection.execute(f'PRAGMA table_info("{table}")')]
    connection.execute(f'ALTER TABLE "{table}" RENAME TO "was {table}"')
    listed = ", ".join(f'"{column}"' for column in columns)
    connection.execute(f'CREATE TABLE "{table}" ({listed}, PRIMARY KEY ({listed})) WITHOUT ROWID')
    connection.execute(f'INSERT OR IGNORE INTO "{table}" SELECT * FROM "was {table}"')
    return f"{table} without rowids"


def _schema(connection: sqlite3.Connection, random: Random) -> str:
    """A schema that nobody would have been allowed to write."""
    table, other = _a_table(connection, random), _a_table(connection, random)
    connection.execute("PRAGMA writable_schema = ON")
    change, values = random.choice(
        (
            ("rootpage = (SELECT rootpage FROM sqlite_master WHERE name = ?)", (other,)),
            ("rootpage = ?", (random.choice((0, 1, 2, 999_999_999)),)),
            ("sql = ?", (f'CREATE TABLE "{table}" (start INT, end INT, name TEXT, value, id INTEGER PRIMARY KEY)',)),
            ("sql = ?", (f'CREATE VIRTUAL TABLE "{table}" USING fts5(id, value)',)),
            ("sql = ?", ("SELECT load_extension('x')",)),
            ("type = ?", ("view",)),
        )
    )
    connection.execute(f"UPDATE sqlite_master SET {change} WHERE name = ?", (*values, table))
    return f"schema of {table}: {change} {values}"


_CHANGES: dict[Callable[[sqlite3.Connection, Random], str], int] = {
    _cells: 40,
    _texts: 12,
    _shifted: 15,
    _reversed: 6,
    _mixed_up: 10,
    _doubled: 4,
    _deleted: 6,
    _without_column: 10,
    _renamed_column: 3,
    _without_table: 6,
    _renamed_table: 3,
    _view: 4,
    _trigger: 2,
    _keyed: 2,
    _schema: 3,
}


# --- bytes


def _place(content: bytearray, random: Random) -> int:
    """A place in the file: anywhere, in its header, or at the beginning of a page."""
    if not content:
        return 0
    where = random.randrange(4)
    if where == 0:
        return random.randrange(min(_HEADER, len(content)))
    if where == 1:
        return random.randrange(0, len(content), 4096) + random.randrange(16)
    return random.randrange(len(content))


def _flipped(content: bytearray, random: Random) -> str:
    places = [_place(content, random) for _ in range(random.choice((1, 1, 3, 30)))]
    for place in places:
        if place < len(content):
            content[place] ^= 1 << random.randrange(8)
    return f"bits flipped at {places[:3]}"


def _overwritten(content: bytearray, random: Random) -> str:
    place, length = _place(content, random), random.choice((1, 2, 4, 8, 100, 4096))
    filler = random.choice((b"\0", b"\xff", b"\x7f", b"\x80", b"A"))
    there = min(length, max(len(content) - place, 0))
    content[place : place + there] = filler * there
    return f"{there} bytes of {filler!r} at {place}"


def _page_copied(content: bytearray, random: Random) -> str:
    pages = max(len(content) // 4096, 1)
    one, other = random.randrange(pages) * 4096, random.randrange(pages) * 4096
    content[one : one + 4096] = content[other : other + 4096]
    return f"page at {one} replaced by that at {other}"


def _cut(content: bytearray, random: Random) -> str:
    length = random.randrange(len(content) + 1)
    del content[length:]
    return f"cut to {length} bytes"


def _grown(content: bytearray, random: Random) -> str:
    more = random.choice((1, 100, 4096, 100_000))
    content.extend(random.randbytes(more))
    return f"{more} bytes more"


_BYTE_CHANGES = (_flipped, _flipped, _flipped, _overwritten, _overwritten, _overwritten, _page_copied, _cut, _grown)
