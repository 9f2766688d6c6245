// Restores the typed name or address on the page after a failed sign-in, and marks the last used sign-in method. Both are stored in
// this browser only, never in a URL or cookie. Passwords are not stored. A cookie only says whether the last attempt has worked.
(() => {
  "use strict";
  const key = "latchkey-typed", last = "latchkey-last", tried = "latchkey-tried";
  if (!document.querySelector(".ways, .person, .me, .who")) return; // another page
  // An attempt sets the cookie, and the response that signs the user in sets its value to "ok". A user who left the provider's page,
  // or canceled there, was not signed in. The cookie is for the auth routes only.
  const note = (value, path, age) => {
    document.cookie = `${tried}=${value}; path=${path.split("/").slice(0, -2).join("/") || "/"}; max-age=${age}; samesite=lax`;
  };
  try {
    const before = localStorage.getItem(tried), worked = document.cookie.split("; ").includes(tried + "=ok");
    if (before && worked) localStorage.setItem(last, before);
    if (before && (worked || document.querySelector("[role=alert]"))) {
      localStorage.removeItem(tried);
      note("", before, 0);
    }
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

    // Stores the last used sign-in method as the path of its action, if there is a choice. It is marked after the user was
    // signed in. Storage is separate for each origin.
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
      localStorage.setItem(tried, path(event.submitter));
      note("1", path(event.submitter), 3600);
    });
  } catch {
    // Storage is disabled: the field stays empty, and no method is marked.
  }
})();
