// Shows the form of a details element with data-dialog in a dialog. Without this script the form is shown in place.
(() => {
  "use strict";
  for (const details of document.querySelectorAll("details[data-dialog]")) {
    const summary = details.querySelector("summary"), form = summary.nextElementSibling;
    const dialog = document.createElement("dialog"), cancel = form.querySelector("button[type=button]");
    if (!dialog.showModal) continue;
    dialog.setAttribute("aria-labelledby", form.getAttribute("aria-labelledby"));
    form.removeAttribute("role");
    form.removeAttribute("aria-labelledby");
    cancel.hidden = false;
    dialog.append(form);
    details.after(dialog);
    cancel.addEventListener("click", () => dialog.close());
    summary.addEventListener("click", (event) => {
      event.preventDefault();
      dialog.showModal();
      dialog.querySelector("input:not([type=hidden])")?.focus();
    });
  }
})();
