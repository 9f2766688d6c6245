// Keeps the name or address that was typed for the page that says why it did not work. It stays in this tab, and it is never a
// password: nothing of it travels in an address or a cookie.
(() => {
  "use strict";
  const key = "latchkey-typed";
  const names = ["input[type=email]", "input[name=email]", "input[name=username]", "input[autocomplete~=username]", "input[autocomplete~=email]"]
    .map((field) => field + ":not([type=password], [type=hidden])").join();
  try {
    const typed = JSON.parse(sessionStorage.getItem(key) ?? "{}");
    sessionStorage.removeItem(key);
    for (const field of document.querySelectorAll("[data-failed] input:is(" + names + ")")) {
      if (field.value === "" && typeof typed[field.id] === "string") field.value = typed[field.id];
    }
    document.addEventListener("submit", (event) => {
      const fields = Array.from(event.target.querySelectorAll(names), (field) => [field.id, field.value]);
      sessionStorage.setItem(key, JSON.stringify(Object.fromEntries(fields)));
    });
  } catch {
    // Storage is switched off: the field stays empty.
  }
})();
