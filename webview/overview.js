// SPDX-License-Identifier: Apache-2.0
// All desktops, each with a small picture.

import { Api, ApiError, explain, sentence } from './api.js';
import { Session } from './session.js';
import {
    element, forgetPicture, lookWhileVisible, mayHavePicture, showNotice, showPicture, showState, tokenPanel,
} from './view.js';

const pause = 2000;
const session = new Session(sessionStorage);
const summary = document.getElementById('summary');
const notice = document.getElementById('notice');
const grid = document.getElementById('grid');
const panel = document.getElementById('panel');

/** One desktop in the grid. */
class Card {
    #etag = null;
    #image = element('img', { alt: '', hidden: true });
    #asleep = element('img', { className: 'nobody', src: '/assets/icon.svg', alt: '', width: 56, height: 56 });
    #name = element('span', { className: 'name' });
    #state = element('span');

    constructor(desktop) {
        this.node = element('a', { className: 'card', href: `/desktops/${encodeURIComponent(desktop.name)}` },
            element('div', { className: 'thumb' }, this.#asleep, this.#image),
            element('div', { className: 'label' }, this.#name, this.#state));
        this.#name.textContent = desktop.name;
        this.show(desktop);
    }

    show(desktop) {
        showState(this.#state, desktop);
        this.node.title = sentence(desktop.reason);
        if (!mayHavePicture(desktop)) this.#clear();
    }

    async refresh(api, desktop, signal) {
        if (!mayHavePicture(desktop)) return;
        try {
            const picture = await api.picture(desktop.id, this.#etag, signal);
            if (!picture) return;
            this.#etag = picture.etag;
            await showPicture(this.#image, picture);
            if (signal.aborted) return;
            this.#image.alt = `The screen of ${desktop.name}`;
            this.#image.hidden = false;
            this.#asleep.hidden = true;
        } catch (error) {
            // The card goes on without: it may just have been stopped.
            if (!(error instanceof ApiError) || error.code === 'unreachable') throw error;
        }
    }

    #clear() {
        this.#etag = null;
        forgetPicture(this.#image);
        this.#image.hidden = true;
        this.#asleep.hidden = false;
    }

    remove() {
        this.#clear();
        this.node.remove();
    }
}

const cards = new Map();
let ended = () => {};

function showDesktops(desktops) {
    const ids = new Set(desktops.map(({ id }) => id));
    for (const [id, card] of cards) {
        if (ids.has(id)) continue;
        card.remove();
        cards.delete(id);
    }
    for (const desktop of desktops) {
        if (cards.has(desktop.id)) {
            cards.get(desktop.id).show(desktop);
        } else {
            const card = new Card(desktop);
            cards.set(desktop.id, card);
            grid.append(card.node);
        }
    }
}

function summarise(desktops) {
    const running = desktops.filter(({ state }) => state === 'running').length;
    const count = desktops.length === 1 ? '1 desktop' : `${desktops.length} desktops`;
    const text = desktops.length === 0 ? '' : `${count}, ${running} running`;
    if (summary.textContent !== text) summary.textContent = text;
}

function showEmpty(empty) {
    if (!empty) return panel.replaceChildren();
    if (panel.childElementCount > 0) return;
    panel.replaceChildren(element('section', { className: 'panel' },
        element('img', { src: '/assets/icon.svg', alt: '', width: 72, height: 72 }),
        element('h2', {}, 'No desktops yet'),
        element('p', {}, 'Make one with ', element('code', {}, 'dormouse create'), ', and it appears here.')));
}

function askForToken(problem) {
    ended();
    showDesktops([]);
    summarise([]);
    showNotice(notice, '');
    panel.replaceChildren(tokenPanel({
        problem,
        onToken: (token) => {
            session.token = token;
            panel.replaceChildren();
            begin();
        },
    }));
}

async function look(api, signal) {
    try {
        const desktops = await api.desktops(signal);
        showDesktops(desktops);
        summarise(desktops);
        showEmpty(desktops.length === 0);
        showNotice(notice, '');
        await Promise.all(desktops.map((desktop) => cards.get(desktop.id).refresh(api, desktop, signal)));
    } catch (error) {
        if (signal.aborted) return;
        if (error.code === 'unauthenticated') {
            session.forget();
            return askForToken('The token of this tab is not known any more.');
        }
        showNotice(notice, explain(error));
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
    panel.replaceChildren();
    open();
});
open();
