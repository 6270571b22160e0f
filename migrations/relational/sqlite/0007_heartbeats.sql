-- +goose Up
-- Where a heartbeat target stands: one row a target of kind heartbeat, made when its token
-- is. The token is found by its hash, and sealed so that its URL can be shown again.
CREATE TABLE heartbeats (
    target_id     INTEGER PRIMARY KEY REFERENCES targets (id) ON DELETE CASCADE,
    token_hash    TEXT NOT NULL UNIQUE,
    token_sealed  TEXT NOT NULL,
    spec_version  INTEGER NOT NULL,      -- of the target, as last looked at
    plan          TEXT NOT NULL,       -- what of it the expectation follows from; another one begins anew
    expected_ms   INTEGER,               -- the next ping; NULL: none is expected
    due_ms        INTEGER,               -- the end of its grace
    started_ms    INTEGER,               -- of a job that has not told its end
    pinged_ms     INTEGER,               -- the newest ping of any sort, and what came along
    signal        TEXT NOT NULL,
    exit_code     INTEGER NOT NULL,
    excerpt       TEXT NOT NULL,
    pings         INTEGER NOT NULL
);
CREATE INDEX heartbeats_due ON heartbeats (due_ms) WHERE due_ms IS NOT NULL;
CREATE INDEX targets_heartbeat ON targets (id) WHERE kind = 'heartbeat';

-- Rows on their way to the result store: written with what they follow from, in one
-- transaction, and removed once they are durable there, or in a spool.
CREATE TABLE heartbeat_rows (
    target_id     INTEGER NOT NULL REFERENCES targets (id) ON DELETE CASCADE,
    at_ms         INTEGER NOT NULL,
    noted_us      INTEGER NOT NULL,      -- of two rows of a slot the later one counts
    status        TEXT NOT NULL,
    failure       TEXT NOT NULL,
    reason        TEXT NOT NULL,
    took_us       INTEGER NOT NULL,
    message       TEXT NOT NULL,
    body          TEXT NOT NULL,
    body_cut      BOOLEAN NOT NULL,
    spec_version  INTEGER NOT NULL,
    PRIMARY KEY (target_id, at_ms)
);
CREATE INDEX heartbeat_rows_at ON heartbeat_rows (at_ms);

-- One row: which API node judges deadlines, and when one last could.
CREATE TABLE heartbeat_watch (
    id        INTEGER PRIMARY KEY CHECK (id = 1),
    holder    TEXT NOT NULL,
    until_ms  INTEGER NOT NULL,
    alive_ms  INTEGER NOT NULL           -- 0: never
);
INSERT INTO heartbeat_watch (id, holder, until_ms, alive_ms) VALUES (1, '', 0, 0);

-- Stretches in which no node was there: a ping that is missing then says nothing of its job.
CREATE TABLE heartbeat_gaps (
    from_ms  INTEGER PRIMARY KEY,
    to_ms    INTEGER NOT NULL
);

-- +goose Down
DROP TABLE heartbeat_gaps;
DROP TABLE heartbeat_watch;
DROP TABLE heartbeat_rows;
DROP INDEX targets_heartbeat;
DROP TABLE heartbeats;
