// SPDX-License-Identifier: Apache-2.0
// One desktop: its picture, looked at again about once a second.

import { Api, ApiError, explain, sentence } from './api.js';
import { Session } from './session.js';
import { element, forgetPicture, lookWhileVisible, showNotice, showPicture, showState, tokenPanel } from './view.js';

const pause = 1000;
const session = new Session(sessionStorage);
const heading = document.getElementById('name');
const state = document.getElementById('state');
const notice = document.getElementById('notice');
const picture = document.getElementById('picture');
const panel = document.getElementById('panel');
const reference = decodeURIComponent(location.pathname.split('/').pop());

let etag = null;
let shown = '';  // what the panel says now, so that it is drawn once
let ended = () => {};

function showPanel(key, make) {
    if (shown === key) return;
    shown = key;
    panel.replaceChildren(...(make ? [make()] : []));
}

function hidePicture() {
    etag = null;
    picture.hidden = true;
    forgetPicture(picture);
}

function quietPanel(title, ...children) {
    return element('section', { className: 'panel' },
        element('img', { src: '/assets/icon.svg', alt: '', width: 72, height: 72 }),
        element('h2', {}, title), ...children);
}

function startLine(name) {
    return element('p', {}, 'Start it with ', element('code', {}, `dormouse start ${name}`), '.');
}

function failurePanel(desktop) {
    const lines = [desktop.reason, desktop.exit?.status && `its machine ended with ${desktop.exit.status}`]
        .filter(Boolean).map(sentence);
    const output = desktop.exit?.stderr?.length ? [element('pre', {}, desktop.exit.stderr.join('\n'))] : [];
    return quietPanel('This desktop has failed', ...lines.map((line) => element('p', {}, line)), ...output,
        startLine(desktop.name));
}

const quietStates = {
    creating: () => quietPanel('Being made', element('p', {}, 'The picture appears in a moment.')),
    starting: () => quietPanel('Starting', element('p', {}, 'The picture appears in a moment.')),
    stopping: () => quietPanel('Stopping'),
    stopped: (desktop) => quietPanel('This desktop is stopped', startLine(desktop.name)),
    failed: failurePanel,
    deleting: () => quietPanel('Being deleted'),
};

/** Shows the desktop's name and state, and in place of the picture why there is none. */
function showDesktop(desktop) {
    if (heading.textContent !== desktop.name) heading.textContent = desktop.name;
    const title = `${desktop.name} · Dormouse`;
    if (document.title !== title) document.title = title;
    showState(state, desktop);
    const quiet = quietStates[desktop.state];
    if (quiet) hidePicture();
    showPanel(quiet ? JSON.stringify([desktop.state, desktop.reason, desktop.exit]) : '', quiet && (() => quiet(desktop)));
    return !quiet;
}

function showGone(error) {
    hidePicture();
    state.textContent = '';
    state.className = '';
    showNotice(notice, '');
    showPanel('gone', () => quietPanel('There is no such desktop', element('p', {}, explain(error)),
        element('p', {}, element('a', { href: '/' }, 'All desktops'))));
}

function askForToken(problem) {
    ended();
    hidePicture();
    heading.textContent = reference;
    state.textContent = '';
    state.className = '';
    showNotice(notice, '');
    shown = '';
    showPanel('token', () => tokenPanel({
        name: reference,
        problem,
        onToken: (token) => {
            session.token = token;
            showPanel('');
            begin();
        },
    }));
}

async function refreshPicture(api, signal) {
    const next = await api.picture(reference, etag, signal);
    if (!next) return;
    etag = next.etag;
    await showPicture(picture, next);
    picture.alt = `The screen of ${heading.textContent}`;
    picture.hidden = false;
}

async function look(api, signal) {
    try {
        const desktop = await api.desktop(reference, signal);
        if (showDesktop(desktop)) await refreshPicture(api, signal);
        showNotice(notice, '');
        picture.classList.remove('stale');
    } catch (error) {
        if (signal.aborted) return;
        if (error.code === 'unauthenticated') {
            session.forget();
            return askForToken('The token of this tab is not known any more.');
        }
        if (error instanceof ApiError && error.code === 'not_found') return showGone(error);
        showNotice(notice, explain(error));
        picture.classList.add('stale');
    }
}

function begin() {
    const api = new Api(session.token);
    ended = lookWhileVisible((signal) => look(api, signal), pause);
}

function open() {
    session.takeFromAddress(location, history);
    ended();
    if (session.token) begin();
    else askForToken();
}

// A link pasted into this tab changes the fragment only, and nothing is loaded.
window.addEventListener('hashchange', () => {
    showPanel('');
    open();
});
open();
