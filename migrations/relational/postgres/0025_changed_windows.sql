-- +goose Up
-- Windows may be changed. Whatever one was, it stays for its time: names and terms, the oldest first, each with its end, as JSON.
ALTER TABLE maintenance_windows ADD COLUMN past TEXT NOT NULL DEFAULT '[]';
ALTER TABLE maintenance_windows ADD COLUMN version BIGINT NOT NULL DEFAULT 1;

-- +goose Down
ALTER TABLE maintenance_windows DROP COLUMN version;
ALTER TABLE maintenance_windows DROP COLUMN past;
