-- KEYS tombstones, dead, meta. ARGV target ids. Marks them as deleted and removes
-- their dead letters: what nobody may run any more, nobody shall replay.
local at, deleted = whole(now_ms()), {}
for _, target in ipairs(ARGV) do
  redis.call('HSET', KEYS[1], target, at)
  deleted[target] = true
end
local from = '-'
while from do
  local page = redis.call('XRANGE', KEYS[2], from, '+', 'COUNT', 100)
  for _, letter in ipairs(page) do
    local _, target = split(named(letter[2])['id'] or '0-0')
    if deleted[target] then remove(KEYS[2], KEYS[3], letter, 'purged') end
  end
  from = #page == 100 and id_after(page[100][1]) or nil
end
return 1
