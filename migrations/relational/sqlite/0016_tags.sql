-- +goose Up
-- Tags of targets: as they are now, in lower case and in order, with spaces between them.
ALTER TABLE targets ADD COLUMN tags TEXT NOT NULL DEFAULT '';
-- When each target carried which tag: a maintenance window for a tag held a target while that
-- carried it, and uptime goes on leaving that out when the tag is gone.
CREATE TABLE target_tags (
    target_id  INTEGER NOT NULL REFERENCES targets (id) ON DELETE CASCADE,
    tag        TEXT NOT NULL,
    from_ms    INTEGER NOT NULL,
    to_ms      INTEGER,                -- NULL: it carries it
    PRIMARY KEY (target_id, tag, from_ms)
);
CREATE INDEX target_tags_tag ON target_tags (tag, target_id);

-- The target that this one depends on: it cannot be deleted before.
ALTER TABLE targets ADD COLUMN parent_id INTEGER REFERENCES targets (id);
CREATE INDEX targets_parent ON targets (parent_id) WHERE parent_id IS NOT NULL;

-- What is wrong with the fleet itself, as long as it is, and the incident that tells people.
CREATE TABLE fleet_troubles (
    name          TEXT PRIMARY KEY,
    opened_at_ms  INTEGER NOT NULL,
    incident_id   INTEGER REFERENCES incidents (id) ON DELETE SET NULL
);

-- +goose Down
DROP TABLE fleet_troubles;
DROP INDEX targets_parent;
ALTER TABLE targets DROP COLUMN parent_id;
DROP TABLE target_tags;
ALTER TABLE targets DROP COLUMN tags;
