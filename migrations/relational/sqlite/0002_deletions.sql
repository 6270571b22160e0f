-- +goose Up
-- One row a deleted target: how far removing what it left behind has come. Ids are
-- never used again, so neither are rows.
CREATE TABLE deletions (
    target_id         INTEGER PRIMARY KEY,
    requested_at_ms   INTEGER NOT NULL,
    tombstoned_at_ms  INTEGER,              -- probers were told
    erased_at_ms      INTEGER,              -- results were last looked for, and removed where there were any
    verified_at_ms    INTEGER,              -- there were last none
    finished_at_ms    INTEGER,              -- there were none when nothing of it could be on the way any more
    tries             INTEGER NOT NULL,     -- steps that failed
    last_error        TEXT NOT NULL
);
CREATE INDEX deletions_unfinished ON deletions (target_id) WHERE finished_at_ms IS NULL;
CREATE INDEX deletions_requested ON deletions (requested_at_ms);
CREATE INDEX deletions_verified ON deletions (verified_at_ms);
INSERT INTO deletions (target_id, requested_at_ms, tries, last_error)
SELECT target_id, MIN(created_at_ms), 0, '' FROM schedule_versions WHERE deleted AND purged_at_ms IS NULL GROUP BY target_id;

DROP INDEX schedule_versions_unpurged;
ALTER TABLE schedule_versions DROP COLUMN purged_at_ms;

-- +goose Down
ALTER TABLE schedule_versions ADD COLUMN purged_at_ms INTEGER;
CREATE INDEX schedule_versions_unpurged ON schedule_versions (target_id) WHERE deleted AND purged_at_ms IS NULL;
DROP TABLE deletions;
