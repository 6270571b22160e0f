-- KEYS stream. ARGV age in ms, then names and values. Adds one entry and removes what
-- is older than the age, both by the time of Redis.
local now = redis.call('TIME')
local oldest = string.format('%.0f', tonumber(now[1]) * 1000 - tonumber(ARGV[1]))
return redis.call('XADD', KEYS[1], 'MINID', '~', oldest, '*', unpack(ARGV, 2))
