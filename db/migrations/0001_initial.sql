-- SPDX-License-Identifier: Apache-2.0
-- Times are milliseconds since 1970, UTC.

CREATE TABLE desktops (
    id            TEXT PRIMARY KEY,
    name          TEXT NOT NULL UNIQUE,
    image         TEXT NOT NULL,               -- name of the template
    template_hash TEXT NOT NULL,               -- of the recipe that was baked
    state         TEXT NOT NULL,
    reason        TEXT,                        -- why it failed
    vm_uuid       TEXT NOT NULL,
    memory_mib    INTEGER NOT NULL,
    cpus          INTEGER NOT NULL,
    screen_width  INTEGER NOT NULL,
    screen_height INTEGER NOT NULL,
    accelerator   TEXT NOT NULL,
    created_at    INTEGER NOT NULL,
    started_at    INTEGER,
    exit_status   TEXT,                        -- how QEMU ended the last time
    exit_output   TEXT                         -- its last lines, a JSON list
) STRICT;

-- Of a token only the hash is kept: who reads this file cannot use one.
CREATE TABLE tokens (
    id           TEXT PRIMARY KEY,
    name         TEXT NOT NULL,
    scope        TEXT NOT NULL,
    hash         BLOB NOT NULL UNIQUE,
    created_at   INTEGER NOT NULL,
    last_used_at INTEGER
) STRICT;

-- One row for each command. No foreign keys: it outlives what it tells of.
CREATE TABLE audit (
    number      INTEGER PRIMARY KEY AUTOINCREMENT,
    at          INTEGER NOT NULL,
    token       TEXT NOT NULL,
    desktop     TEXT,
    command     TEXT NOT NULL,
    outcome     TEXT NOT NULL,                 -- "ok" or the name of the error's code
    detail      TEXT NOT NULL,                 -- short; never a secret or typed text
    duration_ms INTEGER NOT NULL
) STRICT;
