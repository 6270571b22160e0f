-- +goose Up
-- The host of a target's url, as uptime.HostOf gives it: what all of its targets ask of
-- it is summed up when one is saved. host_seq is the spec_version it was worked out for;
-- another one was written by a release that knows no hosts, and is worked out by the next
-- save.
ALTER TABLE targets ADD COLUMN host TEXT NOT NULL DEFAULT '';
ALTER TABLE targets ADD COLUMN host_seq INTEGER NOT NULL DEFAULT 0;
CREATE INDEX targets_host ON targets (host, interval_s, regions) WHERE active;
CREATE INDEX targets_no_host ON targets (id) WHERE host_seq <> spec_version;

-- +goose Down
DROP INDEX targets_no_host;
DROP INDEX targets_host;
ALTER TABLE targets DROP COLUMN host_seq;
ALTER TABLE targets DROP COLUMN host;
