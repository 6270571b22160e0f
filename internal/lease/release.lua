-- KEYS lease. ARGV holder. Removes the lease only when it is still ours.
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end
return 0
