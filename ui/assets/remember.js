// Adds the checkbox "Keep me signed in" to every form of the page: a browser submits a checkbox with its own form only.
(() => {
  "use strict";
  const label = document.querySelector("[data-remember]"), box = label?.querySelector("input");
  if (!box) return;
  label.hidden = false;
  document.addEventListener("formdata", (event) => event.formData.set(box.name, box.checked ? box.value : "0"));
})();
