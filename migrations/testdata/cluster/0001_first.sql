-- +goose NO TRANSACTION
-- +goose Up
-- ClickHouse has no transactions: every statement can be run again after a half-done attempt.
CREATE TABLE IF NOT EXISTS results_local ON CLUSTER 'fleet'
(
    target_id      UInt64                  CODEC(ZSTD(1)),
    region         LowCardinality(String)  CODEC(ZSTD(1)),
    scheduled_at   DateTime64(3, 'UTC')    CODEC(DoubleDelta, ZSTD(1)),
    checked_at     DateTime64(3, 'UTC')    CODEC(Delta, ZSTD(1)),
    status         Enum8('up' = 1, 'degraded' = 2, 'down' = 3, 'unknown' = 4, 'missed' = 5) CODEC(ZSTD(1)),
    failure        LowCardinality(String)  CODEC(ZSTD(1)),
    reason         LowCardinality(String)  CODEC(ZSTD(1)),
    http_status    UInt16                  CODEC(ZSTD(1)),
    dns_us         UInt32                  CODEC(T64, ZSTD(1)),
    connect_us     UInt32                  CODEC(T64('bit'), ZSTD(1)),
    tls_us         UInt32                  CODEC(T64('bit'), ZSTD(1)),
    wait_us        UInt32                  CODEC(T64, ZSTD(1)),
    transfer_us    UInt32                  CODEC(T64('bit'), ZSTD(1)),
    total_us       UInt32                  CODEC(T64('bit'), ZSTD(1)),
    message        String                  CODEC(ZSTD(3)),
    resolved_ip    IPv6                    CODEC(ZSTD(1)),
    cert_not_after DateTime('UTC')         CODEC(ZSTD(1)),
    attempt        UInt8                   CODEC(ZSTD(1)),
    prober         LowCardinality(String)  CODEC(ZSTD(1)),
    spec_version   UInt64                  CODEC(T64, ZSTD(1)),
    revision       UInt64                  CODEC(Delta, ZSTD(1))
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{shard}/{database}/{table}', '{replica}', revision)
PARTITION BY toYYYYMMDD(scheduled_at)
ORDER BY (target_id, region, scheduled_at)
TTL toDateTime(scheduled_at) + INTERVAL 30 DAY
SETTINGS index_granularity = 2048, ttl_only_drop_parts = 1,
         non_replicated_deduplication_window = 1000,
         min_age_to_force_merge_seconds = 3600, min_age_to_force_merge_on_partition_only = 1;
CREATE TABLE IF NOT EXISTS results ON CLUSTER 'fleet' AS results_local ENGINE = Distributed('fleet', currentDatabase(), 'results_local', cityHash64(target_id));

-- version = scheduled_at in ms x 2^64 + revision: a ReplacingMergeTree takes one column, not a pair.
CREATE TABLE IF NOT EXISTS results_latest_local ON CLUSTER 'fleet'
(
    target_id UInt64, region LowCardinality(String), scheduled_at DateTime64(3, 'UTC'), checked_at DateTime64(3, 'UTC'),
    status Enum8('up' = 1, 'degraded' = 2, 'down' = 3, 'unknown' = 4, 'missed' = 5),
    failure LowCardinality(String), reason LowCardinality(String), http_status UInt16, total_us UInt32, message String,
    cert_not_after DateTime('UTC'), prober LowCardinality(String), version UInt128
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{shard}/{database}/{table}', '{replica}', version) ORDER BY (target_id, region)
SETTINGS index_granularity = 1024, non_replicated_deduplication_window = 1000;
CREATE TABLE IF NOT EXISTS results_latest ON CLUSTER 'fleet' AS results_latest_local ENGINE = Distributed('fleet', currentDatabase(), 'results_latest_local', cityHash64(target_id));

CREATE MATERIALIZED VIEW IF NOT EXISTS results_latest_mv ON CLUSTER 'fleet' TO results_latest_local AS
SELECT target_id, region, scheduled_at, checked_at, status, failure, reason, http_status, total_us, message, cert_not_after, prober,
       toUInt128(toUnixTimestamp64Milli(scheduled_at)) * toUInt128('18446744073709551616') + toUInt128(revision) AS version
FROM results_local;

-- One row a publisher tick: audit, not truth (planned slots come from the schedule versions).
CREATE TABLE IF NOT EXISTS cycles_local ON CLUSTER 'fleet'
(
    tick         DateTime('UTC')  CODEC(DoubleDelta, ZSTD(1)),  -- the second whose slots were published
    due          UInt32           CODEC(T64, ZSTD(1)),          -- slots: targets x regions
    published    UInt32           CODEC(T64, ZSTD(1)),          -- slots appended to the stream
    missed       UInt32           CODEC(T64, ZSTD(1)),          -- slots recorded as missed instead
    schedule_seq UInt64           CODEC(T64, ZSTD(1)),
    publisher    LowCardinality(String),
    took_us      UInt32           CODEC(T64, ZSTD(1)),
    published_at DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1))
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{shard}/{database}/{table}', '{replica}', published_at) PARTITION BY toYYYYMM(tick) ORDER BY tick
TTL tick + INTERVAL 90 DAY SETTINGS non_replicated_deduplication_window = 1000;
CREATE TABLE IF NOT EXISTS cycles ON CLUSTER 'fleet' AS cycles_local ENGINE = Distributed('fleet', currentDatabase(), 'cycles_local', cityHash64(tick));

-- One row an insert, so that any result can be traced to the batch that wrote it.
CREATE TABLE IF NOT EXISTS batches_local ON CLUSTER 'fleet'
(
    token       String,
    prober      LowCardinality(String),
    region      LowCardinality(String),
    rows        UInt32,
    first_slot  DateTime64(3, 'UTC'),
    last_slot   DateTime64(3, 'UTC'),
    attempt     UInt8,
    inserted_at DateTime64(3, 'UTC')
)
ENGINE = ReplicatedMergeTree('/clickhouse/tables/{shard}/{database}/{table}', '{replica}') PARTITION BY toYYYYMM(inserted_at) ORDER BY (inserted_at, token)
TTL toDateTime(inserted_at) + INTERVAL 30 DAY
SETTINGS ttl_only_drop_parts = 1, non_replicated_deduplication_window = 1000;
CREATE TABLE IF NOT EXISTS batches ON CLUSTER 'fleet' AS batches_local ENGINE = Distributed('fleet', currentDatabase(), 'batches_local', cityHash64(token));

-- +goose Down
DROP TABLE IF EXISTS batches_local ON CLUSTER 'fleet';
DROP TABLE IF EXISTS batches ON CLUSTER 'fleet';
DROP TABLE IF EXISTS cycles_local ON CLUSTER 'fleet';
DROP TABLE IF EXISTS cycles ON CLUSTER 'fleet';
DROP VIEW IF EXISTS results_latest_mv ON CLUSTER 'fleet';
DROP TABLE IF EXISTS results_latest_local ON CLUSTER 'fleet';
DROP TABLE IF EXISTS results_latest ON CLUSTER 'fleet';
DROP TABLE IF EXISTS results_local ON CLUSTER 'fleet';
DROP TABLE IF EXISTS results ON CLUSTER 'fleet';
