-- KEYS: records, then sets. ARGV: how many records; for each set behind which name to begin and how many names to return.
local n = tonumber(ARGV[1])
local out = {{}}
if n > 0 then
	out[1] = redis.call('MGET', unpack(KEYS, 1, n))
end
for i = n + 1, #KEYS do
	local after, limit = ARGV[2 * (i - n)], ARGV[2 * (i - n) + 1]
	out[#out + 1] = redis.call('ZRANGEBYLEX', KEYS[i], after == '' and '-' or '(' .. after, '+', 'LIMIT', 0, limit)
end
return out
