-- KEYS dead, meta. ARGV the total to count in, ids. Gives how many letters it removed.
local removed = 0
for i = 2, #ARGV do
  local letter = letter_of(KEYS[1], ARGV[i])
  if letter then
    remove(KEYS[1], KEYS[2], letter, ARGV[1])
    removed = removed + 1
  else
    redis.call('HDEL', KEYS[2], ARGV[i])
  end
end
return removed
