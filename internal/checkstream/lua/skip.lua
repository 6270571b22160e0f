-- KEYS clock, checks. ARGV seq, second, again (0|1).
-- Advances the clock over seconds that will not be published.
local clock, checks = KEYS[1], KEYS[2]
local seq, second, again = ARGV[1], tonumber(ARGV[2]), ARGV[3] == '1'
local tick = tonumber(redis.call('HGET', clock, 'tick') or nil)
if not tick then return redis.error_reply('LOST there is no clock') end
local stored = redis.call('HGET', clock, 'seq') or '0'
if below(seq, stored) then return redis.error_reply('SUPERSEDED by ' .. stored) end
if again and second == tick then return 1 end
if second <= tick or second_of(last_id(checks)) > second then return redis.error_reply('STALE tick ' .. whole(tick)) end
if second > now_second() + 3 then return redis.error_reply('FUTURE clock') end
redis.call('HSET', clock, 'tick', ARGV[2], 'seq', seq)
redis.call('HDEL', clock, 'fresh')
return 1
