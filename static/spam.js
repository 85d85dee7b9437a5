/* The sliders of the spam filter's page: each moves its number, and pushes the other one on. */
"use strict";

(() => {
  const STEP = 0.01;
  const ranges = [...document.querySelectorAll("[data-slides]")];
  const number = (id) => document.getElementById(id);
  const rangeOf = (id) => ranges.find((range) => range.dataset.slides === id);

  function put(id, value) {
    number(id).value = value.toFixed(2);
    rangeOf(id).value = value;
  }

  function push(moved) {
    const at = Number(moved.value);
    const { below, above } = moved.dataset;
    if (!at) return; // nothing usable was typed yet
    if (below && at >= Number(number(below).value)) put(below, Math.min(at + STEP, 1));
    if (above && at <= Number(number(above).value)) put(above, Math.max(at - STEP, 0.1));
  }

  for (const range of ranges) {
    const field = number(range.dataset.slides);
    range.hidden = false;
    range.addEventListener("input", () => {
      field.value = Number(range.value).toFixed(2);
      push(field);
    });
    field.addEventListener("change", () => {
      range.value = field.value;
      push(field);
    });
  }
})();
