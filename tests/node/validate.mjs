// The Khronos validator on many files, in one process.
//
//     SINEW_NODE=FOLDER node validate.mjs FILE...    prints the issues of each file; exits with 1 if there is an error
//     SINEW_NODE=FOLDER node validate.mjs            answers requests, one JSON object per line:
//
// {"file": FILE}    {"issues": [{"severity", "code", "message", "pointer"}]}; severities are "error", "warning",
//                   "information" and "hint". A file that is no glTF at all is an error of code UNREADABLE.

import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { answerLines, fromPackages } from './lines.mjs';

const SEVERITIES = ['error', 'warning', 'information', 'hint'];

const { validateBytes } = await fromPackages('gltf-validator/module.mjs');

async function validate(file) {
    const options = {
        maxIssues: 0,
        writeTimestamp: false,
        // Files beside it: an URI is percent-encoded.
        externalResourceFunction: async uri =>
            new Uint8Array(await readFile(join(dirname(file), decodeURIComponent(uri)))),
    };
    try {
        const report = await validateBytes(new Uint8Array(await readFile(file)), options);
        return report.issues.messages.map(({ severity, code, message, pointer, offset }) =>
            ({ severity: SEVERITIES[severity], code, message, pointer: pointer ?? `byte ${offset}` }));
    } catch (error) {
        return [{ severity: 'error', code: 'UNREADABLE', message: String(error), pointer: '' }];
    }
}

const files = process.argv.slice(2);
if (files.length === 0) {
    await answerLines(async ({ file }) => ({ issues: await validate(file) }));
} else {
    let errors = 0;
    for (const file of files) {
        for (const { severity, code, message, pointer } of await validate(file)) {
            errors += severity === 'error';
            console.log(`${file}: ${severity} ${code} ${pointer}: ${message}`);
        }
    }
    process.exitCode = errors > 0 ? 1 : 0;
}
