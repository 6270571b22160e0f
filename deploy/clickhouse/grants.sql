-- A user of ClickHouse for each program, with what it does and no more. As an administrator, with the hashes filled in
-- (printf %s "$PASSWORD" | sha256sum), and again after an upgrade:
--
--     clickhouse-client --queries-file deploy/clickhouse/grants.sql
--
-- It is written for one node and the database `probefleet`. Everybody sees what tables there are and how long they keep
-- their rows: who inserts must know which rows come too late.

CREATE DATABASE IF NOT EXISTS probefleet;

-- `probefleet migrate up`. The views that fill results_latest and rollup_dirty run as this user, too (tables.sql): keep it.
CREATE USER IF NOT EXISTS pf_migrate IDENTIFIED WITH sha256_hash BY 'SHA256_MIGRATE';
GRANT SHOW, SELECT, INSERT, ALTER TABLE, CREATE TABLE, CREATE VIEW ON probefleet.* TO pf_migrate;
GRANT TABLE ENGINE ON MergeTree TO pf_migrate;
GRANT TABLE ENGINE ON ReplacingMergeTree TO pf_migrate;

-- Publishers state what was missed, compute figures, remove what deleted targets left, and set how long tables keep their
-- rows. `probefleet history rebuild` is theirs, too.
CREATE USER IF NOT EXISTS pf_publisher IDENTIFIED WITH sha256_hash BY 'SHA256_PUBLISHER';
GRANT SHOW TABLES, SELECT ON probefleet.* TO pf_publisher;
GRANT INSERT ON probefleet.results TO pf_publisher;
GRANT INSERT ON probefleet.batches TO pf_publisher;
GRANT INSERT ON probefleet.cycles TO pf_publisher;
GRANT INSERT, ALTER DELETE, ALTER TTL, ALTER MODIFY COMMENT ON probefleet.rollup_dirty TO pf_publisher;
GRANT INSERT, ALTER DELETE, ALTER TTL, ALTER MODIFY COMMENT ON probefleet.rollup_1h TO pf_publisher;
GRANT INSERT, ALTER DELETE, ALTER TTL, ALTER MODIFY COMMENT ON probefleet.rollup_1d TO pf_publisher;
GRANT INSERT, ALTER DELETE, ALTER TTL, ALTER MODIFY COMMENT ON probefleet.corrections TO pf_publisher;
GRANT ALTER DELETE, ALTER TTL, ALTER MODIFY COMMENT ON probefleet.results TO pf_publisher;
GRANT ALTER DELETE, ALTER TTL, ALTER MODIFY COMMENT ON probefleet.prints TO pf_publisher;
GRANT ALTER DELETE ON probefleet.results_latest TO pf_publisher;
-- Which parts hide rows that were deleted; one sees those of one's own tables alone.
GRANT SELECT ON system.parts TO pf_publisher;

-- Probers insert, and read nothing but the version of the schema. One for each region, whose name takes the place of REGION:
-- by it tables.sql tells which rows are theirs.
CREATE USER IF NOT EXISTS `pf_prober_REGION` IDENTIFIED WITH sha256_hash BY 'SHA256_PROBER_REGION';
GRANT SHOW TABLES ON probefleet.* TO `pf_prober_REGION`;
GRANT SELECT ON probefleet.goose_db_version TO `pf_prober_REGION`;
GRANT INSERT ON probefleet.results TO `pf_prober_REGION`;
GRANT INSERT ON probefleet.prints TO `pf_prober_REGION`;
GRANT INSERT ON probefleet.batches TO `pf_prober_REGION`;

-- API nodes read, and insert the results of external checkers and heartbeats.
CREATE USER IF NOT EXISTS pf_api IDENTIFIED WITH sha256_hash BY 'SHA256_API';
GRANT SHOW TABLES, SELECT ON probefleet.* TO pf_api;
GRANT INSERT ON probefleet.results TO pf_api;
GRANT INSERT ON probefleet.batches TO pf_api;
