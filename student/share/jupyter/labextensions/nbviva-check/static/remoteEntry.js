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

  const WORDS = {
    heading: 'Check',
    caption: 'Save the notebook and run its visible checks',
    explain: 'Runs the visible checks of this notebook.',
    noNotebook: 'No notebook is open. Open one, then press Check.',
    noKernel: 'This notebook has no kernel. Choose one with Kernel > Change Kernel, then press Check.',
    dead: 'The kernel is dead. Start it with Kernel > Restart Kernel, then press Check.',
    disconnected: 'JupyterLab has lost its connection to the kernel. Wait until it is back, then press Check.',
    notSaved: 'The notebook was not saved, so it was not checked. Save it, then press Check.',
    busy: 'The kernel is busy. The check begins when it is free. Kernel > Interrupt Kernel stops what runs.',
    running: 'The checks are running. Kernel > Interrupt Kernel stops them.',
    already: 'The checks are still running.',
    aborted: 'The check did not run, because the kernel was interrupted. Press Check again.',
    interrupted: 'The check was stopped, because the kernel was interrupted. Press Check again.',
    ended: 'The check did not finish, because the kernel ended or was restarted. Press Check again.',
    noViva: 'This kernel does not have Viva. Run this in a cell, then press Check: %pip install nbviva-check',
    oldViva: 'Viva in this kernel is too old for the button. Run this in a cell: %pip install --upgrade nbviva-check. '
      + 'Then restart the kernel and press Check.',
    noAnswer: 'The kernel gave no answer to the check. Restart it, then press Check.',
    closed: 'This notebook was closed. Open it, then press Check.',
    otherLanguage: language => `The kernel of this notebook runs ${language}. Only Python can be checked.`,
    failed: (kind, message) => `The check failed: ${kind}: ${message}`,
    noCell: cell => `The notebook has no cell '${cell}'.`,
    feedback: 'Your last feedback: ',
    savedAt: time => `Checked as it was saved at ${time}.`,
    points: points => `${points} ${points === 1 ? 'point' : 'points'}`,
    cell: cell => `Cell ${cell}`,
    answer: cell => `Go to ${cell}`,
  };

  const STYLE = `
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
    #${NAME} button.viva-link { background: none; border: 0; padding: 2px 0; color: var(--jp-content-link-color, #1565c0);
      text-decoration: underline; min-height: 24px; }
    #${NAME} button.viva-again { background: var(--jp-layout-color2); color: inherit; padding: 4px 12px;
      border: 1px solid var(--jp-border-color1); border-radius: 3px; }
    #${NAME} button.viva-again[aria-disabled=true] { opacity: .6; cursor: default; }
    #${NAME}:focus { outline: none; }
    #${NAME} button:focus-visible, #${NAME}:focus-visible { outline: 2px solid var(--jp-brand-color1); outline-offset: -1px; }
    #${NAME} li { --viva-state: #cf222e; }
    #${NAME} li[data-state=passed] { --viva-state: #1a7f37; }
    #${NAME} li:is([data-state='partly right'], [data-state='not done yet']) { --viva-state: #9a6700; }
    #${NAME} li[data-state='not checked'] { --viva-state: var(--jp-border-color1); }
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
  async function ask(app, panel, say) {
    const { context, sessionContext } = panel;
    if (!sessionContext.session?.kernel) {
      await Promise.race([sessionContext.ready, new Promise(done => setTimeout(done, MOST_STARTING))]);
    }
    const kernel = sessionContext.session?.kernel;
    if (!kernel) throw new Error(WORDS.noKernel);
    if (kernel.status === 'dead') throw new Error(WORDS.dead);
    if (kernel.connectionStatus === 'disconnected') throw new Error(WORDS.disconnected);
    const language = app.serviceManager.kernelspecs.specs?.kernelspecs[kernel.name]?.language;
    if (language && language.toLowerCase() !== 'python') throw new Error(WORDS.otherLanguage(language));
    if (context.contentsModel?.writable !== false) {
      try {
        await context.save();
      } catch {
        throw new Error(WORDS.notSaved);
      }
    }
    say(kernel.status === 'busy' ? WORDS.busy : WORDS.running);
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
        if (message.header.msg_type === 'status' && message.content.execution_state === 'busy') say(WORDS.running);
      };
      reply = (await request.done).content;
    } catch {
      throw new Error(WORDS.ended);
    }
    if (reply.status === 'aborted') throw new Error(WORDS.aborted);
    const result = reply.user_expressions?.viva;
    if (result?.status === 'error') {
      if (result.ename === 'ModuleNotFoundError') throw new Error(WORDS.noViva);
      if (result.ename === 'AttributeError') throw new Error(WORDS.oldViva);
      if (result.ename === 'KeyboardInterrupt') throw new Error(WORDS.interrupted);
      throw new Error(WORDS.failed(result.ename, result.evalue));
    }
    const answer = result?.data?.[ANSWER];
    if (!answer) throw new Error(WORDS.noAnswer);
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
    node.setAttribute('aria-label', WORDS.heading);
    element('style', node, { text: STYLE });
    const heading = element('h2', node, { text: WORDS.heading });
    const again = element('button', node, { text: WORDS.heading, type: 'button', class: 'viva-again', title: WORDS.caption });
    const status = element('p', node, { text: WORDS.explain, role: 'status', 'aria-live': 'polite' });
    const results = element('div', node);
    let checked = null;
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
        if (checked.isDisposed) say(WORDS.closed);
        else if (!(await goTo(app, checked, cell))) say(WORDS.noCell(cell));
      });
    }

    function show({ checks, remarks, summary, feedback, saved }) {
      const [first, ...others] = list(summary).map(String);
      if (feedback) {
        const place = element('p', results, { text: WORDS.feedback });
        const path = [...checked.context.path.split('/').slice(0, -1), String(feedback.path)].join('/');
        button(place, String(feedback.title), () => app.commands.execute('docmanager:open', { path, factory: 'HTML Viewer' }));
      }
      for (const remark of list(remarks)) element('p', results, { text: String(remark) });
      let group, cell, linked;
      for (const check of list(checks)) {
        if (check.cell !== cell) {
          cell = String(check.cell);
          link(element('h3', results), WORDS.cell(cell), cell);
          group = element('ul', results, { role: 'list' });
          linked = new Set();
        }
        const item = element('li', group, { 'data-state': check.state });
        element('span', item, { text: `${MARKS[check.state] ?? '\u2717'} `, 'aria-hidden': 'true' });
        element('span', item, { text: String(check.state), class: 'viva-state' });
        item.append(`, ${WORDS.points(Number(check.points))}: ${check.title}`);
        const undone = list(check.undone).map(String);
        if (!undone.length) {
          for (const line of list(check.told)) element('p', item, { text: String(line), class: 'viva-hint' });
        }
        for (const answer of check.answer ? [...undone, String(check.answer)] : undone) {
          if (!linked.has(answer)) link(element('p', item), WORDS.answer(answer), answer);
          linked.add(answer);
        }
      }
      for (const sentence of [...others, WORDS.savedAt(saved.toLocaleTimeString())]) element('p', results, { text: sentence });
      say(first ?? '');
    }

    widget.check = async panel => {
      if (running) return say(WORDS.already);
      running = true;
      again.setAttribute('aria-disabled', 'true');
      checked = panel;
      heading.textContent = `${WORDS.heading}: ${panel.title.label}`;
      results.replaceChildren();
      say(WORDS.running);
      try {
        show(await ask(app, panel, say));
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
        panel.title.caption = WORDS.heading;
        app.commands.addCommand(COMMAND, {
          label: WORDS.heading,
          caption: WORDS.caption,
          describedBy: { args: { type: 'object', properties: {} } },
          execute: () => {
            if (!panel.isAttached) app.shell.add(panel, 'right', { rank: 900 });
            app.shell.activateById(panel.id);
            panel.node.focus();
            return tracker.currentWidget ? panel.check(tracker.currentWidget) : panel.say(WORDS.noNotebook);
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
