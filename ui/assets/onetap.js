// Shows the prompt in which a signed-out user selects an account of Google (One Tap), or of another identity provider
// over FedCM, and posts the ID token. If the prompt is dismissed or fails, the page stays as it is.
(() => {
  "use strict";
  const form = document.querySelector("form[data-client]"), {nonce: allowed} = document.currentScript;
  if (!form) return;
  const {client, library, fedcm} = form.dataset;
  const post = (token) => {
    if (typeof token !== "string") return;
    form.elements.credential.value = token;
    form.submit();
  };
  const prompts = async (nonce) => {
    if (fedcm) {
      if (!("IdentityCredential" in window)) return;
      const provider = {configURL: fedcm, clientId: client, params: {nonce}};
      post((await navigator.credentials.get({identity: {providers: [provider]}}))?.token);
      return;
    }
    const script = document.createElement("script");
    script.src = library;
    if (allowed) script.nonce = allowed;
    script.onload = () => {
      const {id} = google.accounts;
      id.initialize({
        client_id: client, nonce, callback: (response) => post(response.credential),
        auto_select: false, use_fedcm_for_prompt: true, itp_support: true,
      });
      id.prompt();
    };
    document.head.append(script);
  };
  fetch(form.action, {headers: {accept: "application/json"}})
    .then((response) => response.ok ? response.json() : {})
    .then(({nonce}) => nonce && prompts(nonce))
    .catch(() => {});
})();
