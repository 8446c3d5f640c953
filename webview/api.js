// SPDX-License-Identifier: Apache-2.0
// The API of this server, as far as the pages need it. Knows nothing of the page.

/** Why a request did not work, in a sentence for people. */
export class ApiError extends Error {
    constructor(code, message, hint = '') {
        super(message);
        this.code = code;
        this.hint = hint;
    }
}

/** What the server says, as a sentence: "the desktop is stopped" begins small and ends without a stop. */
export function sentence(text) {
    if (!text) return '';
    const first = text[0].toUpperCase() + text.slice(1);
    return /[.!?…]$/.test(first) ? first : `${first}.`;
}

/** An ApiError as what is shown: "The desktop is stopped. Start it first." */
export function explain(error) {
    if (!(error instanceof ApiError)) return 'This page has a mistake. Loading it again may help.';
    return [sentence(error.message), sentence(error.hint)].filter(Boolean).join(' ');
}

async function errorOf(response) {
    try {
        const { error } = await response.json();
        return new ApiError(error.code, error.message, error.hint);
    } catch {
        return new ApiError('internal', `the server answered with status ${response.status}`);
    }
}

export class Api {
    #token;
    #fetch;

    constructor(token, fetchFunction = (...args) => fetch(...args)) {
        this.#token = token;
        this.#fetch = fetchFunction;
    }

    async desktops(signal) {
        return (await (await this.#get('/v1/desktops', { signal })).json()).desktops;
    }

    async desktop(name, signal) {
        return (await this.#get(`/v1/desktops/${encodeURIComponent(name)}`, { signal })).json();
    }

    /** The picture of a desktop as { blob, etag, width, height }, or null when it is still the one of `etag`. */
    async picture(name, etag, signal) {
        const headers = etag ? { 'If-None-Match': etag } : {};
        const response = await this.#get(`/v1/desktops/${encodeURIComponent(name)}/screenshot`, { headers, signal });
        if (response.status === 304) return null;
        return {
            blob: await response.blob(),
            etag: response.headers.get('ETag'),
            width: Number(response.headers.get('X-Dormouse-Width')),
            height: Number(response.headers.get('X-Dormouse-Height')),
        };
    }

    async #get(path, { headers = {}, signal } = {}) {
        let response;
        try {
            response = await this.#fetch(path, {
                headers: { ...headers, Authorization: `Bearer ${this.#token}` },
                cache: 'no-store',
                credentials: 'omit',
                redirect: 'error',
                signal,
            });
        } catch (error) {
            if (signal?.aborted) throw error;
            throw new ApiError('unreachable', 'Dormouse does not answer', 'Is the daemon running? Trying again…');
        }
        if (!response.ok && response.status !== 304) throw await errorOf(response);
        return response;
    }
}
