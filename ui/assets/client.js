// The browser client of Latchkey. client.d.ts describes the calls.
const bytes = (text) => Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (c) => c.charCodeAt(0));
const text = (buffer) => btoa(String.fromCharCode(...new Uint8Array(buffer)))
  .replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
const key = (k) => ({ ...k, id: bytes(k.id) });
const named = encodeURIComponent; // an id that a page took from its address leads to no other action
const failed = (code, more) => ({ data: null, error: { status: 0, code, ...more } });
// The result of next-auth/react's signIn.
const likeAuthjs = ({ error, url }) =>
  ({ error: error?.code, code: undefined, status: error ? error.status : 200, ok: !error, url: error ? null : url });
// The fields of a form, as text: what a form of HTML would post.
const texts = (form) => Object.fromEntries(Object.entries(form)
  .flatMap(([name, value]) => value === undefined || value === null ? [] : [[name, String(value)]]));
// Separates options from form fields or provider parameters; a FormData will do.
const split = (given) => {
  const { redirect, redirectTo, callbackUrl, ...rest } = given?.entries ? Object.fromEntries(given) : given ?? {};
  return [{ redirect, to: redirectTo ?? callbackUrl }, rest];
};

export function createClient({ base = new URL(".", import.meta.url), token, renewed } = {}) {
  const root = new URL(String(base).replace(/\/*$/, "/"), globalThis.location?.href);
  const channel = () => tabs ??= new BroadcastChannel("next-auth"); // as Auth.js's clients
  const tell = (trigger) => globalThis.location && channel().postMessage({ event: "session", data: { trigger } });
  let tabs;

  // Requests an action; with fields it posts. own: with the bearer token, if there is one, and then without cookies.
  async function ask(path, fields, own, more) {
    const mine = own && token?.();
    const headers = { Accept: "application/json", ...more };
    try {
      if (mine) headers.Authorization = "Bearer " + mine;
      if (fields) {
        headers["Content-Type"] = "application/json";
        const csrf = mine || await ask("csrf");
        fields = JSON.stringify({ ...fields, csrfToken: csrf.data?.csrfToken });
      }
      const answer = await fetch(new URL(path, root), {
        method: fields ? "POST" : "GET", body: fields, headers, credentials: mine ? "omit" : "include",
      });
      const { ok, status, headers: h } = answer, next = h.get("Set-Auth-Token");
      if (next) renewed?.(decodeURIComponent(next));
      const data = await answer.json().catch(() => undefined);
      if (ok && data !== undefined) return { data, error: null };
      const message = data?.detail, retryAfter = Number(h.get("Retry-After"));
      return failed(data?.code ?? "failed", { status, message, retryAfter });
    } catch (cause) {
      return failed("network", { cause });
    }
  }

  async function go(path, fields, { redirect = true, to = location.href }, own) {
    const result = await ask(path, { ...fields, callbackUrl: to }, own);
    if (result.error) return result;
    tell(own ? "signout" : "getSession");
    if (redirect) leave(result.data.url);
    return { ...result, url: result.data.url }; // url: as the signOut of Auth.js returns it
  }

  function leave(url) {
    location.href = url;
    const [page, hash] = url.split("#");
    if (hash && page === location.href.split("#")[0]) location.reload(); // else the browser only scrolls
  }

  // Signs in with redirect: false, and returns what next-auth/react returns.
  async function stay(path, fields, callbackUrl) {
    const { data, error } = await ask(path, { ...fields, callbackUrl }, false, { "X-Auth-Return-Redirect": "1" });
    if (error) return likeAuthjs({ error });
    const query = new URL(data.url).searchParams, why = query.get("error");
    if (!why) tell("getSession");
    const code = query.get("code") ?? undefined;
    return { ...likeAuthjs(data), ...(why && { error: why, code, url: null }) };
  }

  // fields may contain the options, as with Auth.js clients; more contains options, the provider's parameters, or both.
  async function signIn(provider = "", fields, more) {
    const listed = typeof more === "string" || more?.[Symbol.iterator];
    const [first, given] = split(fields), form = texts(given);
    const [last, { params, ...others }] = split(listed ? { params: more } : more);
    const options = { redirect: last.redirect ?? first.redirect, to: last.to ?? first.to };
    if (!provider) {
      const url = root + "signin?callbackUrl=" + named(options.to ?? location.href);
      location.href = url;
      return { data: { url }, error: null, url };
    }
    const asAuthjs = first.redirect === false ? likeAuthjs : (result) => result;
    const { data, error } = await ask("providers");
    if (error) return asAuthjs({ data, error });
    const type = data[provider]?.type;
    if (type === "webauthn") {
      return asAuthjs(await passkey(form.action ?? "authenticate", { ...options, ...form, provider }));
    }
    const query = new URLSearchParams(params);
    for (const name in others) query.set(name, others[name]);
    const path = (type === "credentials" ? "callback/" : "signin/") + named(provider) + "?" + query;
    return first.redirect === false ? stay(path, form, options.to ?? location.href) : go(path, form, options);
  }

  async function passkey(action, { provider = "webauthn", email, ...options }) {
    const query = new URLSearchParams(email ? { action, email } : { action });
    const { data, error } = await ask("webauthn-options/" + named(provider) + "?" + query);
    if (error) return { data, error };
    const made = await answerPasskey(data);
    if (made.error) return made;
    return go("callback/" + named(provider), { action: data.action, email, data: made.data }, options);
  }

  async function answerPasskey({ action, options }) {
    const publicKey = { ...options, challenge: bytes(options.challenge) };
    for (const name of ["allowCredentials", "excludeCredentials"]) publicKey[name] = publicKey[name]?.map(key);
    if (publicKey.user) publicKey.user = key(publicKey.user);
    try {
      const call = action === "register" ? "create" : "get";
      const made = await navigator.credentials[call]({ publicKey });
      const { id, type, response: r } = made;
      const response = { transports: r.getTransports?.() };
      for (const name of ["clientDataJSON", "attestationObject", "authenticatorData", "signature", "userHandle"]) {
        if (r[name]) response[name] = text(r[name]);
      }
      const answer = { id, rawId: id, type, response, clientExtensionResults: made.getClientExtensionResults() };
      return { data: JSON.stringify(answer), error: null };
    } catch (cause) {
      return failed(cause.name === "NotAllowedError" ? "cancelled" : "passkey", { cause });
    }
  }

  async function request(path, fields) {
    const result = await ask(path, fields, true);
    if (fields && !result.error) tell("getSession");
    return result;
  }

  const getSession = () => request("session");
  const passkeyCall = (action) => (given) => {
    const [options, rest] = split(given);
    return passkey(action, { ...options, ...rest });
  };
  return {
    signIn, getSession,
    signOut: (options) => go("signout", {}, split(options)[0], true),
    update: (data) => request("session", { data }),
    signInWithPasskey: passkeyCall("authenticate"),
    registerPasskey: passkeyCall("register"),
    onSessionChange(listener) {
      const hear = async (e) => e.data?.event === "session" && listener(await getSession());
      channel().addEventListener("message", hear);
      return () => tabs.removeEventListener("message", hear);
    },
    request, answerPasskey,
  };
}

export const {
  signIn, signOut, getSession, update, signInWithPasskey, registerPasskey, onSessionChange, request, answerPasskey,
} = createClient();
