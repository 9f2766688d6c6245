// Shows what is not in the server's HTML, so that pages are the same for all users: the signed-in user, which it requests from the
// session endpoint, and the address that was typed in this tab. The pages work without this script.
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
        // Browsers do not send the fragment, so it is in no server log.
        lead(sent, sent.dataset.address + "#again", sent.dataset.again);
      }
    } catch {
      // Storage is disabled: the address is not shown.
    }
  }
})();
