-- A UTC day's rows are the sums of its hours. One that is there with a higher version, because the job came by between
-- hours that are being rebuilt, is replaced too: of equal versions the row that came last counts.
INSERT INTO rollup_1d (target_id, region, bucket, up, degraded, down, unknown, missed,
 dns_us_sum, connect_us_sum, tls_us_sum, wait_us_sum, transfer_us_sum, total_us_sum, total_us_min, total_us_max, latency, version, revised_at)
SELECT new.target_id, new.region, {bucket:DateTime('UTC')}, new.ups, new.degradeds, new.downs, new.unknowns, new.misseds,
 new.dns_us, new.connect_us, new.tls_us, new.wait_us, new.transfer_us, new.total_us, new.least_us, new.most_us, new.latencies,
 greatest({version:DateTime('UTC')}, was.newest), new.revised
FROM
(
 SELECT target_id, region, sum(up) AS ups, sum(degraded) AS degradeds, sum(down) AS downs, sum(unknown) AS unknowns, sum(missed) AS misseds,
  sum(dns_us_sum) AS dns_us, sum(connect_us_sum) AS connect_us, sum(tls_us_sum) AS tls_us, sum(wait_us_sum) AS wait_us,
  sum(transfer_us_sum) AS transfer_us, sum(total_us_sum) AS total_us,
  minIf(total_us_min, up + degraded > 0) AS least_us, max(total_us_max) AS most_us, quantilesDDMergeState(0.02, 0.5, 0.95, 0.99)(latency) AS latencies, max(revised_at) AS revised
 FROM rollup_1h FINAL
 WHERE bucket >= {bucket:DateTime('UTC')} AND bucket < {bucket:DateTime('UTC')} + {length:UInt32} AND /*targets*/
 GROUP BY target_id, region
) AS new
LEFT JOIN
(
 SELECT target_id, region, max(version) AS newest FROM rollup_1d WHERE bucket = {bucket:DateTime('UTC')} AND /*targets*/ GROUP BY target_id, region
) AS was ON new.target_id = was.target_id AND new.region = was.region
