-- KEYS clock, checks, refused.
-- ARGV second, seq, last (0|1), backlog max (0: none), again (0|1), then for every
-- check: target id, expiry in ms, check, spec or ''.
-- Gives how many checks were added. The backlog max is left in the clock, for probers to
-- know how full the stream is. again: this very call may have run before, so
-- what is there already counts as added and a finished second is no surprise.
local clock, checks, refused = KEYS[1], KEYS[2], KEYS[3]
local second, seq, last, room, again = tonumber(ARGV[1]), ARGV[2], ARGV[3], tonumber(ARGV[4]), ARGV[5] == '1'

local tick = tonumber(redis.call('HGET', clock, 'tick') or nil)
if not tick then return redis.error_reply('LOST there is no clock') end
local stored = redis.call('HGET', clock, 'seq') or '0'
if below(seq, stored) then return redis.error_reply('SUPERSEDED by ' .. stored) end
if second > tick + 1 then return redis.error_reply('GAP after ' .. whole(tick)) end
if second > now_second() + 3 then return redis.error_reply('FUTURE clock') end

-- The embedded server takes an older id again once the stream is empty: compare here.
local newest = last_id(checks)
local prefix = whole(second * 1000) .. '-'
local first, there = 0, 0
for i = 6, #ARGV, 4 do
  if id_below(newest, prefix .. ARGV[i]) then
    first = i
    break
  end
  there = there + 1
end

if second <= tick or second_of(newest) > second then
  if again and first == 0 and second == tick then return there end
  return redis.error_reply('STALE tick ' .. whole(tick))
end

local added = again and there or 0
if first > 0 then
  if room > 0 and redis.call('XLEN', checks) >= room then
    redis.call('HSET', clock, 'most', ARGV[4])
    local known = redis.call('HGET', refused, ARGV[1])
    if not known or below(ARGV[first], known) then redis.call('HSET', refused, ARGV[1], ARGV[first]) end
    return redis.error_reply('FULL ' .. ARGV[first])
  end
  for i = first, #ARGV, 4 do
    if ARGV[i + 3] == '' then
      redis.call('XADD', checks, prefix .. ARGV[i], 'v', '1', 'x', ARGV[i + 1], 'c', ARGV[i + 2])
    else
      redis.call('XADD', checks, prefix .. ARGV[i], 'v', '2', 'x', ARGV[i + 1], 'c', ARGV[i + 2], 's', ARGV[i + 3])
    end
    added = added + 1
  end
end
redis.call('HSET', clock, 'seq', seq, 'most', ARGV[4])
redis.call('HDEL', clock, 'fresh')
if last == '1' then redis.call('HSET', clock, 'tick', ARGV[1]) end
return added
