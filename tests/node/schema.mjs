// Ajv, a JSON Schema validator (draft 2020-12), answers requests, one JSON object per line:
//
// {"schema": FILE, "value": ANY}    {"errors": [text]}; a schema that is none is a bug

import { readFile } from 'node:fs/promises';
import { answerLines, fromPackages } from './lines.mjs';

const { default: { default: Ajv } } = await fromPackages('ajv/dist/2020.js');
const ajv = new Ajv({ allErrors: true, strict: false });
const validators = new Map();

await answerLines(async ({ schema, value }) => {
    if (!validators.has(schema)) validators.set(schema, ajv.compile(JSON.parse(await readFile(schema))));
    const validate = validators.get(schema);
    return { errors: validate(value) ? [] : validate.errors.map(e => `${e.instancePath}: ${e.message} ${JSON.stringify(e.params)}`) };
});
