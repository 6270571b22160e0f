-- KEYS checks, dead. ARGV group, consumer, id, reason, deliveries.
-- Settles an entry and keeps a copy for people, exactly once: whoever comes second
-- finds nothing pending. Gives 1 when this call moved it.
local group, id = ARGV[1], ARGV[3]
if #redis.call('XPENDING', KEYS[1], group, id, id, 1) == 0 then return 0 end
local entry = redis.call('XRANGE', KEYS[1], id, id)[1]
local body = ''
if entry then body = string.sub(named(entry[2])['c'] or '', 1, 65536) end
redis.call('XACK', KEYS[1], group, id)
redis.call('XADD', KEYS[2], 'MAXLEN', '~', 10000, '*',
  'region', group, 'id', id, 'reason', ARGV[4], 'prober', ARGV[2], 'deliveries', ARGV[5], 'c', body)
return 1
