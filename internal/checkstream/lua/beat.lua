-- KEYS regions. ARGV field, heartbeat as JSON. Stamps it with the time of Redis.
redis.call('HSET', KEYS[1], ARGV[1], '{"at_ms":' .. whole(now_ms()) .. ',' .. string.sub(ARGV[2], 2))
return 1
