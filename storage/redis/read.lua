-- Reads records and sets. KEYS: records, then sets. ARGV: the number of records, then for each set the name to start after and the limit.
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
