-- +goose NO TRANSACTION
-- +goose Up
-- ClickHouse has no transactions: every statement can be run again after a half-done attempt.
CREATE TABLE IF NOT EXISTS {{local "results"}}{{onCluster}}
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
ENGINE = {{engine "ReplacingMergeTree" "revision"}}
PARTITION BY toYYYYMMDD(scheduled_at)
ORDER BY (target_id, region, scheduled_at)
TTL toDateTime(scheduled_at) + INTERVAL 30 DAY
SETTINGS index_granularity = 2048, ttl_only_drop_parts = 1,
         non_replicated_deduplication_window = 1000,
         min_age_to_force_merge_seconds = 3600, min_age_to_force_merge_on_partition_only = 1;
{{- distributed "results" "target_id"}}

-- version = scheduled_at in ms x 2^64 + revision: a ReplacingMergeTree takes one column, not a pair.
CREATE TABLE IF NOT EXISTS {{local "results_latest"}}{{onCluster}}
(
    target_id UInt64, region LowCardinality(String), scheduled_at DateTime64(3, 'UTC'), checked_at DateTime64(3, 'UTC'),
    status Enum8('up' = 1, 'degraded' = 2, 'down' = 3, 'unknown' = 4, 'missed' = 5),
    failure LowCardinality(String), reason LowCardinality(String), http_status UInt16, total_us UInt32, message String,
    cert_not_after DateTime('UTC'), prober LowCardinality(String), version UInt128
)
ENGINE = {{engine "ReplacingMergeTree" "version"}} ORDER BY (target_id, region)
SETTINGS index_granularity = 1024, non_replicated_deduplication_window = 1000;
{{- distributed "results_latest" "target_id"}}

CREATE MATERIALIZED VIEW IF NOT EXISTS results_latest_mv{{onCluster}} TO {{local "results_latest"}} AS
SELECT target_id, region, scheduled_at, checked_at, status, failure, reason, http_status, total_us, message, cert_not_after, prober,
       toUInt128(toUnixTimestamp64Milli(scheduled_at)) * toUInt128('18446744073709551616') + toUInt128(revision) AS version
FROM {{local "results"}};

-- One row a publisher tick: audit, not truth (planned slots come from the schedule versions).
CREATE TABLE IF NOT EXISTS {{local "cycles"}}{{onCluster}}
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
ENGINE = {{engine "ReplacingMergeTree" "published_at"}} PARTITION BY toYYYYMM(tick) ORDER BY tick
TTL tick + INTERVAL 90 DAY SETTINGS non_replicated_deduplication_window = 1000;
{{- distributed "cycles" "tick"}}

-- One row an insert, so that any result can be traced to the batch that wrote it.
CREATE TABLE IF NOT EXISTS {{local "batches"}}{{onCluster}}
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
ENGINE = {{engine "MergeTree"}} PARTITION BY toYYYYMM(inserted_at) ORDER BY (inserted_at, token)
TTL toDateTime(inserted_at) + INTERVAL 30 DAY
SETTINGS ttl_only_drop_parts = 1, non_replicated_deduplication_window = 1000;
{{- distributed "batches" "token"}}

-- +goose Down
{{- range everywhere "batches" "cycles"}}
DROP TABLE IF EXISTS {{.}}{{onCluster}};
{{- end}}
DROP VIEW IF EXISTS results_latest_mv{{onCluster}};
{{- range everywhere "results_latest" "results"}}
DROP TABLE IF EXISTS {{.}}{{onCluster}};
{{- end}}
