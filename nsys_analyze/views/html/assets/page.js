"use strict";
(() => {
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];

  // ---- sorting: siblings within their parent, what is unknown last ----
  const levelOf = (row) => Number(row.getAttribute("aria-level") || 1);
  const sortKey = (row, column) => {
    const cell = row.children[column];
    if (!cell) return null;
    if (cell.dataset.v !== undefined) return Number(cell.dataset.v);
    return cell.matches(".name, .text") ? cell.textContent.toLowerCase() : null;
  };
  const compare = (sign) => (a, b) => {
    if (a.key === null || b.key === null) return (a.key === null) - (b.key === null) || a.place - b.place;
    const order = typeof a.key === "string" ? a.key.localeCompare(b.key, "en", { numeric: true }) : a.key - b.key;
    return sign * order || a.place - b.place;
  };
  const forest = (rows, column) => {
    const roots = [], open = [];
    rows.forEach((row) => {
      const node = { row, place: Number(row.dataset.place), key: column < 0 ? null : sortKey(row, column), below: [] };
      const level = levelOf(row);
      while (open.length && open[open.length - 1].level >= level) open.pop();
      (open.length ? open[open.length - 1].node.below : roots).push(node);
      open.push({ level, node });
    });
    return roots;
  };
  const laidOut = (nodes, order, out) => {
    nodes.sort(order).forEach((node) => { out.append(node.row); laidOut(node.below, order, out); });
    return out;
  };
  const sort = (table, header) => {
    const was = header.getAttribute("aria-sort");
    const text = header.matches(".name, .text");
    const cycle = text ? ["none", "ascending", "descending"] : ["none", "descending", "ascending"];
    const now = cycle[(cycle.indexOf(was) + 1) % 3];
    all("th[aria-sort]", table.tHead).forEach((other) => other.setAttribute("aria-sort", other === header ? now : "none"));
    const column = now === "none" ? -1 : header.cellIndex;
    all("tbody", table).forEach((body) => {
      const rows = all("tr", body).filter((row) => row.hasAttribute("aria-level") || !row.classList.contains("group"));
      body.append(laidOut(forest(rows, column), compare(now === "ascending" ? 1 : -1), document.createDocumentFragment()));
    });
  };
  all("table.sortable").forEach((table) => {
    all("tbody tr", table).forEach((row, place) => { row.dataset.place = place; });
    table.tHead.addEventListener("click", (event) => {
      const button = event.target.closest("button");
      if (button) sort(table, button.closest("th"));
    });
  });

  // ---- the tree ----
  const tree = document.querySelector("table.tree");
  if (tree) {
    const body = tree.tBodies[0];
    const find = document.getElementById("find"), found = document.getElementById("found");
    const rows = () => [...body.rows];
    const visibleRows = () => rows().filter((row) => !row.hidden);
    const isParent = (row) => row.hasAttribute("aria-expanded");
    const isOpen = (row) => row.getAttribute("aria-expanded") === "true";
    const show = () => {
      let below = Infinity;
      rows().forEach((row) => {
        const level = levelOf(row);
        if (level <= below) below = Infinity;
        row.hidden = level > below;
        if (!row.hidden && isParent(row) && !isOpen(row)) below = level;
      });
    };
    const setOpen = (row, open) => { row.setAttribute("aria-expanded", String(open)); };
    const toggle = (row) => { if (isParent(row)) { setOpen(row, !isOpen(row)); clearFind(); show(); } };
    const first = rows().filter(isParent).map((row) => [row, isOpen(row)]);
    const clearFind = () => { find.value = ""; found.textContent = ""; };

    let current = body.rows[0];
    const focusOn = (element) => {
      const row = element.closest("tr");
      current.tabIndex = -1;
      all("a", current).forEach((link) => { link.tabIndex = -1; });
      current = row;
      row.tabIndex = 0;
      all("a", row).forEach((link) => { link.tabIndex = 0; });
      element.focus();
      element.scrollIntoView({ block: "nearest", inline: "nearest" });
    };
    const above = (row) => {
      let other = row.previousElementSibling;
      while (other && levelOf(other) >= levelOf(row)) other = other.previousElementSibling;
      return other;
    };
    const step = (row, by, cell) => {
      const shown = visibleRows();
      const next = shown[Math.max(0, Math.min(shown.length - 1, shown.indexOf(row) + by))];
      focusOn(cell < 0 ? next : next.children[Math.min(cell, next.children.length - 1)]);
    };
    const beside = (row, cell, by) => {  // the next cell that shows: a narrow window has no bars
      let next = row.children[cell + by];
      while (next && !next.offsetWidth) next = row.children[next.cellIndex + by];
      return next || row.children[cell] || row;
    };
    const right = (row, cell) => {
      if (cell < 0 && isParent(row) && !isOpen(row)) toggle(row);
      else focusOn(beside(row, cell, 1));
    };
    const left = (row, cell) => {
      if (cell > 0) focusOn(beside(row, cell, -1));
      else if (cell === 0) focusOn(row);
      else if (isParent(row) && isOpen(row)) toggle(row);
      else focusOn(above(row) || row);
    };
    const keys = {
      ArrowDown: (row, cell) => step(row, 1, cell),
      ArrowUp: (row, cell) => step(row, -1, cell),
      PageDown: (row, cell) => step(row, 15, cell),
      PageUp: (row, cell) => step(row, -15, cell),
      ArrowRight: right,
      ArrowLeft: left,
      Home: (row, cell, event) => (cell < 0 || event.ctrlKey ? step(row, -Infinity, cell) : focusOn(row.children[0])),
      End: (row, cell, event) => (cell < 0 || event.ctrlKey ? step(row, Infinity, cell) : focusOn(row.children[row.children.length - 1])),
      Enter: toggle,
      " ": toggle,
    };
    body.addEventListener("keydown", (event) => {
      if (event.altKey || event.metaKey || event.target.closest("a")) return;
      const act = keys[event.key], row = event.target.closest("tr");
      if (!act) return;
      event.preventDefault();
      act(row, event.target === row ? -1 : event.target.closest("td, th").cellIndex, event);
    });
    body.addEventListener("click", (event) => {
      const row = event.target.closest("tr");
      if (event.target.closest("a") || String(getSelection())) return;
      if (event.target.closest(".name")) toggle(row);
      focusOn(row);
    });
    body.addEventListener("focusin", (event) => { if (event.target.closest("tr") !== current) focusOn(event.target); });
    document.getElementById("expand").addEventListener("click", () => {
      rows().filter(isParent).forEach((row) => setOpen(row, true)); clearFind(); show();
    });
    document.getElementById("collapse").addEventListener("click", () => {
      first.forEach(([row, open]) => setOpen(row, open)); clearFind(); show();
    });
    find.addEventListener("input", () => {
      const wanted = find.value.trim().toLowerCase();
      if (!wanted) { clearFind(); show(); return; }
      const keep = new Set(), path = [];
      let count = 0;
      rows().forEach((row) => {
        path.length = Math.min(path.length, levelOf(row) - 1);
        path.push(row);
        const name = row.children[0];
        if (!`${name.textContent} ${name.dataset.tip || ""}`.toLowerCase().includes(wanted)) return;
        count += 1;
        path.forEach((each) => keep.add(each));
      });
      rows().forEach((row) => { row.hidden = !keep.has(row); });
      found.textContent = `${count.toLocaleString("en")} found`;
    });
    current.tabIndex = 0;
  }

  // ---- details: links open them, printing opens all ----
  const openTarget = () => {
    const card = location.hash.length > 1 && document.getElementById(location.hash.slice(1));
    if (card && card.matches("details")) { card.open = true; card.scrollIntoView(); card.querySelector("summary").focus({ preventScroll: true }); }
  };
  addEventListener("hashchange", openTarget);
  document.addEventListener("click", (event) => { const link = event.target.closest('a[href^="#s"]'); if (link && link.hash === location.hash) openTarget(); });
  openTarget();
  let shut = [];
  addEventListener("beforeprint", () => { shut = all("details:not([open])"); shut.forEach((each) => { each.open = true; }); });
  addEventListener("afterprint", () => { shut.forEach((each) => { each.open = false; }); });

  // ---- what a number means, on hover and on focus ----
  const tip = document.getElementById("tip");
  let owner = null;
  const exact = (cell, header) => {
    if (cell.dataset.v === undefined) return "";
    return header.dataset.exact ? `${Number(cell.dataset.v).toLocaleString("en", { maximumFractionDigits: 1 })} ${header.dataset.exact}` : "";
  };
  const words = (element) => {
    const bars = all(".bar[aria-label]", element).map((bar) => bar.getAttribute("aria-label"));
    if (bars.length) return bars.join("\n\n");
    if (element.dataset.tip) return element.dataset.tip;
    const table = element.closest("table.tree, table.flat");
    if (!table || !element.matches("td")) return "";
    const header = table.tHead.rows[0].cells[element.cellIndex];
    const title = header.textContent.trim();
    const value = exact(element, header);
    return [value && `${title}: ${value}`, header.dataset.tip].filter(Boolean).join("\n");
  };
  const hide = () => {
    tip.hidden = true;
    if (owner) owner.removeAttribute("aria-describedby");
    owner = null;
  };
  const showTip = (target) => {
    const element = target.closest("[data-tip], td");
    if (!element || element === owner) { if (!element) hide(); return; }
    hide();
    const text = words(element);
    if (!text) return;
    owner = element;
    tip.textContent = text;
    tip.hidden = false;
    const box = element.getBoundingClientRect(), own = tip.getBoundingClientRect();
    const below = box.bottom + 6 + own.height <= innerHeight || box.top < own.height + 6;
    tip.style.left = `${Math.max(8, Math.min(box.left, document.documentElement.clientWidth - own.width - 8))}px`;
    tip.style.top = `${below ? Math.min(box.bottom + 6, innerHeight - own.height - 4) : box.top - own.height - 6}px`;
    const focused = document.activeElement;
    if (focused && (focused === element || element.contains(focused))) focused.setAttribute("aria-describedby", "tip");
  };
  document.addEventListener("mouseover", (event) => showTip(event.target));
  document.addEventListener("focusin", (event) => (event.target.matches("tr") ? hide() : showTip(event.target)));
  document.addEventListener("focusout", (event) => { event.target.removeAttribute("aria-describedby"); hide(); });
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") hide(); });
  document.addEventListener("scroll", hide, true);
})();
