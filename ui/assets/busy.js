// Prevents double submits: after a submit, the button is marked as busy and further submits are ignored. This ends when the user
// returns to the page, or after ten seconds. The forms work without this script.
(() => {
  "use strict";
  let pressed = null, timer = 0;
  const rest = () => {
    clearTimeout(timer);
    pressed?.removeAttribute("aria-busy");
    pressed = null;
  };
  addEventListener("submit", (event) => {
    if (!pressed) return;
    event.preventDefault();
    event.stopImmediatePropagation();
  }, true);
  addEventListener("submit", (event) => {
    if (event.defaultPrevented) return;
    pressed = event.submitter ?? event.target;
    pressed.setAttribute("aria-busy", true);
    timer = setTimeout(rest, 10000);
  });
  addEventListener("pageshow", rest);
})();
