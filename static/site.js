/* Keys, and little else. Every page works without this file. */
"use strict";

(() => {
  const typing = (element) =>
    element instanceof HTMLElement &&
    (element.isContentEditable || element.matches("input, textarea, select"));
  const ROW = "[data-rows] > *, [data-rows-tree] .node";
  const rows = () => [...document.querySelectorAll(ROW)].filter((row) => row.offsetParent);
  const seen = (element) => element && !element.disabled && element.checkVisibility();
  let current = null; // the row the keys are about
  let going = 0; // until when a letter after "g" is a place

  function row() {
    const focused = document.activeElement?.closest(ROW);
    return focused ?? (current?.isConnected ? current : null);
  }

  function choose(next) {
    if (!next) return;
    for (const other of document.querySelectorAll("[data-at]")) other.removeAttribute("data-at");
    current = next;
    next.setAttribute("data-at", "");
    const link = next.matches("a") ? next : (next.querySelector("[data-open]") ?? next.querySelector("a[href]"));
    (link ?? next).focus({ preventScroll: true });
    next.scrollIntoView({ block: "nearest" });
  }

  function move(step) {
    const all = rows();
    if (!all.length) return;
    const here = all.indexOf(row());
    const shown = all.find((other) => other.matches("[aria-current]"));
    if (here < 0 && shown) choose(shown); // where the page points, before anywhere else
    else choose(all[here < 0 ? (step > 0 ? 0 : all.length - 1) : Math.min(Math.max(here + step, 0), all.length - 1)]);
  }

  function act(key) {
    // The row at hand first, then the item that is open, then the page.
    const at = row();
    const places = [at, document.querySelector("#item"), document.querySelector("#main"), document.querySelector("#toasts")];
    for (const place of places) {
      // Only what belongs to no other row, or a page's key would hit a row nobody chose.
      const found = [...(place?.querySelectorAll(`[data-key="${CSS.escape(key)}"]`) ?? [])].find(
        (button) => seen(button) && (place === at || !button.closest(ROW)),
      );
      if (found) {
        if (typing(found)) found.focus();
        else found.click();
        return true;
      }
    }
    return false;
  }

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || event.repeat && !"jk".includes(event.key)) return;
    if (event.key === "Escape" && typing(event.target)) {
      event.target.blur();
      return;
    }
    if (typing(event.target)) return;
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    if (going > event.timeStamp) {
      going = 0;
      const place = document.querySelector(`[data-go="${CSS.escape(key)}"]`);
      if (place) {
        event.preventDefault();
        location.assign(place.href);
      }
      return;
    }
    let done = true;
    if (key === "g") going = event.timeStamp + 1500;
    else if (key === "j") move(1);
    else if (key === "k") move(-1);
    else if (key === "/") document.querySelector("#q")?.focus();
    else if (key === "?") document.querySelector("#keys")?.togglePopover();
    else if (key === "Escape") {
      for (const open of document.querySelectorAll("details[data-closes][open]")) open.open = false;
      done = false;
    } else if (key.length === 1 && key !== " ") done = act(key);
    else done = false;
    if (done) event.preventDefault();
  });

  document.addEventListener("focusin", (event) => {
    const focused = event.target.closest?.(ROW);
    if (focused) current = focused;
  });

  document.addEventListener("click", (event) => {
    for (const open of document.querySelectorAll("details[data-closes][open]")) {
      if (!open.contains(event.target)) open.open = false;
    }
    const away = event.target.closest("[data-away]");
    if (away) away.closest(".toast, .notice")?.remove();
  });

  // A select that filters sends its form by itself; the button stays for those without script.
  document.addEventListener("change", (event) => {
    if (event.target.matches("[data-sends]")) event.target.form.requestSubmit();
  });

  // What is opened to write in is ready to be written in.
  document.addEventListener("toggle", ({ target }) => {
    if (target.open && target.matches(".fold-out, .answer")) target.querySelector("textarea, input[type=text], input:not([type])")?.focus();
  }, true);

  // A button that was pressed says so, and cannot be pressed twice.
  document.addEventListener("submit", (event) => {
    const button = event.submitter;
    if (!button || event.target.method === "get" || event.target.matches("[hx-post]")) return;
    setTimeout(() => {
      if (event.defaultPrevented) return;
      button.setAttribute("aria-busy", "true");
      button.disabled = true;
    });
  });
  addEventListener("pageshow", () => {
    for (const button of document.querySelectorAll("[aria-busy='true']")) {
      button.removeAttribute("aria-busy");
      button.disabled = false;
    }
  });

  // Refused requests still bring a sentence to show.
  document.addEventListener("htmx:beforeSwap", (event) => {
    const { xhr } = event.detail;
    if (xhr.status >= 400 && (xhr.getResponseHeader("Content-Type") ?? "").startsWith("text/html")) {
      event.detail.shouldSwap = true;
      event.detail.isError = false;
    }
  });

  function lost(words) {
    const place = document.querySelector("#toasts");
    if (!place) return;
    const toast = document.createElement("div");
    toast.className = "toast bad";
    toast.textContent = words;
    place.replaceChildren(toast);
  }
  document.addEventListener("htmx:sendError", () => lost(document.body.dataset.sayNoAnswer));
  document.addEventListener("htmx:timeout", () => lost(document.body.dataset.sayTooLong));

  // After an act the item may be shorter than where the page was: back to its words.
  document.addEventListener("htmx:afterSettle", ({ target, detail }) => {
    if (target.id !== "item" || detail.requestConfig?.verb !== "post" || target.contains(document.activeElement)) return;
    target.focus({ preventScroll: true });
    const words = target.querySelector(".draft");
    if (words?.getBoundingClientRect().bottom < innerHeight / 4) words.scrollIntoView();
  });

  // Tabs that do not fit begin with the one that is open in sight.
  for (const tabs of document.querySelectorAll(".tabs")) {
    const here = tabs.querySelector("[aria-current]");
    if (here) tabs.scrollLeft = here.offsetLeft - tabs.offsetLeft - (tabs.clientWidth - here.offsetWidth) / 2;
  }

  // What was swapped away leaves the keys on the row that took its place.
  let index = -1;
  document.addEventListener("htmx:beforeRequest", (event) => {
    index = rows().indexOf(row());
    // Who is about to change something is not interrupted by news.
    if (event.target.matches("[data-polls]") && document.querySelector("#item details[open]")) event.preventDefault();
  });
  document.addEventListener("htmx:afterSettle", () => {
    if (index < 0 || typing(document.activeElement) || row()) return;
    choose(rows()[Math.min(index, rows().length - 1)]);
  });
})();
