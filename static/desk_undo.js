/* U steps back: the last decision first, then those before it whose time to undo is not over. */
"use strict";

(() => {
  const KEPT = "desk-undo", ANSWERED = "desk-undone"; // both in sessionStorage: an undo loads the page again
  const template = document.querySelector("#desk-earlier");
  if (!template) return;
  const address = template.content.querySelector("form").getAttribute("action");
  const field = (form, name) => form.querySelector(`[name=${name}]`)?.value ?? "";
  const isUndo = (form) => form.getAttribute("action") === address;
  const write = (decisions) => sessionStorage.setItem(KEPT, JSON.stringify(decisions));

  /* The decisions that can still be undone, oldest first: { what, until }. */
  function read() {
    const all = JSON.parse(sessionStorage.getItem(KEPT) ?? "[]");
    return all.filter(({ until }) => until > Date.now());
  }

  function keep(form) {
    const what = field(form, "what");
    const others = read().filter((decision) => decision.what !== what);
    write([...others, { what, until: Date.now() + 1000 * field(form, "seconds") }]);
  }

  /* After an undo: the decision before it gets the button. */
  function offer(toast) {
    const before = read().at(-1);
    if (!before) return;
    const form = template.content.cloneNode(true);
    form.querySelector("[name=what]").value = before.what;
    toast.querySelector("[data-away]").before(form);
  }

  function arrived() {
    const toast = document.querySelector("#toasts > :last-child");
    const form = toast?.querySelector("form");
    if (form && isUndo(form)) keep(form);
    else if (toast && !form && sessionStorage.getItem(ANSWERED)) offer(toast);
    if (toast) sessionStorage.removeItem(ANSWERED);
  }

  document.addEventListener("submit", ({ target }) => {
    if (!isUndo(target)) return;
    write(read().filter((decision) => decision.what !== field(target, "what")));
    sessionStorage.setItem(ANSWERED, "1");
  });
  document.addEventListener("htmx:oobAfterSwap", ({ target }) => {
    if (target.id === "toasts") arrived();
  });
  arrived();
})();
