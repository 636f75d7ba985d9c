// SPDX-License-Identifier: GPL-2.0-or-later
// stapgen mcp, asked by the reference client of the Model Context Protocol. By hand, for the client is 98 packages:
//   npm install --prefix /tmp/client @modelcontextprotocol/sdk@1.32.2
//   cp tests/mcp/client.mjs /tmp/client && node /tmp/client/client.mjs build/release/bin/stapgen samples
import assert from "node:assert/strict";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

const [program, folder] = process.argv.slice(2);
const client = new Client({ name: "stapgen-tests", version: "1" });
await client.connect(new StdioClientTransport({ command: program, args: ["mcp", folder] }));
const names = (await client.listTools()).tools.map((tool) => tool.name);
console.log(names.join(" "));

async function ask(name, given = {}) {
  const answer = await client.callTool({ name, arguments: given });
  return { failed: answer.isError === true, text: answer.content[0].text };
}
async function json(name, given) {
  const { failed, text } = await ask(name, given);
  assert(!failed, text);
  return JSON.parse(text);
}

const { text: files } = await ask("list_files");
assert.match(files, /^\d+ servers-parts\.rec$/m);
const recipes = (await json("list_recipes")).recipes.map((recipe) => recipe.name);
assert(recipes.includes("rx-latency"));
assert.equal((await json("show_recipe", { recipe: "rx-latency" })).name, "rx-latency");
const report = await json("report", { files: ["perf-drops.txt"] });
assert.equal(report.drops.reduce((sum, row) => sum + row.count, 0), 237);
const compared = await json("compare", { before: "slower-stage/before", after: "slower-stage/after" });
assert.equal(compared.result, "regression");
assert.match(compared.sentence, /^ip-tcp is slower/);
const findings = (await json("findings", { archives: ["sosreport.tar.xz"] })).findings;
assert.deepEqual(findings.map((finding) => [finding.name, finding.count]), [["listen-overflow", 21]]);
assert.match((await ask("help", { words: ["drop-reasons", "NO_SOCKET"] })).text, /nobody listens/);

assert((await ask("report", { files: ["../README.md"] })).failed);
assert((await ask("report", { files: ["/etc/passwd"] })).failed);
assert((await ask("report", { files: ["nothing-of-this-name"] })).failed);
await assert.rejects(ask("run"), /there is no such tool/);
await client.close();
console.log("PASS");
