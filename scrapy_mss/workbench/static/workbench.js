// The workbench. The rule is the text in the editor, and nothing else is: each change makes another text,
// undo goes back to an earlier one, and the server is asked what a text does. What pages say is only
// ever set as text; the policy of the document forbids to parse a string as HTML.
"use strict";

const $ = (id) => document.getElementById(id);
const TOKEN = (() => {
  const inAddress = location.hash.slice(1);
  if (inAddress.length > 20) {
    sessionStorage.setItem("token", inAddress);
    history.replaceState(null, "", "/"); // neither in bookmarks nor in pictures of the screen
  }
  return sessionStorage.getItem("token") ?? "";
})();
const DIFFERS = 0.95; // agreement below which a page is among those that differ
const TYPING_MS = 400;
const NOTICE_MS = 7000;

const state = {
  site: "", pages: [], page: 0, rule: "", before: [], after: [], role: "body", click: null, picked: [-1, -1],
  compared: [], inside: "", suggested: "", saved: null, frame: "", frameReady: false, isShown: false, turn: 0, waiting: 0,
  drafts: new Map(), // the rules of other sites that were changed and not saved, with their histories
};

function make(name, properties = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (key in element && key !== "list") element[key] = value;
    else element.setAttribute(key, value);
  }
  element.append(...children);
  return element;
}

function wait(by) {
  state.waiting += by;
  $("busy").hidden = state.waiting === 0;
  document.querySelector("main").setAttribute("aria-busy", String(state.waiting > 0));
}

async function ask(name, values = {}) {
  wait(1);
  try {
    const answer = await fetch(`/api/${name}`, {
      method: "POST",
      headers: { "Content-Type": "application/json", "X-Workbench-Token": TOKEN },
      body: JSON.stringify(values),
    });
    if (answer.status === 403) throw new Error(`${await answer.text()} Open the address that the command has printed.`);
    const found = await answer.json();
    if (found.error) throw new Error(found.error);
    return found;
  } catch (error) {
    notify(error instanceof TypeError ? "The workbench does not answer: has it been stopped?" : error.message);
    throw error;
  } finally {
    wait(-1);
  }
}

let noticeTimer = 0;
function notify(text) {
  $("notice").textContent = text;
  $("notice").hidden = false;
  clearTimeout(noticeTimer);
  noticeTimer = setTimeout(() => { $("notice").hidden = true; }, NOTICE_MS);
}

// ---- a site and its pages

async function begin() {
  const found = await ask("start");
  state.frame = found.frame;
  $("site").replaceChildren(...found.sites.map((each) =>
    make("option", { value: each.site }, `${each.site} (${each.pages})`)));
  $("site").disabled = found.sites.length < 2;
  $("further").textContent = found.left_out
    ? `${found.left_out.toLocaleString("en")} further pages were left out (option -n).` : "";
  await openSite(found.sites[0].site);
}

const isChanged = () => state.before.length > 0 && state.rule !== (state.saved?.rule ?? state.suggested);

function keepDraft() {
  takeTyped();
  const { rule, before, after } = state;
  if (isChanged()) state.drafts.set(state.site, { rule, before, after });
  else state.drafts.delete(state.site);
}

async function openSite(site) {
  keepDraft();
  Object.assign(state, { site, pages: [], compared: [], rule: "", before: [], after: [], turn: state.turn + 1 });
  $("matches").replaceChildren("Reading the pages …");
  $("list").replaceChildren();
  const found = await ask("open", { site });
  if (site !== state.site) return;
  if (found.problems) { notify(found.problems[0].text); return; }
  const draft = state.drafts.get(site) ?? { rule: found.saved?.rule ?? "", before: [], after: [] };
  Object.assign(state, {
    page: 0, pages: found.pages, before: draft.before, after: draft.after, click: null, picked: [-1, -1],
    suggested: "", saved: found.saved,
  });
  const first = found.pages.findIndex((page) => !page.left_out);
  setRule(draft.rule, { isNew: true });
  await openPage(Math.max(first, 0));
  if (site === state.site) await suggest(site);
}

// After the page is drawn: it takes seconds, and the saved rule, if there is one, needs no other.
async function suggest(site) {
  $("origin").textContent = state.saved ? `Saved in ${state.saved.path}` : "Looking for a rule …";
  if (!state.saved) $("matches").replaceChildren("Looking for a rule …");
  const found = await ask("suggest", { site });
  if (site !== state.site) return;
  state.suggested = found.rule;
  if (!state.saved) $("origin").textContent = origin(found);
  if (state.rule) offerRules();
  else setRule(found.rule, { isNew: true });
}

function origin(found) {
  if (found.reason) return `No rule is good enough to be suggested: ${found.reason}. This one is a start.`;
  return `Suggested, confidence ${found.confidence.toFixed(2)}. Click a block to take it in or out.`;
}

async function openPage(number) {
  Object.assign(state, { page: number, frameReady: false, isShown: false, inside: "", picked: [-1, -1], click: null });
  drawTrail();
  drawList();
  const { site } = state;
  $("frame").src = `${state.frame}/${encodeURIComponent(site)}/${number}`;
  await evaluate();
}

function nameOf(url) {
  try {
    const { pathname, search } = new URL(url);
    const parts = pathname.split("/").filter(Boolean);
    const last = parts.at(-1) ?? "";
    return /^(index|default)\.\w+$/i.test(last) && parts.length > 1 ? parts.slice(-2).join("/") : (last + search) || "/";
  } catch { return url; }
}

function stateOf(number) {
  const page = state.pages[number], found = state.compared[number];
  if (page.left_out) return { kind: "none", score: "–", text: page.left_out };
  if (!found) return { kind: "", score: "…", text: `${page.words.toLocaleString("en")} words` };
  if (!found.matched) return { kind: "bad", score: "✕", text: "the rule finds nothing" };
  const percent = Math.floor(found.agreement * 100);
  if (found.agreement < DIFFERS) return { kind: "warn", score: `${percent} %`, text: "differs from the model" };
  return { kind: "good", score: `${percent} %`, text: `${page.words.toLocaleString("en")} words` };
}

const differs = (number) => ["bad", "warn"].includes(stateOf(number).kind);

// The rows are made once for a site: what has the focus keeps it while pages are compared.
function drawList() {
  const rows = [...$("list").children];
  if (rows.length !== state.pages.length || rows.some((row, number) => row.firstChild.title !== state.pages[number].url)) {
    rows.splice(0, rows.length, ...state.pages.map(newRow));
    $("list").replaceChildren(...rows);
  }
  rows.forEach((row, number) => {
    const { kind, score, text } = stateOf(number);
    const button = row.firstChild;
    const isShown = number === state.page;
    button.className = kind;
    button.querySelector(".score").textContent = score;
    button.querySelector(".state").textContent = text;
    if (isShown) button.setAttribute("aria-current", "true");
    else button.removeAttribute("aria-current");
    row.hidden = $("differing").checked && !differs(number) && !isShown;
  });
}

function newRow(page, number) {
  return make("li", {}, make("button", { title: page.url, onclick: () => { openPage(number); view("page"); } },
    make("span", { className: "name" }, nameOf(page.url)), make("span", { className: "score" }),
    make("span", { className: "state" })));
}

function drawMatches() {
  const voting = state.pages.map((_, number) => number).filter((number) => !state.pages[number].left_out);
  const known = voting.filter((number) => state.compared[number]);
  const matched = known.filter((number) => state.compared[number].matched).length;
  const differing = known.filter(differs).length;
  const bar = make("i");
  bar.style.width = `${voting.length ? (100 * known.length) / voting.length : 0}%`;
  const others = state.pages.length - voting.length;
  $("matches").replaceChildren(make("span", { className: "meter" }, bar),
    make("span", {}, "matches ", make("b", {}, `${matched} of ${voting.length}`), " articles",
      differing ? `, ${differing} differ` : known.length === voting.length ? ", none differs" : "",
      others ? `; ${others} other pages` : ""));
}

// ---- the rule

function setRule(text, { isNew = false, keepClick = false } = {}) {
  if (text === state.rule && !isNew) return;
  if (!isNew) {
    state.before.push(state.rule);
    state.after = [];
  }
  if (!keepClick) { state.click = null; state.picked = [-1, -1]; drawTrail(); }
  show(text);
}

// What was typed last, before anything else is done with the rule.
let typing = 0;
function takeTyped() {
  if (!typing) return;
  clearTimeout(typing);
  typing = 0;
  setRule($("text").value);
}

function show(text) {
  clearTimeout(typing);
  typing = 0;
  state.rule = text;
  if ($("text").value !== text) $("text").value = text;
  $("save").disabled = !text;
  $("undo").disabled = !state.before.length;
  $("redo").disabled = !state.after.length;
  offerRules();
  state.compared = [];
  state.turn += 1;
  if (!text) return;
  evaluate();
  compare(state.turn);
}

function offerRules() {
  const suggested = state.rule === state.suggested;
  $("swap").hidden = !state.suggested || (!state.saved && suggested);
  $("swap").textContent = suggested && state.saved ? "Use the saved rule" : "Use the suggested rule";
}

function step(from, to) {
  takeTyped();
  if (!from.length) return;
  to.push(state.rule);
  const text = from.pop();
  state.click = null;
  state.picked = [-1, -1];
  drawTrail();
  show(text);
}
const undo = () => step(state.before, state.after);
const redo = () => step(state.after, state.before);

function showProblems(problems = []) {
  $("text").classList.toggle("wrong", problems.length > 0);
  if (problems.length) $("matches").replaceChildren(make("span", { className: "bad" }, "The rule cannot be read"));
  $("problems").replaceChildren(...problems.map((each) => make("li", {}, each.text)));
}

async function evaluate() {
  const { turn, page, site } = state;
  if (!site || !state.rule) return;
  const found = await ask("evaluate", { site, page, rule: state.rule });
  if (turn !== state.turn || page !== state.page) return;
  showProblems(found.problems);
  if (found.problems) return;
  state.inside = found.inside;
  paint();
  drawArticle(found);
  drawDifferences(found);
}

async function compare(turn) {
  const { site, rule, pages } = state;
  const rows = [];
  while (rows.length < pages.length) {
    const found = await ask("compare", { site, rule, first: rows.length });
    if (turn !== state.turn || found.problems) return;
    rows.push(...found.pages);
    state.compared = rows;
    drawList();
    drawMatches();
  }
  $("status").textContent = $("matches").textContent; // said once, when all is known
}

// One click after the other: each starts from the rule that the one before has made.
let picking = Promise.resolve();
function inOrder(work) {
  picking = picking.then(work).catch(() => {}); // errors have been shown
}

const pick = (click) => inOrder(() => pickNow(click));

async function pickNow(click, from = null) {
  takeTyped();
  if (!state.rule) { notify("The rule is still being looked for"); return; }
  const { site, page, rule } = state;
  const base = from ? from.base : rule;
  const found = await ask("click", { site, page, rule: base, block: click.block, run: click.run, role: click.role, level: click.level ?? null });
  const isSame = site === state.site && page === state.page && state.rule === rule && (!from || from === state.click);
  if (!isSame) return; // undone, typed or gone on meanwhile
  if (found.problems) { notify(found.problems[0].text); return; }
  if (from) { state.rule = state.before.pop() ?? state.rule; }
  state.click = { base, block: click.block, run: click.run, role: click.role, level: found.level, path: found.path, effect: found.effect };
  state.picked = found.clicked;
  setRule(found.rule, { keepClick: true });
  drawTrail();
  paint();
  if (click.role !== "body") setRole("body");
}

// The click that was, with another of the elements around it; which one, *levelOf* computes from the last.
function climb(levelOf) {
  inOrder(async () => {
    const { click } = state;
    if (!click) { notify("Click a block first; then the arrows choose the element around it"); return; }
    const level = levelOf(click.level);
    if (level >= 0 && level < click.path.length) await pickNow({ ...click, level }, click);
  });
}

// ---- the page as drawn

function paint() {
  if (!state.frameReady || !state.inside) return;
  const { inside, picked } = state;
  const show = state.isShown ? -1 : inside.indexOf("1"); // a page opens where its article begins
  state.isShown = true;
  $("frame").contentWindow.postMessage({ inside, picked, show }, "*");
}

function drawTrail() {
  const { click } = state;
  if (!click) {
    const what = { body: "Click a block: in or out of the article", title: "Click the title", authors: "Click the author", published: "Click the date" };
    $("trail").replaceChildren(make("span", {}, `${what[state.role]}.`));
    return;
  }
  const crumbs = click.path.map((name, level) => {
    const button = make("button", { onclick: () => climb(() => level) }, name);
    if (level === click.level) button.setAttribute("aria-current", "true");
    return button;
  });
  const joined = crumbs.reverse().flatMap((each, number) => (number ? ["›", each] : [each]));
  $("trail").replaceChildren(make("span", { className: "crumbs" }, ...joined), make("span", { className: "what" }, click.effect));
  $("trail").querySelector("[aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" });
}

function setRole(role) {
  state.role = role;
  for (const button of document.querySelectorAll("[data-role]")) {
    const isOn = button.dataset.role === role;
    button.setAttribute("aria-checked", String(isOn));
    button.tabIndex = isOn ? 0 : -1;
  }
  if (role !== "body") state.click = null;
  drawTrail();
}

function isMessage(data) {
  return data !== null && typeof data === "object" && typeof data.kind === "string";
}

window.addEventListener("message", (event) => {
  // A sandboxed frame has no origin: that it is ours says its window, and what it may say is little.
  if (event.source !== $("frame").contentWindow || event.origin !== "null" || !isMessage(event.data)) return;
  const { kind, block, run, key, ctrl, shift } = event.data;
  if (kind === "ready") { state.frameReady = true; paint(); }
  const isBlock = [block, run].every((each) => Number.isInteger(each) && each >= 0) && block < state.inside.length;
  if (kind === "pick" && isBlock) pick({ block, run, role: state.role });
  if (kind === "key" && FRAME_KEYS.has(key)) press(key, ctrl === true, shift === true);
});

// ---- the result

function drawArticle(found) {
  const article = found.article;
  const failures = (found.failures ?? []).map((text) => make("p", { className: "note" }, text));
  if (!article || !found.matched) {
    $("panel-article").replaceChildren(make("p", { className: "empty" }, `The rule finds nothing on this page${found.reason ? `: ${found.reason}` : ""}.`), ...failures);
    return;
  }
  const rows = [["Title", article.title], ["Author", article.authors], ["Date", article.published], ["Words", article.words.toLocaleString("en")]];
  const list = make("dl", {}, ...rows.flatMap(([name, value]) =>
    [make("dt", {}, name), make("dd", { className: value ? "" : "none" }, value || "not by this rule")]));
  $("panel-article").replaceChildren(list, ...failures, make("div", { className: "text", dir: "auto" }, article.text));
}

function drawDifferences(found) {
  const runs = found.differences ?? [];
  $("count").textContent = runs.filter((run) => run.kind === "rule" || run.kind === "model").length || "";
  if (!runs.length) {
    const text = found.matched ? "Rule and model agree on this page, word for word." : "The rule finds nothing on this page.";
    $("panel-differences").replaceChildren(make("p", { className: "empty" }, text));
    return;
  }
  const names = { rule: "ins", model: "del", both: "span", gap: "span" };
  const shown = runs.map((run) => make(names[run.kind], { className: run.kind }, run.kind === "gap" ? `${run.text} words of both` : run.text));
  $("panel-differences").replaceChildren(
    make("p", { className: "keys note" }, make("span", { className: "runs" }, make("ins", {}, "the rule alone"), " ", make("del", {}, "the model alone"))),
    make("div", { className: "runs", dir: "auto" }, ...shown.flatMap((each) => [each, " "])));
}

// ---- saving

function confirm(title, content, action) {
  return new Promise((resolve) => {
    const close = (value) => { $("dialog").close(); resolve(value); };
    const buttons = [make("button", { onclick: () => close(false) }, action ? "Cancel" : "Close")];
    if (action) buttons.push(make("button", { className: "primary", onclick: () => close(true) }, action));
    $("dialog").replaceChildren(make("h2", {}, title), ...content, make("p", { className: "row" }, ...buttons));
    $("dialog").oncancel = () => resolve(false);
    $("dialog").showModal();
  });
}

async function save(seen = "") {
  takeTyped();
  if ($("save").disabled) return;
  const { site, rule } = state;
  const found = await ask("save", { site, rule, seen });
  if (found.existing) {
    const changes = { "+": "ins", "-": "del" };
    const lines = found.existing.diff.map((line) => make(changes[line[0]] ?? "span", {}, `${line}\n`));
    const content = [make("p", {}, `${found.existing.path} would change so:`), make("pre", {}, ...lines)];
    const isMeant = await confirm("Replace the saved rule?", content, "Replace");
    if (isMeant && site === state.site && rule === state.rule) await save(found.existing.seen);
    return;
  }
  if (site !== state.site) { if (found.path) notify(`Saved in ${found.path}`); return; }
  if (found.problems) { showProblems(found.problems); notify(found.problems[0].text); return; }
  state.saved = { path: found.path, rule: found.rule };
  $("origin").textContent = `Saved in ${found.path}`;
  if (rule === state.rule) setRule(found.rule); // else it was changed meanwhile, and is still to be saved
  notify(`Saved in ${found.path}: ${found.message}`);
}

const KEYS = [
  ["click, Enter", "take a block in or out"], ["↑ ↓", "the element around, and back"], ["t a d b", "the next click is title, author, date, text"],
  ["n p", "next and previous page that differs"], ["Ctrl+Z, Ctrl+Shift+Z", "undo, redo"], ["s", "save"],
];
function help() {
  const rows = KEYS.flatMap(([keys, what]) => [make("dt", {}, make("kbd", {}, keys)), make("dd", {}, what)]);
  confirm("Keys", [make("dl", {}, ...rows)]);
}

// ---- keys, tabs, views

function nextPage(by) {
  const { length } = state.pages;
  const order = Array.from({ length }, (_, n) => (((state.page + by * (n + 1)) % length) + length) % length);
  const next = order.find(differs) ?? order[0];
  if (next !== undefined) openPage(next);
}

// What the frame may pass on: all but what writes a file.
const FRAME_KEYS = new Set(["ArrowUp", "ArrowDown", "Escape", "b", "t", "a", "d", "n", "p", "z", "Z"]);
const ROLES = { b: "body", t: "title", a: "authors", d: "published", Escape: "body" };
function press(key, ctrl, shift) {
  if (ctrl && key.toLowerCase() === "z") return shift ? redo() : undo();
  if (ctrl) return undefined;
  if (key in ROLES) return setRole(ROLES[key]);
  if (key === "ArrowUp") return climb((level) => level + 1);
  if (key === "ArrowDown") return climb((level) => level - 1);
  if (key === "n" || key === "p") return nextPage(key === "n" ? 1 : -1);
  if (key === "s") return save();
  if (key === "?") return help();
  return undefined;
}

document.addEventListener("keydown", (event) => {
  if (event.target.closest("textarea, select, dialog") || event.altKey) return;
  const ctrl = event.ctrlKey || event.metaKey;
  if (["ArrowUp", "ArrowDown"].includes(event.key) && event.target.closest("[role=tabpanel], ol")) return;
  const isOurs = ctrl ? event.key.toLowerCase() === "z" : event.key in ROLES || ["ArrowUp", "ArrowDown", "n", "p", "s", "?"].includes(event.key);
  if (!isOurs) return;
  event.preventDefault();
  press(event.key, ctrl, event.shiftKey);
});

function arrows(container, selector, choose) {
  container.addEventListener("keydown", (event) => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!by) return;
    const all = [...container.querySelectorAll(selector)];
    const next = all[(all.indexOf(document.activeElement) + by + all.length) % all.length];
    choose(next);
    next.focus();
    event.preventDefault();
  });
}

function openTab(tab) {
  for (const each of document.querySelectorAll("[role=tab]")) {
    const isOn = each === tab;
    each.setAttribute("aria-selected", String(isOn));
    each.tabIndex = isOn ? 0 : -1;
    $(each.getAttribute("aria-controls")).hidden = !isOn;
  }
}

function view(name) {
  document.body.dataset.view = name;
  for (const each of $("views").children) {
    if (each.dataset.view === name) each.setAttribute("aria-current", "true");
    else each.removeAttribute("aria-current");
  }
}

$("text").addEventListener("input", () => {
  clearTimeout(typing);
  typing = setTimeout(takeTyped, TYPING_MS);
});
window.addEventListener("beforeunload", (event) => {
  keepDraft();
  if (state.drafts.size) event.preventDefault(); // the browser asks
});
$("site").addEventListener("change", () => openSite($("site").value));
$("differing").addEventListener("change", drawList);
$("undo").addEventListener("click", undo);
$("redo").addEventListener("click", redo);
$("save").addEventListener("click", () => save());
$("help").addEventListener("click", help);
$("swap").addEventListener("click", () => setRule(state.rule === state.suggested ? state.saved.rule : state.suggested));
for (const button of document.querySelectorAll("[data-role]")) button.addEventListener("click", () => setRole(button.dataset.role));
for (const tab of document.querySelectorAll("[role=tab]")) tab.addEventListener("click", () => openTab(tab));
for (const button of $("views").children) {
  button.addEventListener("click", () => view(button.dataset.view));
}
arrows(document.querySelector("[role=tablist]"), "[role=tab]", openTab);
arrows(document.querySelector("[role=radiogroup]"), "[role=radio]", (button) => setRole(button.dataset.role));
begin().catch(() => {});
