// Submits a code as soon as all its digits are typed or pasted. The form works without this script.
(() => {
  "use strict";
  const input = document.querySelector("form[data-code] input[name=code]");
  input?.addEventListener("input", () => {
    if (input.value.replace(/\D/g, "").length === 6) input.form.requestSubmit();
  });
})();
