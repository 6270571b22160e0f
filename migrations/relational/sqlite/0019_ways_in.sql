-- +goose Up
-- What authenticators know a user by: random, so that it says nothing of the account. NULL: none was asked yet.
ALTER TABLE users ADD COLUMN handle TEXT;
CREATE UNIQUE INDEX users_handle ON users (handle);

-- Keys of people that stand in for the password and the second factor.
CREATE TABLE passkeys (
    id             INTEGER PRIMARY KEY AUTOINCREMENT,
    user_id        INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    credential_id  TEXT NOT NULL UNIQUE,   -- given by the authenticator, base64url
    name           TEXT NOT NULL,
    credential     TEXT NOT NULL,          -- JSON: the public key, and how it was made
    sign_count     INTEGER NOT NULL,        -- of the newest use; 0: the authenticator does not count
    created_at_ms  INTEGER NOT NULL,
    used_at_ms     INTEGER,                 -- NULL: never
    blocked_at_ms  INTEGER                  -- its count went back: there may be a copy
);
CREATE INDEX passkeys_user ON passkeys (user_id);

-- Who a user is to a provider of single sign-on: bound at the first sign-in, whatever
-- the address is afterwards.
CREATE TABLE identities (
    id             INTEGER PRIMARY KEY AUTOINCREMENT,
    user_id        INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    issuer         TEXT NOT NULL,
    subject        TEXT NOT NULL,
    created_at_ms  INTEGER NOT NULL,
    UNIQUE (issuer, subject),
    UNIQUE (user_id, issuer)
);

-- +goose Down
DROP TABLE identities;
DROP TABLE passkeys;
DROP INDEX users_handle;
ALTER TABLE users DROP COLUMN handle;
