-- +goose Up
-- Incidents may be about no target: a region that is blind.
-- This engine alone
-- A table that is dropped takes with it what refers to it, so that is copied along.
CREATE TABLE new_incidents (
    id                  INTEGER PRIMARY KEY AUTOINCREMENT,
    target_id           INTEGER REFERENCES targets (id) ON DELETE CASCADE, -- NULL: it is about no target
    first_slot_ms       INTEGER NOT NULL,
    severity            TEXT NOT NULL,
    subject             TEXT NOT NULL,
    cause               TEXT NOT NULL,
    opened_at_ms        INTEGER NOT NULL,
    acknowledged_at_ms  INTEGER,
    acknowledged_by     TEXT NOT NULL,
    resolved_at_ms      INTEGER,
    group_id            INTEGER REFERENCES incident_groups (id) ON DELETE SET NULL,
    UNIQUE (target_id, first_slot_ms)
);
INSERT INTO new_incidents SELECT id, target_id, first_slot_ms, severity, subject, cause, opened_at_ms, acknowledged_at_ms, acknowledged_by, resolved_at_ms, group_id FROM incidents;
CREATE TABLE new_incident_events (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    incident_id  INTEGER NOT NULL REFERENCES new_incidents (id) ON DELETE CASCADE,
    event_key    TEXT NOT NULL,
    kind         TEXT NOT NULL,
    at_ms        INTEGER NOT NULL,
    author       TEXT NOT NULL,
    text         TEXT NOT NULL,
    UNIQUE (incident_id, event_key)
);
INSERT INTO new_incident_events SELECT id, incident_id, event_key, kind, at_ms, author, text FROM incident_events;
CREATE TABLE new_outbox (
    id                   INTEGER PRIMARY KEY AUTOINCREMENT,
    idempotency_key      TEXT NOT NULL UNIQUE,
    incident_id          INTEGER NOT NULL REFERENCES new_incidents (id) ON DELETE CASCADE,
    channel_id           INTEGER NOT NULL REFERENCES channels (id) ON DELETE CASCADE,
    rule_id              INTEGER NOT NULL,
    event                TEXT NOT NULL,
    payload              TEXT NOT NULL,
    unless               TEXT NOT NULL,
    digest               TEXT NOT NULL,
    tell_acknowledged    BOOLEAN NOT NULL,
    tell_resolved        BOOLEAN NOT NULL,
    state                TEXT NOT NULL CHECK (state IN ('pending', 'sending', 'delivered', 'failed', 'cancelled')),
    created_at_ms        INTEGER NOT NULL,
    due_at_ms            INTEGER NOT NULL,
    next_attempt_at_ms   INTEGER NOT NULL,
    attempts             INTEGER NOT NULL,
    batch                TEXT NOT NULL,
    holder               TEXT NOT NULL,
    lease_until_ms       INTEGER,
    settled_at_ms        INTEGER
);
INSERT INTO new_outbox SELECT id, idempotency_key, incident_id, channel_id, rule_id, event, payload, unless, digest, tell_acknowledged, tell_resolved, state, created_at_ms, due_at_ms, next_attempt_at_ms, attempts, batch, holder, lease_until_ms, settled_at_ms FROM outbox;
UPDATE sqlite_sequence SET seq = (SELECT seq FROM sqlite_sequence WHERE name = 'incidents') WHERE name = 'new_incidents';
UPDATE sqlite_sequence SET seq = (SELECT seq FROM sqlite_sequence WHERE name = 'incident_events') WHERE name = 'new_incident_events';
UPDATE sqlite_sequence SET seq = (SELECT seq FROM sqlite_sequence WHERE name = 'outbox') WHERE name = 'new_outbox';
DROP TABLE outbox;
DROP TABLE incident_events;
DROP TABLE incidents;
ALTER TABLE new_incidents RENAME TO incidents;
ALTER TABLE new_incident_events RENAME TO incident_events;
ALTER TABLE new_outbox RENAME TO outbox;
CREATE INDEX incidents_newest ON incidents (opened_at_ms, id);
CREATE INDEX incidents_open ON incidents (target_id) WHERE resolved_at_ms IS NULL;
CREATE INDEX incidents_group ON incidents (group_id) WHERE group_id IS NOT NULL;
CREATE INDEX outbox_waiting ON outbox (channel_id, due_at_ms, id) WHERE settled_at_ms IS NULL;
CREATE INDEX outbox_incident ON outbox (incident_id, channel_id);
CREATE INDEX outbox_settled ON outbox (settled_at_ms) WHERE settled_at_ms IS NOT NULL;
-- Every engine

-- When a region could not be believed. Rows of results stay as they are: who judges leaves out
-- what lies in these.
CREATE TABLE blind_windows (
    id            INTEGER PRIMARY KEY AUTOINCREMENT,
    region        TEXT NOT NULL,
    sign          TEXT NOT NULL,            -- how it was found: canaries, mass_change
    from_ms       INTEGER NOT NULL,
    to_ms         INTEGER,                  -- NULL: it goes on
    why           TEXT NOT NULL,
    suspects      TEXT NOT NULL,            -- JSON: targets of which more than half are to be good again
    incident_id   INTEGER REFERENCES incidents (id) ON DELETE SET NULL, -- that tells people
    opened_at_ms  INTEGER NOT NULL,
    UNIQUE (region, sign, from_ms)
);
CREATE INDEX blind_windows_open ON blind_windows (region) WHERE to_ms IS NULL;
CREATE INDEX blind_windows_to ON blind_windows (to_ms);

-- +goose Down
DROP TABLE blind_windows;
-- This engine alone
CREATE TABLE new_incidents (
    id                  INTEGER PRIMARY KEY AUTOINCREMENT,
    target_id           INTEGER NOT NULL REFERENCES targets (id) ON DELETE CASCADE,
    first_slot_ms       INTEGER NOT NULL,
    severity            TEXT NOT NULL,
    subject             TEXT NOT NULL,
    cause               TEXT NOT NULL,
    opened_at_ms        INTEGER NOT NULL,
    acknowledged_at_ms  INTEGER,
    acknowledged_by     TEXT NOT NULL,
    resolved_at_ms      INTEGER,
    group_id            INTEGER REFERENCES incident_groups (id) ON DELETE SET NULL,
    UNIQUE (target_id, first_slot_ms)
);
INSERT INTO new_incidents SELECT id, target_id, first_slot_ms, severity, subject, cause, opened_at_ms, acknowledged_at_ms, acknowledged_by, resolved_at_ms, group_id FROM incidents WHERE target_id IS NOT NULL;
CREATE TABLE new_incident_events (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    incident_id  INTEGER NOT NULL REFERENCES new_incidents (id) ON DELETE CASCADE,
    event_key    TEXT NOT NULL,
    kind         TEXT NOT NULL,
    at_ms        INTEGER NOT NULL,
    author       TEXT NOT NULL,
    text         TEXT NOT NULL,
    UNIQUE (incident_id, event_key)
);
INSERT INTO new_incident_events SELECT id, incident_id, event_key, kind, at_ms, author, text FROM incident_events WHERE incident_id IN (SELECT id FROM new_incidents);
CREATE TABLE new_outbox (
    id                   INTEGER PRIMARY KEY AUTOINCREMENT,
    idempotency_key      TEXT NOT NULL UNIQUE,
    incident_id          INTEGER NOT NULL REFERENCES new_incidents (id) ON DELETE CASCADE,
    channel_id           INTEGER NOT NULL REFERENCES channels (id) ON DELETE CASCADE,
    rule_id              INTEGER NOT NULL,
    event                TEXT NOT NULL,
    payload              TEXT NOT NULL,
    unless               TEXT NOT NULL,
    digest               TEXT NOT NULL,
    tell_acknowledged    BOOLEAN NOT NULL,
    tell_resolved        BOOLEAN NOT NULL,
    state                TEXT NOT NULL CHECK (state IN ('pending', 'sending', 'delivered', 'failed', 'cancelled')),
    created_at_ms        INTEGER NOT NULL,
    due_at_ms            INTEGER NOT NULL,
    next_attempt_at_ms   INTEGER NOT NULL,
    attempts             INTEGER NOT NULL,
    batch                TEXT NOT NULL,
    holder               TEXT NOT NULL,
    lease_until_ms       INTEGER,
    settled_at_ms        INTEGER
);
INSERT INTO new_outbox SELECT id, idempotency_key, incident_id, channel_id, rule_id, event, payload, unless, digest, tell_acknowledged, tell_resolved, state, created_at_ms, due_at_ms, next_attempt_at_ms, attempts, batch, holder, lease_until_ms, settled_at_ms FROM outbox WHERE incident_id IN (SELECT id FROM new_incidents);
UPDATE sqlite_sequence SET seq = (SELECT seq FROM sqlite_sequence WHERE name = 'incidents') WHERE name = 'new_incidents';
UPDATE sqlite_sequence SET seq = (SELECT seq FROM sqlite_sequence WHERE name = 'incident_events') WHERE name = 'new_incident_events';
UPDATE sqlite_sequence SET seq = (SELECT seq FROM sqlite_sequence WHERE name = 'outbox') WHERE name = 'new_outbox';
DROP TABLE outbox;
DROP TABLE incident_events;
DROP TABLE incidents;
ALTER TABLE new_incidents RENAME TO incidents;
ALTER TABLE new_incident_events RENAME TO incident_events;
ALTER TABLE new_outbox RENAME TO outbox;
CREATE INDEX incidents_newest ON incidents (opened_at_ms, id);
CREATE INDEX incidents_open ON incidents (target_id) WHERE resolved_at_ms IS NULL;
CREATE INDEX incidents_group ON incidents (group_id) WHERE group_id IS NOT NULL;
CREATE INDEX outbox_waiting ON outbox (channel_id, due_at_ms, id) WHERE settled_at_ms IS NULL;
CREATE INDEX outbox_incident ON outbox (incident_id, channel_id);
CREATE INDEX outbox_settled ON outbox (settled_at_ms) WHERE settled_at_ms IS NOT NULL;
-- Every engine
