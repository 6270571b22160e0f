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

-- Ways in, each for one person. A row stays when it is used or withdrawn.
CREATE TABLE invitations (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    token_hash      TEXT NOT NULL UNIQUE,
    email           TEXT NOT NULL,         -- the only address it is for; '': any
    role            TEXT NOT NULL CHECK (role IN ('owner', 'editor', 'viewer')),
    created_by      TEXT NOT NULL,         -- as the audit log names who made it
    created_at_ms   INTEGER NOT NULL,
    expires_at_ms   INTEGER NOT NULL,
    accepted_at_ms  INTEGER,
    revoked_at_ms   INTEGER
);

-- What a key may do, as space-separated scopes; '': all that its role may.
ALTER TABLE api_keys ADD COLUMN scopes TEXT NOT NULL DEFAULT '';
-- Whose it is: it never does more than this user may now, and ends with the user. NULL: the installation's.
ALTER TABLE api_keys ADD COLUMN user_id INTEGER REFERENCES users (id) ON DELETE CASCADE;
-- The key that made it, without which it is not valid.
ALTER TABLE api_keys ADD COLUMN parent_id INTEGER REFERENCES api_keys (id) ON DELETE CASCADE;
CREATE INDEX api_keys_user ON api_keys (user_id) WHERE user_id IS NOT NULL;

-- Where a write came from: '' in rows of before.
ALTER TABLE audit_log ADD COLUMN operation TEXT NOT NULL DEFAULT '';
ALTER TABLE audit_log ADD COLUMN address TEXT NOT NULL DEFAULT '';
ALTER TABLE audit_log ADD COLUMN request_id TEXT NOT NULL DEFAULT '';
CREATE INDEX audit_log_at ON audit_log (at_ms);
CREATE INDEX audit_log_actor ON audit_log (actor, id);

-- A second factor: codes that change every half minute.
CREATE TABLE second_factors (
    user_id          INTEGER PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
    secret           TEXT NOT NULL,         -- sealed
    last_step        INTEGER NOT NULL,       -- half minutes since 1970 of the newest code that was used
    created_at_ms    INTEGER NOT NULL,
    confirmed_at_ms  INTEGER                 -- NULL: it does not count yet
);

-- For who has lost the second factor: each counts once.
CREATE TABLE recovery_codes (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    user_id     INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    code_hash   TEXT NOT NULL,
    used_at_ms  INTEGER,
    UNIQUE (user_id, code_hash)
);

-- What was begun and is to be finished by whoever holds the token, once and soon.
CREATE TABLE challenges (
    token_hash     TEXT PRIMARY KEY,
    kind           TEXT NOT NULL,
    user_id        INTEGER REFERENCES users (id) ON DELETE CASCADE,
    epoch          INTEGER NOT NULL,       -- of the user, when it was begun
    payload        TEXT NOT NULL,
    expires_at_ms  INTEGER NOT NULL
);
CREATE INDEX challenges_expiry ON challenges (expires_at_ms);

-- +goose Down
DROP TABLE challenges;
DROP TABLE recovery_codes;
DROP TABLE second_factors;
DROP INDEX audit_log_actor;
DROP INDEX audit_log_at;
ALTER TABLE audit_log DROP COLUMN request_id;
ALTER TABLE audit_log DROP COLUMN address;
ALTER TABLE audit_log DROP COLUMN operation;
DROP INDEX api_keys_user;
DELETE FROM api_keys WHERE scopes <> '' OR user_id IS NOT NULL OR parent_id IS NOT NULL;
ALTER TABLE api_keys DROP COLUMN parent_id;
ALTER TABLE api_keys DROP COLUMN user_id;
ALTER TABLE api_keys DROP COLUMN scopes;
DROP TABLE invitations;
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
