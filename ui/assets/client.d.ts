// Types of client.js, the browser client. Copy this file to your sources, and import the module from the base path of
// the auth routes: import { signIn } from "/auth/client.js".

/** The result of every call. Calls never throw or reject. If error is null, data is set. */
export type Result<T> = { data: T; error: null } | { data: null; error: Failure };

/** The reason of a failed call. */
export interface Failure {
  /** The HTTP status, or 0 if there was no response. */
  status: number;
  /**
   * For programs: "credentials" or a code of the application, "missing_csrf", "access_denied", "too_many" or
   * "unavailable". Without a response: "network", "cancelled" (by the user) or "passkey" (by the browser).
   */
  code: string;
  /** A message for the user, in the user's language if the server supports it. */
  message?: string;
  /** Seconds to wait before a retry, or 0 if unknown. */
  retryAfter?: number;
  /** The exception of the browser. */
  cause?: unknown;
}

/** The session, as GET session returns it. The session callback may add members. */
export interface Session {
  user?: { id?: string; name?: string | null; email?: string | null; image?: string | null; [name: string]: unknown };
  /** The expiry as an RFC 3339 date. */
  expires: string;
  [name: string]: unknown;
}

export interface Going {
  /** Whether the page navigates to the resulting URL. The default is true. */
  redirect?: boolean;
  /** The path or URL to open afterwards. The default is this page. */
  redirectTo?: string;
  /** The older name of redirectTo. If both are set, redirectTo is used. */
  callbackUrl?: string;
}

export interface SignInOptions extends Going {
  /** Additional authorization request parameters. */
  params?: Record<string, string>;
}

/** The fields of a sign-in form, and the options of Auth.js clients, which are not posted. */
export type Fields = Going & { [field: string]: string | number | boolean | null | undefined } | FormData;

/** Additional authorization request parameters, in the formats of Auth.js clients. */
export type Params = string | string[][] | Record<string, string> | URLSearchParams;

/** The result of a sign-in or sign-out, with the URL to open. */
export type Gone = Result<{ url: string }> & { url?: string };

/** The result of signIn if the fields contain redirect: false. It is the same as in next-auth/react. */
export interface SignInResponse {
  /** The error, such as "CredentialsSignin", or undefined after a success. */
  error: string | undefined;
  /** The code of the application's error. */
  code: string | undefined;
  /** The HTTP status, which is 200 for a wrong password too. */
  status: number;
  /** Whether the HTTP status means success. As in next-auth/react this is true for a wrong password: check error. */
  ok: boolean;
  /** The URL to open, or null after a failure. */
  url: string | null;
}

export interface PasskeyOptions extends Going {
  /** The ID of the provider. The default is "webauthn". */
  provider?: string;
  /** The user's email address. Without it the user chooses a passkey of the device. */
  email?: string;
}

export interface Client {
  /**
   * Signs in with a provider. Without a provider it opens the sign-in page. As in Auth.js clients, fields may contain the
   * options, and the third argument contains authorization request parameters. Or the third argument contains the options.
   */
  signIn(provider: string | undefined, fields: Exclude<Fields, FormData> & { redirect: false }, params?: Params): Promise<SignInResponse>;
  signIn(provider?: string, fields?: Fields, options?: Params | SignInOptions): Promise<Gone>;
  signOut(options?: Going): Promise<Gone>;
  /** Returns the session, or null if no user is signed in. */
  getSession(): Promise<Result<Session | null>>;
  /** Passes data to the server's callbacks and resolves to the updated session. */
  update(data?: unknown): Promise<Result<Session | null>>;
  /** Signs in with a passkey, as signIn("webauthn", { email }) does. */
  signInWithPasskey(options?: PasskeyOptions): Promise<Gone>;
  /** Adds a passkey to the signed-in user, or creates a user with an email address. */
  registerPasskey(options?: PasskeyOptions): Promise<Gone>;
  /** Calls listener after a sign-in, sign-out or update in another tab, also by an Auth.js client. Call the result to stop. */
  onSessionChange(listener: (session: Result<Session | null>) => void): () => void;
  /**
   * Requests an action of a plugin, such as "api-keys". With fields it posts them, with the CSRF token; query parameters
   * of a GET are in the path. Most actions require the session cookie, also if the client has a bearer token. The npm
   * package @latchkey-go/client has typed functions for the plugins.
   */
  request<T = unknown>(path: string, fields?: object): Promise<Result<T>>;
  /** Uses a passkey, with the options of the server. The data are the value of the field data of an action. */
  answerPasskey(given: { action: string; options: object }): Promise<Result<string>>;
}

/** Creates a client for another base path or origin, or with a bearer token. */
export function createClient(options?: {
  /** The path or URL of the auth routes. The default is the URL that the module was loaded from. */
  base?: string | URL;
  /** Returns the bearer token, if Session.Bearer is on. Without a token the cookie is used. */
  token?: () => string | null | undefined;
  /** Called with a token that replaces the current one. */
  renewed?: (token: string) => void;
}): Client;

export const signIn: Client["signIn"];
export const signOut: Client["signOut"];
export const getSession: Client["getSession"];
export const update: Client["update"];
export const signInWithPasskey: Client["signInWithPasskey"];
export const registerPasskey: Client["registerPasskey"];
export const onSessionChange: Client["onSessionChange"];
export const request: Client["request"];
export const answerPasskey: Client["answerPasskey"];
