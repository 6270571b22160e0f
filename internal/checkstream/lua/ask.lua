-- KEYS dead, meta. ARGV tries, ids. Asks for replays; an open request stays as it is. Gives
-- how many of the letters are there, and so asked for now.
local dead, meta = KEYS[1], KEYS[2]
local now, there = now_ms(), 0
for i = 2, #ARGV do
  local id = ARGV[i]
  local letter = letter_of(dead, id)
  if letter then
    there = there + 1
    local _, tries, till = request_of(redis.call('HGET', meta, id))
    if not tries or (tries >= tonumber(ARGV[1]) and till <= now) then
      redis.call('HSET', meta, id, whole(now) .. ' 0 0 ' .. named(letter[2])['region'])
    end
  end
end
return there
