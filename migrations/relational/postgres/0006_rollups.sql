-- +goose Up
-- One row: how far the rollups are. Instants are by the clock of ClickHouse; 0 is none.
CREATE TABLE rollup_state (
    id              BIGINT PRIMARY KEY,
    version_ms      BIGINT NOT NULL,  -- the highest that was given to a run or a rebuild
    succeeded_ms    BIGINT NOT NULL,  -- start of the last run that finished
    run_version_ms  BIGINT NOT NULL,  -- of the run under way
    run_started_ms  BIGINT NOT NULL,
    run_marked_ms   BIGINT NOT NULL,  -- it works on what was marked since then
    run_before_ms   BIGINT NOT NULL   -- it has done the days from here on
);

-- One row a range that somebody had computed again.
CREATE TABLE rollup_rebuilds (
    from_ms          BIGINT NOT NULL,
    to_ms            BIGINT NOT NULL,
    version_ms       BIGINT NOT NULL,
    before_ms        BIGINT NOT NULL,  -- the days from here on are done
    requested_at_ms  BIGINT NOT NULL,
    finished_at_ms   BIGINT,
    PRIMARY KEY (from_ms, to_ms)
);

-- +goose Down
DROP TABLE rollup_rebuilds;
DROP TABLE rollup_state;
