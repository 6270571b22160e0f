-- Put in front of every script. Ids are compared as decimal strings: exact for any
-- 64-bit number, where Lua's own numbers are not.

local function below(a, b)
  if #a ~= #b then return #a < #b end
  return a < b
end

local function split(id)
  local ms, seq = string.match(id, '^(%d+)%-(%d+)$')
  if ms then return ms, seq end
  return id, '0'
end

local function id_below(a, b)
  local ams, aseq = split(a)
  local bms, bseq = split(b)
  if ams ~= bms then return below(ams, bms) end
  return below(aseq, bseq)
end

local function id_after(id)
  local ms, seq = split(id)
  return ms .. '-' .. string.format('%.0f', tonumber(seq) + 1)
end

local function second_of(id)
  return math.floor(tonumber((split(id))) / 1000)
end

local function whole(number)
  return string.format('%.0f', number)
end

-- The reply of XINFO and of entries: a flat list of names and values.
local function named(flat)
  local out = {}
  for i = 1, #flat, 2 do out[flat[i]] = flat[i + 1] end
  return out
end

local function last_id(stream)
  local info = redis.pcall('XINFO', 'STREAM', stream)
  if info.err then return '0-0' end
  local id = named(info)['last-generated-id']
  if not id or id == '' then return '0-0' end
  return id
end

local function now_ms()
  local now = redis.call('TIME')
  return tonumber(now[1]) * 1000 + math.floor(tonumber(now[2]) / 1000)
end

local function now_second()
  return tonumber(redis.call('TIME')[1])
end

-- Keeps what somebody says of itself, as JSON, stamped with the time of Redis.
local function tell(hash, field, text)
  redis.call('HSET', hash, field, '{"at_ms":' .. whole(now_ms()) .. ',' .. string.sub(text, 2))
end

-- The groups with the oldest id each has not settled: its oldest pending entry or,
-- with none, the one after the last delivered. XINFO's own lag is not to be trusted.
local function groups_of(stream)
  local list = redis.pcall('XINFO', 'GROUPS', stream)
  if list.err then return {} end
  local out = {}
  for _, flat in ipairs(list) do
    local group = named(flat)
    local oldest = redis.call('XPENDING', stream, group['name'], '-', '+', 1)
    if #oldest > 0 then
      group.unsettled = oldest[1][1]
    else
      group.unsettled = id_after(group['last-delivered-id'])
    end
    out[#out + 1] = group
  end
  return out
end

local function first_entry(stream, from)
  return redis.call('XRANGE', stream, from, '+', 'COUNT', 1)[1]
end
