// Adds a button to password fields that shows the password. Submitting the form hides it again, because password managers save
// only password fields. The form works without this script.
(() => {
  "use strict";
  const eye = '<svg viewBox="0 0 24 24" aria-hidden="true">' + // which the browser closes
    '<path d="M2.5 12S6 5.75 12 5.75 21.5 12 21.5 12 18 18.25 12 18.25 2.5 12 2.5 12Z"/>' +
    '<circle cx="12" cy="12" r="2.75"/><path class="off" d="m4 20 16-16"/>';
  const words = document.querySelector("[data-show]")?.dataset.show ?? "Show password";
  for (const field of document.querySelectorAll(".secret > input")) {
    const button = document.createElement("button");
    const show = (on) => {
      field.type = on ? "text" : "password";
      button.setAttribute("aria-pressed", on);
    };
    button.type = "button";
    button.className = "show";
    button.title = words;
    button.setAttribute("aria-label", words);
    button.innerHTML = eye;
    show(false);
    button.addEventListener("click", () => show(field.type === "password"));
    field.form?.addEventListener("submit", () => show(false));
    field.after(button);
  }
})();
