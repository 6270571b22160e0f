-- +goose Up
-- When the target is down and when people hear of it, as one JSON object; '' is the default.
ALTER TABLE targets ADD COLUMN policy TEXT NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE targets DROP COLUMN policy;
