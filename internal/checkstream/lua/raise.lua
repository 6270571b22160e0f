-- KEYS clock, checks. ARGV seq. Gives the last second whose publishing has begun.
local clock, checks = KEYS[1], KEYS[2]
local tick = tonumber(redis.call('HGET', clock, 'tick') or nil)
if not tick then return redis.error_reply('LOST there is no clock') end
local stored = redis.call('HGET', clock, 'seq') or '0'
if below(ARGV[1], stored) then return redis.error_reply('SUPERSEDED by ' .. stored) end
redis.call('HSET', clock, 'seq', ARGV[1])
return whole(math.max(tick, second_of(last_id(checks))))
