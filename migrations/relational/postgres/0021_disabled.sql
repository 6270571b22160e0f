-- +goose Up
-- A user who is switched off comes in by no way, and has no key that counts. NULL: not so.
ALTER TABLE users ADD COLUMN disabled_at_ms BIGINT;
-- When the person of a session last showed who it is; 0: nobody can say.
ALTER TABLE sessions ADD COLUMN proven_at_ms BIGINT NOT NULL DEFAULT 0;
-- Until then a subscriber's webhook wants to be left alone, as it said.
ALTER TABLE status_page_subscribers ADD COLUMN rests_until_ms BIGINT NOT NULL DEFAULT 0;
CREATE INDEX status_page_outbox_requests ON status_page_outbox(kind, created_at_ms) WHERE letter_id IS NULL;

-- +goose Down
DROP INDEX status_page_outbox_requests;
ALTER TABLE status_page_subscribers DROP COLUMN rests_until_ms;
ALTER TABLE sessions DROP COLUMN proven_at_ms;
ALTER TABLE users DROP COLUMN disabled_at_ms;
