-- +goose Up
-- One row a deleted target and place that it left something in: each is cleared by a step of its own.
CREATE TABLE deletion_steps (
    target_id       BIGINT NOT NULL REFERENCES deletions (target_id) ON DELETE CASCADE,
    step            TEXT NOT NULL,
    looked_at_ms    BIGINT,              -- last; what was there was removed
    clean_since_ms  BIGINT,              -- the first of the looks up to the last that found nothing; NULL: the last found something
    done_at_ms      BIGINT,              -- nothing was there when nothing of it could be on the way any more
    next_ms         BIGINT NOT NULL,     -- when to look again
    tries           BIGINT NOT NULL,     -- that failed
    last_error      TEXT NOT NULL,         -- of the last that did, until one works
    PRIMARY KEY (target_id, step)
);
CREATE INDEX deletion_steps_next ON deletion_steps (step, next_ms);
CREATE INDEX deletions_finished ON deletions (finished_at_ms);

-- Finished deletions are still watched: rows may come back from a disk.
INSERT INTO deletion_steps (target_id, step, looked_at_ms, clean_since_ms, done_at_ms, next_ms, tries, last_error)
SELECT d.target_id, s.step, d.erased_at_ms, d.verified_at_ms, d.finished_at_ms, 0, 0, ''
FROM deletions d CROSS JOIN (SELECT 'results' AS step UNION ALL SELECT 'results_latest' UNION ALL SELECT 'rollup_dirty' UNION ALL SELECT 'rollup_1h'
 UNION ALL SELECT 'rollup_1d' UNION ALL SELECT 'corrections' UNION ALL SELECT 'answers') s
WHERE d.finished_at_ms IS NOT NULL;

DROP INDEX deletions_verified;
ALTER TABLE deletions DROP COLUMN erased_at_ms;
ALTER TABLE deletions DROP COLUMN verified_at_ms;

-- +goose Down
ALTER TABLE deletions ADD COLUMN erased_at_ms BIGINT;
ALTER TABLE deletions ADD COLUMN verified_at_ms BIGINT;
UPDATE deletions SET erased_at_ms = finished_at_ms, verified_at_ms = finished_at_ms WHERE finished_at_ms IS NOT NULL;
CREATE INDEX deletions_verified ON deletions (verified_at_ms);
DROP INDEX deletions_finished;
DROP TABLE deletion_steps;
