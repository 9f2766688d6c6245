// Copies the code that users quote in a report. Without this script there is no button, and a click selects the code.
(() => {
  "use strict";
  const button = document.querySelector("button[data-copied]");
  if (!button || !navigator.clipboard) return;
  button.hidden = false;
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(button.parentElement.querySelector("code").textContent);
      button.textContent = button.dataset.copied;
    } catch {
      // The browser refused: the code can still be selected.
    }
  });
})();
