// Types of client.js, the browser client. Keep a copy beside your sources, and import the module from the base path of
// the auth routes: import { signIn } from "/auth/client.js".

/** What every call resolves to. None of them throws or rejects: where error is null, data is there. */
export type Result<T> = { data: T; error: null } | { data: null; error: Failure };

/** Why a call failed. */
export interface Failure {
  /** The HTTP status; 0: there was no answer. */
  status: number;
  /**
   * For programs: "credentials" or a code of the application's own, "missing_csrf", "access_denied", "too_many",
   * "unavailable"; without an answer "network", "cancelled" (by the visitor) or "passkey" (by the browser).
   */
  code: string;
  /** A sentence for people, in their language where the server speaks it. */
  message?: string;
  /** Seconds to wait; 0: not said. */
  retryAfter?: number;
  /** What the browser threw. */
  cause?: unknown;
}

/** Who is signed in, as GET session tells it; the session callback may add members. */
export interface Session {
  user?: { id?: string; name?: string | null; email?: string | null; image?: string | null; [name: string]: unknown };
  /** RFC 3339. */
  expires: string;
  [name: string]: unknown;
}

export interface Going {
  /** Whether the page navigates to the resulting URL; default true. */
  redirect?: boolean;
  /** Where the user goes afterwards, a path or a URL; default: this page. */
  redirectTo?: string;
  /** The older name of redirectTo, which wins where both are set. */
  callbackUrl?: string;
}

export interface SignInOptions extends Going {
  /** Parameters for the provider's page. */
  params?: Record<string, string>;
}

/** The fields of a sign-in form, and the options of Auth.js clients, which are not posted. */
export type Fields = Going & { [field: string]: string | number | boolean | null | undefined } | FormData;

/** Parameters for the provider's page, as Auth.js clients take them. */
export type Params = string | string[][] | Record<string, string> | URLSearchParams;

/** Where a sign-in or sign-out ends. */
export type Gone = Result<{ url: string }> & { url?: string };

/** What signIn returns with redirect: false among the fields: the same as next-auth/react. */
export interface SignInResponse {
  /** Why it failed, such as "CredentialsSignin"; undefined: it did not. */
  error: string | undefined;
  /** The code of the application's own error. */
  code: string | undefined;
  /** The HTTP status: 200 also for a wrong password. */
  status: number;
  /** Whether the status is one of success, as with next-auth/react also for a wrong password: read error. */
  ok: boolean;
  /** Where to go; null after a failure. */
  url: string | null;
}

export interface PasskeyOptions extends Going {
  /** The ID of the provider; default "webauthn". */
  provider?: string;
  /** Whose passkey; without it the visitor chooses among those of the device. */
  email?: string;
}

export interface Client {
  /**
   * Signs in with a provider; without one the page goes to the sign-in page. The options are among the fields, and the
   * third argument has the provider's parameters, as in Auth.js clients; or the third argument has the options.
   */
  signIn(provider: string | undefined, fields: Exclude<Fields, FormData> & { redirect: false }, params?: Params): Promise<SignInResponse>;
  signIn(provider?: string, fields?: Fields, options?: Params | SignInOptions): Promise<Gone>;
  signOut(options?: Going): Promise<Gone>;
  /** Tells who is signed in: null for nobody. */
  getSession(): Promise<Result<Session | null>>;
  /** Hands data to the callbacks, and resolves to the session that they make of it. */
  update(data?: unknown): Promise<Result<Session | null>>;
  signInWithPasskey(options?: PasskeyOptions): Promise<Gone>;
  /** Adds a passkey to who is signed in, or makes a user of an address. */
  registerPasskey(options?: PasskeyOptions): Promise<Gone>;
  /** Tells when another tab has signed in, signed out or updated; the clients of Auth.js tell too. Call the result to stop. */
  onSessionChange(listener: (session: Result<Session | null>) => void): () => void;
}

/** Makes a client of another base path or origin, or one that keeps its token itself. */
export function createClient(options?: {
  /** Where the auth routes are, a path or a URL; default: where the module was loaded from. */
  base?: string | URL;
  /** The bearer token, where Session.Bearer is on; nothing: the cookie counts. */
  token?: () => string | null | undefined;
  /** Is told of a token that takes the place of the one in use. */
  renewed?: (token: string) => void;
}): Client;

export const signIn: Client["signIn"];
export const signOut: Client["signOut"];
export const getSession: Client["getSession"];
export const update: Client["update"];
export const signInWithPasskey: Client["signInWithPasskey"];
export const registerPasskey: Client["registerPasskey"];
export const onSessionChange: Client["onSessionChange"];
