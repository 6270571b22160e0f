-- KEYS tombstones. ARGV age in ms. Removes older tombstones: by then every check of
-- the target has expired.
local oldest = now_ms() - tonumber(ARGV[1])
local all = redis.call('HGETALL', KEYS[1])
local removed = 0
for i = 1, #all, 2 do
  if (tonumber(all[i + 1]) or 0) < oldest then
    redis.call('HDEL', KEYS[1], all[i])
    removed = removed + 1
  end
end
return removed
