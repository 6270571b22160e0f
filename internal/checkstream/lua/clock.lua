-- KEYS clock, checks. Gives tick, after, seq, now in ms, fresh, length.
-- Creates the clock when it is missing; resets one that is far ahead of the time
-- (the server's clock was wrong) as soon as every group has settled everything.
local clock, checks = KEYS[1], KEYS[2]
local now = now_second()
local last = last_id(checks)
local tick = tonumber(redis.call('HGET', clock, 'tick') or nil)

if not tick then
  tick = math.max(now + 1, second_of(last))
  redis.call('HSET', clock, 'tick', whole(tick), 'fresh', '1')
  redis.call('HSETNX', clock, 'seq', '0')
end

if tick > now + 10 then
  local groups = groups_of(checks)
  local drained = #groups > 0 or redis.call('XLEN', checks) == 0
  for _, group in ipairs(groups) do
    if not id_below(last, group.unsettled) then drained = false end
  end
  if drained then
    redis.call('DEL', checks)
    for _, group in ipairs(groups) do
      redis.call('XGROUP', 'CREATE', checks, group['name'], '0', 'MKSTREAM')
    end
    last, tick = '0-0', now + 1
    redis.call('HSET', clock, 'tick', whole(tick), 'fresh', '1')
  end
end

if second_of(last) > tick + 1 then
  tick = second_of(last) - 1
  redis.call('HSET', clock, 'tick', whole(tick))
end

local after = '0'
if second_of(last) == tick + 1 then
  local _, seq = split(last)
  after = seq
end

return {
  whole(tick), after, redis.call('HGET', clock, 'seq') or '0', whole(now_ms()),
  redis.call('HEXISTS', clock, 'fresh'), redis.call('XLEN', checks),
}
