// Restores the typed name or address on the page after a failed sign-in, and marks the last used sign-in method. Both are stored in
// this browser only, never in a URL or cookie. Passwords are not stored.
(() => {
  "use strict";
  const key = "latchkey-typed", last = "latchkey-last", tried = "latchkey-tried";
  // The last attempt has worked if a user is signed in, or if this page is shown again without a failure. The latter says
  // nothing about an email, nor after the user came back from the provider.
  const signedIn = document.querySelector(".person, .me, .who");
  if (!signedIn && !document.querySelector(".ways")) return; // another page
  try {
    const before = localStorage.getItem(tried) ?? "", failed = document.querySelector("[role=alert]");
    const back = performance.getEntriesByType("navigation")[0]?.type === "back_forward", mail = before.startsWith("mail:");
    if (before && (signedIn || (!back && !failed && !mail))) localStorage.setItem(last, before.replace("mail:", ""));
    if (signedIn || failed || !mail) localStorage.removeItem(tried);
  } catch {
    // Storage is disabled.
  }
  const names = ["input[type=email]", "input[name=email]", "input[name=username]", "input[autocomplete~=username]", "input[autocomplete~=email]"]
    .map((field) => field + ":not([type=password], [type=hidden])").join();
  // The button for an email link submits only the address, not a password that a password manager has filled in.
  for (const button of document.querySelectorAll("button[data-address]")) {
    const form = button.form;
    let pressed = false;
    button.addEventListener("click", (event) => {
      if (!document.getElementById(button.dataset.address).reportValidity()) event.preventDefault();
    });
    form.addEventListener("submit", (event) => { pressed = event.submitter === button; });
    form.addEventListener("formdata", (event) => {
      if (pressed) for (const field of form.querySelectorAll(".secret > input")) event.formData.delete(field.name);
    });
  }

  try {
    const typed = JSON.parse(sessionStorage.getItem(key) ?? "{}");
    sessionStorage.removeItem(key);
    // Also restores the address after the user returns from the page that confirms a sent email.
    const again = location.hash === "#again";
    for (const field of document.querySelectorAll((again ? "" : "[data-failed] ") + "input:is(" + names + ")")) {
      if (field.value === "" && typeof typed[field.id] === "string") field.value = typed[field.id];
      if (field.value && !again) field.form.querySelector(".secret > input[aria-invalid]")?.focus();
    }
    document.addEventListener("submit", (event) => {
      const fields = Array.from(event.target.querySelectorAll(names), (field) => [field.id, field.value]);
      sessionStorage.setItem(key, JSON.stringify(Object.fromEntries(fields)));
    });

    // Stores the last used sign-in method as the path of its action, if there is a choice. It is marked after
    // it worked. Storage is separate for each origin.
    const path = (button) =>
      new URL(button.getAttribute("formaction") ?? button.form.getAttribute("action"), location.href).pathname;
    const ways = Array.from(document.querySelectorAll(".provider form:not([data-next]) button[type=submit]"));
    const mark = ways.length > 1 && ways.find((button) => path(button) === localStorage.getItem(last));
    const words = document.querySelector("[data-last]")?.dataset.last;
    if (mark && words) {
      const tag = document.createElement("span");
      tag.className = "last";
      tag.textContent = words;
      const label = document.createRange();
      label.selectNodeContents(mark.querySelector("span:not(.mark)") ?? mark);
      const text = label.getBoundingClientRect();
      mark.append(tag);
      const badge = tag.getBoundingClientRect();
      if (badge.left < text.right + 4 && text.left - 4 < badge.right) tag.className = "last edge"; // it would cover the text
    }
    document.addEventListener("submit", (event) => {
      if (!ways.includes(event.submitter)) return;
      const mail = event.submitter.dataset.address || event.target.matches(":has([type=email]):not(:has([type=password]))");
      localStorage.setItem(tried, (mail ? "mail:" : "") + path(event.submitter));
    });
  } catch {
    // Storage is disabled: the field stays empty, and no method is marked.
  }
})();
