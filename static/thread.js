/* Printing a thread, and "n" for the next message of ours or with a draft. */
"use strict";

(() => {
  const button = document.querySelector("[data-print]");
  if (button) {
    button.hidden = false;
    button.addEventListener("click", () => print());
  }

  const typing = (element) => element instanceof HTMLElement && (element.isContentEditable || element.matches("input, textarea, select"));
  const worth = (node) => node.matches(".is-ours") || node.querySelector(".draft");

  function next() {
    const all = [...document.querySelectorAll("[data-rows-tree] .node")];
    const at = document.activeElement?.closest("[data-rows-tree] .node") ?? document.querySelector("[data-rows-tree] [data-at]");
    const here = all.indexOf(at);
    return all.slice(here + 1).find(worth) ?? all.slice(0, Math.max(here, 0)).find(worth);
  }

  let going = 0; // a letter after "g" is a place, not an act
  document.addEventListener("keydown", (event) => {
    const went = going > event.timeStamp;
    going = 0;
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || typing(event.target)) return;
    if (event.key === "g") going = event.timeStamp + 1500;
    if (event.key !== "n" || went || event.defaultPrevented) return;
    const node = next();
    if (!node) return;
    event.preventDefault();
    for (const other of document.querySelectorAll("[data-at]")) other.removeAttribute("data-at");
    node.setAttribute("data-at", "");
    node.querySelector("[data-open]")?.focus({ preventScroll: true });
    node.scrollIntoView({ block: "nearest" });
  });
})();
