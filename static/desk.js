/* The desk's keys: move and the item follows, act and the next one comes. Works without this file. */
"use strict";

(() => {
  const desk = document.querySelector("[data-desk]");
  if (!desk) return;
  const wide = matchMedia("(width >= 56rem)");
  const rows = () => [...desk.querySelectorAll(".items > [data-key-of]")];
  const item = () => document.querySelector("#item");
  const link = (row) => row?.querySelector("a[data-open]");
  const here = () => rows().find((row) => link(row)?.hasAttribute("aria-current"));
  const checked = () => [...desk.querySelectorAll(".items :checked")];
  const opener = desk.appendChild(document.createElement("span")); // asks for items
  opener.hidden = true;
  let asked = ""; // the item on its way into the pane
  let held = null; // a key pressed before that item was there

  function point(row) {
    for (const other of desk.querySelectorAll(".items a[aria-current]")) other.removeAttribute("aria-current");
    link(row)?.setAttribute("aria-current", "true");
    row?.scrollIntoView({ block: "nearest" });
  }

  function open(row, { push = true } = {}) {
    const to = link(row);
    if (!to) return;
    if (!wide.matches) {
      location.assign(to.href);
      return;
    }
    point(row);
    to.focus({ preventScroll: true });
    asked = row.dataset.keyOf;
    item().setAttribute("aria-busy", "true");
    htmx.ajax("GET", to.getAttribute("href"), { source: opener, target: "#item", swap: "outerHTML" });
    if (push) history.replaceState(null, "", to.href);
  }

  // Quick fingers open several: only the last one is shown, whichever answers first.
  document.addEventListener("htmx:beforeSwap", ({ detail }) => {
    if (detail.requestConfig?.elt !== opener) return;
    if (!asked || !detail.serverResponse.includes(`data-item="${asked}"`)) detail.shouldSwap = false;
  });

  function move(step) {
    const all = rows();
    if (!all.length) return;
    const at = all.indexOf(here());
    open(all[at < 0 ? 0 : Math.min(Math.max(at + step, 0), all.length - 1)]);
  }

  function select(row) {
    const box = row?.querySelector("input[type=checkbox]");
    if (box) box.click();
  }

  function bulk(key) {
    const button = desk.querySelector(`[data-bulk="${CSS.escape(key)}"]`);
    if (!button) return false;
    if (button.matches("summary")) {
      button.parentElement.open = true;
      desk.querySelector("#bulk-why")?.focus();
    } else button.click();
    return true;
  }

  // A reason is asked for where it is missing, in the place where it is typed.
  function lacksReason(button) {
    if (!button?.matches("[data-needs-reason]")) return false;
    const form = button.form;
    const given = form.querySelector("[name=reason]:checked") || form.querySelector("[name=why]")?.value.trim();
    if (given) return false;
    (form.querySelector("[name=why]") ?? form.querySelector("[name=reason]"))?.focus();
    return true;
  }

  const typing = (element) => element?.isContentEditable || element?.matches?.("input:not([type=checkbox], [type=radio]), textarea, select");
  const later = (event) => event.ctrlKey || event.metaKey || event.altKey || event.isComposing;

  // Before the page's own keys: what belongs to the queue, and what must wait for its item.
  document.addEventListener("keydown", (event) => {
    if (later(event) || document.querySelector(":popover-open")) return;
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    if (typing(event.target)) {
      if (key === "Enter" && event.target.matches("#d-why")) {
        event.preventDefault();
        const reject = item().querySelector("[data-key=r]");
        if (lacksReason(reject)) return;
        event.target.blur(); // or the next item's field would be typed into
        reject?.click();
      }
      return;
    }
    if (desk.dataset.going > event.timeStamp) return;
    if (key === "g") {
      desk.dataset.going = event.timeStamp + 1500;
      return;
    }
    let done = true;
    if (key === "j" || key === "ArrowDown" && event.target.matches(".items a")) move(1);
    else if (key === "k" || key === "ArrowUp" && event.target.matches(".items a")) move(-1);
    else if (event.repeat) done = false;
    else if (key === "x") select(here() ?? rows()[0]);
    else if (key === "Escape" && checked().length) for (const box of checked()) box.click();
    else if (/^[acsrl]$/.test(key) && checked().length) done = bulk(key);
    else if (/^[a-z]$/.test(key) && item()?.getAttribute("aria-busy") && item().dataset.item !== asked) held = key;
    else if (key === "r" && lacksReason(item()?.querySelector("[data-needs-reason]"))) done = true;
    else done = false;
    if (done) {
      event.preventDefault();
      event.stopImmediatePropagation();
    }
  }, true);

  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-needs-reason]");
    if (button && lacksReason(button)) {
      event.preventDefault();
      event.stopImmediatePropagation();
      return;
    }
    const to = event.target.closest(".items a[data-open]");
    if (!to || !wide.matches || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
    event.preventDefault();
    open(to.closest("[data-key-of]"));
  }, true);

  function counted() {
    const place = desk.querySelector("[data-selected]");
    if (place) place.textContent = checked().length || "";
  }
  desk.addEventListener("change", counted);

  document.addEventListener("htmx:afterSwap", ({ detail }) => {
    if (detail.target?.id !== "item" && detail.elt?.id !== "item") return;
    counted();
    const now = item();
    asked = "";
    if (!now?.dataset.item) return;
    const row = document.getElementById(`row-${now.dataset.item}`);
    if (row) point(row);
    if (detail.requestConfig?.verb === "post" && !now.contains(document.activeElement)) (link(row) ?? now).focus({ preventScroll: true });
    if (held) {
      const key = held;
      held = null;
      now.querySelector(`[data-key="${CSS.escape(key)}"]`)?.click();
    }
  });

  // The queue came later than its item: show which row it is.
  document.addEventListener("htmx:afterSettle", ({ target }) => {
    if (target.id !== "queue") return;
    const row = document.getElementById(`row-${item()?.dataset.item}`);
    if (row) point(row);
  });
  document.addEventListener("htmx:responseError", () => item()?.removeAttribute("aria-busy"));
  document.addEventListener("htmx:sendError", () => item()?.removeAttribute("aria-busy"));

  // On a wide screen the first item stands open from the beginning.
  if (wide.matches && !item()?.dataset.item && rows().length) open(rows()[0], { push: false });
})();
