-- KEYS dead. ARGV from, how many at most. Gives the id to go on from, or '' at the end, then
-- for each region of these letters: its name, and how many are its.
local page = redis.call('XRANGE', KEYS[1], ARGV[1], '+', 'COUNT', ARGV[2])
local out, counts = { '' }, {}
if #page == tonumber(ARGV[2]) then out[1] = id_after(page[#page][1]) end
for _, letter in ipairs(page) do
  local region = named(letter[2])['region'] or ''
  counts[region] = (counts[region] or 0) + 1
end
for region, n in pairs(counts) do
  out[#out + 1] = region
  out[#out + 1] = n
end
return out
