-- +goose Up
-- One row a check on demand, kept for a week. An open one belongs to the API node that
-- leased it; when that node is gone another one takes it.
CREATE TABLE jobs (
    id                  TEXT PRIMARY KEY,   -- made by the API: it accepts jobs while this table cannot be written
    url                 TEXT NOT NULL,
    url_hash            TEXT NOT NULL,      -- what is looked up: urls are longer than keys may be
    kind                TEXT NOT NULL,
    timeout_ms          INTEGER NOT NULL,
    spec                TEXT NOT NULL,
    regions             TEXT NOT NULL,      -- a JSON list
    target_id           INTEGER NOT NULL,    -- the saved target it previews; 0: none
    created_by          TEXT NOT NULL,
    state               TEXT NOT NULL,
    retry_count         INTEGER NOT NULL,
    created_at_ms       INTEGER NOT NULL,
    updated_at_ms       INTEGER NOT NULL,
    last_attempt_at_ms  INTEGER,
    next_attempt_at_ms  INTEGER,
    error               TEXT NOT NULL,
    looks               TEXT NOT NULL,      -- a JSON list: what each region saw, without evidence
    evidence            TEXT NOT NULL,      -- a JSON object by region
    owner               TEXT NOT NULL,
    lease_until_ms      INTEGER              -- NULL once the job has ended
);
CREATE INDEX jobs_newest ON jobs (created_at_ms, id);
CREATE INDEX jobs_url ON jobs (url_hash, created_at_ms);
CREATE INDEX jobs_changed ON jobs (updated_at_ms);
CREATE INDEX jobs_open ON jobs (lease_until_ms) WHERE lease_until_ms IS NOT NULL;

-- +goose Down
DROP TABLE jobs;
