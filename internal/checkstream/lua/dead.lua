-- KEYS checks, dead, meta, tombstones. ARGV group, consumer, id, reason, deliveries,
-- row or '', the most bytes to keep of the entry, the most letters, their most bytes,
-- '1' when the entry may be settled already.
-- Settles an entry and keeps a copy for people, exactly once: whoever comes second
-- finds nothing pending. Gives 1 when this call kept a letter.
local checks, dead, meta = KEYS[1], KEYS[2], KEYS[3]
local group, id, row, room = ARGV[1], ARGV[3], ARGV[6], tonumber(ARGV[7])
local pending = #redis.call('XPENDING', checks, group, id, id, 1) > 0
if not pending and ARGV[10] ~= '1' then return 0 end
local entry = redis.call('XRANGE', checks, id, id)[1]
-- First: after a write Redis allows the next one even when its memory is full.
if pending then redis.call('XACK', checks, group, id) end
local _, target = split(id)
if redis.call('HEXISTS', KEYS[4], target) == 1 then return 1 end

local letter = { 'region', group, 'id', id, 'reason', ARGV[4], 'prober', ARGV[2], 'deliveries', ARGV[5] }
local function put(name, value)
  letter[#letter + 1] = name
  letter[#letter + 1] = value
end
if row ~= '' then put('row', row) end
local fields = entry and entry[2] or {}
for i = 1, #fields, 2 do
  local name, value = fields[i], fields[i + 1]
  if i > 64 or #name + #value > room then
    put('cut', '1')
    if #name < room then put('f:' .. name, string.sub(value, 1, room - #name)) end
    break
  end
  put('f:' .. name, value)
  room = room - #name - #value
end

redis.call('XADD', dead, '*', unpack(letter))
local count = redis.call('XLEN', dead)
if count == 1 then redis.call('HSET', meta, 'bytes', '0') end
local bytes = redis.call('HINCRBY', meta, 'bytes', whole(letter_bytes(letter)))
while count > tonumber(ARGV[8]) or (bytes > tonumber(ARGV[9]) and count > 1) do
  remove(dead, meta, first_entry(dead, '-'), 'dropped')
  count = count - 1
  bytes = tonumber(redis.call('HGET', meta, 'bytes'))
end
return 1
