// SPDX-License-Identifier: Apache-2.0
// The token of this tab. It comes in the fragment of the link, which browsers
// do not send to anybody; it is kept for the life of the tab and leaves only as
// a header of requests to this server.

const key = 'dormouse.token';

/** A token out of what people paste: the token itself, or the whole link. */
export function tokenIn(text) {
    const match = /(?:^|[#&])token=([^&\s]+)/.exec(text);
    const token = match ? decode(match[1]) : text.trim();
    return /^[A-Za-z0-9._~+/=-]{1,200}$/.test(token) ? token : null;
}

function decode(text) {
    try {
        return decodeURIComponent(text);
    } catch {
        return '';
    }
}

export class Session {
    #storage;

    constructor(storage) {
        this.#storage = storage;
    }

    get token() {
        return this.#storage.getItem(key);
    }

    set token(token) {
        this.#storage.setItem(key, token);
    }

    forget() {
        this.#storage.removeItem(key);
    }

    /** Takes the token out of the address bar, so that it is not in the history or on a shared screen. */
    takeFromAddress(location, history) {
        if (!/(?:^#|&)token=/.test(location.hash)) return;
        const token = tokenIn(location.hash);
        if (token) this.token = token;
        history.replaceState(history.state, '', location.pathname + location.search);
    }
}
