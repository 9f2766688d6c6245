// Shows the address that was typed in this tab. It is not in the server's HTML. The pages work without this script.
(() => {
  "use strict";
  const say = (place, words, value) => {
    const [before, after] = words.split("%s");
    // Isolates the address, which may have another text direction than the sentence.
    const name = document.createElement("strong");
    name.dir = "auto";
    name.textContent = value;
    place.replaceChildren(before, name, after ?? "");
    place.hidden = false;
  };
  const again = document.querySelector("[data-resend]");
  const sent = document.querySelector("[data-sent]");
  if (sent) {
    try {
      const typed = Object.values(JSON.parse(sessionStorage.getItem("latchkey-typed") ?? "{}"));
      const address = typed.find((value) => typeof value === "string" && value.includes("@"));
      if (address) {
        say(sent, sent.dataset.sent, address);
        if (again) again.elements.email.value = address;
        if (again) again.hidden = false;
      }
    } catch {
      // Storage is disabled: the address is not shown.
    }
  }

  // The email can be sent again after half a minute. The server counts requests in any case.
  const button = again?.querySelector("button");
  if (button) {
    const words = button.textContent;
    let left = 30;
    const tick = () => {
      button.disabled = left > 0;
      button.textContent = left > 0 ? words + " (" + left-- + ")" : words;
      if (button.disabled) setTimeout(tick, 1000);
    };
    tick();
  }
})();
