// SPDX-License-Identifier: Apache-2.0
// What both pages draw with, and when they look again.

import { tokenIn } from './session.js';

/** element('p', { className: 'x' }, 'text', child): text is never read as HTML. */
export function element(name, properties = {}, ...children) {
    const node = Object.assign(document.createElement(name), properties);
    node.append(...children);
    return node;
}

const stateWords = {
    creating: 'Being made',
    running: 'Running',
    starting: 'Starting',
    stopping: 'Stopping',
    stopped: 'Stopped',
    failed: 'Failed',
    deleting: 'Being deleted',
};

/** Whether there may be something on the screen: one can watch a desktop start and stop. */
export function mayHavePicture({ state }) {
    return state === 'running' || state === 'starting' || state === 'stopping';
}

export function stateWord(state) {
    return stateWords[state] ?? state;
}

/** Says the state in `node`; touches the page only when it is another one. */
export function showState(node, desktop) {
    const waiting = desktop.state === 'running' && !desktop.ready;
    const word = waiting ? 'Getting ready' : stateWord(desktop.state);
    const kind = waiting ? 'starting' : desktop.state;
    if (node.textContent === word) return;
    node.className = 'state';
    node.dataset.state = kind in stateWords ? kind : 'stopped';
    node.textContent = word;
}

export function showNotice(node, text) {
    if (node.textContent !== text) node.textContent = text;
    node.hidden = !text;
}

/** Shows a blob in an <img>, and lets go of the one before once this one is there. */
export async function showPicture(image, { blob, width, height }) {
    const url = URL.createObjectURL(blob);
    const before = image.dataset.url;
    image.dataset.url = url;
    if (width > 0 && height > 0) Object.assign(image, { width, height });
    await new Promise((resolve) => {
        // Also when it is broken: the next one will do.
        image.onload = image.onerror = resolve;
        image.src = url;
    });
    if (before) URL.revokeObjectURL(before);
}

export function forgetPicture(image) {
    image.onload?.();  // nobody waits for what does not come
    if (image.dataset.url) URL.revokeObjectURL(image.dataset.url);
    delete image.dataset.url;
    image.removeAttribute('src');
}

function command(text) {
    return element('code', {}, text);
}

/** Asks for a token. `problem` says why the one there was did not do. */
export function tokenPanel({ name, problem, onToken }) {
    const show = name ? `./dormouse show ${name}` : './dormouse show NAME';
    const field = element('input', {
        type: 'password', name: 'token', placeholder: 'Paste the link or the token', autocomplete: 'off',
        spellcheck: false, required: true, ariaLabel: 'Link or token',
    });
    const complaint = element('p', { className: 'complaint', role: 'alert', textContent: problem ?? '' });
    complaint.hidden = !problem;
    const form = element('form', {}, field, element('button', {}, 'Open'));
    form.addEventListener('submit', (event) => {
        event.preventDefault();
        const token = tokenIn(field.value);
        if (token) return onToken(token);
        complaint.textContent = 'That is neither a link of Dormouse nor a token.';
        complaint.hidden = false;
        field.select();
    });
    return element('section', { className: 'panel' },
        element('img', { src: '/assets/icon.svg', alt: '', width: 72, height: 72 }),
        element('h2', {}, 'Open this page with its link'),
        element('p', {}, 'On the machine where Dormouse runs, ', command('dormouse up'), ' and ', command(show),
            ' print a link with a token in it. The token stays in this tab and is gone when you close it.'),
        complaint, form);
}

/**
 * Calls `look(signal)` about every `pause` milliseconds, one at a time and only
 * while somebody can see the page. Returns a function that ends it.
 */
export function lookWhileVisible(look, pause) {
    let timer = null;
    let current = null;

    const round = async () => {
        timer = null;
        const mine = current = new AbortController();
        try {
            await look(mine.signal);
        } catch (error) {
            if (!mine.signal.aborted) console.error(error);
        }
        if (mine.signal.aborted) return;
        current = null;
        timer = setTimeout(round, pause);
    };
    const end = () => {
        clearTimeout(timer);
        timer = null;
        current?.abort();
        current = null;
    };
    const onVisibility = () => {
        end();
        if (document.visibilityState === 'visible') round();
    };
    document.addEventListener('visibilitychange', onVisibility);
    onVisibility();
    return () => {
        document.removeEventListener('visibilitychange', onVisibility);
        end();
    };
}
