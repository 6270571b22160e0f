-- What closed hours said before they were last changed, and what they say now. Repeating it adds nothing.
INSERT INTO corrections (target_id, region, bucket, was_version, revised_at, was_up, was_degraded, was_down, was_unknown, was_missed, was_total_us_sum,
 up, degraded, down, unknown, missed, total_us_sum)
SELECT target_id, region, bucket, was_version, revised_at, was_up, was_degraded, was_down, was_unknown, was_missed, was_total_us_sum,
 up, degraded, down, unknown, missed, total_us_sum
FROM rollup_1h FINAL
WHERE bucket = {bucket:DateTime('UTC')} AND revised_at >= {revised:DateTime('UTC')} AND /*targets*/
