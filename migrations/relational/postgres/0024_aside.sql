-- +goose Up
-- The hours and days of which no rollup could be made, as far as any are kept: answers say so.
CREATE TABLE rollups_aside (
    from_ms  BIGINT NOT NULL,
    to_ms    BIGINT NOT NULL,
    PRIMARY KEY (from_ms, to_ms)
);

-- +goose Down
DROP TABLE rollups_aside;
