-- +goose Up
-- One row: how far the rollups are. Instants are by the clock of ClickHouse; 0 is none.
CREATE TABLE rollup_state (
    id              INTEGER PRIMARY KEY,
    version_ms      INTEGER NOT NULL,  -- the highest that was given to a run or a rebuild
    succeeded_ms    INTEGER NOT NULL,  -- start of the last run that finished
    run_version_ms  INTEGER NOT NULL,  -- of the run under way
    run_started_ms  INTEGER NOT NULL,
    run_marked_ms   INTEGER NOT NULL,  -- it works on what was marked since then
    run_before_ms   INTEGER NOT NULL   -- it has done the days from here on
);

-- One row a range that somebody had computed again.
CREATE TABLE rollup_rebuilds (
    from_ms          INTEGER NOT NULL,
    to_ms            INTEGER NOT NULL,
    version_ms       INTEGER NOT NULL,
    before_ms        INTEGER NOT NULL,  -- the days from here on are done
    requested_at_ms  INTEGER NOT NULL,
    finished_at_ms   INTEGER,
    PRIMARY KEY (from_ms, to_ms)
);

-- +goose Down
DROP TABLE rollup_rebuilds;
DROP TABLE rollup_state;
