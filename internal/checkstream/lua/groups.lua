-- KEYS checks, dead. Gives now in ms, length, dead letters, then for every group:
-- name, consumers, pending, the id of its oldest unsettled entry or ''.
local out = { whole(now_ms()), redis.call('XLEN', KEYS[1]), redis.call('XLEN', KEYS[2]) }
local newest = last_id(KEYS[1])
for _, group in ipairs(groups_of(KEYS[1])) do
  local oldest = ''
  if not id_below(newest, group.unsettled) then
    local entry = first_entry(KEYS[1], group.unsettled)
    if group['pending'] > 0 or not entry then oldest = group.unsettled else oldest = entry[1] end
  end
  out[#out + 1] = group['name']
  out[#out + 1] = group['consumers']
  out[#out + 1] = group['pending']
  out[#out + 1] = oldest
end
return out
