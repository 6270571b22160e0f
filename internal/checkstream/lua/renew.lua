-- KEYS checks. ARGV group, owner, ids. Resets the idle time of what the owner still
-- has; never takes back what somebody took over. Gives how many it still has.
local kept = 0
for i = 3, #ARGV do
  local row = redis.call('XPENDING', KEYS[1], ARGV[1], ARGV[i], ARGV[i], 1, ARGV[2])[1]
  if row then
    redis.call('XCLAIM', KEYS[1], ARGV[1], ARGV[2], '0', ARGV[i], 'RETRYCOUNT', row[4], 'JUSTID')
    kept = kept + 1
  end
end
return kept
