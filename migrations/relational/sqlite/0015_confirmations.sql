-- +goose Up
-- What regions saw that were asked to look again at what another one saw failing. They are no
-- results: no slot is theirs.
CREATE TABLE confirmations (
    target_id      INTEGER NOT NULL REFERENCES targets (id) ON DELETE CASCADE,
    slot_ms        INTEGER NOT NULL,       -- that failed elsewhere
    region         TEXT NOT NULL,
    prober         TEXT NOT NULL,
    checked_at_ms  INTEGER NOT NULL,
    status         INTEGER NOT NULL,
    failure        TEXT NOT NULL,
    reason         TEXT NOT NULL,
    http_status    INTEGER NOT NULL,
    total_us       INTEGER NOT NULL,
    message        TEXT NOT NULL,
    PRIMARY KEY (target_id, slot_ms, region)
);
CREATE INDEX confirmations_by_age ON confirmations (checked_at_ms);

-- +goose Down
DROP TABLE confirmations;
