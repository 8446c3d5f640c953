// SPDX-License-Identifier: Apache-2.0
// One desktop: its picture, looked at again about once a second.

import { Api, ApiError, explain, sentence } from './api.js';
import { Session } from './session.js';
import {
    element, forgetPicture, lookWhileVisible, mayHavePicture, showNotice, showPicture, showState, tokenPanel,
} from './view.js';

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
    return element('p', {}, 'Start it with ', element('code', {}, `./dormouse start ${name}`), '.');
}

function failurePanel(desktop) {
    const lines = [desktop.reason, desktop.exit?.status && `its machine ended with ${desktop.exit.status}`]
        .filter(Boolean).map(sentence);
    const output = desktop.exit?.stderr?.length ? [element('pre', {}, desktop.exit.stderr.join('\n'))] : [];
    return quietPanel('This desktop has failed', ...lines.map((line) => element('p', {}, line)), ...output,
        startLine(desktop.name));
}

const soon = () => element('p', {}, 'The picture appears in a moment.');
const quietPanels = {
    creating: () => quietPanel('Being made', soon()),
    running: () => quietPanel('Running', soon()),
    starting: () => quietPanel('Starting', soon()),
    stopping: () => quietPanel('Stopping'),
    stopped: (desktop) => quietPanel('This desktop is stopped', startLine(desktop.name)),
    failed: failurePanel,
    deleting: () => quietPanel('Being deleted'),
};

/** In place of the picture: why there is none. */
function showQuiet(desktop) {
    const make = quietPanels[desktop.state] ?? (() => quietPanel(desktop.state));
    hidePicture();
    showPanel(JSON.stringify([desktop.state, desktop.reason, desktop.exit]), () => make(desktop));
}

function showDesktop(desktop) {
    if (heading.textContent !== desktop.name) heading.textContent = desktop.name;
    const title = `${desktop.name} · Dormouse`;
    if (document.title !== title) document.title = title;
    showState(state, desktop);
}

function showGone() {
    hidePicture();
    state.textContent = '';
    state.className = '';
    showNotice(notice, '');
    heading.textContent = reference;
    showPanel('gone', () => quietPanel('There is no such desktop',
        element('p', {}, 'It may have been deleted. ', element('a', { href: '/' }, 'See all desktops'))));
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

async function refreshPicture(api, desktop, signal) {
    try {
        const next = await api.picture(reference, etag, signal);
        if (next) {
            etag = next.etag;
            await showPicture(picture, next);
            if (signal.aborted) return;
            picture.alt = `The screen of ${desktop.name}`;
        }
        picture.hidden = false;
        showPanel('');
    } catch (error) {
        // There is none yet, or none any more.
        if (!(error instanceof ApiError) || !['conflict', 'unavailable'].includes(error.code)) throw error;
        if (picture.hidden || desktop.state !== 'running') return showQuiet(desktop);
        throw error;
    }
}

async function look(api, signal) {
    try {
        const desktop = await api.desktop(reference, signal);
        showDesktop(desktop);
        if (mayHavePicture(desktop)) await refreshPicture(api, desktop, signal);
        else showQuiet(desktop);
        showNotice(notice, '');
        picture.classList.remove('stale');
    } catch (error) {
        if (signal.aborted) return;
        if (error.code === 'unauthenticated') {
            session.forget();
            return askForToken('The token of this tab is not known any more.');
        }
        if (error instanceof ApiError && error.code === 'not_found') return showGone();
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
