-- What closed hours said before they were last changed, and what they say now. Repeating it adds nothing.
-- Seldom is anything revised: two columns of the hours are read before all others. FINAL still takes the newer of two rows,
-- which was revised no earlier than the one it replaces and so is never the one that is passed over.
INSERT INTO corrections (target_id, region, bucket, was_version, revised_at, was_up, was_degraded, was_down, was_unknown, was_missed, was_total_us_sum,
 up, degraded, down, unknown, missed, total_us_sum)
SELECT target_id, region, bucket, was_version, revised_at, was_up, was_degraded, was_down, was_unknown, was_missed, was_total_us_sum,
 up, degraded, down, unknown, missed, total_us_sum
FROM rollup_1h FINAL
PREWHERE bucket = {bucket:DateTime('UTC')} AND revised_at >= {revised:DateTime('UTC')} WHERE /*targets*/
