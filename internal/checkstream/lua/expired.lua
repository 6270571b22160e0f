-- KEYS checks. ARGV group, janitor, now in ms, grace in ms, limit, from, shortest and
-- longest expiry in ms.
-- Takes entries of a group that expired more than the grace ago: pending ones nobody
-- touched for that long, then those never delivered. Gives the cursor for the pending
-- ones ('' at the end), then for every entry: id, deliveries, fields or none (gone).
local checks = KEYS[1]
local group, janitor, limit, from = ARGV[1], ARGV[2], tonumber(ARGV[5]), ARGV[6]
local grace = tonumber(ARGV[4])
local cut = tonumber(ARGV[3]) - grace -- expired when the expiry is at or before this
local shortest, longest = tonumber(ARGV[7]), tonumber(ARGV[8])
if cut - shortest < 0 then return { '' } end

-- A body that cannot be read counts as the shortest: the decoder will complain.
local function expired(id, fields)
  local slot = tonumber((split(id)))
  if slot + longest + 1000 <= cut then return true end
  return (tonumber(named(fields)['x']) or slot + shortest) <= cut
end

local function body(id)
  return redis.call('XRANGE', checks, id, id)[1]
end

local out, claim, found = { '' }, {}, {}
local newest = whole(cut - shortest) -- younger slots cannot have expired

if not below(newest, (split(from == '-' and '0' or from))) then
  local page = redis.call('XPENDING', checks, group, 'IDLE', ARGV[4], from, newest, limit)
  if #page == limit then out[1] = page[#page][1] end
  for _, row in ipairs(page) do
    local entry = body(row[1])
    if not entry then
      out[#out + 1] = { row[1], row[4] }
    elseif expired(row[1], entry[2]) then
      claim[#claim + 1] = row[1]
      found[row[1]] = { row[1], row[4] + 1, entry[2] }
    end
  end
  if #claim > 0 then
    redis.call('XCLAIM', checks, group, janitor, '0', unpack(claim))
    for _, id in ipairs(claim) do out[#out + 1] = found[id] end
  end
  if #page == limit then return out end
end

local delivered
for _, info in ipairs(redis.call('XINFO', 'GROUPS', checks)) do
  local named_info = named(info)
  if named_info['name'] == group then delivered = named_info['last-delivered-id'] end
end
local waiting = redis.call('XRANGE', checks, id_after(delivered), newest, 'COUNT', limit)
local upto = 0
for i, entry in ipairs(waiting) do
  if expired(entry[1], entry[2]) then upto = i end
end
if upto == 0 then return out end

-- A group is read in order, so unexpired ones in between come along: they are left
-- in the janitor's name, untouched and as if never delivered, for a prober to take.
redis.call('XREADGROUP', 'GROUP', group, janitor, 'COUNT', upto, 'STREAMS', checks, '>')
local back = {}
for i = 1, upto do
  local entry = waiting[i]
  if expired(entry[1], entry[2]) then
    out[#out + 1] = { entry[1], 1, entry[2] }
  else
    back[#back + 1] = entry[1]
  end
end
for i, id in ipairs(back) do
  redis.call('XCLAIM', checks, group, janitor, '0', id, 'IDLE', ARGV[4], 'RETRYCOUNT', '0', 'JUSTID')
end
return out
