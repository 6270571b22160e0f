-- +goose Up
-- Outages that are open: what they may share with others. Those that are not told yet are told by
-- whoever evaluates next, in a group or alone.
CREATE TABLE verdict_outages (
    target_id      INTEGER NOT NULL REFERENCES targets (id) ON DELETE CASCADE,
    first_slot_ms  INTEGER NOT NULL,
    told           BOOLEAN NOT NULL,      -- alone
    facts          TEXT NOT NULL,         -- JSON
    PRIMARY KEY (target_id, first_slot_ms)
);

-- The incident, about no target, by which people hear of a group.
ALTER TABLE incident_groups ADD COLUMN incident_id INTEGER REFERENCES incidents (id) ON DELETE SET NULL;
CREATE INDEX incident_groups_open ON incident_groups (id) WHERE resolved_at_ms IS NULL;

-- +goose Down
DROP INDEX incident_groups_open;
ALTER TABLE incident_groups DROP COLUMN incident_id;
DROP TABLE verdict_outages;
