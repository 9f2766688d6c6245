// Marks the link to the section that is on the screen. Without this script, the link that was followed is marked.
(() => {
  "use strict";
  const tabs = document.querySelector(".tabs");
  if (!tabs) return;
  const links = [...tabs.querySelectorAll("a")];
  const top = (link) => document.getElementById(link.hash.slice(1))?.getBoundingClientRect().top ?? Infinity;
  const mark = () => {
    let current = links.findLast((link) => top(link) < innerHeight / 3) ?? links[0];
    if (scrollY > 0 && scrollY + innerHeight >= document.documentElement.scrollHeight - 2) {
      // The last sections cannot reach the top: one that was followed is current, or else the last one.
      current = links.find((link) => link.hash === location.hash && top(link) > 0) ?? links.at(-1);
    }
    for (const link of links) {
      if (link === current) link.setAttribute("aria-current", "location");
      else link.removeAttribute("aria-current");
    }
  };
  tabs.classList.remove("still");
  addEventListener("scroll", mark, { passive: true });
  addEventListener("hashchange", mark);
  mark();
})();
