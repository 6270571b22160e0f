-- +goose Up
-- A user who is switched off comes in by no way, and has no key that counts. NULL: not so.
ALTER TABLE users ADD COLUMN disabled_at_ms BIGINT;
-- When the person of a session last showed who it is; 0: nobody can say.
ALTER TABLE sessions ADD COLUMN proven_at_ms BIGINT NOT NULL DEFAULT 0;

-- +goose Down
ALTER TABLE sessions DROP COLUMN proven_at_ms;
ALTER TABLE users DROP COLUMN disabled_at_ms;
