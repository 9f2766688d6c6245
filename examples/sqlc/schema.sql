-- The application's own tables. Times are milliseconds since 1970.

CREATE TABLE people (
  id TEXT NOT NULL PRIMARY KEY,
  email TEXT UNIQUE, -- NULL: no address
  email_confirmed_at INTEGER, -- NULL: never
  full_name TEXT NOT NULL,
  photo_url TEXT NOT NULL,
  profile TEXT NOT NULL, -- a JSON object with further members
  plan TEXT NOT NULL DEFAULT 'free' -- only the application reads and writes it
);

CREATE TABLE logins (
  service TEXT NOT NULL,
  service_id TEXT NOT NULL,
  person_id TEXT NOT NULL REFERENCES people (id) ON DELETE CASCADE,
  kind TEXT NOT NULL,
  access_token TEXT NOT NULL,
  refresh_token TEXT NOT NULL,
  id_token TEXT NOT NULL,
  token_type TEXT NOT NULL,
  scope TEXT NOT NULL,
  expires_at INTEGER NOT NULL, -- seconds, 0: unknown
  session_state TEXT NOT NULL, -- JSON, empty: none
  authorization_details TEXT NOT NULL, -- JSON, empty: none
  more TEXT NOT NULL, -- a JSON object with further members
  PRIMARY KEY (service, service_id)
);

CREATE INDEX logins_person ON logins (person_id);

CREATE TABLE devices (
  token TEXT NOT NULL PRIMARY KEY,
  person_id TEXT NOT NULL REFERENCES people (id) ON DELETE CASCADE,
  expires_at INTEGER NOT NULL
);

CREATE INDEX devices_person ON devices (person_id);

CREATE INDEX devices_expiry ON devices (expires_at);

CREATE TABLE email_links (
  email TEXT NOT NULL,
  token_hash TEXT NOT NULL,
  expires_at INTEGER NOT NULL,
  PRIMARY KEY (email, token_hash)
);

CREATE INDEX email_links_expiry ON email_links (expires_at);
