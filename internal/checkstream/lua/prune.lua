-- KEYS tombstones. ARGV age in ms, cursor, page. Removes older tombstones of one page
-- and gives where the next begins: '0' at the end.
local oldest = now_ms() - tonumber(ARGV[1])
local page = redis.call('HSCAN', KEYS[1], ARGV[2], 'COUNT', ARGV[3])
for i = 1, #page[2], 2 do
  if (tonumber(page[2][i + 1]) or 0) < oldest then redis.call('HDEL', KEYS[1], page[2][i]) end
end
return page[1]
