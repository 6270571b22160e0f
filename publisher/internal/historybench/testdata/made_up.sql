-- Hourly rows of a day of which no results are loaded, as if each series had been checked every minute.
-- made_up has the series, with the middles and spreads that the loaded results have too. Of the phases only
-- the sums are drawn, not each check's.
INSERT INTO rollup_1h (target_id, region, bucket, up, degraded, down, unknown, missed,
 "quarter.up", "quarter.degraded", "quarter.down", "quarter.unknown", "quarter.missed",
 dns_us_sum, connect_us_sum, tls_us_sum, wait_us_sum, transfer_us_sum, total_us_sum, total_us_min, total_us_max, latency, version)
SELECT target, place, at, arraySum(ups), arraySum(slows), arraySum(downs), 0, arraySum(misses), ups, slows, downs, [0, 0, 0, 0], misses,
 toUInt64(dns * (1.133 * n + 0.604 * sqrt(n) * randNormal(0, 1, 1))) AS dns_sum,
 toUInt64(rtt * (n + 0.03 * sqrt(n) * randNormal(0, 1, 2))) AS connect_sum,
 if(https, toUInt64((rtt + 1517) * (n + 0.03 * sqrt(n) * randNormal(0, 1, 3))), 0) AS tls_sum,
 toUInt64(greatest(0, toFloat64(together) - dns_sum - connect_sum - tls_sum - transfer_sum - 60 * n)),
 toUInt64(transfer * (1.083 * n + 0.45 * sqrt(n) * randNormal(0, 1, 4))) AS transfer_sum,
 together, least, most, latencies, at + 4200
FROM
(
 SELECT target_id AS target, region AS place, at, any(s.dns) AS dns, any(s.rtt) AS rtt, any(s.https) AS https, any(s.transfer) AS transfer,
  [countIf(came = 0), countIf(came = 1), countIf(came = 2), countIf(came = 3)] AS ups,
  [countIf(came = 8), countIf(came = 9), countIf(came = 10), countIf(came = 11)] AS slows,
  [countIf(came = 16), countIf(came = 17), countIf(came = 18), countIf(came = 19)] AS downs,
  [countIf(came = 24), countIf(came = 25), countIf(came = 26), countIf(came = 27)] AS misses,
  countIf(came < 16) AS n, sumIf(total, came < 16) AS together, minIf(total, came < 16) AS least, maxIf(total, came < 16) AS most,
  quantilesDDStateIf(0.02, 0.5, 0.95, 0.99)(total, came < 16) AS latencies
 FROM
 (
  SELECT *, {day:DateTime('UTC')} + intDiv(minute, 60) * 3600 AS at, rand(1) % 1000 AS dice,
   intDiv(minute % 60, 15) + 8 * multiIf(dice = 0, 3, dice <= 2, 1, dice <= 7, 2, 0) AS came,
   toUInt32(dns * exp(0.5 * randNormal(0, 1, 5)) + wait * exp(thinks * randNormal(0, 1, 6)) + rtt * (2 + https + 0.05 * randNormal(0, 1, 7)) + transfer
    + if(dice IN (1, 2), 1000000, 0)) AS total
  FROM made_up CROSS JOIN (SELECT toUInt32(number) AS minute FROM numbers(1440)) AS minutes
 ) AS s
 GROUP BY target, place, at
 UNION ALL
 SELECT target, '', {day:DateTime('UTC')} + hour * 3600, 0, 0, false, 0, [15, 15, 15 - slow, 15], [0, 0, slow, 0], [0, 0, 0, 0], [0, 0, 0, 0],
  0, 0, 0, 0, initializeAggregation('quantilesDDStateIf(0.02, 0.5, 0.95, 0.99)', toUInt32(0), 0)
 FROM (SELECT DISTINCT target_id AS target FROM made_up) AS targets CROSS JOIN (SELECT number AS hour, toUInt64(rand(3) % 3 = 0) AS slow FROM numbers(24)) AS hours
)
