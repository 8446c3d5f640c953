-- SPDX-License-Identifier: Apache-2.0

ALTER TABLE desktops ADD COLUMN labels TEXT NOT NULL DEFAULT '';      -- "key=value", one a line
ALTER TABLE desktops ADD COLUMN updated_at INTEGER NOT NULL DEFAULT 0;
ALTER TABLE desktops ADD COLUMN created_by TEXT NOT NULL DEFAULT '';  -- id of the token
UPDATE desktops SET updated_at = created_at;

-- What a token is limited to; '' is no limit. Lists are words with spaces between them.
ALTER TABLE tokens ADD COLUMN desktops TEXT NOT NULL DEFAULT '';
ALTER TABLE tokens ADD COLUMN label TEXT NOT NULL DEFAULT '';         -- "key=value"
ALTER TABLE tokens ADD COLUMN commands TEXT NOT NULL DEFAULT '';
ALTER TABLE tokens ADD COLUMN expires_at INTEGER;

-- Looks that repeat are one row.
ALTER TABLE audit ADD COLUMN count INTEGER NOT NULL DEFAULT 1;
ALTER TABLE audit ADD COLUMN last_at INTEGER;                         -- of the last of them; NULL: at
CREATE INDEX audit_by_time ON audit (at);
CREATE INDEX audit_by_token ON audit (token, number);
CREATE INDEX audit_by_desktop ON audit (desktop, number);

-- Requests that carried an idempotency key.
CREATE TABLE idempotency (
    token       TEXT NOT NULL,                 -- id
    key         TEXT NOT NULL,
    fingerprint BLOB NOT NULL,                 -- of what was asked for
    made        TEXT,                          -- id of the desktop that it makes
    answer      BLOB,                          -- sealed; NULL while it is in progress
    created_at  INTEGER NOT NULL,
    PRIMARY KEY (token, key)
) STRICT;
CREATE INDEX idempotency_by_time ON idempotency (created_at);

-- Operations, from their beginning on; forgotten some time after their end.
CREATE TABLE operations (
    id          TEXT PRIMARY KEY,
    kind        TEXT NOT NULL,
    token       TEXT NOT NULL,
    desktop     TEXT,
    image       TEXT,                          -- name of the template
    state       TEXT NOT NULL,
    step        TEXT NOT NULL,
    error_code  TEXT,
    error       TEXT,
    hint        TEXT,
    created_at  INTEGER NOT NULL,
    finished_at INTEGER
) STRICT;

-- Numbers that only grow, from one daemon to the next.
CREATE TABLE counters (
    name  TEXT PRIMARY KEY,
    value INTEGER NOT NULL
) STRICT;
