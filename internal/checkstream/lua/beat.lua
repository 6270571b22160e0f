-- KEYS regions, drains. ARGV field, heartbeat as JSON. Stamps it with the time of Redis.
-- Gives 1 when the prober is to drain.
redis.call('HSET', KEYS[1], ARGV[1], '{"at_ms":' .. whole(now_ms()) .. ',' .. string.sub(ARGV[2], 2))
return redis.call('HEXISTS', KEYS[2], ARGV[1])
