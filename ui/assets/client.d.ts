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
  /** Whether the page goes where the answer says; default true. */
  redirect?: boolean;
  /** Where the visitor goes afterwards, a path or a URL; default: this page. */
  callbackUrl?: string;
}

export interface SignInOptions extends Going {
  /** Parameters for the provider's page. */
  params?: Record<string, string>;
}

export interface PasskeyOptions extends Going {
  /** The ID of the provider; default "webauthn". */
  provider?: string;
  /** Whose passkey; without it the visitor chooses among those of the device. */
  email?: string;
}

export interface Client {
  /** Signs in with a provider, with the fields of its form; without one it goes to the sign-in page. */
  signIn(provider?: string, fields?: Record<string, string>, options?: SignInOptions): Promise<Result<{ url: string }>>;
  signOut(options?: Going): Promise<Result<{ url: string }>>;
  /** Tells who is signed in: null for nobody. */
  getSession(): Promise<Result<Session | null>>;
  /** Hands data to the callbacks, and resolves to the session that they make of it. */
  update(data?: unknown): Promise<Result<Session | null>>;
  signInWithPasskey(options?: PasskeyOptions): Promise<Result<{ url: string }>>;
  /** Adds a passkey to who is signed in, or makes a user of an address. */
  registerPasskey(options?: PasskeyOptions): Promise<Result<{ url: string }>>;
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
