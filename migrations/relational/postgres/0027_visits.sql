-- +goose Up
-- Since when a target is visited as it is: what was seen before was of something else, and is no
-- evidence of how the target is. 0: it was never visited otherwise. A version says whether it changed that.
ALTER TABLE targets ADD COLUMN visited_since_ms BIGINT NOT NULL DEFAULT 0;
ALTER TABLE schedule_versions ADD COLUMN visited_otherwise BOOLEAN NOT NULL DEFAULT FALSE;

-- +goose Down
ALTER TABLE schedule_versions DROP COLUMN visited_otherwise;
ALTER TABLE targets DROP COLUMN visited_since_ms;
