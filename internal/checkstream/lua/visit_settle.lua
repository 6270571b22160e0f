-- KEYS stream, open, results. ARGV group, id, name, outcome or '', how long outcomes are
-- kept in ms, the most of them.
-- Settles a visit and tells its outcome, exactly once: whoever comes second finds nothing
-- to settle. Gives 1 when this call did.
if redis.call('XACK', KEYS[1], ARGV[1], ARGV[2]) == 0 then return 0 end
redis.call('XDEL', KEYS[1], ARGV[2])
redis.call('ZREM', KEYS[2], ARGV[3])
if ARGV[4] ~= '' then
  redis.call('XADD', KEYS[3], 'MINID', '~', whole(now_ms() - tonumber(ARGV[5])), '*', 'o', ARGV[4])
  redis.call('XTRIM', KEYS[3], 'MAXLEN', ARGV[6])
end
return 1
