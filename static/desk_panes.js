/* The panes of the desk: fetched before they are asked for, shown at once, corrected if they changed
   meanwhile. Each pane carries the stamp of its words, so a decision names the words that were shown. */
"use strict";

window.deskPanes = (() => {
  const AHEAD = 2; // panes fetched before they are asked for
  const GLANCE = 700; // ms; a pane that is looked at for longer is checked, and its viewer announced
  const CHANGED = 600; // ms; after a correction no key decides on words that nobody has read
  const DOUBLE = 500; // ms; the second click of a double click was not meant for the next item
  const kept = new Map(); // key of a row -> { pane, arrives }
  let wanted = []; // rows whose panes are fetched, the next one first
  let isFetching = false;
  let timer = 0;
  let watched = null; // the pane that is corrected when it changed
  let shownAt = -Infinity;
  let changedAt = -Infinity;

  const item = () => document.querySelector("#item");
  const stamp = (node) => node.querySelector("[name=stamp]")?.value;

  // ── fetch ──────────────────────────────────────────────────────────────

  /* A pane is { node, etag, href, status, isSeen }. Without a node there is nothing to show:
     status 0 says that the server did not answer. `isSeen`: the server knows who looks at it. */
  async function load(href, headers = {}) {
    const sent = { "HX-Request": "true", "HX-Current-URL": location.href, ...headers };
    const pane = { href, status: 0, isSeen: !headers["X-Prefetch"] };
    try {
      const answer = await fetch(href, { headers: sent, cache: "no-store" });
      const page = answer.ok && new DOMParser().parseFromString(await answer.text(), "text/html");
      return { ...pane, status: answer.status, etag: answer.headers.get("ETag"), node: page ? page.querySelector("#item") : null };
    } catch {
      return pane;
    }
  }

  const hrefOf = (row) => row.querySelector("a[data-open]").getAttribute("href");

  /* Fetch the panes of the first of these rows, one after the other; forget those of other rows. */
  function prefetch(rows) {
    wanted = rows.slice(0, AHEAD);
    const keys = wanted.map((row) => row.dataset.keyOf);
    for (const [key, { pane }] of kept) if (!pane?.isReturned && !keys.includes(key)) kept.delete(key);
    if (!isFetching) fetchWanted();
  }

  async function fetchWanted() {
    isFetching = true;
    for (let row; (row = wanted.find((each) => each.isConnected && !kept.has(each.dataset.keyOf))); ) {
      const entry = { pane: null, arrives: load(hrefOf(row), { "X-Prefetch": "1" }) };
      kept.set(row.dataset.keyOf, entry);
      entry.pane = await entry.arrives;
    }
    isFetching = false;
  }

  /* The pane of a row: at once if it is here, else a promise of it. */
  function take(row) {
    const entry = kept.get(row.dataset.keyOf);
    kept.delete(row.dataset.keyOf);
    if (entry?.pane?.node) return entry.pane;
    return entry && !entry.pane ? entry.arrives : load(hrefOf(row));
  }

  /* A pane that came back with its decision refused: what was typed in it is kept. */
  function keep(row, node) {
    kept.set(row.dataset.keyOf, { pane: { node, href: hrefOf(row), status: 200, isSeen: true, isReturned: true } });
  }

  const isDecided = (row) => Boolean(kept.get(row.dataset.keyOf)?.pane?.node?.matches("[data-decided]"));

  // ── show and correct ───────────────────────────────────────────────────

  function show(pane) {
    stop();
    watched = pane;
    pane.node.removeAttribute("aria-busy");
    const hadFocus = item().contains(document.activeElement);
    item().replaceWith(pane.node);
    htmx.process(pane.node);
    shownAt = performance.now();
    if (hadFocus) setTimeout(() => pane.node.focus({ preventScroll: true })); // a layout: after the words
    if (!pane.isSeen) timer = setTimeout(check, GLANCE, pane);
    const viewers = pane.isReturned && pane.node.querySelector("#readers");
    if (viewers) htmx.ajax("GET", viewers.getAttribute("hx-get"), { source: viewers, target: viewers, swap: "outerHTML" });
  }

  /* The pane is about to be replaced by an answer: leave it as it is. */
  function stop() {
    clearTimeout(timer);
    watched = null;
  }

  /* Announce the viewer; if the pane changed since it was fetched, show it as it is now. */
  async function check(pane) {
    await window.deskDecisions.drained(); // an earlier decision may change this item
    if (watched !== pane || item() !== pane.node) return;
    const now = await load(pane.href, pane.etag ? { "If-None-Match": pane.etag } : {});
    if (!now.node || watched !== pane || item() !== pane.node) return;
    if (isTouched(pane.node)) offer(pane, now);
    else replace(pane, now);
  }

  function isTouched(node) {
    if (node.querySelector(".fold-out[open]") || document.activeElement?.matches("#item :is(input, textarea)")) return true;
    return [...node.querySelectorAll("input, textarea")].some((field) =>
      field.matches("[type=radio], [type=checkbox]") ? field.checked !== field.defaultChecked : field.value !== field.defaultValue,
    );
  }

  function notice(pane, isOffer) {
    const place = document.querySelector("#desk-changed").content.firstElementChild.cloneNode(true);
    if (!isOffer) place.querySelector("button").remove();
    pane.node.querySelector(".scroll .title").after(place);
    return place;
  }

  function replace(pane, now) {
    const top = pane.node.querySelector(".scroll").scrollTop;
    const isChanged = stamp(pane.node) !== stamp(now.node);
    show(now);
    now.node.querySelector(".scroll").scrollTop = top;
    if (!isChanged || now.node.matches("[data-decided]")) return;
    notice(now, false);
    changedAt = performance.now();
  }

  /* Somebody types in the pane: the change is offered. The old stamp decides nothing. */
  function offer(pane, now) {
    if (stamp(pane.node) === stamp(now.node) && !now.node.matches("[data-decided]")) return;
    notice(pane, true).querySelector("button").addEventListener("click", () => replace(pane, now));
  }

  /* Whether a click decides on what the person who clicked has seen. */
  function isMeant(click) {
    const now = performance.now();
    return now - changedAt > CHANGED && !(click.detail > 1 && now - shownAt < DOUBLE);
  }

  return { prefetch, take, keep, show, stop, isDecided, isMeant };
})();
