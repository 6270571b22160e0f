-- +goose Up
-- What the evaluator remembers of targets in trouble, and of others now and then.
CREATE TABLE verdict_states (
    target_id  INTEGER PRIMARY KEY REFERENCES targets (id) ON DELETE CASCADE,
    state      TEXT NOT NULL               -- JSON
);

-- Up to where the stream of results is folded in: whoever commits must have read on from there.
CREATE TABLE verdict_cursor (
    id               INTEGER PRIMARY KEY CHECK (id = 1),
    entry            TEXT NOT NULL,        -- id in the stream; '': none yet
    turn             INTEGER NOT NULL,     -- rises with every commit
    committed_at_ms  INTEGER NOT NULL
);
INSERT INTO verdict_cursor (id, entry, turn, committed_at_ms) VALUES (1, '', 0, 0);

-- +goose Down
DROP TABLE verdict_cursor;
DROP TABLE verdict_states;
