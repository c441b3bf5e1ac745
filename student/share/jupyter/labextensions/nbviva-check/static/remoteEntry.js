// The button "Check" in the toolbar of JupyterLab 4 and Notebook 7, and the panel with its results.
//
// JupyterLab loads this file as it is: nothing builds it. It is a module federation container written by hand, and takes
// the few modules it needs, all of which JupyterLab shares, from the share scope. The kernel runs the check
// (viva_check/notebook.py, check_for_panel) and answers in JSON. Every text in the answer is shown as text, never as HTML.
(() => {
  'use strict';

  const NAME = 'nbviva-check';
  const COMMAND = `${NAME}:check`;
  const ANSWER = 'application/vnd.viva.check+json';
  const MOST_STARTING = 30000; // milliseconds
  const MARKS = { passed: '\u2713', 'partly right': '\u25d0', 'not done yet': '\u25cb', 'not checked': '\u2013' };

  // Sentences where no notebook says in which language; "Check" is the name of the button in every language.
  const NAMED = 'Check';
  const EXPLAIN = 'Runs the visible checks of this notebook.';
  const NO_NOTEBOOK = 'No notebook is open. Open one, then press Check.';

  // Sentences that the kernel cannot say, by language. student/button_words.py writes them from viva/words*.toml.
  const TABLE = {
    "de": {
      "html": "de",
      "point": {
        "one": "{count} Punkt",
        "other": "{count} Punkte"
      },
      "caption": "Das Notebook speichern und die sichtbaren Tests ausführen",
      "noKernel": "Dieses Notebook hat keinen Kernel. Wähle einen mit Kernel > Change Kernel und drücke dann Check.",
      "dead": "Der Kernel läuft nicht mehr. Starte ihn mit Kernel > Restart Kernel und drücke dann Check.",
      "disconnected": "JupyterLab hat die Verbindung zum Kernel verloren. Warte, bis sie wieder da ist, und drücke dann Check.",
      "notSaved": "Das Notebook konnte nicht gespeichert werden und wurde deshalb nicht geprüft. Speichere es und drücke dann Check.",
      "busy": "Der Kernel ist beschäftigt. Die Prüfung beginnt, wenn er frei ist. Kernel > Interrupt Kernel stoppt, was gerade läuft.",
      "running": "Die Tests laufen. Kernel > Interrupt Kernel stoppt sie.",
      "already": "Die Tests laufen noch.",
      "aborted": "Die Prüfung lief nicht, weil der Kernel unterbrochen wurde. Drücke noch einmal Check.",
      "interrupted": "Die Prüfung wurde beendet, weil der Kernel unterbrochen wurde. Drücke noch einmal Check.",
      "ended": "Die Prüfung wurde nicht fertig, weil der Kernel beendet oder neu gestartet wurde. Drücke noch einmal Check.",
      "noViva": "Dieser Kernel hat Viva nicht. Lege das Wheel von deiner Kursleitung neben dieses Notebook und führe das in einer Zelle aus: %pip install nbviva_check-0.1.0-py3-none-any.whl. Drücke dann Check.",
      "oldViva": "Viva ist in diesem Kernel zu alt für den Knopf. Lege das Wheel von deiner Kursleitung neben dieses Notebook und führe das in einer Zelle aus: %pip install nbviva_check-0.1.0-py3-none-any.whl. Starte dann den Kernel neu und drücke Check.",
      "noAnswer": "Der Kernel hat auf die Prüfung nicht geantwortet. Starte ihn neu und drücke dann Check.",
      "closed": "Dieses Notebook wurde geschlossen. Öffne es und drücke dann Check.",
      "otherLanguage": "Der Kernel dieses Notebooks führt {language} aus. Nur Python kann geprüft werden.",
      "failed": "Die Prüfung ist fehlgeschlagen: {kind}: {message}",
      "noCell": "Das Notebook hat keine Zelle '{cell}'.",
      "feedback": "Dein letztes Feedback: ",
      "savedAt": "Geprüft wurde der Stand, der um {time} gespeichert wurde.",
      "cell": "Zelle {cell}",
      "answer": "Gehe zu {cell}"
    },
    "en": {
      "html": "en",
      "point": {
        "one": "{count} point",
        "other": "{count} points"
      },
      "caption": "Save the notebook and run its visible checks",
      "noKernel": "This notebook has no kernel. Choose one with Kernel > Change Kernel, then press Check.",
      "dead": "The kernel is dead. Start it with Kernel > Restart Kernel, then press Check.",
      "disconnected": "JupyterLab has lost its connection to the kernel. Wait until it is back, then press Check.",
      "notSaved": "The notebook was not saved, so it was not checked. Save it, then press Check.",
      "busy": "The kernel is busy. The check begins when it is free. Kernel > Interrupt Kernel stops what runs.",
      "running": "The checks are running. Kernel > Interrupt Kernel stops them.",
      "already": "The checks are still running.",
      "aborted": "The check did not run, because the kernel was interrupted. Press Check again.",
      "interrupted": "The check was stopped, because the kernel was interrupted. Press Check again.",
      "ended": "The check did not finish, because the kernel ended or was restarted. Press Check again.",
      "noViva": "This kernel does not have Viva. Put the wheel from your instructor beside this notebook and run this in a cell: %pip install nbviva_check-0.1.0-py3-none-any.whl. Then press Check.",
      "oldViva": "Viva in this kernel is too old for the button. Put the wheel from your instructor beside this notebook and run this in a cell: %pip install nbviva_check-0.1.0-py3-none-any.whl. Then restart the kernel and press Check.",
      "noAnswer": "The kernel gave no answer to the check. Restart it, then press Check.",
      "closed": "This notebook was closed. Open it, then press Check.",
      "otherLanguage": "The kernel of this notebook runs {language}. Only Python can be checked.",
      "failed": "The check failed: {kind}: {message}",
      "noCell": "The notebook has no cell '{cell}'.",
      "feedback": "Your last feedback: ",
      "savedAt": "Checked as it was saved at {time}.",
      "cell": "Cell {cell}",
      "answer": "Go to {cell}"
    },
    "es": {
      "html": "es",
      "point": {
        "one": "{count} punto",
        "other": "{count} puntos"
      },
      "caption": "Guardar el notebook y ejecutar sus pruebas visibles",
      "noKernel": "Este notebook no tiene kernel. Elige uno con Kernel > Change Kernel y pulsa Check.",
      "dead": "El kernel ya no funciona. Inícialo con Kernel > Restart Kernel y pulsa Check.",
      "disconnected": "JupyterLab ha perdido la conexión con el kernel. Espera a que vuelva y pulsa Check.",
      "notSaved": "El notebook no se pudo guardar, así que no se comprobó. Guárdalo y pulsa Check.",
      "busy": "El kernel está ocupado. La comprobación empezará cuando quede libre. Kernel > Interrupt Kernel detiene lo que se ejecuta.",
      "running": "Las pruebas se están ejecutando. Kernel > Interrupt Kernel las detiene.",
      "already": "Las pruebas todavía se están ejecutando.",
      "aborted": "La comprobación no se ejecutó porque el kernel fue interrumpido. Pulsa Check otra vez.",
      "interrupted": "La comprobación se detuvo porque el kernel fue interrumpido. Pulsa Check otra vez.",
      "ended": "La comprobación no terminó porque el kernel se cerró o se reinició. Pulsa Check otra vez.",
      "noViva": "Este kernel no tiene Viva. Pon el wheel de tu docente junto a este notebook y ejecuta esto en una celda: %pip install nbviva_check-0.1.0-py3-none-any.whl. Luego pulsa Check.",
      "oldViva": "El Viva de este kernel es demasiado antiguo para el botón. Pon el wheel de tu docente junto a este notebook y ejecuta esto en una celda: %pip install nbviva_check-0.1.0-py3-none-any.whl. Después reinicia el kernel y pulsa Check.",
      "noAnswer": "El kernel no respondió a la comprobación. Reinícialo y pulsa Check.",
      "closed": "Este notebook se cerró. Ábrelo y pulsa Check.",
      "otherLanguage": "El kernel de este notebook ejecuta {language}. Solo se puede comprobar Python.",
      "failed": "La comprobación falló: {kind}: {message}",
      "noCell": "El notebook no tiene ninguna celda '{cell}'.",
      "feedback": "Tus últimos resultados: ",
      "savedAt": "Se comprobó la versión guardada a las {time}.",
      "cell": "Celda {cell}",
      "answer": "Ir a {cell}"
    },
    "fr": {
      "html": "fr",
      "point": {
        "one": "{count} point",
        "other": "{count} points"
      },
      "caption": "Enregistrer le notebook et lancer ses tests visibles",
      "noKernel": "Ce notebook n'a pas de kernel. Choisis-en un avec Kernel > Change Kernel, puis appuie sur Check.",
      "dead": "Le kernel ne fonctionne plus. Relance-le avec Kernel > Restart Kernel, puis appuie sur Check.",
      "disconnected": "JupyterLab a perdu la connexion avec le kernel. Attends son retour, puis appuie sur Check.",
      "notSaved": "Le notebook n'a pas pu être enregistré, donc il n'a pas été vérifié. Enregistre-le, puis appuie sur Check.",
      "busy": "Le kernel est occupé. La vérification commencera dès qu'il sera libre. Kernel > Interrupt Kernel arrête ce qui est en cours.",
      "running": "Les tests sont en cours. Kernel > Interrupt Kernel les arrête.",
      "already": "Les tests sont encore en cours.",
      "aborted": "La vérification n'a pas eu lieu, car le kernel a été interrompu. Appuie de nouveau sur Check.",
      "interrupted": "La vérification a été arrêtée, car le kernel a été interrompu. Appuie de nouveau sur Check.",
      "ended": "La vérification n'a pas fini, car le kernel s'est arrêté ou a été relancé. Appuie de nouveau sur Check.",
      "noViva": "Ce kernel n'a pas Viva. Place le wheel de ton enseignant à côté de ce notebook et exécute ceci dans une cellule : %pip install nbviva_check-0.1.0-py3-none-any.whl. Appuie ensuite sur Check.",
      "oldViva": "Dans ce kernel, Viva est trop ancien pour le bouton. Place le wheel de ton enseignant à côté de ce notebook et exécute ceci dans une cellule : %pip install nbviva_check-0.1.0-py3-none-any.whl. Puis relance le kernel et appuie sur Check.",
      "noAnswer": "Le kernel n'a pas répondu à la vérification. Relance-le, puis appuie sur Check.",
      "closed": "Ce notebook a été fermé. Ouvre-le, puis appuie sur Check.",
      "otherLanguage": "Le kernel de ce notebook exécute {language}. Seul Python peut être vérifié.",
      "failed": "La vérification a échoué : {kind} : {message}",
      "noCell": "Le notebook n'a pas de cellule '{cell}'.",
      "feedback": "Tes derniers commentaires : ",
      "savedAt": "La version vérifiée est celle enregistrée à {time}.",
      "cell": "Cellule {cell}",
      "answer": "Aller à {cell}"
    },
    "zh": {
      "html": "zh-Hans",
      "point": "{count} 分",
      "caption": "保存 notebook 并运行可见测试",
      "noKernel": "这个 notebook 没有内核。请用 Kernel > Change Kernel 选择一个，然后按 Check。",
      "dead": "内核已停止运行。请用 Kernel > Restart Kernel 启动它，然后按 Check。",
      "disconnected": "JupyterLab 与内核的连接断了。请等它恢复，然后按 Check。",
      "notSaved": "notebook 没能保存，因此没有检查。请保存它，然后按 Check。",
      "busy": "内核正忙。等它空闲后检查就会开始。Kernel > Interrupt Kernel 可以停止正在运行的内容。",
      "running": "测试正在运行。Kernel > Interrupt Kernel 可以停止它们。",
      "already": "测试仍在运行。",
      "aborted": "检查没有运行，因为内核被中断了。请再按一次 Check。",
      "interrupted": "检查已停止，因为内核被中断了。请再按一次 Check。",
      "ended": "检查没有完成，因为内核已结束或被重启。请再按一次 Check。",
      "noViva": "这个内核里没有 Viva。请把教师给的 wheel 文件放在这个 notebook 旁边，在一个单元格里运行 %pip install nbviva_check-0.1.0-py3-none-any.whl，然后按 Check。",
      "oldViva": "这个内核里的 Viva 太旧，不支持这个按钮。请把教师给的 wheel 文件放在这个 notebook 旁边，在一个单元格里运行 %pip install nbviva_check-0.1.0-py3-none-any.whl，然后重启内核并按 Check。",
      "noAnswer": "内核没有回应检查。请重启它，然后按 Check。",
      "closed": "这个 notebook 已关闭。请打开它，然后按 Check。",
      "otherLanguage": "这个 notebook 的内核运行的是 {language}。只能检查 Python。",
      "failed": "检查失败：{kind}：{message}",
      "noCell": "notebook 里没有单元格 '{cell}'。",
      "feedback": "你最近的反馈：",
      "savedAt": "检查的是 {time} 保存的版本。",
      "cell": "单元格 {cell}",
      "answer": "转到 {cell}"
    }
  };

  /** The sentences in the language that a notebook names (viva/submission/studentcopy.py). */
  function wordsOf(panel) {
    const tag = panel?.model?.getMetadata('viva')?.check?.language;
    return Object.hasOwn(TABLE, String(tag)) ? TABLE[tag] : TABLE.en;
  }

  /** A sentence with its fields filled in. */
  function fill(sentence, fields) {
    return sentence.replace(/\{(\w+)\}/g, (whole, name) => fields[name] ?? whole);
  }

  /** A number of points: some languages have two forms. */
  function pointsIn(words, count) {
    const forms = words.point;
    const one = new Intl.PluralRules(words.html).select(count) === 'one';
    const sentence = typeof forms === 'string' ? forms : one ? forms.one : forms.other;
    return fill(sentence, { count: count.toLocaleString(words.html) });
  }

  // The colours of all pages of Viva's (viva/pages/templates/viva_formgrade/colours.css). student/button_words.py writes them.
  const COLOURS = {
    "light": {
      "link": "#0757ba",
      "good": "#116329",
      "bad": "#b3141f",
      "wait": "#7a4b00",
      "tint": "#fff4d6"
    },
    "dark": {
      "link": "#79b8ff",
      "good": "#56d364",
      "bad": "#ff9a92",
      "wait": "#f0c05a",
      "tint": "#33280c"
    }
  };
  const inks = kind => Object.entries(COLOURS[kind]).map(([name, ink]) => `--viva-${name}: ${ink};`).join(' ');

  const STYLE = `
    #${NAME} { ${inks('light')} }
    [data-jp-theme-light=false] #${NAME} { ${inks('dark')} }
    #${NAME} { background: var(--jp-layout-color1); color: var(--jp-ui-font-color1); font-size: var(--jp-ui-font-size1);
      font-family: var(--jp-ui-font-family); line-height: 1.45; overflow: auto; padding: 8px 12px; min-width: 220px; }
    #${NAME} h2 { font-size: var(--jp-ui-font-size2); margin: 4px 0; }
    #${NAME} h3 { font-size: inherit; margin: 12px 0 2px; }
    #${NAME} p { margin: 4px 0; overflow-wrap: anywhere; }
    #${NAME} ul { list-style: none; margin: 0; padding: 0; }
    #${NAME} li { border-left: 3px solid var(--viva-state); margin: 6px 0; padding-left: 8px; }
    #${NAME} .viva-state { font-weight: 600; }
    #${NAME} .viva-hint { white-space: pre-wrap; overflow-wrap: anywhere; }
    #${NAME} .viva-line { font-family: var(--jp-code-font-family); font-size: var(--jp-code-font-size); }
    #${NAME} button { font: inherit; cursor: pointer; text-align: left; overflow-wrap: anywhere; }
    #${NAME} button.viva-link { background: none; border: 0; padding: 2px 0; color: var(--viva-link);
      text-decoration: underline; min-height: 24px; }
    #${NAME} button.viva-again { background: var(--jp-layout-color2); color: inherit; padding: 4px 12px;
      border: 1px solid var(--jp-border-color1); border-radius: 3px; }
    #${NAME} button.viva-again[aria-disabled=true] { opacity: .6; cursor: default; }
    #${NAME}:focus { outline: none; }
    #${NAME} button:focus-visible, #${NAME}:focus-visible { outline: 2px solid var(--jp-brand-color1); outline-offset: -1px; }
    #${NAME} li { --viva-state: var(--viva-bad); }
    #${NAME} li[data-state=passed] { --viva-state: var(--viva-good); }
    #${NAME} li:is([data-state='partly right'], [data-state='not done yet'], [data-state=cause]) { --viva-state: var(--viva-wait); }
    #${NAME} li[data-state='not checked'] { --viva-state: var(--jp-border-color1); }
    #${NAME} .viva-state { color: var(--viva-state); }
    #${NAME} li[data-state='not checked'] .viva-state { color: inherit; }
    #${NAME} li[data-state=cause] .viva-hint:first-of-type { font-weight: 600; }
    #${NAME} .viva-number { font-size: var(--jp-ui-font-size2); font-weight: 600; }
    #${NAME} .viva-next { border-left: 4px solid var(--viva-wait); background: var(--viva-tint); color: var(--viva-wait); padding: 6px 8px; }
    #${NAME} .viva-next:empty { display: none; }
    #${NAME} .viva-next button.viva-link { color: inherit; font-weight: 600; }
  `;

  let scope;

  /** A module that JupyterLab shares: the version in use or, before any is, the newest. */
  async function shared(name) {
    const versions = Object.entries(scope[name] ?? {});
    if (!versions.length) throw new Error(`JupyterLab does not share ${name}`);
    const parts = version => version.split(/[.-]/).map(part => Number(part) || 0);
    const newer = (a, b) => parts(a).map((part, at) => part - (parts(b)[at] ?? 0)).find(step => step) ?? 0;
    versions.sort(([a, left], [b, right]) => !right.loaded - !left.loaded || newer(a, b));
    const entry = versions.at(-1)[1];
    entry.loaded = 1; // as webpack notes it
    return (await entry.get())();
  }

  function element(kind, parent, { text = '', ...attributes } = {}) {
    const made = document.createElement(kind);
    made.textContent = text;
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    parent.append(made);
    return made;
  }

  function list(value) {
    return Array.isArray(value) ? value : [];
  }

  /** What checks one notebook: a promise of the kernel's answer, or an Error with a sentence for the student. */
  async function ask(app, panel, say, words) {
    const { context, sessionContext } = panel;
    if (!sessionContext.session?.kernel) {
      await Promise.race([sessionContext.ready, new Promise(done => setTimeout(done, MOST_STARTING))]);
    }
    const kernel = sessionContext.session?.kernel;
    if (!kernel) throw new Error(words.noKernel);
    if (kernel.status === 'dead') throw new Error(words.dead);
    if (kernel.connectionStatus === 'disconnected') throw new Error(words.disconnected);
    const language = app.serviceManager.kernelspecs.specs?.kernelspecs[kernel.name]?.language;
    if (language && language.toLowerCase() !== 'python') throw new Error(fill(words.otherLanguage, { language }));
    if (context.contentsModel?.writable !== false) {
      try {
        await context.save();
      } catch {
        throw new Error(words.notSaved);
      }
    }
    say(kernel.status === 'busy' ? words.busy : words.running);
    const name = JSON.stringify(context.localPath.split('/').at(-1));
    const saved = Date.parse(context.contentsModel.last_modified) / 1000;
    let reply;
    try {
      const request = kernel.requestExecute({
        code: '',
        silent: true,
        store_history: false,
        allow_stdin: false,
        stop_on_error: false,
        user_expressions: { viva: `__import__('viva_check.notebook').notebook.check_for_panel(${name}, ${saved})` },
      });
      request.onIOPub = message => {
        if (message.header.msg_type === 'status' && message.content.execution_state === 'busy') say(words.running);
      };
      reply = (await request.done).content;
    } catch {
      throw new Error(words.ended);
    }
    if (reply.status === 'aborted') throw new Error(words.aborted);
    const result = reply.user_expressions?.viva;
    if (result?.status === 'error') {
      if (result.ename === 'ModuleNotFoundError') throw new Error(words.noViva);
      if (result.ename === 'AttributeError') throw new Error(words.oldViva);
      if (result.ename === 'KeyboardInterrupt') throw new Error(words.interrupted);
      throw new Error(fill(words.failed, { kind: result.ename, message: result.evalue }));
    }
    const answer = result?.data?.[ANSWER];
    if (!answer) throw new Error(words.noAnswer);
    if (answer.sentence) throw new Error(answer.sentence);
    return { ...answer, saved: new Date(saved * 1000) };
  }

  /** Select a cell of a notebook, scroll to it, and give it the focus. False where there is none of that name. */
  async function goTo(app, panel, cell) {
    const notebook = panel.content;
    const at = notebook.widgets.findIndex(
      ({ model }) => (model.getMetadata('nbgrader')?.grade_id ?? model.id) === cell
    );
    if (at < 0) return false;
    app.shell.activateById(panel.id);
    notebook.deselectAll();
    notebook.activeCellIndex = at;
    notebook.mode = 'command';
    await notebook.scrollToItem(at, 'start');
    notebook.activate();
    return true;
  }

  function createPanel(app, Widget) {
    const widget = new Widget({ node: document.createElement('div') });
    widget.id = NAME;
    const { node } = widget;
    node.tabIndex = -1;
    node.setAttribute('role', 'region');
    node.setAttribute('aria-label', NAMED);
    element('style', node, { text: STYLE });
    const heading = element('h2', node, { text: NAMED });
    const again = element('button', node, { text: NAMED, type: 'button', class: 'viva-again', title: TABLE.en.caption });
    const status = element('p', node, { text: EXPLAIN, role: 'status', 'aria-live': 'polite' });
    const next = element('p', node, { class: 'viva-next' });
    const results = element('div', node);
    let checked = null;
    let words = TABLE.en;
    let running = false;

    again.addEventListener('click', () => void app.commands.execute(COMMAND));

    // A live region is read out when its text changes, so the same sentence twice is not.
    const say = sentence => {
      if (status.textContent !== sentence) status.textContent = sentence;
    };

    function button(parent, text, act) {
      element('button', parent, { text, type: 'button', class: 'viva-link' }).addEventListener('click', () => void act());
    }

    function link(parent, text, cell) {
      button(parent, text, async () => {
        if (checked.isDisposed) say(words.closed);
        else if (!(await goTo(app, checked, cell))) say(fill(words.noCell, { cell }));
      });
    }

    function show({ checks, remarks, summary, feedback, saved }) {
      const [first, ...others] = list(summary).map(String);
      if (feedback) {
        const place = element('p', results, { text: words.feedback });
        const path = [...checked.context.path.split('/').slice(0, -1), String(feedback.path)].join('/');
        button(place, String(feedback.title), () => app.commands.execute('docmanager:open', { path, factory: 'HTML Viewer' }));
      }
      for (const remark of list(remarks)) element('p', results, { text: String(remark) });
      const open = list(checks).find(({ state, answer, undone }) => state !== 'passed' && (answer || list(undone).length));
      if (open) {
        const answer = String(list(open.undone)[0] ?? open.answer);
        link(next, fill(words.answer, { cell: answer }), answer);
      }
      let group, cell, linked;
      for (const check of list(checks)) {
        if (check.cell !== cell) {
          cell = String(check.cell);
          link(element('h3', results), fill(words.cell, { cell }), cell);
          group = element('ul', results, { role: 'list' });
          linked = new Set();
        }
        const causes = check.state === 'not checked' && list(check.told).length > 1; // else it is as above
        const item = element('li', group, { 'data-state': causes ? 'cause' : check.state });
        element('span', item, { text: `${MARKS[check.state] ?? '\u2717'} `, 'aria-hidden': 'true' });
        element('span', item, { text: String(check.word ?? check.state), class: 'viva-state' });
        item.append(`, ${pointsIn(words, Number(check.points))}: ${check.title}`);
        const undone = list(check.undone).map(String);
        if (!undone.length) {
          for (const line of list(check.told)) element('p', item, { text: String(line), class: 'viva-hint' });
        }
        for (const answer of check.answer ? [...undone, String(check.answer)] : undone) {
          if (!linked.has(answer)) link(element('p', item), fill(words.answer, { cell: answer }), answer);
          linked.add(answer);
        }
      }
      for (const sentence of [...others, fill(words.savedAt, { time: saved.toLocaleTimeString(words.html) })]) element('p', results, { text: sentence });
      status.className = 'viva-number';
      say(first ?? '');
    }

    widget.check = async panel => {
      if (running) return say(words.already);
      running = true;
      again.setAttribute('aria-disabled', 'true');
      checked = panel;
      heading.textContent = `${NAMED}: ${panel.title.label}`;
      words = wordsOf(panel);
      results.lang = status.lang = next.lang = words.html;
      again.title = words.caption;
      results.replaceChildren();
      next.replaceChildren();
      status.className = '';
      say(words.running);
      try {
        show(await ask(app, panel, say, words));
      } catch (error) {
        say(error.message);
      } finally {
        running = false;
        again.removeAttribute('aria-disabled');
      }
    };
    widget.say = say;
    return widget;
  }

  async function plugins() {
    const names = ['@jupyterlab/notebook', '@jupyterlab/apputils', '@jupyterlab/ui-components', '@lumino/widgets'];
    const [{ INotebookTracker }, { ICommandPalette }, { checkIcon }, { Widget }] = await Promise.all(names.map(shared));
    return {
      id: `${NAME}:plugin`,
      autoStart: true,
      requires: [INotebookTracker],
      optional: [ICommandPalette],
      activate(app, tracker, palette) {
        const panel = createPanel(app, Widget);
        panel.title.icon = checkIcon;
        panel.title.caption = NAMED;
        app.commands.addCommand(COMMAND, {
          label: NAMED,
          caption: TABLE.en.caption,
          describedBy: { args: { type: 'object', properties: {} } },
          execute: () => {
            if (!panel.isAttached) app.shell.add(panel, 'right', { rank: 900 });
            app.shell.activateById(panel.id);
            panel.node.focus();
            return tracker.currentWidget ? panel.check(tracker.currentWidget) : panel.say(NO_NOTEBOOK);
          },
        });
        palette?.addItem({ command: COMMAND, category: 'Notebook Operations' });
      },
    };
  }

  (window._JUPYTERLAB ??= {})[NAME] = {
    init(shareScope) {
      scope = shareScope;
    },
    async get(module) {
      if (module !== './extension') throw new Error(`Module "${module}" does not exist in container.`);
      const plugin = await plugins();
      return () => ({ __esModule: true, default: plugin });
    },
  };
})();
