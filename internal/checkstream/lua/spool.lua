-- KEYS spools. ARGV node, what lies on its disk as JSON.
tell(KEYS[1], ARGV[1], ARGV[2])
return 1
