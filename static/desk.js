/* The desk's keys: move and the item follows, act and the next one comes. Works without this file. */
"use strict";

(() => {
  const desk = document.querySelector("[data-desk]");
  if (!desk) return;
  const { deskPanes: panes, deskDecisions: decisions } = window;
  const wide = matchMedia("(width >= 56rem)");
  const rows = () => [...desk.querySelectorAll(".items > [data-key-of]")];
  const item = () => document.querySelector("#item");
  const link = (row) => row?.querySelector("a[data-open]");
  const here = () => rows().find((row) => link(row)?.hasAttribute("aria-current"));
  const checked = () => [...desk.querySelectorAll(".items :checked")];
  let shown = null; // the row whose item is in the pane
  let asked = null; // the row whose item is on its way into the pane
  let posted = null; // the key of the item that the last answered request was about
  let held = null; // a key pressed before that item was there
  const UNREAD = 500; // ms; no key and no click decides on an item that was shown this moment without being asked for

  // ── show ───────────────────────────────────────────────────────────────

  function point(row) {
    for (const other of desk.querySelectorAll(".items a[aria-current]")) other.removeAttribute("aria-current");
    link(row)?.setAttribute("aria-current", "true");
  }

  // What comes after a row; at the end of the whole list, what is before it.
  function after(row) {
    const all = rows(), at = all.indexOf(row);
    return desk.querySelector(".items > .further") ? all.slice(at + 1) : [...all.slice(at + 1), ...all.slice(0, Math.max(at, 0))];
  }

  function open(row, { push = true } = {}) {
    if (!link(row)) return;
    if (!wide.matches) {
      location.assign(link(row).href);
      return;
    }
    bring(row, { push });
  }

  // Quick fingers ask for several: only the last one is shown, whichever arrives first.
  // isNext: nobody asked for it; it follows an item that was decided.
  function bring(row, { push = true, isNext = false } = {}) {
    point(row);
    asked = row;
    const pane = panes.take(row);
    if (pane.node) place(row, pane, isNext);
    else {
      item().setAttribute("aria-busy", "true");
      pane.then((found) => {
        if (asked === row) place(row, found, isNext);
      });
    }
    // What costs a layout waits until the words are on the screen.
    setTimeout(() => {
      if ((asked ?? shown) !== row) return;
      if (push) history.replaceState(null, "", link(row).href);
      row.scrollIntoView({ block: "nearest" });
      if (!typing(document.activeElement)) (wide.matches ? link(row) : item()).focus({ preventScroll: true });
    });
  }

  function place(row, pane, isNext) {
    asked = null;
    if (pane.node) {
      panes.show(pane);
      if (isNext) markUnread();
      shown = row;
      decisions.refusalOf(row)?.remove();
      arrived();
    } else if (pane.status) location.assign(pane.href); // signed out, or it is gone: the whole page says it
    else htmx.trigger(document.body, "htmx:sendError");
  }

  function markUnread() {
    const node = item();
    held = null;
    node.toggleAttribute("data-unread", true);
    setTimeout(() => node.removeAttribute("data-unread"), UNREAD);
  }

  const prefetch = () => {
    if (shown) panes.prefetch(after(shown));
  };

  function arrived() {
    counted();
    setTimeout(prefetch);
    if (!held) return;
    const key = held;
    held = null;
    item().querySelector(`[data-key="${CSS.escape(key)}"]`)?.click();
  }

  function move(step) {
    const all = rows();
    if (!all.length) return;
    const at = all.indexOf(here());
    open(all[at < 0 ? 0 : Math.min(Math.max(at + step, 0), all.length - 1)]);
  }

  // ── decide ─────────────────────────────────────────────────────────────

  // What is shown after the item in the pane is decided, if the list knows.
  const next = () => (shown?.isConnected ? after(shown).find((row) => !panes.isDecided(row)) : undefined);
  const isDecision = ({ verb, elt }) => verb === "post" && elt.closest("#item") && !elt.closest("[data-stays]");

  // htmx made the request from the pane as it is shown; it is posted behind the next item.
  document.addEventListener("htmx:configRequest", (event) => {
    const { detail } = event;
    if (!isDecision(detail) || detail.errors?.length) return;
    const node = item(), row = shown, following = next();
    if (decisions.isLeaving(node)) event.preventDefault(); // it is decided, the next one is on its way
    else if (following) {
      event.preventDefault();
      decisions.post(row, node, detail);
      bring(following, { isNext: true });
    }
  });

  // Everything else that is posted waits until the decisions before it are made.
  document.addEventListener("htmx:confirm", (event) => {
    const { detail } = event;
    if (detail.verb !== "post" || !decisions.isBusy() || isDecision(detail) && next()) return;
    event.preventDefault();
    decisions.drained().then(() => detail.issueRequest(true));
  });

  // A refused decision: its item is at its place again, and in the pane if nothing took its place there.
  desk.addEventListener("desk:returned", ({ target: row, detail }) => {
    if (item().querySelector(".none") || item() === detail.node && !asked) bring(row, { isNext: true });
    else prefetch();
  });

  // Only what a person has seen is decided: not what came or changed this moment, nor by a second click.
  document.addEventListener("click", (event) => {
    const button = event.target.closest("#item .decide button");
    if (!button || panes.isMeant(event) && !button.closest("[data-unread]")) return;
    event.preventDefault();
    event.stopImmediatePropagation();
  }, true);

  function undo() {
    const press = () => document.querySelector("#toasts [data-key=u]")?.click();
    if (decisions.isBusy()) decisions.drained().then(press);
    else press();
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

  // ── keys ───────────────────────────────────────────────────────────────

  const typing = (element) => element?.isContentEditable || element?.matches?.("input:not([type=checkbox], [type=radio]), textarea, select");
  const later = (event) => event.ctrlKey || event.metaKey || event.altKey || event.isComposing;

  // Before the page's own keys: what belongs to the queue, and what must wait for its item.
  document.addEventListener("keydown", (event) => {
    if (later(event) || document.querySelector(":popover-open")) return;
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    if (typing(event.target)) {
      if (key === "Enter" && event.target.matches("#d-why")) {
        event.preventDefault();
        const reject = item().querySelector("[data-rejects]");
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
    else if (key === "u" && decisions.isBusy()) undo();
    else if (key === "Escape" && checked().length) for (const box of checked()) box.click();
    else if (/^[acsrl]$/.test(key) && checked().length) done = bulk(key);
    else if (/^[a-z]$/.test(key) && asked) held = key;
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
    const again = event.target.closest("#refusals [data-reopen]");
    const to = again ? link(document.getElementById(`row-${again.closest("[data-of]").dataset.of}`)) : event.target.closest(".items a[data-open]");
    if (!to || !wide.matches || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
    event.preventDefault();
    open(to.closest("[data-key-of]"));
  }, true);

  function counted() {
    const place = desk.querySelector("[data-selected]");
    if (place) place.textContent = checked().length || "";
  }
  desk.addEventListener("change", counted);

  // ── what htmx put there ────────────────────────────────────────────────

  // What was decided leaves the list, which may come later than the answer that says so.
  function removeGone() {
    for (const key of (item()?.dataset.gone ?? "").split(" ")) document.getElementById(`row-${key}`)?.remove();
    if (item() && !document.querySelector("#queue[hx-trigger=load]")) delete item().dataset.gone;
  }

  const rowOfItem = () => document.getElementById(`row-${item()?.dataset.item}`);

  // What is posted brings its own pane: one that was asked for before falls.
  document.addEventListener("htmx:beforeRequest", ({ detail }) => {
    if (detail.requestConfig.verb !== "post" || detail.target?.id !== "item") return;
    asked = null;
    posted = item().dataset.item;
    panes.stop();
  });

  document.addEventListener("htmx:afterSwap", ({ detail }) => {
    if (detail.target?.id !== "item" && detail.elt?.id !== "item") return;
    asked = null;
    removeGone();
    shown = rowOfItem();
    const now = item();
    if (detail.requestConfig?.verb === "post" && now.dataset.item !== posted) markUnread();
    if (shown) point(shown);
    shown?.scrollIntoView({ block: "nearest" });
    if (now.dataset.item && detail.requestConfig?.verb === "post" && !now.contains(document.activeElement)) (link(shown) ?? now).focus({ preventScroll: true });
    arrived();
  });

  // The queue came later than its item: show which row it is. More rows came: fetch what is next.
  document.addEventListener("htmx:afterSettle", ({ target }) => {
    if (target.id === "queue") removeGone();
    if (target.id === "queue" && (shown = rowOfItem())) point(shown);
    if (target.closest?.("#queue")) prefetch();
  });
  document.addEventListener("htmx:responseError", () => item()?.removeAttribute("aria-busy"));
  document.addEventListener("htmx:sendError", () => item()?.removeAttribute("aria-busy"));

  // On a wide screen the first item stands open from the beginning.
  if (wide.matches && !item()?.dataset.item && rows().length) open(rows()[0], { push: false });
})();
