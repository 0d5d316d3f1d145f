// Compiles WGSL in Dawn, Chrome's implementation of WebGPU, on its backend that runs nothing.
//
// A request is { wgsl, entry, constants: [{ NAME: number }, ...] }: a module, and a compute pipeline for each set of override
// constants. The answer is { messages: [errors], pipelines: how many were made }.

import { answerLines, fromPackages } from './lines.mjs';

const { create, globals } = await fromPackages('webgpu/index.js');
Object.assign(globalThis, globals);
// It has to outlive what comes from it, and nothing else refers to it.
const gpu = (globalThis.gpu = create(['backend=null']));
const adapter = await gpu.requestAdapter();
if (!adapter) throw new Error('Dawn has no null backend');
// The features that sinew asks for where an adapter has them, and WebGPU's default limits.
const device = await adapter.requestDevice();

await answerLines(async ({ wgsl, entry, constants }) => {
    device.pushErrorScope('validation');
    const module = device.createShaderModule({ code: wgsl });
    const { messages } = await module.getCompilationInfo();
    const errors = messages
        .filter((message) => message.type === 'error')
        .map((message) => `${message.lineNum}:${message.linePos} ${message.message}`);
    let pipelines = 0;
    if (errors.length === 0) {
        for (const values of constants ?? []) {
            try {
                await device.createComputePipelineAsync({
                    layout: 'auto',
                    compute: { module, entryPoint: entry, constants: values },
                });
                pipelines += 1;
            } catch (error) {
                errors.push(`${JSON.stringify(values)}: ${error.message}`);
            }
        }
    }
    const uncaught = await device.popErrorScope();
    if (uncaught && errors.length === 0) errors.push(uncaught.message);
    return { messages: errors, pipelines };
});
