-- +goose NO TRANSACTION
-- +goose Up
-- What a measurement saw besides its phases, and the evidence of one that was not up (JSON).
ALTER TABLE results
    ADD COLUMN IF NOT EXISTS protocol    LowCardinality(String) CODEC(ZSTD(1)) AFTER cert_not_after,
    ADD COLUMN IF NOT EXISTS tls_version UInt16 CODEC(ZSTD(1)) AFTER protocol,
    ADD COLUMN IF NOT EXISTS hops        UInt8  CODEC(ZSTD(1)) AFTER tls_version,
    ADD COLUMN IF NOT EXISTS wire_bytes  UInt32 CODEC(T64, ZSTD(1)) AFTER hops,
    ADD COLUMN IF NOT EXISTS body_bytes  UInt32 CODEC(T64, ZSTD(1)) AFTER wire_bytes,
    ADD COLUMN IF NOT EXISTS marks       UInt8  CODEC(ZSTD(1)) AFTER body_bytes, -- 1: DNS cached, 2: saturated
    ADD COLUMN IF NOT EXISTS evidence    String CODEC(ZSTD(3)) AFTER marks;

-- +goose Down
ALTER TABLE results DROP COLUMN IF EXISTS protocol, DROP COLUMN IF EXISTS tls_version, DROP COLUMN IF EXISTS hops, DROP COLUMN IF EXISTS wire_bytes,
    DROP COLUMN IF EXISTS body_bytes, DROP COLUMN IF EXISTS marks, DROP COLUMN IF EXISTS evidence;
