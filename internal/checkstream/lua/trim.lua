-- KEYS checks. Gives floor, removed, length, the first id that is not settled or ''.
-- Removes only what every group has settled. Without a group nobody has settled
-- anything, so nothing is removed.
local checks = KEYS[1]
local floor
for _, group in ipairs(groups_of(checks)) do
  if not floor or id_below(group.unsettled, floor) then floor = group.unsettled end
end
if not floor then return { '', 0, redis.call('XLEN', checks), '' } end

local removed
if #redis.call('XINFO', 'STREAM', checks) > 4 then
  -- LIMIT 0: the default limit would remove at most 10,000 a call.
  removed = redis.call('XTRIM', checks, 'MINID', '~', floor, 'LIMIT', 0)
else
  -- The embedded server needs seconds for a large MINID trim, and no time to cut to a
  -- length. Counted in the same script, the length is exactly what is settled.
  local settled = redis.call('XRANGE', checks, '-', '(' .. floor, 'COUNT', 20000)
  removed = redis.call('XTRIM', checks, 'MAXLEN', '=', redis.call('XLEN', checks) - #settled)
end
local entry = first_entry(checks, floor)
return { floor, removed, redis.call('XLEN', checks), entry and entry[1] or '' }
