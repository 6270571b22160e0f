-- KEYS checks. ARGV group, consumer. Removes a consumer's name, and never one with
-- pending entries: Redis would discard them. Gives 1 when it was removed.
if #redis.call('XPENDING', KEYS[1], ARGV[1], '-', '+', 1, ARGV[2]) > 0 then return 0 end
redis.call('XGROUP', 'DELCONSUMER', KEYS[1], ARGV[1], ARGV[2])
return 1
