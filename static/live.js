/* What changes while a page is open, said without noise. Every page works without this file.

   One tab of a browser holds the stream (a Web Lock says which) and tells the others: a browser
   opens six connections to a host, and six streams would leave none for pages. Numbers change in
   place; a list never moves, it offers what is new as a link. Without locks, or if the server holds
   no more streams, the tabs that are looked at ask now and then.

   [data-live-count=KIND]  its text becomes the count, in words
   [data-live-when=KIND]   hidden while that count is 0
   [data-live-title=KIND]  data-none, data-one, data-many ("%s" in it): what the title begins with
   [data-live-news]        data-one, data-many: offers its hidden link when something is new to the
                           list around it, [data-newest], whose filters are in data-query
   [data-live-pauses=URL]  data-pauses: asked for again when something was paused or resumed
   [data-live-part=NAME]   data-mark: fetched again from data-live-url, or this page, and replaced by
                           what has its id there, when the mark of that name changed; not while a
                           form in it is open or text in it is selected */
"use strict";

(() => {
  const HOME = document.currentScript.dataset.live; // "/live"
  const ASK_EVERY = 15_000, NEWS_EVERY = 3_000, TRY_STREAM_AGAIN = 60_000; // ms
  const jitter = (most) => Math.random() * most;
  const channel = "BroadcastChannel" in window ? new BroadcastChannel("colloquy-live") : null;
  let now = null; // what the server said last
  let isOver = false; // signed out: nobody asks any more
  let etag = "";
  let asking = 0; // the timer of polling
  let askedFor = ""; // the news that were asked for last
  let newsAt = 0;
  let newsTimer = 0;

  // ── what a page shows ──────────────────────────────────────────────────

  const words = (element, text) => {
    const { none, one, many } = element.dataset;
    return ((text === "0" && none) || (text === "1" && one) || many || "").replace("%s", text);
  };

  function show() {
    if (!now) return;
    for (const element of document.querySelectorAll("[data-live-count]")) {
      const text = now.counts[element.dataset.liveCount];
      if (text !== undefined && element.textContent !== text) element.textContent = text;
    }
    for (const element of document.querySelectorAll("[data-live-when]")) {
      const text = now.counts[element.dataset.liveWhen];
      if (text !== undefined) element.hidden = text === "0";
    }
    const titled = document.querySelector("[data-live-title]");
    const text = titled && now.counts[titled.dataset.liveTitle];
    if (text !== undefined && text !== null) {
      const rest = document.title.split(" · ").slice(1);
      document.title = [words(titled, text), ...rest].join(" · ");
    }
    showPauses();
    showParts();
    if (!document.hidden) lookForNews();
  }

  function showPauses() {
    const place = document.querySelector("[data-live-pauses]");
    if (!place || place.dataset.pauses === now.pauses || !window.htmx) return;
    if (place.open) return; // somebody is writing in it; when it closes, then
    place.dataset.pauses = now.pauses;
    window.htmx.ajax("GET", place.dataset.livePauses, { source: place, target: place, swap: "outerHTML" });
  }

  function showParts() {
    if (document.hidden || !window.htmx) return;
    for (const place of document.querySelectorAll("[data-live-part]")) {
      const mark = now.marks?.[place.dataset.livePart];
      if (mark === undefined || mark === place.dataset.mark || isInUse(place)) continue;
      place.dataset.mark = mark;
      const open = [...place.querySelectorAll("details[open][id]")].map(({ id }) => id);
      const wanted = { source: place, target: place, swap: "outerHTML", select: `#${place.id}` };
      window.htmx.ajax("GET", place.dataset.liveUrl || location.href, wanted)
        .then(() => open.forEach((id) => document.getElementById(id)?.setAttribute("open", "")));
    }
  }

  function isInUse(place) {
    const selected = document.getSelection();
    return place.querySelector("details.confirm[open]") !== null
      || (selected && !selected.isCollapsed && place.contains(selected.anchorNode));
  }

  // ── the offer of what is new ───────────────────────────────────────────

  function offered() {
    const place = document.querySelector("[data-live-news]");
    const list = place?.closest("[data-newest]");
    const { query = "", newest } = list?.dataset ?? {};
    if (!newest) return null;
    return { place, queue: query, after: newest, key: `${query} ${newest} ${JSON.stringify(now)}` };
  }

  function lookForNews() {
    const wanted = offered();
    if (!wanted || newsTimer || askedFor === wanted.key || !(now.newest > Number(wanted.after))) return;
    const wait = Math.max(0, newsAt + NEWS_EVERY - Date.now()) + jitter(700);
    newsTimer = setTimeout(askForNews, wait);
  }

  async function askForNews() {
    newsTimer = 0;
    const wanted = offered();
    if (!wanted || document.hidden || isOver) return;
    newsAt = Date.now();
    const { place, queue, after, key } = wanted;
    const answer = await ask(`${HOME}/news?${new URLSearchParams({ queue, after, seen: now.newest })}`);
    if (!answer?.ok) return;
    askedFor = key;
    const { count, words: text } = await answer.json();
    // The list may have been changed by a hand while we asked.
    if (place.isConnected && offered()?.after === after && offered().queue === queue) offer(place, count, text);
    lookForNews();
  }

  function offer(place, count, text) {
    const link = place.querySelector("a");
    const label = link?.querySelector(":scope > span") ?? link;
    if (!link) return;
    const said = count ? words(place, text) : "";
    if (label.textContent !== said) label.textContent = said;
    link.hidden = count === 0;
  }

  document.addEventListener("visibilitychange", () => {
    if (document.hidden || isOver) return;
    show();
    if (asking) poll(); // who looks again wants to see it now
  });
  // What was swapped in is newer than what we know: only the offer is ours to renew.
  document.addEventListener("htmx:afterSettle", () => {
    if (now && !document.hidden) lookForNews();
  });
  document.addEventListener("toggle", ({ target }) => {
    if (target.matches?.("[data-live-pauses]") && now && !target.open) showPauses();
    if (target.closest?.("[data-live-part]") && now && !target.open) showParts();
  }, true);

  // ── asking ─────────────────────────────────────────────────────────────

  async function ask(url, headers = {}) {
    try {
      const answer = await fetch(url, { headers, redirect: "manual", cache: "no-store" });
      if (answer.status === 401 || answer.type === "opaqueredirect") end();
      return answer;
    } catch {
      return null; // away for a while
    }
  }

  function askSoon(most) {
    if (!asking && !isOver) asking = setTimeout(poll, jitter(most));
  }

  async function poll() {
    clearTimeout(asking);
    asking = setTimeout(poll, ASK_EVERY + jitter(ASK_EVERY / 3));
    if (document.hidden) return;
    const answer = await ask(`${HOME}/now`, etag ? { "If-None-Match": etag } : {});
    if (answer?.status !== 200) return;
    etag = answer.headers.get("ETag") ?? "";
    heard(await answer.json());
  }

  function stopAsking() {
    clearTimeout(asking);
    asking = 0;
  }

  // ── listening ──────────────────────────────────────────────────────────

  let source = null; // in one tab of a browser
  let release = null; // lets the next tab hold the stream

  function listen() {
    if (isOver) return;
    source = new EventSource(HOME);
    source.addEventListener("now", ({ data }) => {
      stopAsking();
      heard(JSON.parse(data), true);
    });
    source.addEventListener("error", () => {
      if (isOver || source.readyState !== EventSource.CLOSED) return; // it comes back by itself
      // Refused: no room, no streams here, or signed out; asking finds out which.
      askSoon(2_000);
      channel.postMessage({ isAsking: true });
      setTimeout(listen, TRY_STREAM_AGAIN + jitter(TRY_STREAM_AGAIN / 3));
    });
  }

  function heard(said, isStream = false) {
    now = said;
    if (isStream) channel.postMessage({ now });
    show();
  }

  function end(isTold = false) {
    isOver = true;
    stopAsking();
    source?.close();
    release?.();
    if (!isTold) channel?.postMessage({ isOver });
  }

  channel?.addEventListener("message", ({ data }) => {
    if (isOver) return;
    if (data.isOver) end(true);
    else if (data.isAsking) askSoon(2_000);
    else if (data.now) {
      stopAsking();
      heard(data.now);
    } else if (data.isNew && source) {
      channel.postMessage(asking ? { isAsking: true } : { now });
    }
  });

  function begin() {
    if (!navigator.locks || !channel) {
      askSoon(ASK_EVERY); // a plain http address of a network
      return;
    }
    channel.postMessage({ isNew: true });
    // Held until this page is left; then the tab that has waited longest takes over.
    navigator.locks.request("colloquy-live", () => isOver || new Promise((free) => {
      release = free;
      listen();
    }));
  }

  // Who goes on to the next page at once needs no stream for this one.
  setTimeout(begin, 400);
})();
