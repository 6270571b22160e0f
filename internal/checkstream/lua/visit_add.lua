-- KEYS open, then the stream of each visit's region. ARGV the most open visits, their
-- life in ms, grace in ms, group, then for every visit: name, job, attempt, timeout in ms,
-- kind, url, spec or ''.
-- Adds all visits or, when there is no room, none. One that is open already is not added
-- again: the call may be repeated. Gives how many are open now.
local open, most, life, grace, group = KEYS[1], tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), ARGV[4]
local now = now_ms()
redis.call('ZREMRANGEBYSCORE', open, '-inf', whole(now))

local fresh = {}
for i = 2, #KEYS do
  if not redis.call('ZSCORE', open, ARGV[5 + (i - 2) * 7]) then fresh[#fresh + 1] = i end
end
if redis.call('ZCARD', open) + #fresh > most then return redis.error_reply('FULL lane') end

-- What nobody took, or finished, in its time.
local function sweep(stream)
  for _, entry in ipairs(redis.call('XRANGE', stream, '-', '+', 'COUNT', 100)) do
    local expiry = tonumber(named(entry[2])['x'] or '0') or 0
    if expiry + grace > now then return end
    redis.call('XACK', stream, group, entry[1])
    redis.call('XDEL', stream, entry[1])
  end
end

for _, i in ipairs(fresh) do
  local stream, at = KEYS[i], 5 + (i - 2) * 7
  redis.pcall('XGROUP', 'CREATE', stream, group, '0', 'MKSTREAM') -- it may be there
  sweep(stream)
  redis.call('XADD', stream, '*', 'v', '1', 'x', whole(now + life), 'j', ARGV[at + 1], 'n', ARGV[at + 2],
    't', ARGV[at + 3], 'k', ARGV[at + 4], 'u', ARGV[at + 5], 's', ARGV[at + 6])
  -- A region that is asked no more leaves nothing behind.
  redis.call('PEXPIRE', stream, whole(2 * (life + grace)))
  redis.call('ZADD', open, whole(now + life), ARGV[at])
end
return redis.call('ZCARD', open)
