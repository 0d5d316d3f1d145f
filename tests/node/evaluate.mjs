// What three.js shows of glTF files: the points of every mesh in the world.
//
//     SINEW_NODE=FOLDER node evaluate.mjs    answers requests, one JSON object per line:
//
// {"file": FILE, "clip": INDEX or null, "times": [SECONDS], "out": FILE}
//     {"meshes": [{"node": INDEX, "primitive": INDEX, "points": COUNT}]}
//     For each time and each mesh, all points are written to "out" as f64.
//
// Points are `Mesh.getVertexPosition`: morph targets, then the skin, as the vertex shader of three.js has them. three.js reads four
// influences (JOINTS_0), and normalises their weights.

import { readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { answerLines, fromPackages } from './lines.mjs';

// What the loader asks of a browser.
globalThis.self = globalThis;
globalThis.ProgressEvent ??= class ProgressEvent extends Event {};

const three = await fromPackages('three/build/three.module.js');
const { GLTFLoader } = await fromPackages('three/examples/jsm/loaders/GLTFLoader.js');

// Pictures are decoded by browsers. Points need none of them.
class NoPictures {
    name = 'no-pictures';
    async loadTexture() {
        return new three.Texture();
    }
}

/** JSON and binary chunk of a file. */
function chunks(bytes) {
    if (bytes.subarray(0, 4).toString('latin1') !== 'glTF') {
        return [JSON.parse(bytes.toString('utf8'))];
    }
    const jsonEnd = 20 + bytes.readUInt32LE(12);
    const json = JSON.parse(bytes.subarray(20, jsonEnd).toString('utf8'));
    return [json, bytes.subarray(jsonEnd + 8)];
}

/** The text of a document with its buffers in it and without all scenes but one: the loader forgets which nodes others have. */
async function selfContained(file) {
    const [json, binary] = chunks(await readFile(file));
    for (const buffer of json.buffers ?? []) {
        if (buffer.uri?.startsWith('data:')) continue;
        const contents = buffer.uri
            ? await readFile(join(dirname(file), decodeURIComponent(buffer.uri)))
            : binary.subarray(0, buffer.byteLength);
        buffer.uri = `data:application/octet-stream;base64,${contents.toString('base64')}`;
    }
    if (json.scenes) json.scenes = [json.scenes[json.scene ?? 0]];
    json.scene = 0;
    return JSON.stringify(json);
}

async function load(file) {
    const loader = new GLTFLoader();
    loader.register(() => new NoPictures());
    return loader.parseAsync(await selfContained(file), '');
}

async function evaluate({ file, clip, times, out }) {
    const gltf = await load(file);
    const scene = gltf.scene ?? gltf.scenes[0];
    const meshes = [];
    scene.traverse(object => {
        if (object.isMesh) meshes.push(object);
    });
    let mixer, action;
    if (clip !== null && clip !== undefined) {
        mixer = new three.AnimationMixer(scene);
        action = mixer.clipAction(gltf.animations[clip]);
        action.setLoop(three.LoopOnce);
        action.clampWhenFinished = true;
        action.play();
    }
    const counts = meshes.map(mesh => mesh.geometry.attributes.position.count);
    const all = new Float64Array(3 * times.length * counts.reduce((a, b) => a + b, 0));
    const point = new three.Vector3();
    let at = 0;
    for (const time of times) {
        if (action) {
            action.paused = false;
            action.time = time;
            mixer.update(0);
        }
        scene.updateMatrixWorld(true);
        meshes.forEach((mesh, i) => {
            for (let vertex = 0; vertex < counts[i]; vertex++, at += 3) {
                mesh.getVertexPosition(vertex, point).applyMatrix4(mesh.matrixWorld).toArray(all, at);
            }
        });
    }
    await writeFile(out, new Uint8Array(all.buffer));
    const described = meshes.map((mesh, i) => {
        const association = gltf.parser.associations.get(mesh) ?? {};
        const node = association.nodes ?? gltf.parser.associations.get(mesh.parent)?.nodes;
        return { node, primitive: association.primitives ?? 0, points: counts[i] };
    });
    return { meshes: described };
}

await answerLines(evaluate);
