-- KEYS regions, drains. ARGV field. Removes a heartbeat, unless its prober is to drain: that
-- it will begin so must stay in sight.
if redis.call('HEXISTS', KEYS[2], ARGV[1]) == 0 then redis.call('HDEL', KEYS[1], ARGV[1]) end
return 1
