// SPDX-License-Identifier: GPL-2.0-or-later
// client.mjs STAPGEN SAMPLES: stapgen mcp, asked by the reference client of the Model Context Protocol: each tool in each
// revision, its answers looked at. The client checks each structured answer against the tool's schema.
import assert from "node:assert/strict";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

const REVISIONS = ["2025-11-25", "2025-06-18", "2025-03-26"];
const [program, samples] = process.argv.slice(2);
const folder = fs.mkdtempSync(path.join(os.tmpdir(), "stapgen-client-"));

function makeFolder() {
  for (const name of ["perf-drops.txt", "sosreport.tar.xz", "ledger.rec", "servers-parts.rec", "packet-flow.rec", "slower-stage", "six-hosts", "pair"])
    fs.cpSync(path.join(samples, name), path.join(folder, name), { recursive: true });
  fs.cpSync(path.join(samples, "../tests/golden/why/nagle.txt"), path.join(folder, "nagle.txt"));
  const symbols = Array.from({ length: 99 }, (_, n) => `${(0xffffffff81000000n + BigInt(n * 64)).toString(16)} T f${n}\n`);
  fs.writeFileSync(path.join(folder, "System.map"), symbols.join(""));
}

async function askAll(revision) {
  const client = new Client({ name: "stapgen-tests", version: "1" });
  const transport = new StdioClientTransport({ command: program, args: ["mcp", folder], stderr: "inherit" });
  const send = transport.send.bind(transport);
  transport.send = (message, options) => {
    if (message.method === "initialize") message.params.protocolVersion = revision;
    return send(message, options);
  };
  let agreed;
  transport.setProtocolVersion = (version) => (agreed = version);
  await client.connect(transport);
  assert.equal(agreed, revision);
  const tools = new Set((await client.listTools()).tools.map((tool) => tool.name));
  const asked = new Set();

  async function ask(name, given = {}) {
    asked.add(name);
    const answer = await client.callTool({ name, arguments: given });
    return { failed: answer.isError === true, text: answer.content[0].text, answers: answer.structuredContent?.answers };
  }
  async function documents(name, given) {
    const { failed, text, answers } = await ask(name, given);
    assert(!failed, text);
    return answers;
  }
  async function one(name, given) {
    const answers = await documents(name, given);
    assert.equal(answers.length, 1, name);
    return answers[0];
  }

  assert.match((await ask("list_files")).text, /^\d+ servers-parts\.rec$/m);
  assert((await one("list_recipes")).recipes.some((recipe) => recipe.name === "rx-latency"));
  assert.equal((await one("show_recipe", { recipe: "rx-latency" })).name, "rx-latency");
  const report = await one("report", { files: ["perf-drops.txt"] });
  assert.equal(report.drops.reduce((sum, row) => sum + row.count, 0), 237);
  const two = await documents("report", { files: ["ledger.rec", "servers-parts.rec"] });
  assert.deepEqual(two.map((document) => document.recipe), ["losses", "net-latency"]);
  const compared = await one("compare", { before: "slower-stage/before", after: "slower-stage/after" });
  assert.equal(compared.result, "regression");
  assert.match(compared.sentence, /^ip-tcp is slower/);
  const { findings } = await one("findings", { archives: ["sosreport.tar.xz"] });
  assert.deepEqual(findings.map((finding) => [finding.name, finding.count]), [["listen-overflow", 21]]);
  const { causes } = await one("why", { files: ["nagle.txt"] });
  assert.deepEqual(causes.map((cause) => cause.part), ["app-tcp.nagle", "app-tcp.loss-recovery"]);
  const { groups } = await one("why", { files: ["packet-flow.rec"], by: "comm" });
  assert(groups.length > 0);
  assert((await one("losses", { files: ["ledger.rec"] })).ledger.length > 0);
  const fleet = await one("fleet_report", { folder: "six-hosts" });
  assert.equal(fleet.hosts.length, 6);
  assert.equal((await one("fleet_why", { folder: "six-hosts" })).hosts[0].host, "web6");
  assert.equal((await one("between", { files: ["pair"] })).results[0].requests, 503);
  const names = await documents("resolve", { map: "System.map", addresses: ["ffffffff81000041", "ffffffff81000085"] });
  assert.deepEqual(names.map((name) => [name.symbol, name.offset]), [["f1", 1], ["f2", 5]]);
  assert.match((await ask("help", { words: ["drop-reasons", "NO_SOCKET"] })).text, /nobody listens/);
  assert.deepEqual(asked, tools);

  for (const files of [["../README.md"], ["/etc/passwd"], ["nothing-of-this-name"], "not a list", []])
    assert((await ask("report", { files })).failed, files);
  assert((await ask("report", { files: ["perf-drops.txt"], by: "" })).failed, "an empty value takes no other's place");
  await assert.rejects(ask("run"), /there is no such tool/);
  await client.close();
}

try {
  makeFolder();
  for (const revision of REVISIONS) {
    await askAll(revision);
    console.log(revision);
  }
} finally {
  fs.rmSync(folder, { recursive: true });
}
