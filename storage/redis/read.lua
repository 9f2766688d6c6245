-- KEYS: records, then sets. ARGV: how many records; for each set behind which name to begin and how many names to return;
-- then what begins the keys of users, to return the user too whom the first record is a copy of. Its key has the same hash
-- tag. An id that is written otherwise in a key is left to the caller.
local n = tonumber(ARGV[1])
local out = {{}}
if n > 0 then
	out[1] = redis.call('MGET', unpack(KEYS, 1, n))
end
for i = n + 1, #KEYS do
	local after, limit = ARGV[2 * (i - n)], ARGV[2 * (i - n) + 1]
	out[#out + 1] = redis.call('ZRANGEBYLEX', KEYS[i], after == '' and '-' or '(' .. after, '+', 'LIMIT', 0, limit)
end
local users = ARGV[2 + 2 * (#KEYS - n)]
if users then
	local id = out[1][1] and string.match(out[1][1], '^{"id":"([%w_.-]+)"')
	out[#out + 1] = (id and #id <= 400) and {redis.call('GET', users .. id)} or {}
end
return out
