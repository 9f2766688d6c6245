// What a page says that the server did not write into it: who is signed in already, which the page asks for as any other may, and
// which address was typed in this tab. Pages stay the same for everybody, and without a script nothing is missing.
(() => {
  "use strict";
  const say = (place, words, value) => {
    const [before, after] = words.split("%s");
    // The address may be written in another direction than the sentence: it turns nothing around it.
    const name = document.createElement("strong");
    name.dir = "auto";
    name.textContent = value;
    place.replaceChildren(before, name, after ?? "");
    place.hidden = false;
  };
  const lead = (place, address, words) => {
    const link = document.createElement("a");
    link.className = "site";
    link.href = address;
    link.textContent = words;
    place.append(" ", link);
  };

  const who = document.querySelector("[data-session]");
  if (who) {
    const leaving = new AbortController(); // no answer with a cookie comes in behind that of a sign-out
    document.addEventListener("submit", () => leaving.abort());
    fetch(who.dataset.session, { credentials: "same-origin", headers: { Accept: "application/json" }, signal: leaving.signal })
      .then((answer) => (answer.ok ? answer.json() : null))
      .then((session) => {
        const name = session?.user?.email || session?.user?.name;
        if (typeof name !== "string" || !name) return;
        say(who, who.dataset.who, name);
        if (who.dataset.next) lead(who, who.dataset.next, who.dataset.continue);
      })
      .catch(() => {}); // the page works without
  }

  const sent = document.querySelector("[data-sent]");
  if (sent) {
    try {
      const typed = Object.values(JSON.parse(sessionStorage.getItem("latchkey-typed") ?? "{}"));
      const address = typed.find((value) => typeof value === "string" && value.includes("@"));
      if (address) {
        say(sent, sent.dataset.sent, address);
        // No server sees what follows the number sign, and no log keeps it.
        lead(sent, sent.dataset.address + "#again", sent.dataset.again);
      }
    } catch {
      // Storage is switched off: the address is not said.
    }
  }
})();
