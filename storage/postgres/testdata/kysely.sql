-- As the documentation of @auth/kysely-adapter makes them.
CREATE TABLE "User" ("id" uuid DEFAULT gen_random_uuid() PRIMARY KEY, "name" text, "email" text NOT NULL UNIQUE, "emailVerified" timestamptz, "image" text);
CREATE TABLE "Account" ("id" uuid DEFAULT gen_random_uuid() PRIMARY KEY, "userId" uuid NOT NULL REFERENCES "User" ("id") ON DELETE CASCADE, "type" text NOT NULL, "provider" text NOT NULL, "providerAccountId" text NOT NULL, "refresh_token" text, "access_token" text, "expires_at" bigint, "token_type" text, "scope" text, "id_token" text, "session_state" text);
CREATE TABLE "Session" ("id" uuid DEFAULT gen_random_uuid() PRIMARY KEY, "userId" uuid NOT NULL REFERENCES "User" ("id") ON DELETE CASCADE, "sessionToken" text NOT NULL UNIQUE, "expires" timestamptz NOT NULL);
CREATE TABLE "VerificationToken" ("identifier" text NOT NULL, "token" text NOT NULL UNIQUE, "expires" timestamptz NOT NULL);
