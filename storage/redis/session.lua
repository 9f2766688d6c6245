-- Reads a session and its user. KEYS: the session, its expiry, and the set of users with stale copies. ARGV: the key prefix of
-- users, which has the same hash tag, and the maximum number of names from the set. The result is empty if there is no session.
-- It is the user ('' if there is none) and the expiry, if the script can derive the user's key from the ID. Otherwise it is the
-- copy of the user, the expiry, '' and the names.
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
