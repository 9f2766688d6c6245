// A form is sent once, and its button says that the answer is on its way: until the answer comes, the visitor comes back to the
// page, or ten seconds have passed without either. Without a script nothing is missing.
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
