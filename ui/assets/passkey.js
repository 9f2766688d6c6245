// The passkey client of the sign-in page. A form with data-passkey-options requests the options from the server, calls the
// browser's WebAuthn API, and posts the result as the fields "action" and "data". It loads nothing from other hosts.
(() => {
  "use strict";

  // The server's challenge expires after 15 minutes. A pending autofill request gets a new one before that.
  const challengeLife = 10 * 60 * 1000;

  const toBytes = (text) =>
    Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (c) => c.charCodeAt(0));

  const toText = (buffer) =>
    btoa(String.fromCharCode(...new Uint8Array(buffer)))
      .replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");

  // Converts JSON to options, with the browser's function if it has one (WebAuthn Level 3, sections 5.1.8 and 5.1.9).
  function requestOptions(json) {
    if (PublicKeyCredential.parseRequestOptionsFromJSON) return PublicKeyCredential.parseRequestOptionsFromJSON(json);
    return { ...json, challenge: toBytes(json.challenge), allowCredentials: json.allowCredentials?.map(descriptor) };
  }

  function creationOptions(json) {
    if (PublicKeyCredential.parseCreationOptionsFromJSON) return PublicKeyCredential.parseCreationOptionsFromJSON(json);
    return {
      ...json,
      challenge: toBytes(json.challenge),
      user: { ...json.user, id: toBytes(json.user.id) },
      excludeCredentials: json.excludeCredentials?.map(descriptor),
    };
  }

  const descriptor = (d) => ({ ...d, id: toBytes(d.id) });

  // Converts a credential to JSON without toJSON(), which older browsers lack and some password managers break.
  function credentialJSON(credential) {
    const answer = {};
    for (const name of ["clientDataJSON", "attestationObject", "authenticatorData", "signature", "userHandle"]) {
      if (credential.response[name]) answer[name] = toText(credential.response[name]);
    }
    if (credential.response.getTransports) answer.transports = credential.response.getTransports();
    return JSON.stringify({
      id: credential.id,
      rawId: toText(credential.rawId),
      type: credential.type,
      authenticatorAttachment: credential.authenticatorAttachment ?? undefined,
      clientExtensionResults: credential.getClientExtensionResults(),
      response: answer,
    });
  }

  // Sends a request after the response to the previous one has arrived, because each response replaces the challenge in a
  // cookie. No request is aborted: the browser could store the cookie nevertheless.
  let last = Promise.resolve();
  function requestJSON(address, parameters, init) {
    const url = new URL(address, location.href);
    for (const [name, value] of parameters) url.searchParams.set(name, value);
    const send = async () => {
      const answer = await fetch(url, { headers: { Accept: "application/json" }, ...init });
      if (!answer.ok) throw new Error("status " + answer.status);
      return answer.json();
    };
    return (last = last.then(send, send));
  }

  // Stops the creation without a prompt, because the browser runs one request at a time.
  const quiet = new AbortController();

  // The messages for the user. Pages in other languages contain translations.
  const english = {
    waiting: "Waiting for your passkey…",
    cancelled: "That was canceled. You can try again.",
    failed: "Something went wrong. Please try again.",
    unsupported: "This browser doesn't support passkeys.",
  };
  const sentence = (form, name) => JSON.parse(form.dataset.passkeyTexts ?? "{}")[name] ?? english[name];

  function attach(form) {
    let waiting = null; // stops the autofill request
    let timer = 0;

    const say = (name) => { form.querySelector('[role="status"]').textContent = sentence(form, name); };

    // The address is in a field of this form or of the form next to it.
    const address = document.getElementById(form.dataset.passkeyAddress);

    function post(action, credential) {
      const more = address ? [[address.name, address.value]] : [];
      if (PublicKeyCredential.signalUnknownCredential) more.push(["signal", "1"]); // the next page may signal it
      for (const [name, value] of [["action", action], ["data", credentialJSON(credential)], ...more]) {
        const input = form.querySelector(`input[type=hidden][name=${name}]`) ?? document.createElement("input");
        input.type = "hidden";
        input.name = name;
        input.value = value;
        form.append(input);
      }
      HTMLFormElement.prototype.submit.call(form); // a field named "submit" would hide form.submit
    }

    function stopWaiting() {
      clearTimeout(timer);
      waiting?.abort();
      waiting = null;
    }

    // Offers passkeys in the field's autofill. It shows no errors, because the user may ignore the offer.
    async function wait() {
      if (!("passkeyAutofill" in form.dataset)) return;
      stopWaiting();
      const mine = (waiting = new AbortController());
      try {
        if (!(await PublicKeyCredential.isConditionalMediationAvailable?.()) || mine !== waiting) return;
        timer = setTimeout(wait, challengeLife);
        const { options } = await requestJSON(form.dataset.passkeyOptions, [["action", "authenticate"]]);
        const credential = await navigator.credentials.get({
          publicKey: requestOptions(options), mediation: "conditional", signal: mine.signal,
        });
        if (mine === waiting) post("authenticate", credential);
      } catch {
        // There is no passkey, or the button was pressed.
      }
    }

    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      const button = form.querySelector("button[type=submit]");
      let fields = Array.from(form.querySelectorAll("[data-form-field]"), (f) => [f.name, f.value]);
      if (address?.value) {
        if (!address.reportValidity()) return;
        fields = [[address.name, address.value]];
      } else if (address) {
        fields = [["action", "authenticate"]]; // whichever passkey the device has for this site
      }
      button.disabled = true;
      say("waiting");
      quiet.abort();
      stopWaiting();
      try {
        // The server chooses between sign-in and registration, because it knows whether the address has an account.
        const { action, options } = await requestJSON(form.dataset.passkeyOptions, fields);
        const credential = action === "register"
          ? await navigator.credentials.create({ publicKey: creationOptions(options) })
          : await navigator.credentials.get({ publicKey: requestOptions(options) });
        post(action, credential);
      } catch (error) {
        say(["NotAllowedError", "AbortError"].includes(error.name) ? "cancelled" : "failed");
        button.disabled = false;
        wait();
      }
    });

    wait();
  }

  // Calls a method that tells the password manager about passkeys (WebAuthn Level 3 section 5.1.10), if the browser has it.
  async function signal(method, options) {
    try {
      await window.PublicKeyCredential?.[method]?.(options);
    } catch {
      // The password manager may refuse it, and the page works without it.
    }
  }

  const signals = document.querySelector("[data-passkey-signals]");
  if (signals) {
    const { rpId, unknown = [], users = [], accepted = [], name, displayName } = JSON.parse(signals.dataset.passkeySignals);
    for (const credentialId of unknown) signal("signalUnknownCredential", { rpId, credentialId });
    for (const userId of users) {
      signal("signalAllAcceptedCredentials", { rpId, userId, allAcceptedCredentialIds: accepted });
      if (name) signal("signalCurrentUserDetails", { rpId, userId, name, displayName });
    }
  }

  // Creates a passkey without a prompt after a sign-in with a password. If the browser refuses, it is not asked again.
  async function create({ options: address, callback, rpId, user }) {
    const key = "latchkey-no-passkey-" + user;
    let made;
    try {
      const able = await PublicKeyCredential.getClientCapabilities();
      if (!able.conditionalCreate || localStorage.getItem(key) || quiet.signal.aborted) return;
      const { options } = await requestJSON(address, []);
      made = await navigator.credentials.create({
        publicKey: creationOptions(options), mediation: "conditional", signal: quiet.signal,
      });
      const body = new URLSearchParams([["action", "register"], ["data", credentialJSON(made)]]);
      await requestJSON(callback, [], { method: "POST", body });
    } catch (error) {
      if (made) signal("signalUnknownCredential", { rpId, credentialId: made.id }); // the site has not stored it
      if (made || error.name === "NotAllowedError") localStorage.setItem(key, "1");
    }
  }

  const creation = document.querySelector("[data-passkey-creation]");
  if (creation) create(JSON.parse(creation.dataset.passkeyCreation));

  const forms = document.querySelectorAll("form[data-passkey-options]");
  for (const form of forms) {
    if (window.PublicKeyCredential && navigator.credentials) {
      attach(form);
      continue;
    }
    form.querySelector("button[type=submit]").disabled = true;
    form.querySelector('[role="status"]').textContent = sentence(form, "unsupported");
  }
})();
