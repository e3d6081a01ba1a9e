"""What is evaluated once in a drawn page: the columns of a `Drawing`, as JSON.

A page may name a form field or an image `body`, `children` or `parentNode`, and is then asked for
that instead of the property. So what elements are asked for is taken from the prototypes. Where
scripts are off no callback runs: the nodes are walked through by hand.
"""

from __future__ import annotations

from typing import Final

MOST_NODES: Final = 40_000  # of 600 labelled pages the largest had 14,000
TOO_MANY: Final = f"more than {MOST_NODES} nodes"

_SCRIPT: Final = """() => {
  const getter = (type, name) => {
    const get = Object.getOwnPropertyDescriptor(type.prototype, name).get;
    return node => get.call(node);
  };
  const parentOf = getter(Node, "parentNode"), nameOf = getter(Element, "localName");
  const boxOf = node => Element.prototype.getBoundingClientRect.call(node);
  const styleOf = node => Element.prototype.getAttribute.call(node, "style") || "";
  const create = name => Document.prototype[name].bind(document);
  const root = getter(Document, "documentElement")(document);
  const LEFT_OUT = new Set(["head", "script", "style", "template", "link", "meta", "title"]);
  const LEAVES = new Set(["svg", "iframe", "object", "select", "video", "audio", "canvas", "math"]);
  const PLACING = new Set(["flex", "inline-flex", "grid", "inline-grid", "inline-block"]);
  const OUT_OF_FLOW = new Set(["absolute", "fixed", "sticky"]);
  const typeOf = getter(Node, "nodeType"), isText = node => typeOf(node) === Node.TEXT_NODE;

  const rows = {tag: [], parent: [], box: [], visible: [], inline: [], placed: [], font_size: [],
    font_weight: [], color: [], background: [], text: []};
  const numbers = new Map(), styles = new Map(), hidden = new Set();
  let styled = 0;
  const first = getter(Node, "firstChild"), next = getter(Node, "nextSibling");

  function isDrawn(node) {
    if (isText(node)) return Boolean(node.data.trim());
    if (typeOf(node) !== Node.ELEMENT_NODE || LEFT_OUT.has(nameOf(node))) return false;
    const style = getComputedStyle(node);
    if (style.display === "none") return false;
    styles.set(node, style);
    return true;
  }

  function after(node, inside) {
    if (inside && first(node)) return first(node);
    while (node && node !== root && !next(node)) node = parentOf(node);
    return node && node !== root ? next(node) : null;
  }

  function placedBy(style) {
    if (style.float !== "none" || OUT_OF_FLOW.has(style.position) || PLACING.has(style.display))
      return "style";
    return style.display === "table-cell" ? "table" : "";
  }

  function add(node) {
    const text = isText(node), parent = text || node !== root ? parentOf(node) : null;
    const number = rows.tag.length, above = parent === null ? -1 : numbers.get(parent);
    const style = styles.get(text ? parent : node);
    let rect;
    if (text) {
      const range = create("createRange")();
      range.selectNodeContents(node);
      rect = range.getBoundingClientRect();
    } else {
      rect = boxOf(node);
      numbers.set(node, number);
      styled += styleOf(node).length;
    }
    const faint = Number(style.opacity) === 0 || (above >= 0 && hidden.has(above));
    if (faint) hidden.add(number);
    const own = style.backgroundColor, clear = text || own === "rgba(0, 0, 0, 0)";
    rows.tag.push(text ? "#text" : nameOf(node));
    rows.parent.push(above);
    rows.box.push([rect.x + scrollX, rect.y + scrollY, rect.width, rect.height].map(Math.round));
    rows.visible.push(style.visibility === "visible" && !faint
      && rect.width >= 1 && rect.height >= 1 && rect.right > 0 && rect.bottom > 0);
    rows.inline.push(text || style.display === "inline" || style.display === "contents");
    rows.placed.push(text ? "" : placedBy(style));
    rows.font_size.push(parseFloat(style.fontSize) || 0);
    rows.font_weight.push(Number(style.fontWeight) || 400);
    rows.color.push(style.color);
    rows.background.push(!clear ? own : above >= 0 ? rows.background[above] : "rgb(255, 255, 255)");
    rows.text.push(text ? node.data : "");
  }

  for (const sheet of create("getElementsByTagName")("style")) styled += sheet.textContent.length;
  for (let node = root, enter; node; node = after(node, enter)) {
    enter = isDrawn(node);
    if (!enter) continue;
    enter = !isText(node) && !LEAVES.has(nameOf(node));
    if (rows.tag.length === MOST_NODES) return {failure: "TOO_MANY"};
    add(node);
  }
  return {...rows, styles: styled};
}"""

COLLECT: Final = _SCRIPT.replace("MOST_NODES", str(MOST_NODES)).replace("TOO_MANY", TOO_MANY)
