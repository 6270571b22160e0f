-- KEYS dead, meta, tombstones. ARGV region, most, claim in ms, tries.
-- Claims letters of the region that are asked for and not claimed by anybody; one that
-- was claimed so many times in vain is left. Letters of deleted targets are removed
-- instead. Gives for each: id, fields, request.
local dead, meta = KEYS[1], KEYS[2]
local most, claim, tries_max = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local now, out = now_ms(), {}

local function take(id, asked, tries)
  local letter = letter_of(dead, id)
  if not letter then
    redis.call('HDEL', meta, id)
    return
  end
  local _, target = split(named(letter[2])['id'] or '0-0')
  if redis.call('HEXISTS', KEYS[3], target) == 1 then
    remove(dead, meta, letter, 'purged')
    return
  end
  local request = asked .. ' ' .. whole(tries + 1) .. ' ' .. whole(now + claim) .. ' ' .. ARGV[1]
  redis.call('HSET', meta, id, request)
  out[#out + 1] = { id, letter[2], request }
end

local cursor = '0'
repeat
  local page = redis.call('HSCAN', meta, cursor, 'COUNT', '200')
  cursor = page[1]
  for i = 1, #page[2], 2 do
    local asked, tries, till, region = request_of(page[2][i + 1])
    if region == ARGV[1] and till <= now and tries < tries_max and #out < most then
      take(page[2][i], asked, tries)
    end
  end
until cursor == '0' or #out >= most
return out
