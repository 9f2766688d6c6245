-- What a page request with a session reads, as texts. KEYS: the session, its end, and the set of users whose copies are
-- stale. ARGV: what begins the keys of users, which have the same hash tag, and how many names of the set to return.
-- Nothing: there is no session. Two texts: the user itself, '' for none, and the end. More: the copy, the end, '' and the
-- names, where the id is written otherwise in a key.
local found = redis.call('MGET', KEYS[1], KEYS[2])
local copy, ends = found[1], found[2]
if not copy or not ends then
	return {}
end
local id = string.match(copy, '^{"id":"([%w_.-]+)"')
if id and #id <= 400 then
	return {redis.call('GET', ARGV[1] .. id) or '', ends}
end
return {copy, ends, '', unpack(redis.call('ZRANGEBYLEX', KEYS[3], '-', '+', 'LIMIT', 0, ARGV[2]))}
