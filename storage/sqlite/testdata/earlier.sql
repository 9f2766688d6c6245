-- The tables that this store made before it had versions.
CREATE TABLE users (
  id              TEXT PRIMARY KEY,
  name            TEXT,
  email           TEXT UNIQUE,
  "emailVerified" INTEGER,
  image           TEXT,
  extra           TEXT
);
CREATE TABLE accounts (
  "userId"              TEXT NOT NULL REFERENCES users(id) ON DELETE CASCADE,
  type                  TEXT NOT NULL,
  provider              TEXT NOT NULL,
  "providerAccountId"   TEXT NOT NULL,
  refresh_token         TEXT,
  access_token          TEXT,
  expires_at            INTEGER,
  id_token              TEXT,
  scope                 TEXT,
  session_state         TEXT,
  token_type            TEXT,
  authorization_details TEXT,
  extra                 TEXT,
  PRIMARY KEY (provider, "providerAccountId")
);
CREATE INDEX accounts_user ON accounts("userId");
CREATE TABLE sessions (
  "sessionToken" TEXT PRIMARY KEY,
  "userId"       TEXT NOT NULL REFERENCES users(id) ON DELETE CASCADE,
  expires        INTEGER NOT NULL
);
CREATE INDEX sessions_user ON sessions("userId");
CREATE INDEX sessions_expires ON sessions(expires);
CREATE TABLE verification_token (
  identifier TEXT NOT NULL,
  token      TEXT NOT NULL,
  expires    INTEGER NOT NULL,
  PRIMARY KEY (identifier, token)
);
CREATE INDEX verification_token_expires ON verification_token(expires);
CREATE TABLE authenticators (
  "credentialID"         TEXT PRIMARY KEY,
  "userId"               TEXT NOT NULL REFERENCES users(id) ON DELETE CASCADE,
  "providerAccountId"    TEXT NOT NULL,
  "credentialPublicKey"  TEXT NOT NULL,
  counter                INTEGER NOT NULL,
  "credentialDeviceType" TEXT NOT NULL,
  "credentialBackedUp"   INTEGER NOT NULL,
  transports             TEXT
);
CREATE INDEX authenticators_user ON authenticators("userId");
