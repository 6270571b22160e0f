-- +goose Up
-- Rises with whatever ends what a user was signed in to: a session of before does not count any more.
ALTER TABLE users ADD COLUMN epoch INTEGER NOT NULL DEFAULT 0;

-- Sessions have names of their own, so that one can be ended from another.
ALTER TABLE sessions RENAME TO sessions_before;
DROP INDEX sessions_user;
CREATE TABLE sessions (
    id               INTEGER PRIMARY KEY AUTOINCREMENT,
    token_hash       TEXT NOT NULL UNIQUE,
    user_id          INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    epoch            INTEGER NOT NULL,       -- of the user, when it began
    address          TEXT NOT NULL,         -- where it began
    user_agent       TEXT NOT NULL,
    created_at_ms    INTEGER NOT NULL,
    last_seen_at_ms  INTEGER NOT NULL,
    expires_at_ms    INTEGER NOT NULL
);
INSERT INTO sessions (token_hash, user_id, epoch, address, user_agent, created_at_ms, last_seen_at_ms, expires_at_ms)
SELECT token_hash, user_id, 0, '', '', created_at_ms, last_seen_at_ms, expires_at_ms FROM sessions_before;
DROP TABLE sessions_before;
CREATE INDEX sessions_user ON sessions (user_id);

-- +goose Down
ALTER TABLE sessions RENAME TO sessions_after;
DROP INDEX sessions_user;
CREATE TABLE sessions (
    token_hash       TEXT PRIMARY KEY,
    user_id          INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    created_at_ms    INTEGER NOT NULL,
    last_seen_at_ms  INTEGER NOT NULL,
    expires_at_ms    INTEGER NOT NULL
);
INSERT INTO sessions SELECT s.token_hash, s.user_id, s.created_at_ms, s.last_seen_at_ms, s.expires_at_ms
FROM sessions_after s JOIN users u ON u.id = s.user_id AND u.epoch = s.epoch;
DROP TABLE sessions_after;
CREATE INDEX sessions_user ON sessions (user_id);
ALTER TABLE users DROP COLUMN epoch;
