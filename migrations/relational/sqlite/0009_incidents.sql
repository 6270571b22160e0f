-- +goose Up
-- Incidents of several targets with one cause.
CREATE TABLE incident_groups (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    kind            TEXT NOT NULL,
    value           TEXT NOT NULL,
    first_slot_ms   INTEGER NOT NULL,
    opened_at_ms    INTEGER NOT NULL,
    resolved_at_ms  INTEGER,
    UNIQUE (kind, value, first_slot_ms)
);

-- One row an incident. Its key is what makes a replay open none twice.
CREATE TABLE incidents (
    id                  INTEGER PRIMARY KEY AUTOINCREMENT,
    target_id           INTEGER NOT NULL REFERENCES targets (id) ON DELETE CASCADE,
    first_slot_ms       INTEGER NOT NULL,      -- the first failing one
    severity            TEXT NOT NULL,
    subject             TEXT NOT NULL,        -- JSON: the target as it was then
    cause               TEXT NOT NULL,        -- JSON
    opened_at_ms        INTEGER NOT NULL,
    acknowledged_at_ms  INTEGER,
    acknowledged_by     TEXT NOT NULL,
    resolved_at_ms      INTEGER,
    group_id            INTEGER REFERENCES incident_groups (id) ON DELETE SET NULL,
    UNIQUE (target_id, first_slot_ms)
);
CREATE INDEX incidents_newest ON incidents (opened_at_ms, id);
CREATE INDEX incidents_open ON incidents (target_id) WHERE resolved_at_ms IS NULL;
CREATE INDEX incidents_group ON incidents (group_id) WHERE group_id IS NOT NULL;

-- What happened in an incident, each thing once.
CREATE TABLE incident_events (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    incident_id  INTEGER NOT NULL REFERENCES incidents (id) ON DELETE CASCADE,
    event_key    TEXT NOT NULL,
    kind         TEXT NOT NULL,
    at_ms        INTEGER NOT NULL,
    author       TEXT NOT NULL,               -- as the audit log names who did it; '': the service
    text         TEXT NOT NULL,
    UNIQUE (incident_id, event_key)
);

CREATE TABLE channels (
    id             INTEGER PRIMARY KEY AUTOINCREMENT,
    name           TEXT NOT NULL UNIQUE,
    kind           TEXT NOT NULL,
    config         TEXT NOT NULL,             -- sealed
    enabled        BOOLEAN NOT NULL,
    version        INTEGER NOT NULL,           -- rises with every change
    created_at_ms  INTEGER NOT NULL,
    updated_at_ms  INTEGER NOT NULL
);

CREATE TABLE notification_rules (
    id             INTEGER PRIMARY KEY AUTOINCREMENT,
    name           TEXT NOT NULL UNIQUE,
    enabled        BOOLEAN NOT NULL,
    terms          TEXT NOT NULL,             -- JSON: what it matches, when it speaks, whom it tells
    version        INTEGER NOT NULL,
    created_at_ms  INTEGER NOT NULL,
    updated_at_ms  INTEGER NOT NULL
);

-- What is to be told, written in the transaction of what it tells of.
CREATE TABLE outbox (
    id                   INTEGER PRIMARY KEY AUTOINCREMENT,
    idempotency_key      TEXT NOT NULL UNIQUE,
    incident_id          INTEGER NOT NULL REFERENCES incidents (id) ON DELETE CASCADE,
    channel_id           INTEGER NOT NULL REFERENCES channels (id) ON DELETE CASCADE,
    rule_id              INTEGER NOT NULL,      -- that asked for it; it may be gone
    event                TEXT NOT NULL,
    payload              TEXT NOT NULL,       -- JSON: all that is said, fixed here
    unless               TEXT NOT NULL,       -- what makes it pointless: '', 'acknowledged', 'resolved'
    digest               TEXT NOT NULL,       -- those with the same one are told together; '': alone
    tell_acknowledged    BOOLEAN NOT NULL,    -- whoever hears this hears of that too
    tell_resolved        BOOLEAN NOT NULL,
    state                TEXT NOT NULL CHECK (state IN ('pending', 'sending', 'delivered', 'failed', 'cancelled')),
    created_at_ms        INTEGER NOT NULL,
    due_at_ms            INTEGER NOT NULL,
    next_attempt_at_ms   INTEGER NOT NULL,
    attempts             INTEGER NOT NULL,
    batch                TEXT NOT NULL,       -- key under which it was first sent; '': never
    holder               TEXT NOT NULL,
    lease_until_ms       INTEGER,              -- while it is being sent
    settled_at_ms        INTEGER
);
CREATE INDEX outbox_waiting ON outbox (channel_id, due_at_ms, id) WHERE settled_at_ms IS NULL;
CREATE INDEX outbox_incident ON outbox (incident_id, channel_id);
CREATE INDEX outbox_settled ON outbox (settled_at_ms) WHERE settled_at_ms IS NOT NULL;

-- Every attempt, with what came of it.
CREATE TABLE deliveries (
    id               INTEGER PRIMARY KEY AUTOINCREMENT,
    channel_id       INTEGER NOT NULL REFERENCES channels (id) ON DELETE CASCADE,
    incident_id      INTEGER NOT NULL,          -- 0: a test
    event            TEXT NOT NULL,
    idempotency_key  TEXT NOT NULL,
    attempt          INTEGER NOT NULL,
    at_ms            INTEGER NOT NULL,
    took_ms          INTEGER NOT NULL,
    outcome          TEXT NOT NULL CHECK (outcome IN ('delivered', 'retry', 'failed')),
    status           INTEGER NOT NULL,          -- of HTTP or SMTP; 0: there was no answer
    excerpt          TEXT NOT NULL             -- of what was answered, or why there was none; without secrets
);
CREATE INDEX deliveries_channel ON deliveries (channel_id, id);
CREATE INDEX deliveries_at ON deliveries (at_ms);

-- +goose Down
DROP TABLE deliveries;
DROP TABLE outbox;
DROP TABLE notification_rules;
DROP TABLE channels;
DROP TABLE incident_events;
DROP TABLE incidents;
DROP TABLE incident_groups;
