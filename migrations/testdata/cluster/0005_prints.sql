-- +goose NO TRANSACTION
-- +goose Up
-- What checks saw that were up, as far as it seldom changes (JSON: see uptime.Print): one row a target and prober when it
-- differs from the last, and once a week. So the newest row up to a result that was up says what that result saw.
CREATE TABLE IF NOT EXISTS prints_local ON CLUSTER 'fleet'
(
    target_id    UInt64                  CODEC(Delta, ZSTD(1)),
    region       LowCardinality(String)  CODEC(ZSTD(1)),
    prober       LowCardinality(String)  CODEC(ZSTD(1)),
    scheduled_at DateTime64(3, 'UTC')    CODEC(Delta, ZSTD(1)),
    print        String                  CODEC(ZSTD(3))
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{shard}/{database}/{table}', '{replica}') PARTITION BY toMonday(scheduled_at) ORDER BY (target_id, region, prober, scheduled_at)
TTL toDateTime(scheduled_at) + INTERVAL 38 DAY
SETTINGS index_granularity = 512, ttl_only_drop_parts = 1, non_replicated_deduplication_window = 1000;
CREATE TABLE IF NOT EXISTS prints ON CLUSTER 'fleet' AS prints_local ENGINE = Distributed('fleet', currentDatabase(), 'prints_local', cityHash64(target_id));

-- +goose Down
DROP TABLE IF EXISTS prints_local ON CLUSTER 'fleet';
DROP TABLE IF EXISTS prints ON CLUSTER 'fleet';
