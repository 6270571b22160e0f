-- +goose Up
-- Instants are Unix milliseconds (UTC) in columns ending in _ms: the same on every engine.
CREATE TABLE targets (
    id             INTEGER PRIMARY KEY AUTOINCREMENT,
    name           TEXT NOT NULL UNIQUE,
    url            TEXT NOT NULL,
    kind           TEXT NOT NULL,
    interval_s     INTEGER NOT NULL,
    timeout_ms     INTEGER NOT NULL,
    regions        TEXT NOT NULL,          -- JSON array, sorted; [] means every region
    active         BOOLEAN NOT NULL,
    expect         TEXT NOT NULL,          -- JSON object
    spec_version   INTEGER NOT NULL,          -- schedule_seq of the last change
    created_at_ms  INTEGER NOT NULL,
    updated_at_ms  INTEGER NOT NULL
);

-- One row. Incremented first in every transaction that changes what is due, so
-- that sequence order is commit order: a reader at seq N has seen all before N.
CREATE TABLE schedule_counter (
    id   INTEGER PRIMARY KEY CHECK (id = 1),
    seq  INTEGER NOT NULL
);
INSERT INTO schedule_counter (id, seq) VALUES (1, 0);

-- Every change of what is due. effective_from_ms is NULL until a publisher adopts it.
CREATE TABLE schedule_versions (
    seq                INTEGER PRIMARY KEY,
    target_id          INTEGER NOT NULL,
    interval_s         INTEGER NOT NULL,
    regions            TEXT NOT NULL,
    active             BOOLEAN NOT NULL,
    deleted            BOOLEAN NOT NULL,
    effective_from_ms  INTEGER,
    created_at_ms      INTEGER NOT NULL,
    purged_at_ms       INTEGER                -- deleted versions: when the target's rows were removed
);
CREATE INDEX schedule_versions_target ON schedule_versions (target_id, seq);
CREATE INDEX schedule_versions_pending ON schedule_versions (seq) WHERE effective_from_ms IS NULL;
CREATE INDEX schedule_versions_unpurged ON schedule_versions (target_id) WHERE deleted AND purged_at_ms IS NULL;

CREATE TABLE region_versions (
    seq                INTEGER PRIMARY KEY,
    region             TEXT NOT NULL,
    active             BOOLEAN NOT NULL,
    effective_from_ms  INTEGER,
    created_at_ms      INTEGER NOT NULL
);
CREATE INDEX region_versions_region ON region_versions (region, seq);

-- Stretches whose cause is known; the sweep takes its reason from here.
CREATE TABLE gaps (
    id             INTEGER PRIMARY KEY AUTOINCREMENT,
    reason         TEXT NOT NULL,
    from_ms        INTEGER NOT NULL,
    to_ms          INTEGER NOT NULL,
    created_at_ms  INTEGER NOT NULL
);

-- One row: every slot before swept_to_ms has been explained.
CREATE TABLE ledger_sweep (
    id           INTEGER PRIMARY KEY CHECK (id = 1),
    swept_to_ms  INTEGER NOT NULL
);

CREATE TABLE users (
    id             INTEGER PRIMARY KEY AUTOINCREMENT,
    email          TEXT NOT NULL UNIQUE,
    name           TEXT NOT NULL,
    password_hash  TEXT NOT NULL,
    role           TEXT NOT NULL CHECK (role IN ('owner', 'editor', 'viewer')),
    created_at_ms  INTEGER NOT NULL
);

CREATE TABLE sessions (
    token_hash       TEXT PRIMARY KEY,
    user_id          INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    created_at_ms    INTEGER NOT NULL,
    last_seen_at_ms  INTEGER NOT NULL,
    expires_at_ms    INTEGER NOT NULL
);
CREATE INDEX sessions_user ON sessions (user_id);

CREATE TABLE api_keys (
    id               INTEGER PRIMARY KEY AUTOINCREMENT,
    name             TEXT NOT NULL,
    prefix           TEXT NOT NULL,
    key_hash         TEXT NOT NULL UNIQUE,
    role             TEXT NOT NULL CHECK (role IN ('owner', 'editor', 'viewer')),
    created_at_ms    INTEGER NOT NULL,
    last_used_at_ms  INTEGER,
    expires_at_ms    INTEGER,
    revoked_at_ms    INTEGER
);

-- One row: the token of the set-up link, until the first owner exists.
CREATE TABLE setup_tokens (
    id             INTEGER PRIMARY KEY CHECK (id = 1),
    token_hash     TEXT NOT NULL,
    created_at_ms  INTEGER NOT NULL,
    used_at_ms     INTEGER
);

-- Answers kept for 24 h so that a repeated write with the same key repeats the answer, not the write.
CREATE TABLE idempotency_keys (
    actor          TEXT NOT NULL,
    key            TEXT NOT NULL,
    request_hash   TEXT NOT NULL,
    status         INTEGER NOT NULL,
    body           TEXT NOT NULL,
    created_at_ms  INTEGER NOT NULL,
    PRIMARY KEY (actor, key)
);

CREATE TABLE audit_log (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    at_ms      INTEGER NOT NULL,
    actor      TEXT NOT NULL,
    action     TEXT NOT NULL,
    object     TEXT NOT NULL,
    detail     TEXT NOT NULL
);

-- +goose Down
DROP TABLE audit_log;
DROP TABLE idempotency_keys;
DROP TABLE setup_tokens;
DROP TABLE api_keys;
DROP TABLE sessions;
DROP TABLE users;
DROP TABLE ledger_sweep;
DROP TABLE gaps;
DROP TABLE region_versions;
DROP TABLE schedule_versions;
DROP TABLE schedule_counter;
DROP TABLE targets;
