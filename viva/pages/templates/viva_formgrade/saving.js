// Saving. A box is unsaved from the first key until the server says that it has the same value. Until then formgrader
// does not write into it, local storage keeps what was typed, and no way leads to another page. A *part* is what is
// saved with one request: the score and extra credit of a cell, or its comment. One request after the other: of two
// under way at once, the server may see the older one last.
const parts = new Map(), unsaved = new Set(), early_changes = new Set(), loaded = [];
let running = null, again, failures = 0, leaving = false, lost = false;
const version = {{ resources.version | default("") | tojson }};
const SLOW = 1500, LONGEST = 10000, SIGN = 30000;
const DOWN = "The server does not answer.";
const kept = box => `viva:${base_url}:${submission_id}:${box.id}`;
const stored = box => { try { return JSON.parse(localStorage.getItem(kept(box))); } catch { return null; } };
const keep = (box, done) => {
  const seen = stored(box)?.seen ?? parts.get(box)?.seen ?? null;
  try { localStorage.setItem(kept(box), JSON.stringify({value: box.value, seen, done, version})); } catch {}
};
const forget = box => {
  unsaved.delete(box);
  box.classList.remove("viva-unsaved");
  try { localStorage.removeItem(kept(box)); } catch {}
};
// A decimal comma is a decimal point. No number is null, something else undefined.
const number = text => {
  const typed = text.trim().replace(",", ".");
  return typed === "" ? null : /^[+-]?(\d+\.?\d*|\.\d+)$/.test(typed) ? Number(typed) : undefined;
};
const read = (part, box) => {
  const field = part.fieldOf(box), saved = part.model.get(field) ?? null;
  if (field === "manual_comment") return {value: box.value === "" && saved === null ? null : box.value};
  const value = number(box.value), most = part.model.get("max_score");
  if (value === saved) return {value};
  if (value === undefined) return {wrong: `“${box.value.trim()}” is not a number.`};
  if (value < 0) return {wrong: "Points cannot be below 0."};
  if (field === "manual_score" && value > most) return {wrong: `this question has ${most} ${most === 1 ? "point" : "points"}. For more, use extra credit.`};
  return {value};
};
const tell = (part, text, ...buttons) => {
  part.told?.remove();
  part.told = null;
  if (!text) return;
  part.told = document.createElement("span");
  part.told.className = "viva-told";
  part.told.setAttribute("role", "alert");
  part.told.append(text, ...buttons);
  part.place().append(part.told);
};
const choice = (text, act) => {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "btn btn-default btn-xs";
  button.textContent = text;
  button.addEventListener("click", act);
  return button;
};
const notice = (text, ...more) => {
  document.getElementById("viva-notice")?.remove();
  if (!text) return;
  const bar = document.createElement("p");
  bar.id = "viva-notice";
  bar.className = "viva-told";
  bar.setAttribute("role", "alert");
  bar.append(text, ...more);
  document.body.append(bar);
};

// What the server has, and what it has not.
const pick = (part, row) => Object.fromEntries(part.fields.map(field => [field, row[field] ?? null]));
const same = (one, other) => JSON.stringify(one) === JSON.stringify(other);
const commit = (part, force = false) => {
  if (part.asked) return;
  const values = {};
  for (const box of part.boxes) {
    const {value, wrong} = read(part, box);
    if (wrong) { box.classList.add("viva-unsaved"); unsaved.add(box); tell(part, `Not saved: ${wrong}`); part.wrong = box; return; }
    values[part.fieldOf(box)] = value;
  }
  part.wrong = null;
  if (part === running && same(values, part.wanted)) return;
  if (part !== running && !force && same(values, pick(part, part.model.attributes))) {
    part.wanted = null;
    part.boxes.forEach(forget);
    tell(part, "");
    return;
  }
  part.wanted = values;
  part.boxes.filter(box => unsaved.has(box)).forEach(box => keep(box, true));
  pump();
};
const commitBox = box => parts.has(box) ? commit(parts.get(box)) : early_changes.add(box);
const change = (box, value) => { box.value = value; unsaved.add(box); keep(box, true); commitBox(box); };
const show = (box, value) => {
  const text = value === null || value === undefined ? "" : String(value);
  if (unsaved.has(box) || box.value === text) return;
  box.value = text;
  if (box === document.activeElement && box.matches("input")) box.select();  // the next key replaces it, as after Tab
};
const request = async (url, method = "GET", data) => {
  const headers = {"X-CSRFToken": getCookie("_xsrf") ?? "", "Content-Type": "application/json"};
  const signal = AbortSignal.timeout(LONGEST);
  let answer;
  try {
    answer = await fetch(url, {method, headers, signal, cache: "no-store", body: data && JSON.stringify(data)});
  } catch { throw Object.assign(Error(DOWN), {status: 0}); }
  if (answer.ok && !answer.redirected) return answer;
  const status = answer.redirected ? 403 : answer.status;
  const why = status === 403 || status === 401 ? "You are logged out. Log in to Jupyter again in another tab."
    : status === 503 ? "The gradebook cannot be written to at the moment." : `The server reports error ${status}.`;
  throw Object.assign(Error(why), {status, answer});
};
const ask = async url => {
  const answer = await request(url);
  try { return await answer.json(); } catch { throw Error(DOWN); }
};
const pump = async () => {
  clearTimeout(again);
  if (running) return;
  const part = [...new Set(parts.values())].find(one => one.wanted && !one.asked);
  if (!part) return;
  running = part;
  const sent = part.wanted;
  part.model.trigger("request");
  const slow = setTimeout(() => tell(part, "Not saved yet: the server is slow."), SLOW);
  try {
    const answer = await request(part.model.url(), "PUT", {...sent, seen: part.seen, version});
    const row = await answer.json();
    failures = 0;
    part.seen = pick(part, row);
    if (part.wanted === sent) part.wanted = null;
    tell(part, "");
    for (const box of part.boxes) {
      if (read(part, box).value === sent[part.fieldOf(box)]) forget(box);
      else try { localStorage.setItem(kept(box), JSON.stringify({value: box.value, seen: part.seen, done: false, version})); } catch {}
    }
    part.model.set(row);
    part.ui.render();
    part.model.trigger("sync");
    if (part.boxes.some(box => document.activeElement !== box && unsaved.has(box))) commit(part);
  } catch (error) {
    part.ui.$glyph.hide();
    part.boxes.filter(box => unsaved.has(box)).forEach(box => box.classList.add("viva-unsaved"));
    if ([400, 404, 409].includes(error.status)) failures = 0;
    if (error.status === 409) await conflict(part, sent, error.answer);
    else if (error.status === 400 || error.status === 404) { part.wanted = null; tell(part, `Not saved: the server refused it. Load the page again.`); }
    else {
      failures++;
      tell(part, `Not saved. ${error.message} Your text is kept in this browser, and the page tries again to save it.`, choice("Try now", pump));
      again = setTimeout(pump, Math.min(1000 * 2 ** failures, LONGEST));
    }
  } finally {
    clearTimeout(slow);
    running = null;
    document.dispatchEvent(new Event("viva-saved"));
  }
  if (!failures) pump();
};
window.addEventListener("online", () => pump());
const spoken = (part, values) => part.fields.map(field => values[field]).map((value, place) =>
  value === null || value === "" ? (place ? "" : "nothing") : place ? `+ ${value} extra` : typeof value === "string" ? `“${value}”` : String(value)).filter(Boolean).join(" ");
const conflict = async (part, sent, answer) => {
  const {why, row} = await answer.json();
  if (why === "graded again") {
    part.asked = true;
    tell(part, "Not saved: this notebook was graded again after you opened it. Your text is kept. Read the answer again.",
      choice("Load the page again", () => { early.reload = true; location.reload(); }));
    return;
  }
  const theirs = pick(part, row);
  part.asked = true;
  const decide = values => {
    part.asked = false;
    part.seen = theirs;
    part.model.set(row);
    part.wanted = null;
    part.boxes.forEach(box => { forget(box); if (values) { box.value = values[part.fieldOf(box)] ?? ""; unsaved.add(box); keep(box, true); } });
    part.ui.render();
    tell(part, "");
    commit(part);
    part.boxes[0].focus();
  };
  tell(part, `Not saved: another grader saved ${spoken(part, theirs)} here after you opened the page. You typed ${spoken(part, sent)}.`,
    choice(`Keep theirs`, () => decide(null)), choice(`Save mine`, () => decide(sent)));
};

// Formgrader's views, which tell a part what the server has.
const adopt = (ui, fields, boxes, place) => {
  const part = {ui, model: ui.model, fields, boxes, place, wanted: null, asked: false, wrong: null, seen: null,
    fieldOf: box => fields[boxes.indexOf(box)]};
  part.seen = pick(part, ui.model.attributes);
  for (const box of boxes) {
    const draft = stored(box);
    if (!unsaved.has(box) && draft) {
      if (draft.value === String(part.model.get(part.fieldOf(box)) ?? "")) { forget(box); continue; }
      if (draft.seen) part.seen = draft.seen;
      box.value = draft.value;
      unsaved.add(box);
      box.classList.add("viva-unsaved");
      const current = draft.version === version;  // else nobody has read the answer that would get this score
      tell(part, current ? "Not saved yet: you typed this earlier."
        : "Not saved yet: you typed this before the notebook was graded again. Read the answer. Control+Enter saves your text and opens the next answer.");
      if (draft.done && current) early_changes.add(box);
    }
    parts.set(box, part);
  }
  return part;
};
const wrapped = (view, fields, boxesOf, placeOf) => {
  const initialize = view.prototype.initialize;
  view.prototype.initialize = function () {
    const boxes = boxesOf(this).filter(Boolean), part = boxes.length === fields.length ? adopt(this, fields, boxes, () => placeOf(this)) : null;
    initialize.call(this);
    if (part && boxes.some(box => early_changes.delete(box))) commit(part);
  };
  view.prototype.save = function (event) {
    const part = parts.get(boxesOf(this)[0]);
    if (part) commit(part, event?.type === "click");
  };
};
wrapped(GradeUI, ["manual_score", "extra_credit"], ui => [ui.$el.find(".score")[0], ui.$el.find(".extra-credit")[0]], ui => ui.$el.find(".panel-heading")[0]);
wrapped(CommentUI, ["manual_comment"], ui => [ui.$el.find(".comment")[0]], ui => ui.$el.find(".panel-footer")[0]);
GradeUI.prototype.render = function () {
  show(this.$score[0], this.model.get("manual_score"));
  show(this.$extra_credit[0], this.model.get("extra_credit"));
  this.$score.toggleClass("needs_manual_grade", Boolean(this.model.get("needs_manual_grade")));
  this.$mark_graded.toggle(Boolean(this.model.get("needs_manual_grade")) && this.model.get("manual_score") !== null);
};
CommentUI.prototype.render = function () {
  show(this.$comment[0], this.model.get("manual_comment"));
  autosize.update(this.$comment);
};
GradeUI.prototype.assignFullCredit = function () { change(this.$score[0], String(this.model.get("max_score"))); this.$score.focus(); };
GradeUI.prototype.assignNoCredit = function () { change(this.$extra_credit[0], "0"); change(this.$score[0], "0"); this.$score.focus(); };
for (const box of document.querySelectorAll(".score, .extra-credit")) Object.assign(box, {type: "text", inputMode: "decimal"});
for (const box of document.querySelectorAll("input.tabbable, textarea.tabbable")) box.autocomplete = "off";
document.addEventListener("input", event => {
  const box = event.target;
  if (!box.matches("input.tabbable, textarea.tabbable")) return;
  unsaved.add(box);
  keep(box, false);
  const part = parts.get(box);
  if (part?.wrong === box) { part.wrong = null; tell(part, ""); box.classList.remove("viva-unsaved"); }
});
document.addEventListener("focusout", event => { if (unsaved.has(event.target)) commitBox(event.target); });

// Going to another page: after all is saved, and only where the server answers.
const open_parts = () => [...new Set(parts.values())].filter(part => part.wanted || part.asked || part.wrong);
const settled = () => new Promise(done => {
  const before = failures;
  const look = () => {
    const left = open_parts();
    const early_left = early_changes.size || loaded.length;  // also an item of the rubric whose key came before the scores
    const waits = left.length ? !left.some(part => part.asked || part.wrong) && failures <= before : early_left && !lost;
    if (waits) return false;
    document.removeEventListener("viva-saved", look);
    done(!left.length && !early_left);
    return true;
  };
  document.addEventListener("viva-saved", look);
  look();
});
const leave = async find => {
  if (leaving) return;
  const editor = document.querySelector(".viva-editor");
  if (editor) { editor.say("Save or cancel this item first."); editor.querySelector("input").focus(); return; }
  leaving = true;
  early.keys = [];
  early.leaving = "";
  early.on = true;
  const box = document.activeElement;
  let gone = false;
  try {
    [...unsaved].forEach(commitBox);
    if (failures) pump();
    if (!await settled()) {
      (open_parts().find(part => part.wrong)?.wrong ?? box)?.focus?.();
      if (early_changes.size || loaded.length) notice(`Not saved. ${DOWN}`);
      return;
    }
    const url = await find();
    notice("");
    early.leaving = new URL(url, location).pathname;
    gone = true;
    if (early.keys.length) sessionStorage.setItem("viva-early", JSON.stringify({path: early.leaving, time: Date.now(), keys: early.keys}));
    location.assign(url);
  } catch (error) {
    notice(`${error.message} This page stays open${unsaved.size ? "" : "; everything is saved"}.`);
    box?.focus?.();
  } finally {
    if (!gone) { leaving = early.leaving = early.on = false; early.keys = []; }
  }
};
const reachable = url => async () => { await request(`${base_url}/api/grades?submission_id=${submission_id}`); return url; };
FormGrader.prototype.save = function () {};
for (const [name, place] of [["next", "next"], ["prev", "prev"], ["nextIncorrect", "next_incorrect"], ["prevIncorrect", "prev_incorrect"]])
  FormGrader.prototype[`${name}Assignment`] = function () { leave(reachable(this.navigateTo(place))); };
document.addEventListener("click", event => {
  const link = event.target.closest?.("a[href]");
  if (!link || link.target || link.origin !== location.origin || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
  if (link.pathname === location.pathname && link.hash || !link.pathname.startsWith(base_url)) return;
  event.preventDefault();
  leave(reachable(link.href));
});
window.addEventListener("beforeunload", event => { if ((unsaved.size || document.querySelector(".viva-editor")) && !early.reload) event.preventDefault(); });
window.addEventListener("pageshow", event => { if (event.persisted) location.reload(); });

// Two graders at once: while this page is seen, the server hears that its answer is taken.
const sign = async () => {
  if (document.visibilityState !== "visible") return;
  try {
    const {alone} = await (await request(`${base_url}/viva/open/${submission_id}`, "POST")).json();
    if (!alone) notice("Another grader has this answer open. Control+Enter opens another answer.");
  } catch {}
};
sign();
setInterval(sign, SIGN);
document.addEventListener("visibilitychange", sign);
window.addEventListener("pagehide", () => {
  fetch(`${base_url}/viva/open/${submission_id}`, {method: "DELETE", keepalive: true, headers: {"X-CSRFToken": getCookie("_xsrf") ?? ""}}).catch(() => {});
});

// The cursor is in its box as soon as there is one, and what was typed so far is in it.
const whenLoaded = act => formgrader.grades?.loaded && formgrader.comments?.loaded ? act() : loaded.push(act);
$(document).on("ajaxComplete", (event, xhr, {url}) => {
  if (xhr.status !== 200 && /\/api\/(grades|comments)\b/.test(url)) {
    lost = true;
    notice(`${xhr.status ? `The server reports error ${xhr.status}.` : DOWN} The scores of this page are loaded again.`);
    setTimeout(() => url.includes("/api/grades") ? formgrader.loadGrades() : formgrader.loadComments(), 2000);
  } else if (formgrader.grades?.loaded && formgrader.comments?.loaded) {
    lost = false;
    if (document.getElementById("viva-notice")?.textContent.includes("loaded again")) notice("");
    loaded.splice(0).forEach(act => act());
  }
  document.dispatchEvent(new Event("viva-saved"));
});
const pointTo = box => {
  const address = new URL(location);
  address.searchParams.delete("question");
  address.searchParams.set("index", [...document.querySelectorAll(".tabbable")].indexOf(box));
  history.replaceState(null, "", address);
};
const configureScrolling = FormGrader.prototype.configureScrolling;
FormGrader.prototype.configureScrolling = function () {  // it selects what stands in the box, and the next key would replace it
  const box = document.activeElement, typed = unsaved.has(box), caret = typed && [box.selectionStart, box.selectionEnd];
  if (box.matches("input.tabbable, textarea.tabbable")) pointTo(box);
  configureScrolling.call(this);
  if (typed) box.setSelectionRange(...caret);
};
const begin = target => {
  if (target?.matches("input, textarea")) target.focus();
  early.on = false;
  for (const keys = early.keys.splice(0); keys.length;) {
    const {key, code, shiftKey, altKey, ctrlKey} = keys.shift(), box = document.activeElement;
    if (key.length > 1 || ctrlKey || altKey) {
      if (key === "Backspace" && box.matches("input, textarea")) { box.value = box.value.slice(0, -1); box.dispatchEvent(new Event("input", {bubbles: true})); }
      else if (key === "Enter" && !ctrlKey) { if (box.matches("textarea")) box.value += "\n"; }
      else box.dispatchEvent(new KeyboardEvent("keydown", {key, code, shiftKey, altKey, ctrlKey, bubbles: true, cancelable: true}));
      if (leaving) { early.keys = keys; break; }  // the others are for the next answer
    } else if (box.matches("input, textarea")) {
      box.value += key;
      box.dispatchEvent(new Event("input", {bubbles: true}));
    }
  }
};
