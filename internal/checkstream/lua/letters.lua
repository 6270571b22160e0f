-- Put in front of the scripts about dead letters. The hash holds the totals (bytes,
-- dropped, replayed, purged) and, under the id of a letter somebody asked to replay,
-- 'asked_ms tries until_ms region': an id has a hyphen, a total has none.

local function letter_of(dead, id)
  return redis.call('XRANGE', dead, id, id)[1]
end

local function letter_bytes(fields)
  local n = 0
  for _, part in ipairs(fields) do n = n + #part end
  return n
end

-- Removes a letter and its request, and counts it.
local function remove(dead, meta, letter, total)
  redis.call('XDEL', dead, letter[1])
  redis.call('HDEL', meta, letter[1])
  redis.call('HINCRBY', meta, 'bytes', whole(-letter_bytes(letter[2])))
  redis.call('HINCRBY', meta, total, '1')
end

local function request_of(text)
  local asked, tries, till, region = string.match(text or '', '^(%d+) (%d+) (%d+) (.*)$')
  if asked then return asked, tonumber(tries), tonumber(till), region end
end
