-- KEYS regions, drains. ARGV field, heartbeat as JSON. Gives 1 when the prober is to drain.
tell(KEYS[1], ARGV[1], ARGV[2])
return redis.call('HEXISTS', KEYS[2], ARGV[1])
