// What the forms of the sign-in page do for people with a script. It keeps the name or address that was typed for the page that
// says why a sign-in failed, and remembers which way was taken last. All of it stays in this browser, none of it is a password, and
// nothing of it travels in an address or a cookie.
(() => {
  "use strict";
  if (!document.querySelector(".ways")) return; // another page
  const key = "latchkey-typed", last = "latchkey-last";
  const names = ["input[type=email]", "input[name=email]", "input[name=username]", "input[autocomplete~=username]", "input[autocomplete~=email]"]
    .map((field) => field + ":not([type=password], [type=hidden])").join();
  // The button of a link by mail wants the address of the form and nothing else, and a password that a manager filled in stays here.
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
    // From the page that says where a letter went one comes back to what was typed, too.
    const again = location.hash === "#again";
    for (const field of document.querySelectorAll((again ? "" : "[data-failed] ") + "input:is(" + names + ")")) {
      if (field.value === "" && typeof typed[field.id] === "string") field.value = typed[field.id];
    }
    document.addEventListener("submit", (event) => {
      const fields = Array.from(event.target.querySelectorAll(names), (field) => [field.id, field.value]);
      sessionStorage.setItem(key, JSON.stringify(Object.fromEntries(fields)));
    });

    // The way that was taken last, where there is a choice. It is the path of its action, kept by origin as all storage is.
    const path = (button) =>
      new URL(button.getAttribute("formaction") ?? button.form.getAttribute("action"), location.href).pathname;
    const ways = Array.from(document.querySelectorAll(".provider button[type=submit]"));
    const mark = ways.length > 1 && ways.find((button) => path(button) === localStorage.getItem(last));
    const words = document.querySelector("[data-last]")?.dataset.last;
    if (mark && words) {
      const tag = document.createElement("span");
      tag.className = "last";
      tag.textContent = words;
      mark.append(tag);
    }
    document.addEventListener("submit", (event) => {
      if (ways.includes(event.submitter)) localStorage.setItem(last, path(event.submitter));
    });
  } catch {
    // Storage is switched off: the field stays empty, and no way is marked.
  }
})();
