-- KEYS tombstones. ARGV target id.
redis.call('HSET', KEYS[1], ARGV[1], whole(now_ms()))
return 1
