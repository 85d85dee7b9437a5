/* The decisions of the desk: posted one after the other while the next item is already shown.
   A decision that was refused brings its item back to its place, with a sentence. */
"use strict";

window.deskDecisions = (() => {
  const PATIENCE = 30_000; // ms
  const unanswered = []; // { row, place, node, path, headers, body, answer }, in their order
  let whenDrained = [];
  let isRunning = false;

  const isBusy = () => unanswered.length > 0;
  const drained = () => (isBusy() ? new Promise((go) => whenDrained.push(go)) : Promise.resolve());
  const isLeaving = (node) => unanswered.some((decision) => decision.node === node);

  /* Take the row out of the list and post; the comment left in its place is the way back. */
  function post(row, node, { path, headers, formData }) {
    const place = document.createComment("");
    refusalOf(row)?.remove();
    row.querySelector("[data-returned]")?.remove();
    row.replaceWith(place);
    for (const toast of document.querySelectorAll("#toasts > *")) toast.remove(); // U is for this one now
    unanswered.push({ row, place, node, path, headers, body: new URLSearchParams(formData) });
    if (!isRunning) setTimeout(run); // the next item first
    isRunning = true;
  }

  async function run() {
    while (isBusy()) {
      const decision = unanswered[0];
      const answer = await (decision.answer ??= send(decision));
      unanswered.shift();
      try {
        settle(decision, answer);
      } catch (error) {
        reportError(error);
      }
    }
    isRunning = false;
    for (const go of whenDrained.splice(0)) go();
  }

  async function send({ path, headers, body }) {
    const sent = { ...headers, "X-Next-Shown": "1" };
    try {
      const signal = AbortSignal.timeout(PATIENCE);
      const answer = await fetch(path, { method: "POST", headers: sent, body, keepalive: true, signal });
      const isSignedOut = answer.headers.has("HX-Redirect");
      return { isSignedOut, status: answer.status, html: await answer.text() };
    } catch (error) {
      return { status: 0, isTooLong: error.name === "TimeoutError", html: "" };
    }
  }

  // Who leaves the page has decided: what was not sent yet is sent now.
  addEventListener("pagehide", () => {
    for (const decision of unanswered) decision.answer ??= send(decision);
  });

  function settle(decision, answer) {
    const page = new DOMParser().parseFromString(answer.html, "text/html");
    const node = page.querySelector("#item");
    if (page.querySelector("[hx-swap-oob]")) htmx.swap(document.body, answer.html, { swapStyle: "none", settleDelay: 0 });
    if (answer.status === 200 && !node && !answer.isSignedOut) decision.place.remove();
    else bringBack(decision, node, answer.status === 200 && node ? "" : sentence(answer, page));
  }

  function sentence({ status, isTooLong, isSignedOut }, page) {
    const { sayNoAnswer, sayTooLong } = document.body.dataset;
    const { saySignedOut, sayRefused } = document.querySelector("#refusals").dataset;
    if (!status) return isTooLong ? sayTooLong : sayNoAnswer;
    if (isSignedOut) return saySignedOut;
    const said = page.querySelector("#item [role=alert], main p")?.textContent.trim().replace(/\s+/g, " ");
    return said || `${sayRefused} (${status})`;
  }

  // ── back ───────────────────────────────────────────────────────────────

  function bringBack({ row, place, node }, fresh, words) {
    row.querySelector("a[aria-current]")?.removeAttribute("aria-current"); // the next one is
    if (place.isConnected) place.replaceWith(row);
    else if (!document.getElementById(row.id)) document.querySelector("#queue .items")?.prepend(row);
    window.deskPanes.keep(row, fresh ?? node);
    if (words) refuse(row, words);
    row.dispatchEvent(new CustomEvent("desk:returned", { bubbles: true, detail: { node } }));
  }

  function refuse(row, words) {
    const refusal = document.querySelector("#desk-refused").content.cloneNode(true);
    const [badge, toast] = refusal.children;
    row.querySelector(".l:last-of-type")?.append(badge);
    toast.dataset.of = row.dataset.keyOf;
    toast.querySelector("bdi").textContent = words;
    toast.querySelector("a").href = row.querySelector("a[data-open]").href;
    document.querySelector("#refusals").append(toast);
  }

  const refusalOf = (row) => document.querySelector(`#refusals > [data-of="${CSS.escape(row.dataset.keyOf)}"]`);

  return { post, drained, isBusy, isLeaving, refusalOf };
})();
