// The browser client of Latchkey. client.d.ts tells what the calls do.
const bytes = (text) => Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (c) => c.charCodeAt(0));
const text = (buffer) => btoa(String.fromCharCode(...new Uint8Array(buffer)))
  .replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
const key = (k) => ({ ...k, id: bytes(k.id) });
const named = encodeURIComponent; // an id that a page took from its address leads to no other action
const failed = (code, more) => ({ data: null, error: { status: 0, code, ...more } });

export function createClient({ base = new URL(".", import.meta.url), token, renewed } = {}) {
  const root = new URL(String(base).replace(/\/*$/, "/"), location.href);
  const tabs = new BroadcastChannel("next-auth"); // as Auth.js's clients
  const tell = (trigger) => tabs.postMessage({ event: "session", data: { trigger } });

  // Asks an action; with fields it posts. own: it is about the session, which a token can name.
  async function ask(path, fields, own) {
    const mine = own && token?.();
    const headers = { Accept: "application/json" };
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
      const data = await answer.json().catch(() => null);
      if (ok) return { data, error: null };
      const message = data?.detail, retryAfter = Number(h.get("Retry-After"));
      return failed(data?.code ?? "failed", { status, message, retryAfter });
    } catch (cause) {
      return failed("network", { cause });
    }
  }

  async function go(path, fields, { redirect = true, callbackUrl = location.href } = {}, own) {
    const result = await ask(path, { ...fields, callbackUrl }, own);
    if (result.error) return result;
    tell(own ? "signout" : "getSession");
    if (redirect) {
      location.href = result.data.url;
      const [page, hash] = result.data.url.split("#");
      if (hash && page === location.href.split("#")[0]) location.reload(); // else it only scrolls
    }
    return result;
  }

  async function signIn(provider = "", fields, options = {}) {
    const { data, error } = await ask("providers");
    if (error) return { data, error };
    if (provider) {
      const path = data[provider]?.type === "credentials" ? "callback/" : "signin/";
      return go(path + named(provider) + "?" + new URLSearchParams(options.params), fields, options);
    }
    const url = root + "signin?callbackUrl=" + encodeURIComponent(options.callbackUrl ?? location.href);
    location.href = url;
    return { data: { url }, error };
  }

  async function passkey(action, { provider = "webauthn", email, ...options } = {}) {
    const query = new URLSearchParams(email ? { action, email } : { action });
    const { data, error } = await ask("webauthn-options/" + named(provider) + "?" + query);
    if (error) return { data, error };
    const publicKey = { ...data.options, challenge: bytes(data.options.challenge) };
    for (const name of ["allowCredentials", "excludeCredentials"]) publicKey[name] = publicKey[name]?.map(key);
    if (publicKey.user) publicKey.user = key(publicKey.user);
    try {
      const call = data.action === "register" ? "create" : "get";
      const made = await navigator.credentials[call]({ publicKey });
      const { id, type, response: r } = made;
      const response = { transports: r.getTransports?.() };
      for (const name of ["clientDataJSON", "attestationObject", "authenticatorData", "signature", "userHandle"]) {
        if (r[name]) response[name] = text(r[name]);
      }
      const answer = { id, rawId: id, type, response, clientExtensionResults: made.getClientExtensionResults() };
      return go("callback/" + named(provider), { action: data.action, email, data: JSON.stringify(answer) }, options);
    } catch (cause) {
      return failed(cause.name === "NotAllowedError" ? "cancelled" : "passkey", { cause });
    }
  }

  const getSession = () => ask("session", null, true);
  return {
    signIn, getSession,
    signOut: (options) => go("signout", {}, options, true),
    async update(data) {
      const result = await ask("session", { data }, true);
      if (!result.error) tell("getSession");
      return result;
    },
    signInWithPasskey: (options) => passkey("authenticate", options),
    registerPasskey: (options) => passkey("register", options),
    onSessionChange(listener) {
      const hear = async (e) => e.data?.event === "session" && listener(await getSession());
      tabs.addEventListener("message", hear);
      return () => tabs.removeEventListener("message", hear);
    },
  };
}

export const { signIn, signOut, getSession, update, signInWithPasskey, registerPasskey, onSessionChange } = createClient();
