-- KEYS checks.
-- ARGV group, taker, owner ('': anybody but the taker), idle in ms, from, page, the most
-- to take of entries delivered once before or never, the most of those delivered more
-- often, then optionally the only ids to take.
-- Takes over pending entries of one page. Gives the last id it looked at or '' at the
-- end, how many it left for want of room, then for every entry: id, deliveries, fields;
-- no fields when the body is gone: that one stays pending where it is, so that it is
-- found again until it is settled.
local checks = KEYS[1]
local group, taker, owner, idle, from, size = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], tonumber(ARGV[6])
local room, alone = tonumber(ARGV[7]), tonumber(ARGV[8])

local only
for i = 9, #ARGV do
  only = only or {}
  only[ARGV[i]] = true
end

local page
if owner == '' then
  page = redis.call('XPENDING', checks, group, 'IDLE', idle, from, '+', size)
else
  page = redis.call('XPENDING', checks, group, 'IDLE', idle, from, '+', size, owner)
end

local function admitted(delivered)
  if delivered > 1 then
    alone = alone - 1
    return alone >= 0
  end
  room = room - 1
  return room >= 0
end

local oldest = first_entry(checks, '-')
local out, claim, deliveries, left = { '', 0 }, {}, {}, 0
for _, row in ipairs(page) do
  local id = row[1]
  if (owner ~= '' or row[2] ~= taker) and (not only or only[id]) then
    if not admitted(row[4]) then
      left = left + 1
    elseif not oldest or id_below(id, oldest[1]) then
      out[#out + 1] = { id, row[4] }
    else
      claim[#claim + 1] = id
      deliveries[id] = row[4] + 1
    end
  end
end
if #page == size then out[1] = page[#page][1] end
out[2] = left

if #claim > 0 then
  for _, entry in ipairs(redis.call('XCLAIM', checks, group, taker, '0', unpack(claim))) do
    if entry then
      out[#out + 1] = { entry[1], deliveries[entry[1]], entry[2] }
      deliveries[entry[1]] = nil
    end
  end
  -- Deleted one by one, by hand: Redis has just dropped these from the pending list.
  for _, id in ipairs(claim) do
    if deliveries[id] then out[#out + 1] = { id, deliveries[id] } end
  end
end
return out
