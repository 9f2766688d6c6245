// Shows how many characters of a new password are typed, in a bar and in words. Screen readers hear it after a pause. The server
// decides; it also knows common passwords. The form works without this script.
(() => {
  "use strict";
  for (const hint of document.querySelectorAll("[data-min]")) {
    const field = hint.closest("form").querySelector("input[autocomplete=new-password]");
    const meter = hint.previousElementSibling, spoken = document.createElement("span"), least = Number(hint.dataset.min);
    let timer = 0;
    spoken.className = "unseen";
    spoken.setAttribute("role", "status");
    hint.after(spoken);
    field.addEventListener("input", () => {
      const all = [...field.value], enough = all.length >= least && new Set(all).size > 5;
      meter.hidden = false;
      meter.dataset.level = enough ? 4 : Math.min(3, Math.floor((all.length * 3) / least));
      hint.textContent = enough ? hint.dataset.enough : hint.dataset.count.replace("%s", all.length + " / " + least);
      clearTimeout(timer);
      timer = setTimeout(() => { spoken.textContent = hint.textContent; }, 500);
    });
  }
})();
