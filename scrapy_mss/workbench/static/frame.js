// The only script in the frame: which block was clicked, and which blocks are in the rule.
"use strict";
(() => {
  const marks = new Map();
  for (const mark of document.querySelectorAll("[data-block]")) {
    const number = Number(mark.dataset.block);
    if (!marks.has(number)) marks.set(number, []);
    marks.get(number).push(mark);
  }
  const KEYS = new Set(["ArrowUp", "ArrowDown", "Escape", "b", "t", "a", "d", "n", "p", "z", "Z"]);
  const send = (message) => window.parent.postMessage(message, "*");
  const blockOf = (target) => target instanceof Element && target.closest("[data-block]");

  const pick = (event) => {
    const mark = blockOf(event.target);
    if (!mark) return;
    event.preventDefault();
    const block = Number(mark.dataset.block);
    send({ kind: "pick", block, run: marks.get(block).indexOf(mark) });
  };
  document.addEventListener("click", pick);
  document.addEventListener("keydown", (event) => {
    if (event.key === "Enter" || event.key === " ") return pick(event);
    if (event.altKey || !KEYS.has(event.key)) return;
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() !== "z") return;
    event.preventDefault();
    send({ kind: "key", key: event.key, ctrl: event.ctrlKey || event.metaKey, shift: event.shiftKey });
  });

  const shown = (number) => marks.get(number) ?? [];
  const draw = ({ inside, picked, show }) => {
    for (const [number, spans] of marks) {
      const isIn = inside[number] === "1";
      for (const span of spans) {
        span.classList.toggle("mss-in", isIn);
        span.classList.toggle("mss-picked", picked[0] <= number && number <= picked[1]);
        if (span.hasAttribute("role")) span.setAttribute("aria-pressed", String(isIn));
      }
    }
    const target = shown(show)[0];
    if (target) target.scrollIntoView({ block: "start" });
  };
  window.addEventListener("message", (event) => {
    if (event.source === window.parent) draw(event.data);
  });
  send({ kind: "ready" });
})();
