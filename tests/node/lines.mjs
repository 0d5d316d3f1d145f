// What both scripts share: where the packages are, and the loop that answers requests.
//
// SINEW_NODE is the folder whose `node_modules` hold what package.json asks for (tests/run.sh makes one).

import { createInterface } from 'node:readline';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** Imports a file of the packages in SINEW_NODE, such as `three/build/three.module.js`. */
export function fromPackages(file) {
    const folder = process.env.SINEW_NODE;
    if (!folder) throw new Error('SINEW_NODE: expected the folder of node_modules');
    return import(pathToFileURL(join(folder, 'node_modules', file)).href);
}

/**
 * Answers requests: each line of standard input is a JSON object, and gets one line with a JSON object. An
 * answer with `error` holds the trace of what went wrong.
 */
export async function answerLines(answer) {
    for await (const line of createInterface({ input: process.stdin })) {
        let reply;
        try {
            reply = await answer(JSON.parse(line));
        } catch (error) {
            reply = { error: String(error?.stack ?? error) };
        }
        process.stdout.write(JSON.stringify(reply) + '\n');
    }
}
