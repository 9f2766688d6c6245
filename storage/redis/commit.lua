-- Runs one operation for each of KEYS. ARGV has its name and its text. All checks are first: if one fails, nothing has been written.
for i, key in ipairs(KEYS) do
	local operation, text = ARGV[2 * i - 1], ARGV[2 * i]
	if operation == 'absent' then
		if redis.call('EXISTS', key) ~= 0 then return 0 end
	elseif operation == 'present' then
		if redis.call('EXISTS', key) ~= 1 then return 0 end
	elseif operation == 'same' then
		if redis.call('GET', key) ~= text then return 0 end
	elseif operation == 'put' then
		redis.call('SET', key, text)
	elseif operation == 'delete' then
		redis.call('DEL', key)
	elseif operation == 'add' then
		redis.call('ZADD', key, 0, text)
	elseif operation == 'remove' then
		redis.call('ZREM', key, text)
	end
end
return 1
