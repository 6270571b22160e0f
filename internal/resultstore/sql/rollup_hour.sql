-- An hour's rows: those of regions, and those of targets as a whole (region ''), which are counts only.
-- A row's version is the run's, but higher than that of the row before: it names the change of which that row was the end.
-- Slots are compared with a DateTime64: ClickHouse 26.7 takes "< DateTime" for "<= a second before" when it chooses parts,
-- and leaves out those that hold nothing but the last second of the hour.
-- A slot's cell is its quarter of the hour x 8 + its status, so 1 to 5, 9 to 13, 17 to 21, 25 to 29.
INSERT INTO rollup_1h (target_id, region, bucket, up, degraded, down, unknown, missed,
 "quarter.up", "quarter.degraded", "quarter.down", "quarter.unknown", "quarter.missed",
 dns_us_sum, connect_us_sum, tls_us_sum, wait_us_sum, transfer_us_sum, total_us_sum, total_us_min, total_us_max, latency,
 version, revised_at, was_version, was_up, was_degraded, was_down, was_unknown, was_missed, was_total_us_sum)
WITH
 was.version = 0 AS absent, greatest({version:DateTime('UTC')}, was.version + 1) AS newer,
 {closed:Bool} AND NOT ({fresh:Bool} AND absent) AND
  (new.ups != if(absent, [0, 0, 0, 0], was.ups) OR new.degradeds != if(absent, [0, 0, 0, 0], was.degradeds) OR new.downs != if(absent, [0, 0, 0, 0], was.downs)
   OR new.unknowns != if(absent, [0, 0, 0, 0], was.unknowns) OR new.misseds != if(absent, [0, 0, 0, 0], was.misseds) OR new.total_us != was.total_us_sum) AS changed
SELECT new.target_id, new.region, {bucket:DateTime('UTC')},
 arraySum(new.ups), arraySum(new.degradeds), arraySum(new.downs), arraySum(new.unknowns), arraySum(new.misseds),
 new.ups, new.degradeds, new.downs, new.unknowns, new.misseds,
 new.dns_us, new.connect_us, new.tls_us, new.wait_us, new.transfer_us, new.total_us, new.least_us, new.most_us, new.latencies,
 newer, if(changed, newer, was.revised_at),
 if(changed, was.version, was.was_version), if(changed, was.up, was.was_up), if(changed, was.degraded, was.was_degraded), if(changed, was.down, was.was_down),
 if(changed, was.unknown, was.was_unknown), if(changed, was.missed, was.was_missed), if(changed, was.total_us_sum, was.was_total_us_sum)
FROM
(
 SELECT target_id, region,
  [countIf(cell = 1), countIf(cell = 9), countIf(cell = 17), countIf(cell = 25)] AS ups,
  [countIf(cell = 2), countIf(cell = 10), countIf(cell = 18), countIf(cell = 26)] AS degradeds,
  [countIf(cell = 3), countIf(cell = 11), countIf(cell = 19), countIf(cell = 27)] AS downs,
  [countIf(cell = 4), countIf(cell = 12), countIf(cell = 20), countIf(cell = 28)] AS unknowns,
  [countIf(cell = 5), countIf(cell = 13), countIf(cell = 21), countIf(cell = 29)] AS misseds,
  sumIf(dns, timed) AS dns_us, sumIf(connect, timed) AS connect_us, sumIf(tls, timed) AS tls_us, sumIf(wait, timed) AS wait_us,
  sumIf(transfer, timed) AS transfer_us, sumIf(total, timed) AS total_us, minIf(total, timed) AS least_us, maxIf(total, timed) AS most_us,
  quantilesDDStateIf(0.02, 0.5, 0.95, 0.99)(total, timed) AS latencies
 FROM
 (
  SELECT target_id, region, status <= 'degraded' AS timed, intDiv(toUInt32(toDateTime(scheduled_at, 'UTC')) % 3600, 900) * 8 + toUInt8(status) AS cell,
   dns_us AS dns, connect_us AS connect, tls_us AS tls, wait_us AS wait, transfer_us AS transfer, total_us AS total
  FROM results FINAL WHERE scheduled_at >= {bucket:DateTime('UTC')} AND scheduled_at < toDateTime64({bucket:DateTime('UTC')} + {length:UInt32}, 3, 'UTC') AND /*targets*/
 )
 GROUP BY target_id, region
 UNION ALL
 SELECT target_id, '',
  [countIf(cell = 1), countIf(cell = 9), countIf(cell = 17), countIf(cell = 25)],
  [countIf(cell = 2), countIf(cell = 10), countIf(cell = 18), countIf(cell = 26)],
  [countIf(cell = 3), countIf(cell = 11), countIf(cell = 19), countIf(cell = 27)],
  [countIf(cell = 4), countIf(cell = 12), countIf(cell = 20), countIf(cell = 28)],
  [countIf(cell = 5), countIf(cell = 13), countIf(cell = 21), countIf(cell = 29)],
  toUInt64(0), toUInt64(0), toUInt64(0), toUInt64(0), toUInt64(0), toUInt64(0), toUInt32(0), toUInt32(0),
  quantilesDDStateIf(0.02, 0.5, 0.95, 0.99)(toUInt32(0), false)
 FROM
 (
  SELECT target_id, intDiv(toUInt32(toDateTime(scheduled_at, 'UTC')) % 3600, 900) * 8 + /*folded*/ AS cell
  FROM results FINAL WHERE scheduled_at >= {bucket:DateTime('UTC')} AND scheduled_at < toDateTime64({bucket:DateTime('UTC')} + {length:UInt32}, 3, 'UTC') AND /*targets*/
  GROUP BY target_id, scheduled_at
 )
 GROUP BY target_id
) AS new
LEFT JOIN
(
 SELECT target_id, region, version, up, degraded, down, unknown, missed, total_us_sum,
  "quarter.up" AS ups, "quarter.degraded" AS degradeds, "quarter.down" AS downs, "quarter.unknown" AS unknowns, "quarter.missed" AS misseds,
  revised_at, was_version, was_up, was_degraded, was_down, was_unknown, was_missed, was_total_us_sum
 FROM rollup_1h FINAL WHERE {over:Bool} AND bucket = {bucket:DateTime('UTC')} AND /*targets*/
) AS was ON new.target_id = was.target_id AND new.region = was.region
