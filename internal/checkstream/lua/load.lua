-- KEYS checks, clock. ARGV region. Gives now in ms, length, the length from which on
-- publishing is refused ('0': not known), the id of the first entry that the region's
-- group was not given or ''.
local list = redis.pcall('XINFO', 'GROUPS', KEYS[1])
if list.err then list = {} end
for _, flat in ipairs(list) do
  local group = named(flat)
  if group['name'] == ARGV[1] then
    local entry = first_entry(KEYS[1], id_after(group['last-delivered-id']))
    return { whole(now_ms()), redis.call('XLEN', KEYS[1]), redis.call('HGET', KEYS[2], 'most') or '0', entry and entry[1] or '' }
  end
end
return redis.error_reply('NOGROUP of this region')
