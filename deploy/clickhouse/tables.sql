-- What the tables must know of the users of grants.sql. As an administrator, after the first migration and after each
-- upgrade:
--
--     clickhouse-client --queries-file deploy/clickhouse/tables.sql

-- Who inserts results need not read them, though views fill other tables from them.
ALTER TABLE probefleet.results_latest_mv MODIFY SQL SECURITY DEFINER DEFINER = pf_migrate;
ALTER TABLE probefleet.rollup_dirty_mv MODIFY SQL SECURITY DEFINER DEFINER = pf_migrate;

-- Probers insert rows of their own region alone. It is the end of their user's name: pf_prober_eu is of eu.
ALTER TABLE probefleet.results ADD CONSTRAINT IF NOT EXISTS own_region CHECK NOT startsWith(currentUser(), 'pf_prober_') OR region = substring(currentUser(), 11);
ALTER TABLE probefleet.prints ADD CONSTRAINT IF NOT EXISTS own_region CHECK NOT startsWith(currentUser(), 'pf_prober_') OR region = substring(currentUser(), 11);
ALTER TABLE probefleet.batches ADD CONSTRAINT IF NOT EXISTS own_region CHECK NOT startsWith(currentUser(), 'pf_prober_') OR region = substring(currentUser(), 11);
