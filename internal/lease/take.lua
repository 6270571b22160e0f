-- KEYS lease. ARGV holder, time to live in ms. Takes the lease when it is free, renews
-- it when it is ours. Gives 1 when it is ours now. One that would outlive the time to
-- live was taken before the server's clock went back, and counts as free: nobody can
-- be holding it.
local holder = redis.call('GET', KEYS[1])
if holder and holder ~= ARGV[1] and redis.call('PTTL', KEYS[1]) <= tonumber(ARGV[2]) then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1
