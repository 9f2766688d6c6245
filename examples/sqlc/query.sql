-- name: CreatePerson :one
INSERT INTO people (id, email, email_confirmed_at, full_name, photo_url, profile)
VALUES (?, ?, ?, ?, ?, ?) RETURNING *;

-- name: Person :one
SELECT * FROM people WHERE id = ?;

-- name: PersonByEmail :one
SELECT * FROM people WHERE email = ?;

-- name: PersonByLogin :one
SELECT people.* FROM people JOIN logins ON logins.person_id = people.id
WHERE logins.service = ? AND logins.service_id = ?;

-- name: UpdatePerson :one
UPDATE people SET email = ?, email_confirmed_at = ?, full_name = ?, photo_url = ?, profile = ?
WHERE id = ? RETURNING *;

-- name: DeletePerson :execrows
DELETE FROM people WHERE id = ?;

-- name: CreateLogin :exec
INSERT INTO logins (
  service, service_id, person_id, kind, access_token, refresh_token, id_token, token_type, scope, expires_at,
  session_state, authorization_details, more
) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- name: Login :one
SELECT * FROM logins WHERE service = ? AND service_id = ?;

-- name: LoginsOfPerson :many
SELECT * FROM logins WHERE person_id = ? ORDER BY service, service_id;

-- name: UpdateLogin :execrows
UPDATE logins SET
  kind = ?, access_token = ?, refresh_token = ?, id_token = ?, token_type = ?, scope = ?, expires_at = ?,
  session_state = ?, authorization_details = ?, more = ?
WHERE service = ? AND service_id = ?;

-- name: DeleteLogin :execrows
DELETE FROM logins WHERE service = ? AND service_id = ?;

-- name: CreateDevice :exec
INSERT INTO devices (token, person_id, expires_at) VALUES (?, ?, ?);

-- name: DeviceAndPerson :one
SELECT sqlc.embed(devices), sqlc.embed(people) FROM devices JOIN people ON people.id = devices.person_id
WHERE devices.token = ?;

-- name: ExtendDevice :execrows
UPDATE devices SET expires_at = ? WHERE token = ?;

-- name: DeleteDevice :one
DELETE FROM devices WHERE token = ? RETURNING *;

-- name: DevicesOfPerson :many
SELECT * FROM devices WHERE person_id = ? ORDER BY expires_at;

-- name: DeleteDevicesOfPerson :execrows
DELETE FROM devices WHERE person_id = ?;

-- name: CreateEmailLink :exec
INSERT INTO email_links (email, token_hash, expires_at) VALUES (?, ?, ?);

-- name: UseEmailLink :one
DELETE FROM email_links WHERE email = ? AND token_hash = ? RETURNING *;

-- name: DeleteExpiredDevices :execrows
DELETE FROM devices WHERE expires_at < ?;

-- name: DeleteExpiredEmailLinks :execrows
DELETE FROM email_links WHERE expires_at < ?;

-- name: CountExpired :one
SELECT (SELECT count(*) FROM devices WHERE devices.expires_at < sqlc.arg(now))
  + (SELECT count(*) FROM email_links WHERE email_links.expires_at < sqlc.arg(now));
