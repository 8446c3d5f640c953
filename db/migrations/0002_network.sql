-- SPDX-License-Identifier: Apache-2.0

ALTER TABLE desktops ADD COLUMN network TEXT NOT NULL DEFAULT 'open';  -- "open" or "none"

-- What a desktop has reached, or tried to: one row for each destination.
CREATE TABLE destinations (
    desktop        TEXT NOT NULL,
    name           TEXT NOT NULL,               -- as the desktop asked for it; '' when by address
    address        TEXT NOT NULL,               -- the last one; '' when a name was refused
    port           INTEGER NOT NULL,
    protocol       TEXT NOT NULL,               -- "tcp", "udp", "icmp" or "dns"
    verdict        TEXT NOT NULL,               -- "allowed" or "refused"
    reason         TEXT NOT NULL,
    first_at       INTEGER NOT NULL,
    last_at        INTEGER NOT NULL,
    connections    INTEGER NOT NULL,
    bytes_sent     INTEGER NOT NULL,
    bytes_received INTEGER NOT NULL,
    subject        TEXT NOT NULL,               -- the name, else the address: what makes a row one
    PRIMARY KEY (desktop, subject, port, protocol, verdict)
) STRICT;

-- The last report of a desktop's network process that is in the table above:
-- one that comes again, after an interruption, is not counted twice.
CREATE TABLE destination_reports (
    desktop  TEXT PRIMARY KEY,
    reporter TEXT NOT NULL,                    -- a random word of each such process
    sequence INTEGER NOT NULL
) STRICT;
