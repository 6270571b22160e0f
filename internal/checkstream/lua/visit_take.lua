-- KEYS stream, regions. ARGV group, taker, region, most, idle in ms, age of a dead
-- heartbeat in ms, the most deliveries, '1' to take what is in the taker's own name, idle
-- in ms for those of probers without a heartbeat.
-- Takes over what a prober left: after the shorter idle time from one without a heartbeat,
-- after the longer from any. Gives for every entry: id, deliveries, fields.
local stream, group, taker, now = KEYS[1], ARGV[1], ARGV[2], now_ms()
local room, idle_most, silence = tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])

local function live(name)
  local beat = redis.call('HGET', KEYS[2], ARGV[3] .. '/' .. name)
  local at = beat and tonumber(string.match(beat, '"at_ms":(%d+)') or nil)
  return at and now - at < silence
end

local pending = redis.pcall('XPENDING', stream, group, '-', '+', 100)
if pending.err then return {} end
local out = {}
for _, row in ipairs(pending) do
  local id, owner, idle, deliveries = row[1], row[2], row[3], row[4]
  local left
  if owner == taker then
    left = ARGV[8] == '1'
  else
    left = idle >= idle_most or (idle >= tonumber(ARGV[9]) and not live(owner))
  end
  if left and deliveries < tonumber(ARGV[7]) and #out < room then
    local entry = redis.call('XCLAIM', stream, group, taker, '0', id)[1]
    if entry then out[#out + 1] = { id, deliveries + 1, entry[2] } end
  end
end
return out
