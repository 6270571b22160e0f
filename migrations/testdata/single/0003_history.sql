-- +goose NO TRANSACTION
-- +goose Up
-- Hours of targets in which a row arrived, and when: what the rollup job has to compute again.
CREATE TABLE IF NOT EXISTS rollup_dirty
(
    bucket    DateTime('UTC')        CODEC(DoubleDelta, ZSTD(1)), -- the hour of the slot
    target_id UInt64                 CODEC(Delta, ZSTD(1)),
    dirty_at  DateTime64(3, 'UTC')   CODEC(Delta, ZSTD(1)),       -- the server's clock, before the insert was complete
    INDEX dirty_at dirty_at TYPE minmax GRANULARITY 1
)
ENGINE = ReplacingMergeTree(dirty_at) PARTITION BY toYYYYMMDD(bucket) ORDER BY (bucket, target_id)
TTL toDateTime(dirty_at) + INTERVAL 32 DAY
SETTINGS index_granularity = 2048, ttl_only_drop_parts = 1, non_replicated_deduplication_window = 1000;

CREATE MATERIALIZED VIEW IF NOT EXISTS rollup_dirty_mv TO rollup_dirty AS
SELECT toStartOfHour(toDateTime(scheduled_at, 'UTC')) AS bucket, target_id, now64(3) AS dirty_at
FROM results GROUP BY bucket, target_id;

-- region '' is the target as a whole: counts only, one a slot time; its latencies are those of its regions merged. These
-- rows lie apart, at the end: uptime is asked of them alone, and series of the others alone (empty(region) = 1, or = 0).
-- quarter: the same counts per quarter of the hour, always four, so that days of any time zone are exact.
-- latency: percentiles are within 2 %; at 1 % its states, the larger half of a row, would be half as large again.
-- By weeks: an hour, or a day, is computed again from a partition of its own, not from a month.
-- revised_at is 0 unless the row was changed after its hour had been closed; was_… is what it said before that.
CREATE TABLE IF NOT EXISTS rollup_1h
(
    target_id          UInt64                  CODEC(Delta, ZSTD(1)),
    region             LowCardinality(String)  CODEC(ZSTD(1)),
    bucket             DateTime('UTC')         CODEC(DoubleDelta, ZSTD(1)),
    up                 UInt32                  CODEC(T64, ZSTD(1)),
    degraded           UInt32                  CODEC(T64, ZSTD(1)),
    down               UInt32                  CODEC(T64, ZSTD(1)),
    unknown            UInt32                  CODEC(T64, ZSTD(1)),
    missed             UInt32                  CODEC(T64, ZSTD(1)),
    `quarter.up`       Array(UInt32)           CODEC(ZSTD(1)),
    `quarter.degraded` Array(UInt32)           CODEC(ZSTD(1)),
    `quarter.down`     Array(UInt32)           CODEC(ZSTD(1)),
    `quarter.unknown`  Array(UInt32)           CODEC(ZSTD(1)),
    `quarter.missed`   Array(UInt32)           CODEC(ZSTD(1)),
    dns_us_sum         UInt64                  CODEC(T64('bit'), ZSTD(1)),  -- of up and degraded results, as all that follow
    connect_us_sum     UInt64                  CODEC(T64('bit'), ZSTD(1)),
    tls_us_sum         UInt64                  CODEC(T64('bit'), ZSTD(1)),
    wait_us_sum        UInt64                  CODEC(T64('bit'), ZSTD(1)),
    transfer_us_sum    UInt64                  CODEC(T64('bit'), ZSTD(1)),
    total_us_sum       UInt64                  CODEC(T64('bit'), ZSTD(1)),
    total_us_min       UInt32                  CODEC(T64('bit'), ZSTD(1)),
    total_us_max       UInt32                  CODEC(T64('bit'), ZSTD(1)),
    latency            AggregateFunction(quantilesDD(0.02, 0.5, 0.95, 0.99), UInt32) CODEC(ZSTD(1)),
    version            DateTime('UTC')         CODEC(DoubleDelta, ZSTD(1)),
    revised_at         DateTime('UTC')         CODEC(ZSTD(1)),
    was_version        DateTime('UTC')         CODEC(ZSTD(1)),
    was_up             UInt32                  CODEC(ZSTD(1)),
    was_degraded       UInt32                  CODEC(ZSTD(1)),
    was_down           UInt32                  CODEC(ZSTD(1)),
    was_unknown        UInt32                  CODEC(ZSTD(1)),
    was_missed         UInt32                  CODEC(ZSTD(1)),
    was_total_us_sum   UInt64                  CODEC(ZSTD(1))
)
ENGINE = ReplacingMergeTree(version) PARTITION BY toMonday(bucket) ORDER BY (empty(region), target_id, region, bucket)
TTL bucket + INTERVAL 730 DAY
SETTINGS index_granularity = 512, min_compress_block_size = 16384, ttl_only_drop_parts = 1,
         min_age_to_force_merge_seconds = 3600, min_age_to_force_merge_on_partition_only = 1;

-- UTC days: the sums of their hours. revised_at is the newest of theirs. Few rows are written here and kept for years: the
-- slowest compression costs seconds a day, and takes a tenth off.
CREATE TABLE IF NOT EXISTS rollup_1d
(
    target_id       UInt64                  CODEC(Delta, ZSTD(1)),
    region          LowCardinality(String)  CODEC(ZSTD(1)),
    bucket          DateTime('UTC')         CODEC(DoubleDelta, ZSTD(1)),
    up              UInt32                  CODEC(T64, ZSTD(1)),
    degraded        UInt32                  CODEC(T64, ZSTD(1)),
    down            UInt32                  CODEC(T64, ZSTD(1)),
    unknown         UInt32                  CODEC(T64, ZSTD(1)),
    missed          UInt32                  CODEC(T64, ZSTD(1)),
    dns_us_sum      UInt64                  CODEC(T64('bit'), ZSTD(1)),
    connect_us_sum  UInt64                  CODEC(T64('bit'), ZSTD(1)),
    tls_us_sum      UInt64                  CODEC(T64('bit'), ZSTD(1)),
    wait_us_sum     UInt64                  CODEC(T64('bit'), ZSTD(1)),
    transfer_us_sum UInt64                  CODEC(T64('bit'), ZSTD(1)),
    total_us_sum    UInt64                  CODEC(T64('bit'), ZSTD(1)),
    total_us_min    UInt32                  CODEC(T64('bit'), ZSTD(1)),
    total_us_max    UInt32                  CODEC(T64('bit'), ZSTD(1)),
    latency         AggregateFunction(quantilesDD(0.02, 0.5, 0.95, 0.99), UInt32) CODEC(ZSTD(19)),
    version         DateTime('UTC')         CODEC(DoubleDelta, ZSTD(1)),
    revised_at      DateTime('UTC')         CODEC(ZSTD(1))
)
ENGINE = ReplacingMergeTree(version) PARTITION BY toYear(bucket) ORDER BY (empty(region), target_id, region, bucket)
TTL bucket + INTERVAL 1825 DAY
SETTINGS index_granularity = 512, min_compress_block_size = 16384, ttl_only_drop_parts = 1,
         min_age_to_force_merge_seconds = 3600, min_age_to_force_merge_on_partition_only = 1;

-- One row a closed hour that changed, with what it said before and after. Who finds the same change twice writes
-- the same key: the version of the row that was replaced.
CREATE TABLE IF NOT EXISTS corrections
(
    target_id        UInt64                  CODEC(ZSTD(1)),
    region           LowCardinality(String)  CODEC(ZSTD(1)),
    bucket           DateTime('UTC')         CODEC(DoubleDelta, ZSTD(1)),
    was_version      DateTime('UTC')         CODEC(ZSTD(1)),
    revised_at       DateTime('UTC')         CODEC(ZSTD(1)),
    was_up UInt32, was_degraded UInt32, was_down UInt32, was_unknown UInt32, was_missed UInt32, was_total_us_sum UInt64,
    up UInt32, degraded UInt32, down UInt32, unknown UInt32, missed UInt32, total_us_sum UInt64
)
ENGINE = ReplacingMergeTree(revised_at) PARTITION BY toYYYYMM(bucket) ORDER BY (target_id, region, bucket, was_version)
TTL bucket + INTERVAL 730 DAY
SETTINGS index_granularity = 1024, ttl_only_drop_parts = 1;

-- Small numbers in a row are best told by their differences, and noise by its bits.
ALTER TABLE results
    MODIFY COLUMN target_id UInt64 CODEC(Delta, ZSTD(1)),
    MODIFY COLUMN dns_us    UInt32 CODEC(T64('bit'), ZSTD(1)),
    MODIFY COLUMN wait_us   UInt32 CODEC(T64('bit'), ZSTD(1));

-- A question about a target reads a few hundred rows of a part, and unpacks the blocks they are in: small ones, for
-- which a row takes half a byte more.
ALTER TABLE results MODIFY SETTING min_compress_block_size = 16384;

-- What was stored before there were rollups.
INSERT INTO rollup_dirty (bucket, target_id, dirty_at)
SELECT toStartOfHour(toDateTime(scheduled_at, 'UTC')) AS bucket, target_id, now64(3) FROM results GROUP BY bucket, target_id;

-- +goose Down
DROP VIEW IF EXISTS rollup_dirty_mv;
DROP TABLE IF EXISTS corrections;
DROP TABLE IF EXISTS rollup_1d;
DROP TABLE IF EXISTS rollup_1h;
DROP TABLE IF EXISTS rollup_dirty;
